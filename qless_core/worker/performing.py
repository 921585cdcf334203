"""From the name of a class to work done: run a job within its middleware.

`job_class.py` says what runs the jobs of a class, `settling.py` what is told of it afterwards.
"""

from __future__ import annotations

import inspect
import logging
import os
import sys
import traceback
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Final

from qless_core import finishing, job_class, process, wire
from qless_core.errors import BadArgument
from qless_core.finishing import finish
from qless_core.job_class import (
    CannotPerform,
    find,
    method_name_of,
    performer_in,
    performer_of,
)
from qless_core.worker import interrupt, logs
from qless_core.worker.heartbeat import keep
from qless_core.worker.interrupt import Grip, Interruption, JobTaken
from qless_core.worker.signals import is_ended_by_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from qless_core.job import Job
    from qless_core.worker.interrupt import Throw

    Middleware = Callable[[Job], AbstractContextManager[Any]]

__all__ = [
    "CannotPerform",
    "attempt",
    "find",
    "group_of",
    "message_of",
    "method_name_of",
    "performer_of",
]

log = logging.getLogger("qless.worker")

#: The attribute of a job class that has its middleware.
MIDDLEWARE_ATTRIBUTE: Final = "middleware"
#: The attribute of a job class that asks for its lock to be kept, when it is True.
HEARTBEATS_ATTRIBUTE: Final = "heartbeats"

#: Files whose frames at the head of a traceback say nothing of the job.
_OURS: Final = frozenset({__file__, finishing.__file__, job_class.__file__, interrupt.__file__})


def attempt(
    job: Job,
    middleware: Sequence[Middleware] = (),
    *,
    throw: Throw | None = None,
    is_taken: Callable[[Job], bool] | None = None,
) -> BaseException | None:
    """Run a job; answers what it raised, or None when it returned.

    Args:
        job: the job.
        middleware: what goes around it, the outermost first; that of its class is inside.
        throw: as `Grip` has it.
        is_taken: says whether the job was taken from us before anybody could be told.

    Returns:
        What the job raised, or its middleware; an `Interruption` where it was stopped, also where
        that was swallowed or something else was raised of it.

    Raises:
        KeyboardInterrupt: Ctrl-C is the program's own business, and was pressed.

    """
    begun_in = process.number
    grip = Grip(job, throw)
    token = logs.begin(job)
    try:
        if is_taken is not None and is_taken(job):
            grip.interrupt(JobTaken("the lock is lost"))
        _run(job, middleware, grip)
    except BaseException as raised:
        _end_if_forked(begun_in, raised)
        if isinstance(raised, KeyboardInterrupt) and is_ended_by_keys():
            raise
        error = grip.in_full(raised)
        if grip.stopped is not None and error is not grip.stopped:
            log.info("job %r raised as it was stopped\n%s", job.jid, message_of(error))
            error = grip.stopped
        if isinstance(error, Interruption):
            log.warning("job %r (%r) was stopped: %r", job.jid, job.klass_name, error)
        else:
            # As text, because a handler may choke on what UTF-8 cannot hold.
            log.warning("job %r (%r) raised\n%s", job.jid, job.klass_name, message_of(error))
        return error
    finally:
        grip.close()
        logs.end(token)
        _end_if_forked(begun_in, sys.exception())
    if grip.stopped is not None:
        log.warning("job %r (%r) went on as it was stopped", job.jid, job.klass_name)
    return grip.stopped


def _run(job: Job, middleware: Sequence[Middleware], grip: Grip) -> None:
    """Run a job within its middleware."""
    if middleware:
        with ExitStack() as around:
            for each in middleware:
                around.enter_context(each(job))
            _run_within(job, grip)
    else:
        _run_within(job, grip)


def _run_within(job: Job, grip: Grip) -> None:
    """Run a job within the middleware of its class."""
    klass = find(job.klass_name)
    own = middleware_of(klass, job.klass_name)
    if getattr(klass, HEARTBEATS_ATTRIBUTE, False) is True:
        own = (keep, *own)
    if own:
        with ExitStack() as around:
            for each in own:
                around.enter_context(each(job))
            _perform(job, klass, grip)
    else:
        _perform(job, klass, grip)


def _perform(job: Job, klass: Any, grip: Grip) -> None:  # noqa: ANN401 - as find() gives it
    """Run a job so that it can be stopped; what goes around it cannot be."""
    performer = performer_in(klass, job.klass_name, job.queue_name)
    begun_in = process.number
    is_done = False
    try:
        try:
            grip.open()
            finish(performer(job), job.klass_name)
            is_done = True
        finally:
            grip.close()
            # Before what goes around the job, which is not to end twice.
            _end_if_forked(begun_in, sys.exception())
    except Interruption:
        # One that came as it returned is too late: it is done.
        if not is_done:
            grip.close()
            grip.clean()
            raise
        grip.stopped = None


def _end_if_forked(begun_in: int, error: BaseException | None) -> None:
    """End a process that the job has forked: it would go on as a second worker of this name."""
    if process.number == begun_in:
        return
    code = 0
    if isinstance(error, SystemExit):
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    elif error is not None:
        code = 1
        log.error("a process that a job forked raised\n%s", message_of(error))
    with suppress(BaseException):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code & 0xFF)


def middleware_of(klass: Any, klass_name: str) -> tuple[Middleware, ...]:  # noqa: ANN401 - as find()
    """Give the middleware that a job class asks for: its attribute `middleware`, a list.

    A method of that name is none: it runs the jobs of a queue that is called so.

    Raises:
        BadArgument: it is something else.

    """
    found = getattr(klass, MIDDLEWARE_ATTRIBUTE, ())
    if found == ():
        return ()
    if inspect.isroutine(found) or inspect.ismodule(klass):
        return ()
    if not isinstance(found, list | tuple) or not all(map(callable, found)):
        problem = (
            f"{klass_name}.{MIDDLEWARE_ATTRIBUTE} must be a list of functions that take the job "
            f"and answer a context manager, got {found!r}"
        )
        raise BadArgument(problem)
    return tuple(found)


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
    try:
        text = "".join(traceback.format_exception(type(error), error, frames))
    except Exception as trouble:  # noqa: BLE001 - of whatever class the error is
        where = "".join(traceback.format_tb(frames))
        kind, other = type(error).__name__, type(trouble).__name__
        text = f"{where}{kind}, which cannot be shown: showing it raised {other}"
    return wire.clean(text)
