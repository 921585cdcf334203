"""The list of workers, and the page of one with the jobs it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.presenters import jobs, paging
from qless_web.presenters.page import Action, Crumb, EmptyState, Link, Page, Pager, pager
from qless_web.presenters.tables import WorkerRow, forget_action, worker_row, worker_rows

if TYPE_CHECKING:
    from qless_core.reads import Listing
    from qless_core.reads.workers import WorkerDetail, WorkerSummary
    from qless_web.presenters.rows import JobRow


@dataclass(frozen=True, kw_only=True)
class WorkersPage(Page):
    """All workers, by name.

    Attributes:
        rows: the workers of this page.
        pages: where the other ones are.
        total: how many there are, with this filter.
        match: what their names must contain.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "workers/index.html"

    rows: tuple[WorkerRow, ...]
    pages: Pager
    total: int
    match: str
    empty: EmptyState | None


def workers_page(found: Listing[WorkerSummary], *, match: str, number: int) -> WorkersPage:
    """Return page `number` of the workers whose names contain `match`."""
    query = [("q", match)] if match else []
    pages = pager(Link("workers.index"), number=number, total=found.total, query=query)
    return WorkersPage(
        title="Workers",
        nav="workers",
        topics=("workers",),
        rows=worker_rows(found.rows),
        pages=pages,
        total=found.total,
        match=match,
        empty=paging.beyond(pages, number) or _no_workers(found.total, match),
    )


def _no_workers(total: int, match: str) -> EmptyState | None:
    if total:
        return None
    if match:
        return EmptyState(
            kind="no-match",
            title=f"No worker has “{match}” in its name",
            link=Link("workers.index"),
            link_text="Show all workers",
        )
    return EmptyState(
        kind="nothing-yet",
        title="No worker was seen yet",
        text="A worker appears when it asks for its first job, and is left out when it was not "
        "seen for a day.",
    )


@dataclass(frozen=True, kw_only=True)
class WorkerPage(Page):
    """One worker.

    Attributes:
        worker: who it is, what it holds, when it was seen.
        is_known: it is on the list of workers; otherwise only jobs tell of it.
        rows: the jobs of this page, those whose lock ends first at the head.
        pages: where the other ones are.
        verbs: what can be done to ticked jobs.
        forget: what takes it off the list; None when it is not on it.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "workers/show.html"

    worker: WorkerRow
    is_known: bool
    rows: tuple[JobRow, ...]
    pages: Pager
    verbs: tuple[jobs.TickedVerb, ...]
    forget: Action | None
    empty: EmptyState | None


def worker_page(found: WorkerDetail, number: int) -> WorkerPage:
    """Return page `number` of the jobs of a worker."""
    name = found.summary.name
    is_known = found.summary.last_seen is not None
    pages = pager(jobs.worker_link(name), number=number, total=found.jobs.total)
    return WorkerPage(
        title=name,
        nav="workers",
        crumbs=(Crumb("Workers", Link("workers.index")), Crumb(name)),
        topics=("workers", f"worker:{name}"),
        worker=worker_row(found.summary),
        is_known=is_known,
        rows=jobs.job_rows(found.jobs.rows, moment="lock", named=True),
        pages=pages,
        verbs=jobs.ticked_verbs("running"),
        forget=forget_action(name) if is_known else None,
        empty=paging.beyond(pages, number) or (None if found.jobs.total else _IDLE),
    )


_IDLE = EmptyState(
    kind="nothing-wrong",
    title="This worker holds no job",
    text="It has finished what it took, and asks for more when it is ready.",
)
