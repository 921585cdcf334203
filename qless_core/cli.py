"""The command `qless`: put jobs and work them, look at queues and jobs, mend them, set options."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from qless_core import bulk, eviction, wire
from qless_core.archive import SETTLE_S
from qless_core.audit import HOWS, KINDS, telling
from qless_core.audit.repairs import Mending, planned
from qless_core.client import Client
from qless_core.command_line import Parser, command
from qless_core.connection import DEFAULT_URL
from qless_core.errors import BadArgument, QlessError
from qless_core.job_class import klass_name_of
from qless_core.looking import add_looks
from qless_core.new_job import jid_given
from qless_core.options import OPTIONS, option_of, unknown
from qless_core.script import Script
from qless_core.terminal import complain, say, table
from qless_core.version import __version__
from qless_core.worker.reserving import Ordered, RoundRobin
from qless_core.worker.serial import SerialWorker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qless_core.options import Option


#: The queue refused, left something out, or cannot be reached. (2, a command line that makes no
#: sense, is argparse's.)
REFUSED: Final = 1
#: What a shell shows for a program that Ctrl-C ended.
INTERRUPTED: Final = 130

#: The states that `qless retry` takes a job from: whoever runs it keeps it.
RETRIED_FROM: Final = "failed,scheduled"


def main(argv: Sequence[str] | None = None) -> int:
    """Run `qless`; answers the exit code."""
    arguments = _parser().parse_args(argv)
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has left, as `head` does; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return REFUSED
    except QlessError as error:
        complain(error)
        return REFUSED
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _run(arguments: argparse.Namespace) -> int:
    if arguments.run is _lua:  # needs no server, and no address that makes sense
        _lua(arguments)
        return 0
    with Client(arguments.redis_url, namespace=arguments.namespace) as client:
        return arguments.run(client, arguments) or 0


# The commands


def _put(client: Client, arguments: argparse.Namespace) -> None:
    try:
        data = wire.loads(arguments.data)
    except ValueError as error:
        problem = f"the data is not JSON: {error}"
        raise BadArgument(problem) from error
    wire.dumps(data)  # NaN and infinities, which Python reads, are no JSON either
    jid, klass = jid_given(arguments.jid), klass_name_of(arguments.klass)
    if klass.split() != [klass]:
        problem = f"{klass!r} is no name of a class, as app.jobs.Mail is: it has blanks"
        raise BadArgument(problem)
    for option in ("tag", "depends"):
        if "" in (getattr(arguments, option) or ()):
            problem = f"--{option} is empty"
            raise BadArgument(problem)
    # The text itself is sent, so that no digit of it is lost.
    client.commands.put(
        client.worker_name,
        arguments.queue,
        jid,
        klass,
        arguments.data,
        arguments.delay,
        priority=arguments.priority,
        tags=arguments.tag,
        retries=arguments.retries,
        depends=arguments.depends,
        strict=arguments.strict,
    )
    say(jid)


def _work(client: Client, arguments: argparse.Namespace) -> None:
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr
    )
    for folder in arguments.path:
        if not Path(folder).exists():
            problem = f"--path: there is no {folder!r}"
            raise BadArgument(problem)
    sys.path[:0] = arguments.path or [str(Path.cwd())]
    eviction.warn_of(client)
    worker = SerialWorker(
        client,
        arguments.queue,
        interval=arguments.interval,
        order=RoundRobin if arguments.round_robin else Ordered,
    )
    worker.run()


def _retry(client: Client, arguments: argparse.Namespace) -> int:
    left: dict[str, str] = {}
    wanted = [(jid, RETRIED_FROM) for jid in arguments.jid]
    for report in bulk.in_chunks(partial(client.commands.bulk_move, "", arguments.queue), wanted):
        for jid in report.done:
            say(jid)
        left |= report.left
    return _explain(client, {jid: left[jid] for jid in arguments.jid if jid in left})


def _cancel(client: Client, arguments: argparse.Namespace) -> int:
    states = {job.jid: job.state for job in client.commands.bulk_closure(*arguments.jid).jobs}
    # The script answers the jids that it was given, whatever there was of them.
    given = dict.fromkeys(client.bulk_cancel(arguments.jid))
    left = {jid: states.get(jid, "gone") for jid in given if states.get(jid) in {None, "complete"}}
    for jid in given:
        if jid not in left:
            say(jid)
    return _explain(client, left)


def _config_all(client: Client, _: argparse.Namespace) -> None:
    """Show every option, those of single queues where they are set, and what else is stored."""
    values = client.config.all
    known = {option.name: option for option in OPTIONS}
    names = [*known, *sorted(values.keys() - known.keys())]
    table(
        ("option", "value", "default", "unit"),
        [_of_option(name, values.get(name), known.get(name) or option_of(name)) for name in names],
    )


def _of_option(name: str, value: object, option: Option | None) -> tuple[str, str, str, str]:
    if option is None:
        return name, str(value), "", "(no option of qless)"
    default = "" if option.default is None else str(option.default)
    counts = default if value is None else str(value)
    return name, "" if "<queue>" in name else counts, default, option.unit


def _config_get(client: Client, arguments: argparse.Namespace) -> None:
    value = client.config.get(arguments.option)
    if value is None:
        problem = f"the option {arguments.option!r} is not set and has no default"
        if option_of(arguments.option) is None:
            problem = f"{arguments.option!r} is not set, and {unknown(arguments.option)}"
        raise BadArgument(problem)
    say(value)


def _config_set(client: Client, arguments: argparse.Namespace) -> None:
    if option_of(arguments.option) is None and not arguments.force:
        problem = f"{unknown(arguments.option)} (--force stores it all the same)"
        raise BadArgument(problem)
    client.config.set(arguments.option, arguments.value, force=arguments.force)


def _config_unset(client: Client, arguments: argparse.Namespace) -> None:
    if option_of(arguments.option) is None and arguments.option not in client.config.all:
        raise BadArgument(unknown(arguments.option))
    del client.config[arguments.option]


def _audit(client: Client, arguments: argparse.Namespace) -> int:
    mending = Mending(client.commands, planned(arguments.repair))
    voice = telling.Json() if arguments.json else telling.Words()
    for line in telling.told(mending, voice, each=arguments.each, does=arguments.yes):
        say(line)
    return 0 if mending.last.is_clean else REFUSED


def _lua(arguments: argparse.Namespace) -> None:
    sys.stdout.write(Script(arguments.namespace).source)


def _archive(client: Client, arguments: argparse.Namespace) -> int:
    folder = Path(arguments.to).parent
    if "%" not in str(folder) and not folder.is_dir():  # told also where there is no job yet
        complain(f"{arguments.to} cannot be written: there is no folder {str(folder)!r}")
        return REFUSED
    try:
        done = client.archive(arguments.to, name=arguments.name, settle=arguments.settle)
    except OSError as error:
        complain(f"{arguments.to} cannot be written: {error}")
        return REFUSED
    say(f"{done.jobs} jobs")
    if done.gone or done.has_gap:
        complain("completed jobs were forgotten before they were archived: run it more often")
        return REFUSED
    return 0


# What they share


def _explain(client: Client, left: Mapping[str, str]) -> int:
    """Say of each job that was left out why; answers the exit code."""
    for jid, reason in left.items():
        if reason != "gone":
            why = _REASONS.get(reason, f"is {reason}")
        elif client.commands.recur_get(jid):
            why = "is a recurring job"
        else:
            why = "does not exist"
        complain(f"{jid} was left alone: it {why}")
    return REFUSED if left else 0


#: Why a job was left out, where the word for it is not its state.
_REASONS: Final = {
    "depends": "waits for others",
    "nowhere": "is in no queue; name one with --queue",
    "unreadable": "has something else under one of its keys",
}


# The command line


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="qless", description="Put jobs into queues, work them, look at them and mend them."
    )
    parser.add_argument(
        "--redis-url",
        default=os.environ.get("REDIS_URL") or DEFAULT_URL,
        help="where Redis is: redis://, rediss://, unix://, redis+sentinel:// or redis+cluster:// "
        "(else REDIS_URL, else %(default)s)"
        if not os.environ.get("REDIS_URL")
        else "where Redis is: redis://, rediss://, unix://, redis+sentinel:// or redis+cluster:// "
        "(now as REDIS_URL says)",
    )
    parser.add_argument("--version", action="version", version=f"qless {__version__}")
    parser.add_argument("--namespace", default="ql:", help="what keys begin with (%(default)s)")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (_add_put, _add_work, add_looks, _add_mends, _add_audit, _add_archive, _add_config):
        add(commands)
    lua = command(commands, "lua", _lua, "print the script, for clients in other languages")
    lua.add_argument("--namespace", default=argparse.SUPPRESS, help="what keys begin with")
    return parser


def _add_put(commands: Any) -> None:  # noqa: ANN401 - as above
    parser = command(commands, "put", _put, "put a job into a queue and print its jid")
    parser.add_argument("queue")
    parser.add_argument("klass", metavar="CLASS", help="dotted name, as app.jobs.SendMail")
    parser.add_argument("data", nargs="?", default="{}", help="JSON (%(default)s)")
    parser.add_argument("--jid", help="what to call it; one is made up otherwise")
    parser.add_argument("--priority", type=float, help="higher runs sooner (0)")
    parser.add_argument("--delay", type=float, default=0, help="seconds before it may run (0)")
    parser.add_argument("--retries", type=int, help="how often it may be taken back (5)")
    parser.add_argument("--tag", action="append", help="a tag; may be repeated")
    parser.add_argument("--depends", action="append", metavar="JID", help="wait for it; repeatable")
    parser.add_argument(
        "--strict",
        action="store_true",
        help="refuse it where a job that it is to wait for does not exist",
    )


def _add_work(commands: Any) -> None:  # noqa: ANN401 - as above
    parser = command(commands, "work", _work, "run jobs, one after another, until TERM or Ctrl-C")
    parser.add_argument("-q", "--queue", action="append", required=True, help="may be repeated")
    parser.add_argument(
        "--path", action="append", default=[], help="where job classes are imported from"
    )
    parser.add_argument(
        "--interval", type=float, default=5.0, help="seconds between looks when idle (%(default)s)"
    )
    parser.add_argument("--round-robin", action="store_true", help="take from the queues in turn")


def _add_mends(commands: Any) -> None:  # noqa: ANN401 - as above
    parser = command(commands, "retry", _retry, "put failed or scheduled jobs to work again, now")
    parser.add_argument("jid", nargs="+")
    parser.add_argument("--queue", default="", help="into which queue (each job's own)")
    parser = command(commands, "cancel", _cancel, "remove jobs for good, all or none")
    parser.add_argument("jid", nargs="+")


def _add_audit(commands: Any) -> None:  # noqa: ANN401 - as above
    parser = command(
        commands, "audit", _audit, "look over the whole database for what does not fit together"
    )
    parser.add_argument(
        "--repair",
        action="append",
        default=[],
        metavar="KIND[=HOW]",
        help=f"repair a kind of fault, or all; repeatable. HOW is {', '.join(HOWS)}, as far as "
        "the kind has it",
    )
    parser.add_argument("--yes", action="store_true", help="do it; else it is only said what for")
    parser.add_argument("--each", action="store_true", help="say every finding, as it is found")
    parser.add_argument("--json", action="store_true", help="for programs: JSON, a line for each")
    parser.epilog = "kinds: " + ", ".join(kind.id for kind in KINDS)


def _add_archive(commands: Any) -> None:  # noqa: ANN401 - as above
    parser = command(
        commands, "archive", _archive, "append jobs that completed since the last run to a file"
    )
    parser.add_argument(
        "--to", required=True, metavar="FILE", help="lines of JSON; may have %%Y, %%m, %%d"
    )
    parser.add_argument("--name", default="default", help="of the archiver (%(default)s)")
    parser.add_argument(
        "--settle",
        type=float,
        default=SETTLE_S,
        help="seconds to leave a job alone after it completed (%(default)s)",
    )


def _add_config(commands: Any) -> None:  # noqa: ANN401 - as above
    parser = command(
        commands,
        "config",
        _config_all,
        "show all options with their defaults; or get, set, unset one",
    )
    actions = parser.add_subparsers(metavar="ACTION")
    command(actions, "get", _config_get, "show an option").add_argument("option")
    setting = command(actions, "set", _config_set, "set an option")
    setting.add_argument("option")
    setting.add_argument("value")
    setting.add_argument("--force", action="store_true", help="also a name that qless does not use")
    command(actions, "unset", _config_unset, "go back to the default").add_argument("option")
