"""What a process heeds before it is a worker. It imports next to nothing, so it can come first."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from types import FrameType

#: What ends a worker.
ENDING: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)

#: What would end a process that does not listen yet. It waits until the worker does.
WAITING: Final = (signal.SIGUSR1, signal.SIGUSR2)

#: Of these, what waits.
_held: list[signal.Signals] = []


def leave_on_signals() -> None:
    """Let a process that is no worker yet end with 0 when it is told to end.

    So it does as process 1 too, where nothing is done by default, and though whoever started it
    has these signals blocked. A worker takes over without a moment in which none is heard; until
    then what it may be told besides waits.
    """
    for number in ENDING:
        signal.signal(number, leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    signal.pthread_sigmask(signal.SIG_BLOCK, WAITING)
    _held[:] = WAITING


def leave(_: int, __: FrameType | None) -> NoReturn:
    """End while there is nothing to give back. An exception might be lost in a callback."""
    os._exit(0)


def let_come() -> None:
    """Let come what waits: somebody listens now."""
    if _held:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _held)
        _held.clear()
