"""Jobs that may not take for ever."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from qless_core.errors import BadArgument
from qless_core.worker.interrupt import Interruption, grip_of
from qless_core.worker.timetable import Timetable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core.job import Job

_times: Final = Timetable("qless-timeouts")


class JobTimeout(Interruption):
    """Raised in a job that took too long; it fails as `<queue>-JobTimeout`."""


class Timeout:
    """Stops a job that takes too long: it is interrupted by `JobTimeout`, and fails.

    Args:
        seconds: how long it may take.

    Raises:
        BadArgument: that is no time.

    """

    def __init__(self, seconds: float) -> None:
        if not seconds > 0:
            problem = f"a timeout must be seconds above 0, got {seconds!r}"
            raise BadArgument(problem)
        self._seconds = seconds

    def __repr__(self) -> str:
        return f"Timeout({self._seconds!r})"

    @contextmanager
    def __call__(self, job: Job) -> Iterator[None]:
        """Run a job within."""
        grip = grip_of(job)
        error = JobTimeout(f"it took longer than {self._seconds:g} s")
        entry = _times.after(self._seconds, lambda: grip is not None and grip.interrupt(error))
        try:
            yield
        finally:
            _times.cancel(entry)
