"""How a worker ends: streams first, then requests, then at once.

Left to itself a worker would wait for open event streams until its patience ends, for connections
that a browser opened ahead of need, and, its arbiter killed, for as long as anybody listens.
"""

from __future__ import annotations

import os
import select
import signal
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

#: Seconds for a request that has arrived but has not begun.
_BEAT_S = 0.1


class Ending:
    """Watches for the end of a worker: made in the arbiter, inherited by its workers.

    Args:
        grace_s: how long requests that have begun may take.

    """

    def __init__(self, grace_s: float) -> None:
        self._grace_s = grace_s
        #: The arbiter holds the writing end; that the reading end ends says it is gone.
        self._arbiter, self._alive = os.pipe()
        self._running = 0
        self._changed = threading.Condition()

    def forked(self) -> None:
        """Leave the sign of life to the arbiter alone; called in each worker."""
        os.close(self._alive)

    def begin(self) -> None:
        """Count a request that begins."""
        with self._changed:
            self._running += 1

    def end(self) -> None:
        """Count a request that is answered to its end."""
        with self._changed:
            self._running -= 1
            self._changed.notify_all()

    def watch(self, close_streams: Callable[[], None]) -> None:
        """Wait on a thread for a signal or the arbiter's end, then end this worker."""
        told, tell = os.pipe()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
            _precede(number, tell)

        def run() -> None:
            select.select([told, self._arbiter], [], [])
            close_streams()
            with self._changed:
                self._changed.wait(_BEAT_S)
                self._changed.wait_for(lambda: self._running == 0, self._grace_s)
            close_streams()  # those, too, that a request opened meanwhile
            os._exit(0)

        threading.Thread(target=run, name="ending", daemon=True).start()


def _precede(number: signal.Signals, tell: int) -> None:
    """Write a byte when the signal comes, then let the handler that was there go on.

    Nothing else is safe here: the signal may interrupt a thread that holds any lock.
    """
    following = signal.getsignal(number)

    def handle(received: int, frame: FrameType | None) -> None:
        os.write(tell, b".")
        if callable(following):
            following(received, frame)

    signal.signal(number, handle)
