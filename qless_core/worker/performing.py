"""From the name of a class to work done: run a job, settle it.

`job_class.py` says what runs the jobs of a class.
"""

from __future__ import annotations

import logging
import traceback
from typing import TYPE_CHECKING, Final

from qless_core import job_class, wire
from qless_core.errors import BadArgument
from qless_core.job_class import CannotPerform, find, method_name_of, performer_of

if TYPE_CHECKING:
    from qless_core.job import Job

__all__ = [
    "CannotPerform",
    "attempt",
    "find",
    "group_of",
    "message_of",
    "method_name_of",
    "performer_of",
    "settle",
]

log = logging.getLogger("qless.worker")

#: Files whose frames at the head of a traceback say nothing of the job.
_OURS: Final = frozenset({__file__, job_class.__file__})


def attempt(job: Job) -> BaseException | None:
    """Run a job; answers what it raised, or None when it returned."""
    try:
        performer_of(job.klass_name, job.queue_name)(job)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - all of it ends the job, not us
        # As text, because a handler may choke on what UTF-8 cannot hold.
        log.warning("job %r (%r) raised\n%s", job.jid, job.klass_name, message_of(error))
        return error
    return None


def settle(job: Job, error: BaseException | None) -> None:
    """Complete a job that returned, fail one that raised, leave alone what settled itself.

    Raises:
        LockLost: another worker has the job by now.
        JobNotRunning: somebody took the job away meanwhile.
        JobNotFound: somebody cancelled the job meanwhile.
        RedisUnavailable: the outcome could not be told, or nobody knows whether it was.

    """
    if job.is_settled:
        return
    if error is None:
        try:
            job.complete()
        except BadArgument as problem:
            error = problem
        else:
            return
    _fail(job, error)


def group_of(queue_name: str, error: BaseException) -> str:
    """Name the group that a job fails with: `<queue>-<Exception>`."""
    kind = ImportError if isinstance(error, CannotPerform) else type(error)
    return f"{queue_name}-{kind.__name__}"


def message_of(error: BaseException) -> str:
    """Give the traceback of what a job raised, without the worker's own frames."""
    if isinstance(error, CannotPerform):
        cause = error.__cause__
        return str(error) + (f"\n\n{_traced(cause)}" if cause else "")
    return _traced(error)


def _traced(error: BaseException) -> str:
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename in _OURS:
        frames = frames.tb_next
    # Text like "\udcff", as file names give it, must not stop a failure from being recorded.
    return wire.clean("".join(traceback.format_exception(type(error), error, frames)))


def _fail(job: Job, error: BaseException) -> None:
    """Record what a job raised as its failure."""
    group, message = group_of(job.queue_name, error), message_of(error)
    try:
        job.fail(group, message)
    except BadArgument:
        # The job left something in its data that JSON cannot say; the failure matters more.
        job.forget_changes()
        job.fail(group, message)
