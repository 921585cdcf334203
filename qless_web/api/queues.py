"""Queues and the jobs in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast

from qless_core import reads
from qless_core.reads.queues import ORDERS
from qless_web.api.entries import JOB, JobEntry, job_entry
from qless_web.api.params import Param
from qless_web.api.route import Page, Route, address, listed, missing, shown
from qless_web.console import current
from qless_web.presenters.queues import exists

if TYPE_CHECKING:
    from qless_core.reads import Listing, Slice
    from qless_core.reads.queues import QueueSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """How many jobs a queue has in each state."""

    name: str
    url: str
    paused: bool
    waiting: Annotated[int, "Scheduled jobs that are due count as waiting."]
    running: int
    stalled: int
    scheduled: int
    depends: int
    throttled: int
    recurring: int
    next_since: Annotated[
        float | None, "Since when the job that is next has been waiting, epoch seconds."
    ]
    failures_today: Annotated[int, "How often a job of it failed today (UTC)."]


def counts_of(found: QueueSummary) -> Queue:
    """Give the counts of a queue."""
    return Queue(
        name=found.name,
        url=address("queue", queue=found.name),
        paused=found.paused,
        waiting=found.waiting,
        running=found.running,
        stalled=found.stalled,
        scheduled=found.scheduled,
        depends=found.depends,
        throttled=found.throttled,
        recurring=found.recurring,
        next_since=found.next_since,
        failures_today=found.failures_today,
    )


QUEUE = Queue(
    name="mail",
    url="/api/v1/queues/mail",
    paused=False,
    waiting=120,
    running=4,
    stalled=0,
    scheduled=3,
    depends=0,
    throttled=0,
    recurring=1,
    next_since=1798761600.25,
    failures_today=2,
)

MATCH = Param(
    name="q", default="", help="Keep those with this in their name, in any case.", example="mai"
)


@listed(
    Route(
        name="queues",
        rule="/queues",
        family="queues",
        answers=Page[Queue],
        example=QUEUE,
        params=(
            MATCH,
            Param(
                name="sort",
                kind="choice",
                choices=("name", *ORDERS),
                default="name",
                help="What there is most of comes first; `oldest`: what waits longest.",
            ),
        ),
    )
)
def queues(part: Slice, q: str, sort: str) -> Page[Queue]:
    """List the queues."""
    return Page.of(current().read(reads.queue_counts(part, match=q, order=sort)), counts_of)


@shown(
    Route(
        name="queue",
        rule="/queues/<name:queue>",
        family="queues",
        answers=Queue,
        example=QUEUE,
    )
)
def show(queue: str) -> Queue:
    """Count the jobs of a queue."""
    detail, counts = current().read(
        reads.queue(queue), reads.queue_counts(reads.Slice(0, 1), only=(queue,))
    )
    if not exists(detail):
        raise missing(queue=queue)
    return counts_of(counts.rows[0])


@listed(
    Route(
        name="queueJobs",
        rule="/queues/<name:queue>/jobs",
        family="queues",
        answers=Page[JobEntry],
        example=JOB,
        params=(
            Param(
                name="state",
                kind="choice",
                choices=("waiting", "running", "stalled", "scheduled", "depends", "throttled"),
                default="waiting",
                help="Which jobs: waiting ones in the order of a pop, the others by their time.",
            ),
        ),
    )
)
def jobs(queue: str, part: Slice, state: str) -> Page[JobEntry]:
    """List the jobs of a queue in one state."""
    detail, found = current().read(reads.queue(queue), reads.queue_jobs(queue, state, part))
    if not exists(detail):
        raise missing(queue=queue)
    return Page.of(cast("Listing[reads.JobRow]", found), job_entry)
