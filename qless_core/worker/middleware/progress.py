"""Telling how far a job is, as often as people can see it and no oftener."""

from __future__ import annotations

import logging
import math
from collections.abc import Sized
from typing import TYPE_CHECKING, Final, TypeVar

from qless_core.clock import REAL
from qless_core.errors import RedisUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qless_core.job import Job

    T = TypeVar("T")

log = logging.getLogger("qless.worker")

#: Seconds between two that are told.
EVERY_S: Final = 1.0


class Progress:
    """How far a job is: `for row in Progress(job).over(rows): …`.

    Args:
        job: the job that runs.
        total: of how much, where that is known.
        every: the least seconds between two that are told; the end is always told.

    """

    def __init__(self, job: Job, total: float | None = None, *, every: float = EVERY_S) -> None:
        self.job = job
        self.total = total
        self._every = every
        self._told_at = -math.inf

    def __repr__(self) -> str:
        return f"<Progress of {self.job!r}>"

    def tell(self, done: float, note: str | None = None) -> bool:
        """Tell how much is done; answers whether it was sent.

        Redis being away is no reason for the job to end.

        Raises:
            LockLost: another worker has it.
            JobNotRunning: it is not running.
            JobNotFound: it is gone.

        """
        now = REAL.monotonic()
        is_end = self.total is not None and done >= self.total
        if not is_end and now - self._told_at < self._every:
            return False
        self._told_at = now
        try:
            self.job.progress(done, self.total, note)
        except RedisUnavailable as trouble:
            log.info("job %r: its progress cannot be told: %s", self.job.jid, trouble)
            return False
        return True

    def over(self, items: Iterable[T]) -> Iterator[T]:
        """Give some items one by one, and tell how many are done.

        Raises:
            LockLost: another worker has the job.
            JobNotRunning: it is not running.
            JobNotFound: it is gone.

        """
        if self.total is None and isinstance(items, Sized):
            self.total = len(items)
        for number, item in enumerate(items, 1):
            yield item
            self.tell(number)
