"""One group of failures: how it is handled, what is alike in it, and its jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.formatting import isolated, tilde
from qless_web.presenters import jobs, named, paging
from qless_web.presenters.handling import handled, handling_actions
from qless_web.presenters.page import Action, Crumb, EmptyState, Link, Page, Pager, pager
from qless_web.presenters.tables import group_actions

if TYPE_CHECKING:
    from qless_core.reads import JobRow as Snapshot
    from qless_core.reads import Listing
    from qless_web.presenters.clusters import Clustering
    from qless_web.presenters.handling import Handled
    from qless_web.presenters.rows import JobRow
    from qless_web.triage.handling import Handling


@dataclass(frozen=True, kw_only=True)
class GroupPage(Page):
    """The jobs of one group of failures, newest first.

    Attributes:
        group: its whole name.
        shown: as much of it as the heading has room for.
        rows: the jobs of this page.
        pages: where the other ones are.
        count: how many jobs it has.
        share: of all failed jobs, in 0..1.
        newest: when the newest of this page failed, epoch seconds.
        handled: how people handle it; None where nobody said anything.
        runbook: the address of its runbook; "" for none.
        clustering: what is alike in it; None where there are no jobs.
        compare: what stands out in it, or in the cluster.
        timeline: its newest jobs on one axis.
        actions: what can be done to all of them.
        decisions: what can be decided about it.
        verbs: what can be done to ticked ones.
        ticked_in: the group as addresses write it, for what is done to ticked ones to check.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "failures/group.html"

    group: str
    shown: str
    rows: tuple[JobRow, ...]
    pages: Pager
    count: int
    share: float
    newest: float | None
    handled: Handled | None
    runbook: str
    clustering: Clustering | None
    compare: Link
    timeline: Link
    actions: tuple[Action, ...]
    decisions: tuple[Action, ...]
    verbs: tuple[jobs.TickedVerb, ...]
    ticked_in: str
    empty: EmptyState | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is known of a group beside its jobs.

    Attributes:
        count: how many jobs it has.
        failed: failed jobs in all groups.
        handling: how people handle it.
        runbook: the address of its runbook; "" for none.
        clustering: what is alike in it.
        cluster: the key of the cluster that is listed; "" for all of the group.

    """

    count: int
    failed: int
    handling: Handling
    runbook: str
    clustering: Clustering
    cluster: str


def group_page(group: str, found: Listing[Snapshot], around: Around, number: int) -> GroupPage:
    """Return page `number` of a group's jobs, or of those of one of its clusters."""
    shown = named.short(group)
    query = (("cluster", around.cluster),) if around.cluster else ()
    pages = pager(jobs.group_link(group), number=number, total=found.total, query=query)
    return GroupPage(
        title=f"{isolated(shown)} · failures",
        nav="failures",
        crumbs=(Crumb("Failures", Link("failures.index")), Crumb(isolated(named.short(group, 40)))),
        topics=(f"failed:{group}",),
        group=group,
        shown=shown,
        rows=jobs.job_rows(found.rows, moment="failed", group=group),
        pages=pages,
        count=around.count,
        share=around.count / max(around.failed, around.count, 1),
        newest=found.rows[0].failed_at if found.rows and number == 1 else None,
        handled=handled(around.handling, ""),
        runbook=around.runbook,
        clustering=around.clustering if around.count else None,
        compare=Link("compare.group", {"group": group, **dict(query)}),
        timeline=Link("lives.group", {"group": group, **dict(query)}),
        actions=group_actions(group) if around.count else (),
        decisions=handling_actions(group, around.handling) if around.count else (),
        verbs=jobs.ticked_verbs("failed"),
        ticked_in=tilde(group),
        empty=paging.beyond(pages, number) or (None if found.total else _empty(group, around)),
    )


def _empty(group: str, around: Around) -> EmptyState:
    if not around.count:
        return _EMPTY
    return EmptyState(
        kind="no-match",
        title="No job of this cluster is here any more",
        link=jobs.group_link(group),
        link_text="All jobs of the group",
    )


_EMPTY = EmptyState(
    kind="nothing-wrong",
    title="No failed job is in this group",
    text="Those that were have been retried, moved or cancelled, or there never were any.",
    link=Link("failures.index"),
    link_text="All failures",
)
