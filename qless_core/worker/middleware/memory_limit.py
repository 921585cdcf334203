"""Jobs that may not take all the memory."""

from __future__ import annotations

import logging
import math
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from qless_core.errors import BadArgument
from qless_core.worker import recycling
from qless_core.worker.interrupt import Interruption, grip_of
from qless_core.worker.memory import bytes_in_use
from qless_core.worker.timetable import Timetable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qless_core.job import Job
    from qless_core.worker.interrupt import Grip
    from qless_core.worker.timetable import Entry

log = logging.getLogger("qless.worker")

#: Seconds between two looks while a job runs.
LOOK_S: Final = 0.5

_times: Final = Timetable("qless-memory")


class MemoryExceeded(Interruption):
    """Raised in a job that takes too much memory; it fails as `<queue>-MemoryExceeded`."""


class MemoryLimit:
    """Sees to it that a process does not grow beyond a limit, by the memory that it has in use.

    Too big after a job, a child of a worker is replaced by a fresh one. With `fail` a job is
    stopped too that makes it so big: it is interrupted by `MemoryExceeded`, and fails.

    Args:
        most: bytes that the process may have in use.
        growth: bytes that one job may add.
        fail: whether the job fails.

    Raises:
        BadArgument: there is no limit, or it makes no sense.

    """

    def __init__(
        self, most: float | None = None, *, growth: float | None = None, fail: bool = False
    ) -> None:
        given = [limit for limit in (most, growth) if limit is not None]
        if not given or not all(limit > 0 for limit in given):
            problem = f"a limit of bytes above 0 is needed, got {most!r} and growth={growth!r}"
            raise BadArgument(problem)
        self._most = math.inf if most is None else most
        self._growth = math.inf if growth is None else growth
        self._fail = fail

    def __repr__(self) -> str:
        return f"MemoryLimit({self._most!r}, growth={self._growth!r}, fail={self._fail!r})"

    @contextmanager
    def __call__(self, job: Job) -> Iterator[None]:
        """Run a job within.

        Raises:
            MemoryExceeded: it took too much, and `fail` was asked for.

        """
        before = bytes_in_use()
        most = min(self._most, before + self._growth)
        watch = _Watch(grip_of(job), lambda: self._excess(before, most)) if self._fail else None
        try:
            yield
        finally:
            if watch is not None:
                watch.end()
            excess = self._excess(before, most)
            if excess:
                log.warning("job %r (%r): %s", job.jid, job.klass_name, excess)
                recycling.ask(excess)

    @staticmethod
    def _excess(before: float, most: float) -> str:
        """Say by how much there is too much; "" when there is not."""
        now = bytes_in_use()
        if now <= most:
            return ""
        return (
            f"the process has {_mib(now)} of memory in use, {_mib(now - before)} more than before "
            f"the job, of at most {_mib(most)}"
        )


class _Watch:
    """Looks now and then whether a job takes too much, and interrupts it."""

    def __init__(self, grip: Grip | None, excess: Callable[[], str]) -> None:
        self._grip = grip
        self._excess = excess
        self._is_over = False
        self._entry: Entry = _times.after(LOOK_S, self._look)

    def end(self) -> None:
        self._is_over = True
        _times.cancel(self._entry)

    def _look(self) -> None:
        excess = self._excess()
        if excess and self._grip is not None:
            self._grip.interrupt(MemoryExceeded(excess))
        elif not self._is_over:
            self._entry = _times.after(LOOK_S, self._look)


def _mib(count: float) -> str:
    return f"{count / 2**20:.0f} MiB"
