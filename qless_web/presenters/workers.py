"""The list of workers, and the page of one with the jobs it holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from qless_web.formatting import isolated
from qless_web.presenters import jobs, paging
from qless_web.presenters.page import Crumb, EmptyState, Link, Page, Pager, pager
from qless_web.presenters.tables import Heading, headings
from qless_web.presenters.words import Part, Sentence, past, sentence
from qless_web.presenters.worker_rows import (
    WorkerRow,
    child_row,
    queues_of,
    worker_row,
    worker_rows,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.reads.workers import Crew, WorkerDetail, WorkerSummary
    from qless_web.presenters.rows import JobRow


@dataclass(frozen=True, kw_only=True)
class WorkersPage(Page):
    """All workers, by name, or those that were seen last at the head.

    Attributes:
        rows: the workers of this page.
        headings: what they can be ordered by.
        pages: where the other ones are.
        total: how many there are, with this filter; children are not counted.
        children: how many children they have.
        match: what their names must contain.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "workers/index.html"

    rows: tuple[WorkerRow, ...]
    headings: dict[str, Heading]
    pages: Pager
    total: int
    children: int
    match: str
    empty: EmptyState | None


#: What workers are ordered by.
ORDERS = ("name", "running", "seen")


def workers_page(found: Crew, *, match: str, number: int, order: str = "name") -> WorkersPage:
    """Return page `number` of the workers whose names contain `match`, in an order of `ORDERS`."""
    link = Link("workers.index", {"q": match} if match else {})
    query = () if order == ORDERS[0] else (("sort", order),)
    pages = pager(link, number=number, total=found.total, query=query)
    return WorkersPage(
        title="Workers",
        nav="workers",
        topics=("workers",),
        rows=worker_rows(found.rows),
        headings=headings(
            link,
            order,
            ("name", "Worker", True),
            ("running", "Running", False),
            ("seen", "Seen", False),
        ),
        pages=pages,
        total=found.total,
        children=found.everyone - found.total,
        match=match,
        empty=paging.beyond(pages, number) or _no_workers(found.total, match),
    )


def _no_workers(total: int, match: str) -> EmptyState | None:
    if total:
        return None
    if match:
        return EmptyState(
            kind="no-match",
            title=f"No worker has “{isolated(match)}” in its name",
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
        worker: who it is, what it and its children hold, when it was seen.
        is_known: it is on the list of workers; otherwise only jobs tell of it.
        notices: what to know of it now, in a sentence each, with its tone.
        facts: what it tells of itself, line by line; none where it tells nothing.
        queues: the queues that it serves, in its order, or those of the jobs it holds.
        children: those that run its jobs.
        more_children: how many are not shown.
        parent: the worker whose child it is, and where that is; None when it is none.
        rows: the jobs of this page that it holds itself, those whose lock ends first at the head.
        pages: where the other ones are.
        verbs: what can be done to ticked jobs.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "workers/show.html"

    worker: WorkerRow
    is_known: bool
    notices: tuple[tuple[str, Sentence], ...]
    facts: tuple[tuple[str, Sentence], ...]
    queues: tuple[tuple[str, Link | None], ...]
    children: tuple[WorkerRow, ...]
    more_children: int
    parent: tuple[str, Link] | None
    rows: tuple[JobRow, ...]
    pages: Pager
    verbs: tuple[jobs.TickedVerb, ...]
    empty: EmptyState | None

    @property
    def has_jobs(self) -> bool:
        """Whether to list the jobs that it holds itself: a parent holds none as a rule."""
        return bool(self.rows) or not self.children


def worker_page(found: WorkerDetail, number: int) -> WorkerPage:
    """Return page `number` of the jobs of a worker."""
    worker, name = found.summary, found.summary.name
    is_known = worker.last_seen is not None
    row = worker_row(worker)
    pages = pager(jobs.worker_link(name), number=number, total=found.jobs.total)
    told = worker.info.children if worker.info else ()
    children = tuple(
        child_row(child, each, name) for child, each in zip(worker.children, told, strict=False)
    )
    above = Crumb(isolated(found.parent), jobs.worker_link(found.parent)) if found.parent else None
    return WorkerPage(
        title=isolated(name),
        nav="workers",
        crumbs=tuple(
            each
            for each in (Crumb("Workers", Link("workers.index")), above, Crumb(isolated(name)))
            if each
        ),
        topics=("workers", f"worker:{name}"),
        worker=row if is_known else replace(row, actions=()),
        is_known=is_known,
        notices=tuple(_notices(worker)),
        facts=tuple(_facts(worker)),
        queues=queues_of(worker.queues, worker.known_queues),
        children=children,
        more_children=max(0, worker.children_total - len(children)),
        parent=(found.parent, jobs.worker_link(found.parent)) if found.parent else None,
        rows=jobs.job_rows(found.jobs.rows, moment="lock", named=True),
        pages=pages,
        verbs=jobs.ticked_verbs("running"),
        empty=paging.beyond(pages, number) or (None if found.jobs.total else _no_jobs(worker)),
    )


def _notices(worker: WorkerSummary) -> Iterable[tuple[str, Sentence]]:
    seen = past(worker.last_seen)
    if worker.gone:
        yield "warning", sentence(
            "This worker was last seen ", seen, " and counts as gone. Its jobs go to others once "
            "their locks have ended.",
        )  # fmt: skip
    elif worker.silent:
        yield "warning", sentence(
            "It gave no sign of life since ", seen, ", though it gives one every few seconds: it "
            "may be dead, or cut off from Redis. Its jobs go to others once their locks end.",
        )  # fmt: skip
    if worker.asked:
        yield "info", sentence(_ASKED.get(worker.asked, _ASKED_ELSE))
    elif not worker.gone and worker.info is not None and worker.info.state in _STATES:
        yield "info", sentence(_STATES[worker.info.state])


_ASKED = {
    "stop": "It is asked to stop, and hears of it within seconds.",
    "pause": "It is asked to pause, and hears of it within seconds.",
    "resume": "It is asked to resume, and hears of it within seconds.",
}
_ASKED_ELSE = "It is asked something, and hears of it within seconds."

_STATES = {
    "paused": "It is paused: it takes no more jobs until it is resumed.",
    "stopping": "It is stopping: it takes no more jobs, and ends when those that it has are done.",
    "failing": "It is failing: its children die before they work. Its log says why.",
}


def _facts(worker: WorkerSummary) -> Iterable[tuple[str, Sentence]]:
    info = worker.info
    if info is None:
        return
    for term, text in (
        ("Host", info.host),
        ("Process", str(info.pid) if info.pid else ""),
        ("Kind", info.kind),
        ("Jobs at once", f"{info.concurrency:,}"),
        ("Version", info.version),
    ):
        if text:
            yield term, sentence(Part(text=text, kind="mono") if term in _MONO else text)
    if info.started:
        yield "Started", sentence(past(info.started))


#: The facts that are read digit by digit.
_MONO = frozenset({"Host", "Process", "Version"})


def _no_jobs(worker: WorkerSummary) -> EmptyState:
    lives = not worker.gone and not worker.silent
    return EmptyState(
        kind="nothing-wrong",
        title="This worker holds no job",
        text="It has finished what it took, and asks for more when it is ready."
        if lives
        else "Whatever became of it, no job is held up.",
    )
