"""Which job a record of the log belongs to.

`JobFilter`, on a handler, puts `jid`, `klass` and `queue` on each record, for its format:
`%(asctime)s %(jid)s %(message)s`.
"""

from __future__ import annotations

import logging
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from contextvars import Token

    from qless_core.job import Job

#: The job that runs here: in this thread or greenlet.
_current: Final[ContextVar[Job | None]] = ContextVar("qless_job", default=None)


class JobFilter(logging.Filter):
    """Lets every record through, and puts on it which job it belongs to: "" for none."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Put `jid`, `klass` and `queue` on a record, unless it has them."""
        job = _current.get()
        if not hasattr(record, "jid"):
            record.jid = job.jid if job else ""
        if not hasattr(record, "klass"):
            record.klass = job.klass_name if job else ""
        if not hasattr(record, "queue"):
            record.queue = job.queue_name if job else ""
        return True


def current_job() -> Job | None:
    """Give the job that runs here; None where none does.

    Threads that a job starts know of none, unless they are given a copy of its context.
    """
    return _current.get()


def begin(job: Job) -> Token[Job | None]:
    """Take what is logged from now on as that of a job."""
    return _current.set(job)


def end(token: Token[Job | None]) -> None:
    """Go back to what was before `begin`."""
    _current.reset(token)
