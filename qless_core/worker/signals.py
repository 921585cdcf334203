"""How a program that runs a worker is ended: by TERM or Ctrl-C, after the job at hand."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    Handler = Callable[[int, FrameType | None], object] | int | signal.Handlers | None

#: Signals that end a program, as they are handled where nobody said otherwise.
_BY_DEFAULT: dict[signal.Signals, Handler] = {
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGINT: signal.default_int_handler,
}


@contextmanager
def ending(stop: Callable[[], None]) -> Iterator[None]:
    """Let TERM and Ctrl-C call `stop` meanwhile; the second one ends the program at once.

    Does nothing on another thread than the main one, which alone may handle signals, and leaves
    alone what the program itself has decided to handle or to ignore.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, _: object) -> None:
        signal.signal(number, _BY_DEFAULT[signal.Signals(number)])
        # From a thread, because the worker may be inside the very lock that stop() needs.
        threading.Thread(target=stop, name="qless-stop").start()

    ours = [each for each, default in _BY_DEFAULT.items() if signal.getsignal(each) == default]
    for each in ours:
        signal.signal(each, handle)
    try:
        yield
    finally:
        for each in ours:
            signal.signal(each, _BY_DEFAULT[each])
