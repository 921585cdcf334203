"""Time, by one door: the only module that reads a clock or sleeps.

By default the script asks the server what time it is, so that the clocks of workers may drift.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threading import Event

#: What a command sends as `now` to make the script ask the server's TIME.
SERVER = "auto"


class Clock:
    """The clocks of this machine, and the word that leaves time to the server."""

    def __repr__(self) -> str:
        return "Clock()"

    def stamp(self) -> str:
        """Say what commands send as `now`: here always `auto`, the server's own time."""
        return SERVER

    def now(self) -> float:
        """Wall time of this machine, epoch seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds from some fixed point; only differences mean anything."""
        return time.monotonic()

    def wait(self, seconds: float, stop: Event | None = None) -> bool:
        """Wait for so many seconds, or until `stop` is set.

        Returns:
            Whether `stop` is set.

        """
        if stop is not None:
            return stop.wait(max(0.0, seconds))
        time.sleep(max(0.0, seconds))
        return False


#: Real time, whatever clock the queue goes by: connections, processes and threads wait in it.
REAL = Clock()
