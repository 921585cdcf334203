"""Recurring and scheduled jobs, of one queue and of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from qless_core import reads
from qless_web.api.entries import (
    JOB,
    RECURRING,
    JobEntry,
    RecurringEntry,
    job_entry,
    recurring_entry,
)
from qless_web.api.route import Page, Route, listed, missing
from qless_web.console import current
from qless_web.presenters.queues import exists

if TYPE_CHECKING:
    from qless_core.reads import Listing, Slice


@listed(
    Route(
        name="recurringJobs",
        rule="/queues/<name:queue>/recurring",
        family="recurring",
        answers=Page[RecurringEntry],
        example=RECURRING,
    )
)
def of_queue(queue: str, part: Slice) -> Page[RecurringEntry]:
    """List the recurring jobs of a queue, by their next run."""
    detail, found = current().read(reads.queue(queue), reads.queue_jobs(queue, "recurring", part))
    if not exists(detail):
        raise missing(queue=queue)
    return Page.of(cast("Listing[reads.RecurringRow]", found), recurring_entry)


@listed(
    Route(
        name="allRecurringJobs",
        rule="/recurring",
        family="recurring",
        answers=Page[RecurringEntry],
        example=RECURRING,
    )
)
def everywhere(part: Slice) -> Page[RecurringEntry]:
    """List the recurring jobs of all queues, by their next run; the first 1,000."""
    return Page.of(current().read(reads.recurring(part)), recurring_entry)


@listed(
    Route(
        name="allScheduledJobs",
        rule="/scheduled",
        family="jobs",
        answers=Page[JobEntry],
        example=JOB,
    )
)
def scheduled(part: Slice) -> Page[JobEntry]:
    """List the scheduled jobs of all queues, the next to be due first; the first 1,000."""
    return Page.of(current().read(reads.scheduled(part)), job_entry)
