"""Leaving the terminal, and telling the one who waits there whether the start went well."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from qless_core.masking import hushed
from qless_web.process.errors import StartError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

#: First character of the message that means the console is up; anything else is why it is not.
_UP = "+"


class Readiness:
    """The daemon's end of the pipe to the process that started it; closed once all is said."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def up(self, message: str) -> None:
        """Say that the console answers; said again by a later worker, it reaches nobody."""
        self._send(_UP + message)

    def failed(self, message: str) -> None:
        """Say why the console does not start."""
        self._send("-" + message)

    def _send(self, message: str) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor < 0:
            return
        with contextlib.suppress(BrokenPipeError):
            os.write(descriptor, message.encode() + b"\0")
        os.close(descriptor)


def daemonize(run: Callable[[Readiness], None], log: Path) -> str:
    """Run `run` in a process of its own, away from the terminal, and return what it says when up.

    Raises:
        StartError: it ended, or said why it cannot start.

    """
    output = _open_log(log)
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    if os.fork() == 0:
        os.close(reading)
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        _detach(output)
        _run(run, Readiness(writing))
    os.close(writing)
    os.close(output)
    os.wait()
    return _hear(reading, log)


def must_be_writable(log: str) -> None:
    """Refuse a log that nobody could write to, before anything has begun.

    Raises:
        StartError: the system does not let us.

    """
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
        os.close(os.open(log, flags, 0o600))
    except OSError as error:
        message = f"the access log {log} cannot be written: {error.strerror}"
        raise StartError(message) from error


def _open_log(log: Path) -> int:
    try:
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    except OSError as error:
        message = f"the log file {log} cannot be written: {error.strerror}"
        raise StartError(message) from error


def _detach(output: int) -> None:
    os.chdir("/")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    for descriptor in {nothing, output} - {0, 1, 2}:
        os.close(descriptor)


def _run(run: Callable[[Readiness], None], readiness: Readiness) -> NoReturn:
    try:
        run(readiness)
    except StartError as error:
        sys.stderr.write(f"qless-web: {hushed(str(error))}\n")
        readiness.failed(str(error))
        sys.exit(1)
    sys.exit(0)


def _hear(reading: int, log: Path) -> str:
    heard = b""
    while not heard.endswith(b"\0") and (part := os.read(reading, 4096)):
        heard += part
    os.close(reading)
    message = heard.rstrip(b"\0").decode()
    if message.startswith(_UP):
        return message[1:]
    raise StartError(message[1:] or f"the start failed; {log} says why")
