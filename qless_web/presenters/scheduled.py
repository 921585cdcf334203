"""The scheduled jobs of all queues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.presenters import jobs, paging
from qless_web.presenters.page import EmptyState, Link, Page, Pager, pager

if TYPE_CHECKING:
    from qless_core.reads import Everywhere
    from qless_core.reads.rows import JobRow as Snapshot
    from qless_web.presenters.rows import JobRow

#: Queues whose changes the list hears of at once; it hears of the others by and by.
_HEARD = 8


@dataclass(frozen=True, kw_only=True)
class ScheduledPage(Page):
    """The scheduled jobs of all queues.

    Attributes:
        rows: those of this page, the next to be due first.
        pages: where the others are.
        total: how many there are.
        partly: what is not listed, in a sentence; "" where all is.
        verbs: what can be done to ticked ones.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "scheduled/index.html"

    rows: tuple[JobRow, ...]
    pages: Pager
    total: int
    partly: str
    verbs: tuple[jobs.TickedVerb, ...]
    empty: EmptyState | None


def scheduled_page(found: Everywhere[Snapshot], number: int) -> ScheduledPage:
    """Return page `number` of the scheduled jobs of all queues."""
    pages = pager(Link("scheduled.index"), number=number, total=found.total)
    queues = dict.fromkeys(row.queue for row in found.rows)
    return ScheduledPage(
        title="Scheduled",
        nav="scheduled",
        topics=("queues", *(f"queue:{name}" for name in list(queues)[:_HEARD])),
        rows=jobs.job_rows(found.rows, moment="due"),
        pages=pages,
        total=found.whole,
        partly=paging.partly(found.whole, found.total, "the next to be due"),
        verbs=jobs.ticked_verbs("scheduled"),
        empty=paging.beyond(pages, number) or (None if found.whole else _NONE),
    )


_NONE = EmptyState(
    kind="nothing-yet",
    title="Nothing is scheduled",
    text="Jobs that are put with a delay wait here until they are due.",
    command="""qless put mail shop.Welcome '{"to": "kim"}' --delay 3600""",
)
