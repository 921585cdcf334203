"""Telling Sentry of jobs that fail. Needs `sentry-sdk`: install the extra `qless[sentry]`."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from qless_core.errors import BadArgument
from qless_core.worker.interrupt import JobTaken, WorkerStopping
from qless_core.worker.settling import Requeue, TryAgain

try:
    import sentry_sdk
except ImportError:
    sentry_sdk = None  # type: ignore[assignment]  # looked at before each use

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core.job import Job


class Sentry:
    """Sends what a job raised to Sentry, with the tags `jid`, `klass` and `queue`.

    It uses the `sentry_sdk.init(…)` of the program. As the outermost middleware it also sees what
    others raise; what a job that is to run again was raised from is sent too, unless
    `only_last`.

    Args:
        data: whether to send the data of the job along.
        only_last: whether to send of a job that runs again nothing until no retry is left.

    Raises:
        BadArgument: `sentry-sdk` is not installed.

    """

    def __init__(self, *, data: bool = False, only_last: bool = False) -> None:
        if sentry_sdk is None:
            problem = "the middleware Sentry needs sentry-sdk: pip install 'qless[sentry]'"
            raise BadArgument(problem)
        self._data = data
        self._only_last = only_last

    def __repr__(self) -> str:
        return f"Sentry(data={self._data!r}, only_last={self._only_last!r})"

    @contextmanager
    def __call__(self, job: Job) -> Iterator[None]:
        """Run a job within."""
        with sentry_sdk.isolation_scope() as scope:
            scope.set_tag("jid", job.jid)
            scope.set_tag("klass", job.klass_name)
            scope.set_tag("queue", job.queue_name)
            scope.set_transaction_name(job.klass_name)
            scope.set_context("job", self._context(job))
            try:
                yield
            except BaseException as error:
                found = self._to_tell(job, error)
                if found is not None:
                    sentry_sdk.capture_exception(found)
                raise

    def _context(self, job: Job) -> dict[str, Any]:
        context: dict[str, Any] = {
            "worker": job.worker_name,
            "priority": job.priority,
            "retries left": job.retries_left,
            "tags": job.tags,
        }
        if self._data:
            context["data"] = job.raw_data
        return context

    def _to_tell(self, job: Job, error: BaseException) -> BaseException | None:
        """Find what Sentry is to be told of; None for nothing."""
        if isinstance(error, WorkerStopping | JobTaken):
            return None
        if isinstance(error, TryAgain | Requeue):
            is_last = isinstance(error, TryAgain) and job.retries_left < 1
            if self._only_last and not is_last:
                return None
            return error.__cause__ or error
        return error
