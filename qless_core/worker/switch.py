"""What a worker is told while it works: to go on, to pause, to end after this, or at once."""

from __future__ import annotations

from enum import IntEnum
from threading import Condition, Event


class Mode(IntEnum):
    """What a worker is to do; what is told last counts, unless it is told to end."""

    RUN = 0
    #: Take no more jobs, for the time being.
    PAUSE = 1
    #: Finish the job at hand, and end.
    FINISH = 2
    #: End at once: the job at hand is interrupted.
    STOP = 3


class Switch:
    """What a worker is told. Any thread may look and tell."""

    def __init__(self) -> None:
        self.mode = Mode.RUN
        #: Set when it is to end at once.
        self.stopped = Event()
        self._changes = Condition()

    def __repr__(self) -> str:
        return f"<Switch {self.mode.name}>"

    @property
    def is_ending(self) -> bool:
        """Whether the worker is to take no more jobs, for good."""
        return self.mode >= Mode.FINISH

    def tell(self, mode: Mode) -> bool:
        """Tell what to do; answers whether that is something new.

        Who is to end is not told to go on, and who is to end at once not to take his time.
        """
        with self._changes:
            if mode == self.mode or (self.is_ending and mode < self.mode):
                return False
            self.mode = mode
            if mode is Mode.STOP:
                self.stopped.set()
            self._changes.notify_all()
        return True

    def wait(self, seconds: float, mode: Mode = Mode.RUN) -> None:
        """Wait for so many seconds at most, as long as this is what is told."""
        with self._changes:
            self._changes.wait_for(lambda: self.mode is not mode, max(0.0, seconds))
