"""Which exceptions a middleware is for."""

from __future__ import annotations

from qless_core.errors import BadArgument
from qless_core.worker.interrupt import JobTaken, WorkerStopping
from qless_core.worker.settling import Requeue, TryAgain

#: What says by itself what becomes of the job.
_DECIDED = (WorkerStopping, JobTaken, TryAgain, Requeue)


class Kinds:
    """Some kinds of exceptions.

    Args:
        kinds: the classes; every `Exception` when none is given.

    Raises:
        BadArgument: one of them is no exception.

    """

    def __init__(self, kinds: tuple[type[BaseException], ...]) -> None:
        given: tuple[object, ...] = kinds
        for kind in given:
            if not (isinstance(kind, type) and issubclass(kind, BaseException)):
                problem = f"an exception class is needed, got {kind!r}"
                raise BadArgument(problem)
        self._kinds = kinds or (Exception,)

    def __repr__(self) -> str:
        return ", ".join(kind.__name__ for kind in self._kinds)

    def has(self, error: BaseException) -> bool:
        """Whether an error is one of these, and does not say itself what becomes of the job."""
        return isinstance(error, self._kinds) and not isinstance(error, _DECIDED)
