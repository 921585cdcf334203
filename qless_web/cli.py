"""`qless-web`: starts the console, says whether it runs, stops it.

Every setting is a flag and an environment variable; a flag wins.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import re
import signal
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NoReturn

from qless_core.client import Client
from qless_core.command_line import Parser
from qless_core.masking import hushed, masked
from qless_web.accounts import command
from qless_web.accounts.accounts import Accounts
from qless_web.alerts import file as alerts_file
from qless_web.presenters.frame import running_version
from qless_web.process.backing import backing
from qless_web.process.daemon import daemonize, must_be_writable
from qless_web.process.errors import StartError
from qless_web.process.listening import address_of, listen
from qless_web.process.pidfile import PidFile
from qless_web.reading import Reading
from qless_web.settings import SETTINGS, SettingError, Settings, state_folder
from qless_web.tokens import Tokens, make

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator, Sequence

    from qless_web.process.daemon import Readiness

#: Exit codes: could not start or stop; wrong usage; asked about a console that does not run.
FAILED, USAGE, NOT_RUNNING = 1, 2, 3
#: Settings that are paths.
_PLACES = ("embedded", "pid_file", "log_file", "api_token_file", "users_file", "alerts_file")
#: An address with a name before it; what is no scheme before the `=` is one.
_NAMED = re.compile(r"[^=:/?]+=")
#: Seconds that `--kill` waits for the console to finish what it is doing.
KILL_TIMEOUT_S = 15.0

#: Live pages that our own server feeds unless it is told a number: there none holds a thread.
CROWD: Final = 2000


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command.

    Raises:
        SystemExit: always; 0 when it did what was asked.

    """
    told = sys.argv[1:] if argv is None else list(argv)
    try:
        code = _user(told[1:]) if told[:1] == ["user"] else _order(_flags(told))
    except SettingError as error:
        code = _complain(error, USAGE)
    except StartError as error:
        code = _complain(error, FAILED)
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    sys.exit(code)


def _flags(argv: Sequence[str]) -> dict[str, Any]:
    return vars(_parser().parse_args(argv))


def _user(argv: Sequence[str]) -> int:
    # Declares the actions that a user may be limited to; nothing else here needs them.
    import qless_web.actions  # noqa: F401, PLC0415 - as said above

    return command.order(argv)


def _complain(error: Exception, code: int) -> int:
    sys.stderr.write(f"qless-web: {hushed(str(error))}\n")
    return code


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="qless-web",
        description="The console of qless: see the jobs in a Redis, and mend them.",
        epilog="Each setting is also an environment variable: --read-only is QLESS_WEB_READ_ONLY. "
        "Who may sign in is said with qless-web user: see qless-web user --help.",
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    order = parser.add_mutually_exclusive_group()
    order.add_argument("-S", "--status", action="store_true", help="say whether it runs")
    order.add_argument("-K", "--kill", action="store_true", help="stop the one that runs")
    order.add_argument(
        "--new-token",
        metavar="NAME:SCOPE",
        help="make a token of the API, and its line for the file",
    )
    version = f"qless-web {running_version() or 'from a checkout'}"
    order.add_argument("--version", action="version", version=version)
    for setting in SETTINGS:
        names = [f"-{setting.letter}"] if setting.letter else []
        options: dict[str, Any] = {"metavar": setting.name.rsplit("_", 1)[-1].upper()}
        if setting.is_switch:
            options = {"action": argparse.BooleanOptionalAction}
        elif setting.name == "redis_url":
            options |= {"action": "append", "metavar": "[NAME=]URL"}
        elif setting.name == "embedded":
            options = {"nargs": "?", "const": "yes", "metavar": "FOLDER"}
        text = setting.help.replace("%", "%%")
        parser.add_argument(*names, setting.flag, dest=setting.name, help=text, **options)
    return parser


def _order(given: dict[str, Any]) -> int:
    if "new_token" in given:
        return _new_token(given["new_token"])
    status, kill = given.pop("status", False), given.pop("kill", False)
    _take_addresses(given)
    if "QLESS_WEB_LIVE_MAX_STREAMS" not in os.environ:
        given.setdefault("live_max_streams", CROWD)
    settings = _absolute(Settings.from_env(**given))
    if status:
        return _status(_pid_file(settings))
    if kill:
        return _kill(_pid_file(settings))
    for other in ("demo", "embedded"):
        told = [name for name in ("redis_url", "servers", "read_url") if name in given]
        if given.get(other) and told:
            flag = "--read-url" if told == ["read_url"] else "--redis-url"
            message = f"--{other} brings a Redis of its own: leave out {flag}, or --{other}"
            raise SettingError(message)
    # These complain here rather than in each process that serves.
    Tokens.read(settings.api_token_file)
    Accounts.of(settings, None)
    alerts_file.read(settings.alerts_file)
    if settings.read_url:
        Reading.of(Client(settings.redis_url, namespace=settings.namespace), settings.read_url)
    return _start(settings)


def _take_addresses(given: dict[str, Any]) -> None:
    """Tell one server from several: `--redis-url NAME=URL`, once for each.

    Raises:
        SettingError: some have a name, and some not.

    """
    told = given.pop("redis_url", [])
    named = [url for url in told if _NAMED.match(url)]
    if named and len(named) < len(told):
        message = "of several --redis-url each needs a name: --redis-url shop=redis://a:6379/0"
        raise SettingError(message)
    if named:
        given["servers"] = [url.partition("=")[::2] for url in named]
    elif told:
        given["redis_url"] = told[-1]


def _new_token(wanted: str) -> int:
    """Make a token: shown this once, on a line of its own, and its digest on the next."""
    name, _, scope = wanted.partition(":")
    _say("\n".join(make(name, scope or "read")))
    return 0


def _absolute(settings: Settings) -> Settings:
    """Make every path absolute: a daemon leaves the folder it was started in."""
    paths = {
        name: place.absolute() for name in _PLACES if (place := getattr(settings, name)) is not None
    }
    log = settings.access_log
    if log and log != "-":
        paths["access_log"] = os.path.abspath(log)  # noqa: PTH100 - a text, as the setting is
    return replace(settings, **paths)


def _pid_file(settings: Settings) -> PidFile:
    return PidFile(settings.pid_file or state_folder() / f"qless-web-{settings.port}.pid")


def _status(pid_file: PidFile) -> int:
    pid = pid_file.holder()
    _say("not running" if pid is None else f"running (pid {pid})")
    return NOT_RUNNING if pid is None else 0


def _kill(pid_file: PidFile) -> int:
    pid = pid_file.end_holder(KILL_TIMEOUT_S)
    _say("not running" if pid is None else f"stopped (pid {pid})")
    return NOT_RUNNING if pid is None else 0


def _start(settings: Settings) -> int:
    if settings.port and (pid := _pid_file(settings).holder()) is not None:
        message = f"already running on port {settings.port} (pid {pid})"
        raise StartError(message)
    if settings.access_log not in ("", "-"):
        must_be_writable(settings.access_log)
    listener = listen(settings)
    settings = replace(settings, port=listener.getsockname()[1])
    if settings.foreground:
        with _said_at_the_end(), _named(_pid_file(settings) if settings.pid_file else None):
            _run(settings, listener, _say)
        return 0
    pid_file = _pid_file(settings).take()
    log = settings.log_file or state_folder() / f"qless-web-{settings.port}.log"

    def run(readiness: Readiness) -> None:
        with _named(pid_file):
            _run(settings, listener, readiness.up)

    _say(daemonize(run, log))
    return 0


@contextlib.contextmanager
def _named(pid_file: PidFile | None) -> Iterator[None]:
    """Name this process in the pid file for as long as it serves."""
    if pid_file is None:
        yield
        return
    pid_file.take().write()
    try:
        yield
    finally:
        pid_file.release()


@contextlib.contextmanager
def _said_at_the_end() -> Iterator[None]:
    """Say that the console has stopped, when it did as it was told."""
    owner = os.getpid()
    try:
        yield
    except SystemExit as end:
        # A worker ends through here too; and a terminal that was closed is told nothing.
        if os.getpid() == owner and not end.code:
            with contextlib.suppress(OSError):
                _say("qless-web has stopped")
        raise


def _run(settings: Settings, listener: socket.socket, say: Callable[[str], None]) -> None:
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
    with backing(settings) as ours:
        # Half a second of imports, while the server starts and the demo is furnished.
        from qless_web.process.serving import serve  # noqa: PLC0415 - as said

        lines = [
            f"qless-web serves {address_of(listener, settings.prefix)} (pid {os.getpid()})",
            f"jobs are in {_places(ours.settings)}",
            *filter(None, [ours.note]),
        ]
        serve(ours.settings, listener, wait=ours.wait, up=lambda: say("\n".join(lines)))


def _places(settings: Settings) -> str:
    """Say where the jobs are."""
    named = (f"{name} ({masked(url)})" for name, url in settings.servers)
    return ", ".join(named) or masked(settings.redis_url)
