"""Running jobs again that failed for a reason that passes."""

from __future__ import annotations

import random
from contextlib import contextmanager
from typing import TYPE_CHECKING

from qless_core.errors import BadArgument
from qless_core.worker.middleware.errors import Kinds
from qless_core.worker.settling import TryAgain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core.job import Job


class RetryOn:
    """Runs a job again, later, that raised one of some exceptions; a retry is used up.

    It waits longer each time. What it raised is kept as its last failure; when no retry is left,
    it fails with that.

    Args:
        kinds: the exceptions; every `Exception` when none is given.
        first: seconds to wait after the first failure.
        longest: the most seconds, up to which the wait doubles.
        jitter: whether to wait between a half and the whole of that, so that jobs that failed
            together do not come back together.

    Raises:
        BadArgument: one of these makes no sense.

    """

    def __init__(
        self,
        *kinds: type[BaseException],
        first: float = 1.0,
        longest: float = 3600.0,
        jitter: bool = True,
    ) -> None:
        if not 0 <= first <= longest:
            problem = f"a wait from 0 to {longest!r} seconds is needed, got {first!r}"
            raise BadArgument(problem)
        self._kinds = Kinds(kinds)
        self._first = first
        self._longest = longest
        self._jitter = jitter

    def __repr__(self) -> str:
        return f"RetryOn({self._kinds!r}, first={self._first!r}, longest={self._longest!r})"

    @contextmanager
    def __call__(self, job: Job) -> Iterator[None]:
        """Run a job within.

        Raises:
            TryAgain: it is to run again.

        """
        try:
            yield
        except BaseException as error:
            if job.is_settled or not self._kinds.has(error):
                raise
            raise TryAgain(self.delay(job)) from error

    def delay(self, job: Job) -> float:
        """Give the seconds that a job is to wait that failed now."""
        failed = max(job.original_retries - job.retries_left, 0)
        whole = min(self._longest, self._first * 2.0 ** min(failed, 30))
        return whole * random.uniform(0.5, 1.0) if self._jitter else whole  # noqa: S311 - no secret
