"""Recurring jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from qless_core import reads
from qless_web.api.entries import RECURRING, RecurringEntry, recurring_entry
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
