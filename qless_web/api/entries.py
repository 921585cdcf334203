"""Jobs and recurring jobs as every list of the API gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from qless_web.api.route import address

if TYPE_CHECKING:
    from qless_core import reads

JobState = Literal[
    "waiting",
    "running",
    "stalled",
    "scheduled",
    "depends",
    "throttled",
    "failed",
    "complete",
    "gone",
    "unknown",
]

_STATES = frozenset(JobState.__args__)  # type: ignore[attr-defined]  # typing does not tell mypy

Instant = Annotated[float | None, "Epoch seconds; null where nothing is known."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a job failed."""

    group: str
    message: Annotated[str, "In lists its first 4,000 characters."]
    when: Instant


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEntry:
    """A job in a list."""

    jid: str
    url: Annotated[str, "Where the job is, with its data and its history."]
    klass: str
    queue: str
    state: Annotated[
        JobState,
        "As a pop would find it. `gone`: the list names a job that no longer exists; `unknown`: "
        "another program has stored a word that is no state.",
    ]
    worker: str
    priority: Annotated[int, "The higher, the sooner."]
    tags: tuple[str, ...]
    retries: Annotated[int | None, "Retries allowed."]
    remaining: Annotated[int | None, "Retries left."]
    time: Annotated[float | None, "When it was last put, popped or completed, epoch seconds."]
    at: Annotated[
        float | None,
        "The time that the list is ordered by: due, end of the lock, completed or tracked.",
    ]
    expires: Annotated[float | None, "When its lock ends, epoch seconds."]
    in_grace: Annotated[bool, "Its lock ran out, and its worker may still finish."]
    timed_out: Annotated[bool, "It waits because somebody took its lock away."]
    waits_for: Annotated[int | None, "For how many jobs it waits; null where the list is silent."]
    spawned_from_jid: str
    failure: Failure | None


def state_of(row: reads.JobRow) -> JobState:
    """Give the state of a row in one word that is among `JobState`."""
    if row.gone:
        return "gone"
    return row.state if row.state in _STATES else "unknown"  # type: ignore[return-value]  # as just checked


def job_entry(row: reads.JobRow) -> JobEntry:
    """Give a row of a list."""
    return JobEntry(
        jid=row.jid,
        url=address("job", jid=row.jid),
        klass=row.klass,
        queue=row.queue,
        state=state_of(row),
        worker=row.worker,
        priority=row.priority,
        tags=row.tags,
        retries=row.retries,
        remaining=row.remaining,
        time=row.time,
        at=row.at,
        expires=row.expires,
        in_grace=row.in_grace,
        timed_out=row.timed_out,
        waits_for=row.waits_for,
        spawned_from_jid=row.spawned_from_jid,
        failure=failure(row),
    )


def failure(row: reads.JobRow) -> Failure | None:
    """Give the failure of a job; None where it has none."""
    if not row.failure_group and not row.failure_message:
        return None
    return Failure(group=row.failure_group, message=row.failure_message, when=row.failed_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurringEntry:
    """A recurring job in a list."""

    jid: str
    url: str
    klass: str
    queue: str
    interval: Annotated[float | None, "Seconds; null where a cron expression says when."]
    cron: Annotated[str, "The cron expression; empty where it recurs by interval."]
    timezone: str
    next_run: Annotated[float | None, "When its next job is made, epoch seconds."]
    last_run: Annotated[float | None, "When it ran last; by interval, counted back from the next."]
    paused: Annotated[bool, "It makes no jobs until it is unpaused."]
    owed: Annotated[int, "Jobs that are due by now and not made yet."]
    count: Annotated[int, "Jobs made so far."]
    backlog: Annotated[int, "How many late ones it makes at most; 0 for all of them."]
    priority: int
    retries: int | None
    tags: tuple[str, ...]
    gone: Annotated[bool, "The list names one whose definition no longer exists."]


def recurring_entry(row: reads.RecurringRow) -> RecurringEntry:
    """Give a row of a list."""
    return RecurringEntry(
        jid=row.jid,
        url=address("job", jid=row.jid),
        klass=row.klass,
        queue=row.queue,
        interval=row.interval,
        cron=row.cron,
        timezone=row.timezone,
        next_run=row.next_run,
        last_run=row.last_run,
        paused=row.paused,
        owed=row.owed,
        count=row.count,
        backlog=row.backlog,
        priority=row.priority,
        retries=row.retries,
        tags=row.tags,
        gone=row.gone,
    )


#: Examples for the document.
JOB = JobEntry(
    jid="order-12",
    url="/api/v1/jobs/order-12",
    klass="shop.Charge",
    queue="orders",
    state="failed",
    worker="shop-1-4101",
    priority=0,
    tags=("vip",),
    retries=5,
    remaining=4,
    time=1798761600.25,
    at=None,
    expires=None,
    in_grace=False,
    timed_out=False,
    waits_for=None,
    spawned_from_jid="",
    failure=Failure(group="shop-Timeout", message="no answer in 30 s", when=1798761631.0),
)
RECURRING = RecurringEntry(
    jid="nightly",
    url="/api/v1/jobs/nightly",
    klass="shop.Report",
    queue="reports",
    interval=86400,
    cron="",
    timezone="",
    next_run=1798761600.0,
    last_run=1798675200.0,
    paused=False,
    owed=0,
    count=12,
    backlog=0,
    priority=0,
    retries=5,
    tags=(),
    gone=False,
)
