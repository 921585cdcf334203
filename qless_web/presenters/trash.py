"""The page of the trash: what was cancelled, until when it can come back, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.presenters import ask_jobs, operation_words
from qless_web.presenters.operations import TABS, operation_link
from qless_web.presenters.page import (
    Action,
    EmptyState,
    Link,
    Page,
    PageNumber,
    Pager,
    Tab,
    pager,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_web.operations.trash import Resting, RestingJob


@dataclass(frozen=True, slots=True, kw_only=True)
class RestingRow:
    """Jobs of one operation that rest in the trash."""

    title: str
    link: Link
    jobs: Link
    count: int
    size: int
    who: str
    at: float
    until: float
    actions: tuple[Action, ...]
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RestingJobRow:
    """One job in the trash; `target` names it in the form that restores it."""

    jid: str
    klass: str
    queue: str
    state: str
    target: str


@dataclass(frozen=True, kw_only=True)
class TrashPage(Page):
    """What rests in the trash.

    Attributes:
        rows: the operations that cancelled, the newest first.
        count: how many jobs rest there.
        size: bytes that they take.
        hours: for how long jobs rest.
        restore: where the ticked jobs of the chosen operation are restored; None where none is.
        jobs: those of the chosen operation, of this page.
        pages: where its other ones are.
        tabs: the pages around operations.
        empty: what to show where nothing rests.

    """

    template: ClassVar[str] = "trash/index.html"

    rows: tuple[RestingRow, ...]
    count: int
    size: int
    hours: int
    restore: Link | None
    jobs: tuple[RestingJobRow, ...]
    pages: Pager | None
    tabs: tuple[Tab, ...]
    empty: EmptyState | None


def trash_page(
    found: Sequence[Resting],
    chosen: str,
    jobs: Sequence[RestingJob],
    number: PageNumber,
    hours: int,
) -> TrashPage:
    """Return the trash, with the jobs of the chosen operation."""
    opened = next((each for each in found if each.operation.id == chosen), None)
    pages = None
    if opened:
        pages = pager(
            Link("trash.index", {"operation": chosen}), number=number, total=opened.operation.at
        )
    return TrashPage(
        title="Trash",
        nav="operations",
        topics=("operations",),
        rows=tuple(_row(each, chosen) for each in found),
        count=sum(each.count for each in found),
        size=sum(each.size for each in found),
        hours=hours,
        restore=Link("act.restore_jobs", {"operation": chosen}) if opened else None,
        jobs=tuple(_job(each) for each in jobs) if opened else (),
        pages=pages,
        tabs=TABS,
        empty=None if found else _NONE,
    )


def _row(resting: Resting, chosen: str) -> RestingRow:
    operation = resting.operation
    undo = Action(
        text="Restore all",
        link=Link("act.undo_operation", {"operation": operation.id}),
        icon="retry",
        asks=True,
    )
    return RestingRow(
        title=operation_words.title(operation),
        link=operation_link(operation.id),
        jobs=Link("trash.index", {"operation": operation.id}),
        count=resting.count,
        size=resting.size,
        who=operation.who,
        at=operation.ended or operation.began,
        until=resting.until,
        actions=(undo,) if operation.can_undo else (),
        is_chosen=operation.id == chosen,
    )


def _job(job: RestingJob) -> RestingJobRow:
    return RestingJobRow(
        jid=job.jid,
        klass=job.klass,
        queue=job.queue,
        state=job.state,
        target=ask_jobs.target(job.jid, job.index),
    )


_NONE = EmptyState(
    kind="nothing-wrong",
    title="The trash is empty",
    text="Jobs that are cancelled from the console rest here for a while, and can come back with "
    "everything they had.",
)
