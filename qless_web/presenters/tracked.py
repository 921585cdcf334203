"""The page of tracked jobs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from qless_web.presenters import by_state, jobs, paging
from qless_web.presenters.page import Action, EmptyState, Link, Page, Pager, Tab, pager

if TYPE_CHECKING:
    from qless_core.reads.lists import StateListing
    from qless_core.reads.rows import JobRow as Snapshot
    from qless_web.presenters.rows import JobRow


@dataclass(frozen=True, kw_only=True)
class TrackedPage(Page):
    """Tracked jobs, those that need attention first.

    Attributes:
        tabs: the states, with how many jobs are in each.
        tab: the key of the one that is shown.
        rows: the jobs of this page.
        pages: where the other ones are.
        total: how many jobs are tracked.
        partly: what the counts do not cover, in a sentence; "" when they cover all.
        verbs: what can be done to ticked ones.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "tracked/index.html"

    tabs: tuple[Tab, ...]
    tab: str
    rows: tuple[JobRow, ...]
    pages: Pager
    total: int
    partly: str
    verbs: tuple[jobs.TickedVerb, ...]
    empty: EmptyState | None


def tracked_page(found: StateListing, state: str | None, number: int) -> TrackedPage:
    """Return page `number` of the tracked jobs that are in a state; None for all of them."""
    everything = Link("tracked.index")
    tab = by_state.key_of(state)
    query = () if state is None else (("state", tab),)
    pages = pager(everything, number=number, total=found.total, query=query)
    return TrackedPage(
        title="Tracked",
        nav="tracked",
        topics=("tracked",),
        tabs=by_state.tabs(everything, found),
        tab=tab,
        rows=tuple(_row(row) for row in found.rows),
        pages=pages,
        total=found.members,
        partly=by_state.partly(found),
        verbs=jobs.ticked_verbs("" if state is None else state),
        empty=paging.beyond(pages, number) or _empty(found, state),
    )


def _row(row: Snapshot) -> JobRow:
    shown = jobs.job_row(row, moment="tracked", tracked=True)
    # A job that is gone can still be taken off the list.
    return replace(shown, actions=(_untrack(row.jid),)) if row.gone else shown


def _untrack(jid: str) -> Action:
    return Action(text="Untrack", link=Link("act.untrack_job", {"jid": jid}), icon="untrack")


def _empty(found: StateListing, state: str | None) -> EmptyState | None:
    if found.total:
        return None
    return (
        _NONE
        if not found.members
        else by_state.nothing(Link("tracked.index"), state, "tracked job")
    )


_NONE = EmptyState(
    kind="nothing-yet",
    title="No job is tracked",
    text="Track a job on its page to follow it here, whatever becomes of it.",
    command='client.jobs["<jid>"].track()',
)
