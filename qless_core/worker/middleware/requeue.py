"""Putting jobs back that could not be done now, through no fault of theirs."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from qless_core.errors import BadArgument
from qless_core.worker.middleware.errors import Kinds
from qless_core.worker.settling import Requeue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core.job import Job


class RequeueOn:
    """Puts a job into its queue anew that raised one of some exceptions; its retries are renewed.

    Args:
        kinds: the exceptions; every `Exception` when none is given.
        delay: seconds that it waits there first.
        queue: the queue, when it is another one.
        times: how often at most; when the job was put so often, the exception is left to others.

    Raises:
        BadArgument: one of these makes no sense.

    """

    def __init__(
        self,
        *kinds: type[BaseException],
        delay: float = 0,
        queue: str | None = None,
        times: int = 20,
    ) -> None:
        if delay < 0 or times < 1:
            problem = f"a delay from 0 up and times from 1 up are needed, got {delay!r}, {times!r}"
            raise BadArgument(problem)
        self._kinds = Kinds(kinds)
        self._delay = delay
        self._queue = queue
        self._times = times

    def __repr__(self) -> str:
        return f"RequeueOn({self._kinds!r}, delay={self._delay!r}, times={self._times!r})"

    @contextmanager
    def __call__(self, job: Job) -> Iterator[None]:
        """Run a job within.

        Raises:
            Requeue: it goes back.

        """
        try:
            yield
        except BaseException as error:
            if job.is_settled or not self._kinds.has(error):
                raise
            # The first was that by which it came to be.
            if sum(item.what == "put" for item in job.history) > self._times:
                raise
            raise Requeue(self._delay, queue=self._queue) from error
