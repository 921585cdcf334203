"""The groups of failures, and the jobs in one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.formatting import tilde
from qless_web.presenters import jobs, named, paging
from qless_web.presenters.page import Action, Crumb, EmptyState, Link, Page, Pager, pager
from qless_web.presenters.tables import group_actions, group_rows

if TYPE_CHECKING:
    from qless_core.reads import JobRow as Snapshot
    from qless_core.reads import Listing
    from qless_core.reads.failures import FailureGroup
    from qless_web.presenters.rows import GroupRow, JobRow


@dataclass(frozen=True, kw_only=True)
class FailuresPage(Page):
    """The groups of failures, those with the most jobs first.

    Attributes:
        rows: the groups of this page.
        pages: where the other ones are.
        failed: failed jobs in all groups.
        groups: how many groups there are.
        actions: what can be done to all of them.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "failures/index.html"

    rows: tuple[GroupRow, ...]
    pages: Pager
    failed: int
    groups: int
    actions: tuple[Action, ...]
    empty: EmptyState | None


def failures_page(found: Listing[FailureGroup], failed: int, number: int) -> FailuresPage:
    """Return page `number` of the groups; `failed` is the number of failed jobs in all of them."""
    pages = pager(Link("failures.index"), number=number, total=found.total)
    return FailuresPage(
        title="Failures",
        nav="failures",
        topics=("failures",),
        rows=group_rows(found.rows, failed),
        pages=pages,
        failed=failed,
        groups=found.total,
        actions=(_RETRY_ALL,) if found.total else (),
        empty=paging.beyond(pages, number) or (None if found.total else _NONE),
    )


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
        actions: what can be done to all of them.
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
    actions: tuple[Action, ...]
    verbs: tuple[jobs.TickedVerb, ...]
    ticked_in: str
    empty: EmptyState | None


def group_page(group: str, found: Listing[Snapshot], failed: int, number: int) -> GroupPage:
    """Return page `number` of a group's jobs; `failed` is the number of failed jobs in all."""
    shown = named.short(group)
    pages = pager(jobs.group_link(group), number=number, total=found.total)
    return GroupPage(
        title=f"{shown} · failures",
        nav="failures",
        crumbs=(Crumb("Failures", Link("failures.index")), Crumb(named.short(group, 40))),
        topics=(f"failed:{group}",),
        group=group,
        shown=shown,
        rows=jobs.job_rows(found.rows, moment="failed", group=group),
        pages=pages,
        count=found.total,
        share=found.total / max(failed, found.total, 1),
        newest=found.rows[0].failed_at if found.rows and number == 1 else None,
        actions=group_actions(group) if found.total else (),
        verbs=jobs.ticked_verbs("failed"),
        ticked_in=tilde(group),
        empty=paging.beyond(pages, number) or (None if found.total else _EMPTY),
    )


_RETRY_ALL = Action(text="Retry all", link=Link("act.unfail_all"), icon="retry", asks=True)

_NONE = EmptyState(
    kind="nothing-wrong",
    title="No job has failed",
    text="Jobs that fail are kept here, in groups, until they are retried, moved or cancelled.",
)

_EMPTY = EmptyState(
    kind="nothing-wrong",
    title="No failed job is in this group",
    text="Those that were have been retried, moved or cancelled, or there never were any.",
    link=Link("failures.index"),
    link_text="All failures",
)
