"""From the name of a class to work done: find what runs a job, run it, settle the job.

A job class is a class (or a function, or a module) that can be imported by its dotted name. What
runs is its method named after the job's queue, else `process`, else `perform`, with the job as
its only argument; a class whose method is no static or class method is made first, without
arguments. A function is called with the job.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import re
import traceback
from typing import TYPE_CHECKING, Any, Final, cast

from qless_core import wire
from qless_core.errors import BadArgument, QlessError

if TYPE_CHECKING:
    from collections.abc import Callable

    from qless_core.job import Job

log = logging.getLogger("qless.worker")

#: Methods that run the jobs of any queue, in the order of preference.
COMMON_METHODS: Final = ("process", "perform")


class CannotPerform(QlessError):  # noqa: N818 - the names are the sentence, as in errors.py
    """Raised when the class of a job cannot be imported, or has nothing that runs jobs."""


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


def performer_of(klass_name: str, queue_name: str) -> Callable[[Job], Any]:
    """Find what runs the jobs of a class in a queue.

    Raises:
        CannotPerform: the class cannot be imported, or has nothing that runs jobs.

    """
    found = find(klass_name)
    for name in (method_name_of(queue_name), *COMMON_METHODS):
        if _has_method(found, name):
            return _bound(found, name)
    if callable(found) and not inspect.isclass(found):
        return cast("Callable[[Job], Any]", found)
    problem = (
        f"{klass_name} has no method to run jobs of the queue {queue_name!r}: "
        f"it needs {method_name_of(queue_name) or 'one of'}, process or perform"
    )
    raise CannotPerform(problem)


def find(klass_name: str) -> Any:  # noqa: ANN401 - a class, a function or a module
    """Import what a dotted name means: a module, or something inside one.

    Raises:
        CannotPerform: there is nothing of that name, or its module cannot be imported.

    """
    parts = klass_name.replace("::", ".").split(".")
    for length in range(len(parts), 0, -1):
        module_name = ".".join(parts[:length])
        try:
            found = importlib.import_module(module_name)
        except ModuleNotFoundError as error:
            if error.name and f"{module_name}.".startswith(f"{error.name}."):
                continue
            raise _not_importable(klass_name, error) from error
        except Exception as error:
            raise _not_importable(klass_name, error) from error
        return _inside(found, parts[length:], klass_name)
    problem = f"{klass_name} cannot be imported: there is no module {parts[0]!r}"
    raise CannotPerform(problem)


def method_name_of(queue_name: str) -> str:
    """Turn the name of a queue into that of a method: `send-mail` is run by `send_mail`.

    "" for a name of which nothing is left that could name a method.
    """
    name = re.sub(r"\W+", "_", queue_name).strip("_")
    return name if name.isidentifier() else ""


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
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
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


def _has_method(found: Any, name: str) -> bool:  # noqa: ANN401 - as find() gives it
    """Whether somebody wrote a method of this name; what every class has does not count."""
    if not name or inspect.isroutine(found):
        return False
    if inspect.isclass(found) and not any(name in vars(base) for base in found.__mro__[:-1]):
        return False
    return callable(getattr(found, name, None))


def _bound(found: Any, name: str) -> Callable[[Job], Any]:  # noqa: ANN401 - as find() gives it
    """Get a method ready to be called with a job."""
    is_plain = inspect.isclass(found) and inspect.isfunction(inspect.getattr_static(found, name))
    method: Callable[[Job], Any] = getattr(found() if is_plain else found, name)
    return method


def _inside(found: Any, names: list[str], klass_name: str) -> Any:  # noqa: ANN401 - as find()
    for name in names:
        try:
            found = getattr(found, name)
        except AttributeError as error:
            problem = f"{klass_name} cannot be imported: {error}"
            raise CannotPerform(problem) from None
    return found


def _not_importable(klass_name: str, error: Exception) -> CannotPerform:
    return CannotPerform(f"{klass_name} cannot be imported: {type(error).__name__}: {error}")
