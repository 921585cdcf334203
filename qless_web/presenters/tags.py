"""Tags, and the jobs with one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.formatting import isolated
from qless_web.presenters import by_state, jobs, named, paging
from qless_web.presenters.page import Crumb, EmptyState, Link, Page, Pager, Tab, pager
from qless_web.presenters.tables import Heading, headings

if TYPE_CHECKING:
    from qless_core.reads import Listing
    from qless_core.reads.lists import StateListing
    from qless_web.presenters.rows import JobRow


@dataclass(frozen=True, slots=True, kw_only=True)
class TagRow:
    """One tag: its whole name, what a row shows of it, and how many jobs carry it."""

    tag: str
    shown: str
    link: Link
    count: int


@dataclass(frozen=True, kw_only=True)
class TagsPage(Page):
    """Tags, most used first, or by name.

    Attributes:
        rows: the tags of this page.
        headings: what they can be ordered by.
        most: the highest count on it, for the bars.
        pages: where the other ones are.
        total: how many tags there are.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "tags/index.html"

    rows: tuple[TagRow, ...]
    headings: dict[str, Heading]
    most: int
    pages: Pager
    total: int
    empty: EmptyState | None


#: What tags are ordered by.
ORDERS = ("count", "name")


def tags_page(found: Listing[tuple[str, int]], number: int, order: str = "count") -> TagsPage:
    """Return page `number` of the tags, in an order of `ORDERS`."""
    link = Link("tags.index")
    query = () if order == ORDERS[0] else (("sort", order),)
    pages = pager(link, number=number, total=found.total, query=query)
    shown = named.distinct(tag for tag, _ in found.rows)
    return TagsPage(
        title="Tags",
        nav="tags",
        topics=("tags",),
        rows=tuple(
            TagRow(tag=tag, shown=shown[tag], link=jobs.tag_link(tag), count=count)
            for tag, count in found.rows
        ),
        headings=headings(link, order, ("count", "Jobs", False), ("name", "Tag", True)),
        most=max((count for _, count in found.rows), default=0),
        pages=pages,
        total=found.total,
        empty=paging.beyond(pages, number, "list of tags") or (None if found.total else _NONE),
    )


@dataclass(frozen=True, kw_only=True)
class TagPage(Page):
    """The jobs with a tag, failed and waiting ones first, completed ones last.

    Attributes:
        tag: whole.
        shown: as much of it as the heading has room for.
        tabs: the states, with how many jobs are in each.
        tab: the key of the one that is shown.
        rows: the jobs of this page.
        pages: where the other ones are.
        total: how many jobs carry the tag.
        partly: what the counts do not cover, in a sentence; "" when they cover all.
        verbs: what can be done to ticked ones.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "tags/show.html"

    tag: str
    shown: str
    tabs: tuple[Tab, ...]
    tab: str
    rows: tuple[JobRow, ...]
    pages: Pager
    total: int
    partly: str
    verbs: tuple[jobs.TickedVerb, ...]
    empty: EmptyState | None


def tag_page(tag: str, found: StateListing, state: str | None, number: int) -> TagPage:
    """Return page `number` of the jobs with a tag that are in a state; None for all of them."""
    everything = jobs.tag_link(tag)
    tab = by_state.key_of(state)
    query = () if state is None else (("state", tab),)
    pages = pager(everything, number=number, total=found.total, query=query)
    shown = named.short(tag)
    return TagPage(
        title=f"{isolated(shown)} · tag",
        nav="tags",
        crumbs=(Crumb("Tags", Link("tags.index")), Crumb(isolated(named.short(tag, 40)))),
        topics=(f"tag:{tag}",),
        tag=tag,
        shown=shown,
        tabs=by_state.tabs(everything, found),
        tab=tab,
        rows=jobs.job_rows(found.rows, named=True),
        pages=pages,
        total=found.members,
        partly=by_state.partly(found),
        verbs=jobs.ticked_verbs("" if state is None else state),
        empty=paging.beyond(pages, number) or _empty(everything, found, state),
    )


def _empty(link: Link, found: StateListing, state: str | None) -> EmptyState | None:
    if found.total:
        return None
    return _UNUSED if not found.members else by_state.nothing(link, state, "job with this tag")


_NONE = EmptyState(
    kind="nothing-yet",
    title="No tag is in use",
    text="Tags group jobs across queues. Give them when a job is put, or on its page.",
    command='client.queues["mail"].put("Welcome", {}, tags=["vip"])',
)

_UNUSED = EmptyState(
    kind="no-match",
    title="No job has this tag",
    text="Tags are exact: capitals and blanks count.",
    link=Link("tags.index"),
    link_text="All tags",
)
