"""One job, or one recurring job, with its data to the last digit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from flask import Response

from qless_core import reads
from qless_core.reads.job import RecurringDetail
from qless_web import disclosure
from qless_web.api import text
from qless_web.api.entries import (
    JOB,
    RECURRING,
    JobEntry,
    RecurringEntry,
    job_entry,
    recurring_entry,
)
from qless_web.api.route import Route, missing, shown
from qless_web.console import current

if TYPE_CHECKING:
    from qless_core.reads.job import Happening, JobDetail, Related


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """The data of a job, as it is stored."""

    value: Annotated[Any, "The JSON, byte for byte; null where it is not sent here."]
    text: Annotated[str | None, "What is stored, where that is no JSON."]
    bytes: Annotated[int, "Its size."]
    is_whole: Annotated[bool, "False where it is too large for here: ask for `/data`."]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """Something that happened to a job."""

    what: str
    when: Annotated[float | None, "Epoch seconds."]
    details: Annotated[dict[str, Any], "What came with it: the worker, the queue, a log entry."]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedJob:
    """Another job that this one waits for, or that waits for it."""

    jid: str
    klass: str
    state: Annotated[str, "As stored; empty where the job is gone."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job."""

    kind: Literal["job"]
    job: JobEntry
    data: Data
    failure_message: Annotated[str | None, "The message of its failure, whole."]
    history: tuple[HistoryEntry, ...]
    history_trimmed: Annotated[bool, "Items after the first one may be missing."]
    dependencies: Annotated[tuple[RelatedJob, ...], "The first of the jobs it waits for."]
    dependencies_total: int
    dependents: Annotated[tuple[RelatedJob, ...], "The first of the jobs that wait for it."]
    dependents_total: int
    tracked_since: Annotated[float | None, "Epoch seconds; null where it is not tracked."]
    due: Annotated[float | None, "When a scheduled job is due, epoch seconds."]
    ahead: Annotated[int | None, "Of a waiting job: how many are before it."]
    queue_paused: bool
    as_of: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurringJob:
    """A recurring job."""

    kind: Literal["recurring"]
    recurring: RecurringEntry
    data: Data
    last: Annotated[JobEntry | None, "The last job that it made, while that exists."]
    tracked_since: Annotated[float | None, "Epoch seconds; null where it is not tracked."]
    queue_paused: bool
    as_of: float


_DATA = Data(value={"order": 12}, text=None, bytes=12, is_whole=True)

_JOB = Job(
    kind="job",
    job=JOB,
    data=_DATA,
    failure_message="no answer in 30 s",
    history=(HistoryEntry(what="put", when=1798761600, details={"q": "orders"}),),
    history_trimmed=False,
    dependencies=(),
    dependencies_total=0,
    dependents=(),
    dependents_total=0,
    tracked_since=None,
    due=None,
    ahead=None,
    queue_paused=False,
    as_of=1798761660.5,
)

#: Example of the other kind, for the tests that hold both against the document.
RECURRING_JOB = RecurringJob(
    kind="recurring",
    recurring=RECURRING,
    data=_DATA,
    last=None,
    tracked_since=None,
    queue_paused=False,
    as_of=1798761660.5,
)


@shown(
    Route(
        name="job",
        rule="/jobs/<name:jid>",
        family="jobs",
        answers=Job | RecurringJob,
        example=_JOB,
    )
)
def show(jid: str) -> Job | RecurringJob:
    """Show a job or a recurring job, with its data, history and relatives."""
    found = current().read(reads.job(jid))
    if found is None:
        raise missing(job=jid)
    if isinstance(found, RecurringDetail):
        return _recurring(disclosure.detail(found))
    return _job(disclosure.detail(found))


def _job(found: JobDetail) -> Job:
    message = found.failure.get("message")
    return Job(
        kind="job",
        job=job_entry(found.row),
        data=_data(found.data, found.data_bytes),
        failure_message=None if message is None else str(message),
        history=tuple(map(_happened, found.history)),
        history_trimmed=found.history_trimmed,
        dependencies=tuple(map(_related, found.dependencies)),
        dependencies_total=found.dependencies_total,
        dependents=tuple(map(_related, found.dependents)),
        dependents_total=found.dependents_total,
        tracked_since=found.tracked_since,
        due=found.due,
        ahead=found.ahead,
        queue_paused=found.paused,
        as_of=current().now,
    )


def _recurring(found: RecurringDetail) -> RecurringJob:
    return RecurringJob(
        kind="recurring",
        recurring=recurring_entry(found.row),
        data=_data(found.data, found.data_bytes),
        last=None if found.last is None else job_entry(found.last),
        tracked_since=found.tracked_since,
        queue_paused=found.paused,
        as_of=current().now,
    )


def _data(stored: str | None, size: int) -> Data:
    value = text.raw(stored)
    return Data(
        value=value,
        text=None if value is not None else stored,
        bytes=size,
        is_whole=stored is not None,
    )


def _happened(item: Happening) -> HistoryEntry:
    return HistoryEntry(what=item.what, when=item.when, details=item.detail)


def _related(other: Related) -> RelatedJob:
    return RelatedJob(jid=other.jid, klass=other.klass, state=other.state)


@shown(
    Route(
        name="jobData",
        rule="/jobs/<name:jid>/data",
        family="jobs",
        media=("application/json", "text/plain"),
    )
)
def data(jid: str) -> Response:
    """Give the data of a job alone, byte for byte; what is no JSON as text."""
    found = disclosure.original(jid)
    if found is None:
        raise missing(job=jid)
    kind = "application/json" if text.is_json(found.data) else "text/plain; charset=utf-8"
    return Response(found.data.encode(errors="surrogateescape"), content_type=kind)
