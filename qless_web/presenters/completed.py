"""The page of completed jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_core.options import option_of
from qless_web.formatting import count, duration
from qless_web.presenters import jobs, paging
from qless_web.presenters.page import EmptyState, Link, Page, Pager, pager
from qless_web.presenters.tables import Heading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_core.reads import JobRow as Snapshot
    from qless_core.reads import Listing
    from qless_web.presenters.rows import JobRow


@dataclass(frozen=True, kw_only=True)
class CompletedPage(Page):
    """Completed jobs, newest first or oldest first.

    Attributes:
        rows: the jobs of this page.
        order: the heading of their time, which turns the order round.
        pages: where the other ones are.
        total: how many there are.
        kept: how long they are kept, in a sentence.
        verbs: what can be done to ticked ones.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "completed/index.html"

    rows: tuple[JobRow, ...]
    order: Heading
    pages: Pager
    total: int
    kept: str
    verbs: tuple[jobs.TickedVerb, ...]
    empty: EmptyState | None


#: What they are ordered by.
ORDERS = ("newest", "oldest")


def completed_page(
    found: Listing[Snapshot], options: Mapping[str, str], number: int, order: str = "newest"
) -> CompletedPage:
    """Return page `number` of the completed jobs, in an order of `ORDERS`.

    `options` as stored say how long they stay.
    """
    link = Link("completed.index")
    query = () if order == ORDERS[0] else (("sort", order),)
    pages = pager(link, number=number, total=found.total, query=query)
    return CompletedPage(
        title="Completed",
        nav="completed",
        topics=("completed",),
        rows=jobs.job_rows(found.rows, moment="completed"),
        order=Heading(
            key="at",
            text="Completed",
            link=link if order == "oldest" else link.also(sort="oldest"),
            is_current=True,
            ascending=order == "oldest",
        ),
        pages=pages,
        total=found.total,
        kept=_kept(options),
        verbs=jobs.ticked_verbs("complete"),
        empty=paging.beyond(pages, number) or (None if found.total else _NONE),
    )


def _kept(options: Mapping[str, str]) -> str:
    seconds = _option("jobs-history", options)
    most = _option("jobs-history-count", options)
    return (
        f"Kept for {duration(seconds)}, the newest {count(int(most))} at most; "
        "older ones are forgotten when another completes."
    )


def _option(name: str, options: Mapping[str, str]) -> float:
    known = option_of(name)
    return float((known.read(options.get(name)) if known else None) or 0)


_NONE = EmptyState(
    kind="nothing-yet",
    title="No job has completed yet",
    text="Jobs appear here when a worker finishes them, and stay for a while.",
)
