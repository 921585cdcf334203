"""What `qless-worker` is told by command line and environment, and the worker that it makes."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import shlex
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from qless_core import eviction
from qless_core.client import Client
from qless_core.command_line import Parser
from qless_core.connection import DEFAULT_NAMESPACE, DEFAULT_URL
from qless_core.errors import BadArgument, QlessError, RedisUnavailable
from qless_core.masking import hushed
from qless_core.shards import ShardedClient
from qless_core.worker.early import ENDING
from qless_core.worker.forking import ForkingWorker
from qless_core.worker.greenlets import GreenletWorker
from qless_core.worker.logs import JobFilter
from qless_core.worker.reserving import Ordered, RoundRobin, Shuffled, Weighted, fitting, is_pattern
from qless_core.worker.serial import SerialWorker
from qless_core.worker.sharded import ShardedWorker
from qless_core.worker.threads import ThreadWorker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qless_core.worker.reserving import Order

    Kind = ForkingWorker | SerialWorker | ThreadWorker
    #: What the environment says: any mapping of text will do.
    Environment = Mapping[str, str]

#: It could not work, or `--check` found no worker that does.
REFUSED: Final = 1
#: What it is told makes no sense; argparse ends with the same.
SENSELESS: Final = 2

KINDS: Final = ("forking", "serial", "thread", "greenlet")
ORDERS: Final[dict[str, Order | type[Order]]] = {
    "ordered": Ordered,
    "round-robin": RoundRobin,
    "shuffled": Shuffled,
}

#: How other qless workers name these orders, in lower case.
RESERVERS: Final = {
    "ordered": "ordered",
    "roundrobin": "round-robin",
    "shuffledroundrobin": "shuffled",
}

#: Seconds for which a worker need not have given a sign of life, for `--check`; it gives one every
#: few seconds.
CHECK_S: Final = 30.0

#: What begins a program whose jobs run in greenlets; it is given the arguments anew.
_PATCHED: Final = (
    "from gevent import monkey; monkey.patch_all(); "
    "from qless_core.worker_command import main; raise SystemExit(main())"
)

_FORMAT: Final = "%(asctime)s %(process)d %(levelname)s %(jid)s %(message)s"


def run(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says; answers the exit code."""
    arguments = _parser(os.environ).parse_args(argv)
    try:
        if arguments.check:
            return _check(arguments)
        return _work(arguments, argv)
    except QlessError as error:
        sys.stderr.write(f"qless-worker: {hushed(str(error))}\n")
        senseless = isinstance(error, BadArgument) and not isinstance(error, RedisUnavailable)
        return SENSELESS if senseless else REFUSED


def _work(arguments: argparse.Namespace, argv: Sequence[str] | None) -> int:
    _log(arguments.verbose)
    names = _queues(arguments)
    if arguments.kind == "greenlet" and not _is_patched():
        given = sys.argv[1:] if argv is None else argv
        # What comes meanwhile waits, until the program that is begun here listens.
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        os.execv(sys.executable, [sys.executable, "-c", _PATCHED, *given])  # noqa: S606 - ourselves
    sys.path[:0] = arguments.path or [str(Path.cwd())]
    for app in arguments.app:
        _load(app)
    kind, options = _asked_for(arguments, names)
    with _client(arguments) as client:
        if isinstance(client, ShardedClient):
            for shard in client.shards.values():
                eviction.warn_of(shard)
            worker: Any = ShardedWorker(client, names, kind=kind, **options)
        else:
            eviction.warn_of(client)
            worker = kind(client, names, **options)
        say = logging.getLogger("qless.worker").warning
        say("%s: %s; TERM ends it, QUIT once its jobs are done", client, worker)
        worker.run()
    return 0


def _queues(arguments: argparse.Namespace) -> list[str]:
    """Name the queues.

    Raises:
        BadArgument: there is none, or one that may be meant for several.

    """
    named: list[str] = arguments.queue
    names = named or _listed(os.environ.get("QUEUES") or os.environ.get("QUEUE"))
    if not names:
        problem = "which queues? Name them with -q, or in QUEUES with commas between them"
        raise BadArgument(problem)
    for name in named:
        # One that has a comma in its name is rare, and a worker that waits at a queue that there is
        # not says nothing. In brackets it is meant.
        if "," in name and "[" not in name:
            several = " ".join(f"-q {shlex.quote(each)}" for each in _listed(name))
            one = shlex.quote(name.replace(",", "[,]"))
            problem = f"-q {name} is several queues, or one? Say {several}, or -q {one}"
            raise BadArgument(problem)
    return names


def _client(arguments: argparse.Namespace) -> Client:
    """Make the client of a server, or of the shards where several are named.

    Raises:
        BadArgument: an address cannot be understood, or of several one has no name of its own.

    """
    given: list[str] = arguments.redis_url or [arguments.usual_url]
    named = dict(map(_named_address, given))
    settings = {"namespace": arguments.namespace, "worker_name": arguments.name}
    if len(given) == 1:
        return Client(*named.values(), **settings)
    if len(named) < len(given) or "" in named:
        problem = "of several --redis-url each needs a name of its own: --redis-url one=redis://a"
        raise BadArgument(problem)
    return ShardedClient({name: Client(url, **settings) for name, url in named.items()})


def _named_address(text: str) -> tuple[str, str]:
    """Read NAME=URL, or a URL; the name is "" then."""
    name, equals, url = text.partition("=")
    return (name, url) if equals and "://" not in name else ("", text)


def _asked_for(
    arguments: argparse.Namespace, names: Sequence[str]
) -> tuple[type[Kind], dict[str, Any]]:
    """Give the kind of worker that the arguments ask for, and its options.

    Raises:
        BadArgument: what they ask for makes no sense, or cannot be imported.

    """
    options: dict[str, Any] = {
        "interval": arguments.interval,
        "order": _order(arguments, names),
        "prefetch": arguments.prefetch,
        "middleware": [_named(name) for name in arguments.middleware],
        "heartbeats": arguments.heartbeats,
        "grace": arguments.grace,
        "burst": arguments.burst,
    }
    of_children = {
        "jobs_per_child": arguments.jobs_per_child,
        "child_age_s": arguments.child_age,
        "child_memory": arguments.child_memory and arguments.child_memory * 2**20,
        "on_fork": [_named(name) for name in arguments.on_fork],
    }
    kind, concurrency = arguments.kind, _concurrency(arguments)
    if kind == "forking":
        return ForkingWorker, {"concurrency": concurrency, **of_children, **options}
    for name, value in of_children.items():
        if value:
            problem = f"--{name.removesuffix('_s').replace('_', '-')} is for --kind forking alone"
            raise BadArgument(problem)
    if kind == "serial":
        return SerialWorker, options
    make = GreenletWorker if kind == "greenlet" else ThreadWorker
    return make, {"concurrency": concurrency, **options}


def _concurrency(arguments: argparse.Namespace) -> int:
    """Tell how many jobs run at once: in the single process of `serial` one.

    What the environment says of that is for when it runs none of these, and is passed over.

    Raises:
        BadArgument: the command line asks for more in one process.

    """
    given: int | None = arguments.concurrency
    of_environment: int = _Number(os.environ)("CONCURRENCY", 1, int)
    if arguments.kind != "serial":
        return of_environment if given is None else given
    if given is not None and given != 1:
        is_asked = _is_on(os.environ.get("RUN_AS_SINGLE_PROCESS"))
        which = "--kind serial" + (" (RUN_AS_SINGLE_PROCESS)" if is_asked else "")
        problem = f"{which} runs one job at a time: leave out --concurrency"
        raise BadArgument(problem)
    if of_environment > 1:
        say = "one job runs at a time in this process: CONCURRENCY=%d is passed over"
        logging.getLogger("qless.worker").warning(say, of_environment)
    return 1


def _order(arguments: argparse.Namespace, names: Sequence[str]) -> Order | type[Order]:
    """Give the order in which queues of these names, or patterns, are asked.

    Raises:
        BadArgument: a weight is of a queue that is not worked, or is none.

    """
    for name, _ in arguments.weight:
        if is_pattern(name):
            problem = f"--weight is of one queue, not of a pattern, got {name!r}"
            raise BadArgument(problem)
        if not any(name in fitting(given, [name]) for given in names):
            problem = f"no queue {name!r} is worked, as --weight says: name it with -q, too"
            raise BadArgument(problem)
    if arguments.weight:
        return Weighted(dict(arguments.weight))
    return ORDERS[arguments.order or _order_named(os.environ)]


def _load(app: str) -> None:
    """Import a module of the application, and call what it names behind a colon.

    Raises:
        BadArgument: there is no such module, or it has nothing of that name to call.

    """
    module, _, name = app.partition(":")
    if name:
        _named(f"{module}.{name}")()
        return
    try:
        importlib.import_module(module)
    except ImportError as error:
        problem = f"--app: {app} cannot be imported: {error}; {_hint(module, error)}"
        raise BadArgument(problem) from error


def _hint(name: str, error: ImportError) -> str:
    """Say what may be meant by the name of a module that cannot be imported."""
    outer, _, inner = name.rpartition(".")
    missing = error.name or ""
    if outer and callable(getattr(sys.modules.get(outer), inner, None)):
        return f"to call {inner}, say --app {outer}:{inner}"
    if not f"{name}.".startswith(f"{missing}."):
        return f"what imports {missing!r} needs it to be installed"
    return f"modules are looked for in {sys.path[0]!r}, which --path changes, and where Python does"


def _named(name: str) -> Any:  # noqa: ANN401 - whatever the application has
    """Import what a dotted name names, something to call.

    Raises:
        BadArgument: there is none.

    """
    module, _, attribute = name.replace(":", ".").rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        problem = f"{name} cannot be imported: {error}"
        raise BadArgument(problem) from error
    if not callable(found):
        problem = f"{name} is nothing to call"
        raise BadArgument(problem)
    return found


def _is_patched() -> bool:
    try:
        monkey = importlib.import_module("gevent.monkey")
    except ImportError:
        return True  # the worker says what is missing
    return bool(monkey.is_module_patched("socket"))


def _log(verbose: int) -> None:
    levels = (logging.WARNING, logging.INFO, logging.DEBUG)
    handler = logging.StreamHandler()
    handler.addFilter(JobFilter())
    level = levels[min(verbose, len(levels) - 1)]
    logging.basicConfig(level=level, format=_FORMAT, handlers=[handler])


def _check(arguments: argparse.Namespace) -> int:
    """Say whether a worker of this host, or the one that is named, gave a sign of life lately.

    One whose children die before they work is alive and of no use.
    """
    host = socket.gethostname()
    failing = ""
    with _client(arguments) as client:
        names = [arguments.name] if arguments.name else []
        for record in client.workers.details(*names):
            here = arguments.name or (record.info is not None and record.info.host == host)
            if not here or record.seen is None:
                continue
            ago = client.clock.now() - record.seen
            if ago > CHECK_S:
                continue
            state = record.info.state if record.info else "known"
            if state == "failing":
                failing = failing or record.name
                continue
            sys.stdout.write(f"{record.name}: {state}, seen {max(ago, 0):.0f} s ago\n")
            return 0
    if failing:
        sys.stdout.write(f"{failing}: failing, its children die before they work\n")
        return REFUSED
    who = f"the worker {arguments.name}" if arguments.name else f"a worker of the host {host}"
    sys.stdout.write(f"no sign of life of {who} in the last {CHECK_S:.0f} s\n")
    return REFUSED


# The command line


def _parser(environment: Environment) -> Parser:
    number = _Number(environment)
    parser = Parser(
        prog="qless-worker",
        description="Run the jobs of some queues until told to stop.",
        epilog="TERM and Ctrl-C interrupt what runs and give it back, QUIT lets it end, USR1 drops "
        "what runs and goes on, USR2 takes no more jobs and logs what runs, CONT takes jobs again.",
    )
    add = parser.add_argument
    url = environment.get("REDIS_URL") or DEFAULT_URL
    add(
        "--redis-url",
        metavar="[NAME=]URL",
        action="append",
        help="where Redis is (REDIS_URL); repeatable: each is a shard then, worked by itself",
    )
    parser.set_defaults(usual_url=url)
    add("--namespace", default=DEFAULT_NAMESPACE, help="what every key begins with (%(default)s)")
    add(
        "-q",
        "--queue",
        metavar="NAME",
        action="append",
        default=[],
        help="a queue, or a pattern of names as 'mail-*'; may be repeated (QUEUES)",
    )
    add(
        "--kind",
        choices=KINDS,
        default=_kind(environment),
        help="how jobs run: in children, one after another in this process, in threads, or in "
        "greenlets (%(default)s; RUN_AS_SINGLE_PROCESS=1: serial)",
    )
    add(
        "--concurrency",
        metavar="N",
        type=int,
        help="how many jobs run at once (1; CONCURRENCY)",
    )
    add(
        "--jobs-per-child",
        metavar="N",
        type=int,
        help="a fresh child after so many jobs; 1: for each job",
    )
    add("--child-age", metavar="SECONDS", type=float, help="a fresh child after so many seconds")
    add("--child-memory", metavar="MB", type=int, help="a fresh child beyond so much memory")
    add(
        "--on-fork",
        metavar="NAME",
        action="append",
        default=[],
        help="what each child calls first, as app.db.close; may be repeated",
    )
    add(
        "--prefetch",
        metavar="N",
        type=int,
        default=number("PREFETCH", 1, int),
        help="take so many jobs at once, for short ones (1; PREFETCH)",
    )
    # Not as a default: one that is given is refused beside weights, one of the environment is not.
    named = _order_named(environment)
    order = parser.add_mutually_exclusive_group()
    order.add_argument(
        "--order",
        choices=tuple(ORDERS),
        help=f"in which the queues are asked ({named}; JOB_RESERVER)",
    )
    order.add_argument(
        "--weight",
        metavar="NAME=N",
        type=_weight,
        action="append",
        default=[],
        help="ask this queue first N times as often as others; may be repeated",
    )
    add(
        "--app",
        metavar="MODULE",
        action="append",
        default=[],
        help="import this first, or call it, as app.setup:start; may be repeated",
    )
    add(
        "--path",
        metavar="DIR",
        action="append",
        default=[],
        help="where modules are imported from (the working directory)",
    )
    add(
        "--middleware",
        metavar="NAME",
        action="append",
        default=[],
        help="what goes around each job, as app.jobs.timed; may be repeated",
    )
    add("--heartbeats", action="store_true", help="keep the locks of all jobs while they run")
    add(
        "--interval",
        metavar="SECONDS",
        type=float,
        default=number("INTERVAL", 60.0, float),
        help="look anew at least so often, when idle (60; INTERVAL)",
    )
    add(
        "--grace",
        metavar="SECONDS",
        type=float,
        default=number("GRACE", 5.0, float),
        help="how long jobs may take to end when they are interrupted (5; GRACE)",
    )
    add("--burst", action="store_true", help="end when nothing is left, running or due")
    add("--name", help="the worker's name (<host>-<pid>)")
    add(
        "-v",
        "--verbose",
        action="count",
        default=_verbosity(environment),
        help="log each job; twice: all there is (VERBOSE, VVERBOSE)",
    )
    add(
        "--check",
        action="store_true",
        help="run nothing: end with 0 when a worker of this host, or --name, is alive",
    )
    return parser


class _Number:
    """Reads numbers of the environment."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def __call__(self, name: str, default: float, kind: type[int | float]) -> Any:  # noqa: ANN401 - of `kind`
        text = self._environment.get(name)
        if not text:
            return default
        try:
            return kind(text)
        except ValueError:
            Parser(prog="qless-worker").error(f"{name} must be a number, got {text!r}")


def _is_on(text: str | None) -> bool:
    return (text or "").strip().lower() not in {"", "0", "false", "no", "off"}


def _kind(environment: Environment) -> str:
    return "serial" if _is_on(environment.get("RUN_AS_SINGLE_PROCESS")) else "forking"


def _order_named(environment: Environment) -> str:
    """Read JOB_RESERVER, as other qless workers name their orders."""
    given = environment.get("JOB_RESERVER") or "Ordered"
    found = RESERVERS.get(given.lower())
    if found is None:
        known = "Ordered, RoundRobin or ShuffledRoundRobin"
        Parser(prog="qless-worker").error(f"JOB_RESERVER must be {known}, got {given!r}")
    return found


def _verbosity(environment: Environment) -> int:
    if _is_on(environment.get("VVERBOSE")):
        return 2
    return 1 if _is_on(environment.get("VERBOSE")) else 0


def _listed(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _weight(text: str) -> tuple[str, float]:
    name, is_given, number = text.rpartition("=")
    if not is_given:
        problem = f"{text!r} is no NAME=N"
        raise argparse.ArgumentTypeError(problem)
    try:
        return name, float(number)
    except ValueError:
        problem = f"{number!r} is no number"
        raise argparse.ArgumentTypeError(problem) from None
