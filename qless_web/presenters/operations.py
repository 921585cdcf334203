"""Pages of operations: the list, and one of them from its preview to its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.formatting import isolated, short_jid
from qless_web.operations.verbs import CHOICES
from qless_web.presenters import ask_words as words
from qless_web.presenters import operation_words, paging
from qless_web.presenters.jobs import job_link, queue_link
from qless_web.presenters.page import (
    Action,
    Ask,
    Crumb,
    EmptyState,
    Link,
    Page,
    PageNumber,
    Pager,
    Tab,
    pager,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qless_web.operations.operation import Operation
    from qless_web.operations.report import Told

#: Lines of a table of what an operation is about, by class or by queue.
_PARTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationRow:
    """One operation in a list; `colour` is the state of a job that looks the same."""

    id: str
    title: str
    link: Link
    state: str
    colour: str
    behind: int
    total: int
    left: int
    who: str
    at: float
    is_undone: bool


@dataclass(frozen=True, kw_only=True)
class OperationsPage(Page):
    """The operations, the newest first.

    Attributes:
        rows: those of this page.
        pages: where the others are.
        total: how many there are.
        verbs: what a new one can do, as pairs of word and text.
        groups: groups of failures that it may be about.
        tabs: the pages around operations.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "operations/index.html"

    rows: tuple[OperationRow, ...]
    pages: Pager
    total: int
    verbs: tuple[tuple[str, str], ...]
    groups: tuple[str, ...]
    tabs: tuple[Tab, ...]
    empty: EmptyState | None


#: The pages around operations.
TABS = (
    Tab(key="operations", text="Operations", link=Link("operations.index")),
    Tab(key="trash", text="Trash", link=Link("trash.index")),
    Tab(key="audit", text="Audit", link=Link("audit.index")),
)


def operations_page(
    total: int, found: Iterable[Operation], number: PageNumber, groups: Sequence[str]
) -> OperationsPage:
    """Return page `number` of the operations; `groups` of failures a new one may be about."""
    pages = pager(Link("operations.index"), number=number, total=total)
    return OperationsPage(
        title="Operations",
        nav="operations",
        topics=("operations",),
        rows=tuple(row(each) for each in found),
        pages=pages,
        total=total,
        verbs=CHOICES,
        groups=tuple(groups),
        tabs=TABS,
        empty=paging.beyond(pages, number) or (None if total else _NONE),
    )


def row(operation: Operation) -> OperationRow:
    """Make the row of an operation."""
    word, colour = operation_words.STATES.get(operation.state, (operation.state, "scheduled"))
    return OperationRow(
        id=operation.id,
        title=operation_words.title(operation),
        link=operation_link(operation.id),
        state=word,
        colour=colour,
        behind=operation.at,
        total=operation.total,
        left=operation.skipped,
        who=operation.who,
        at=operation.ended or operation.began or operation.created,
        is_undone=bool(operation.undone_by),
    )


def operation_link(operation: str) -> Link:
    """Give the page of an operation."""
    return Link("operations.show", {"operation": operation})


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """How many jobs of an operation have one class, or are in one queue."""

    name: str
    count: int
    link: Link | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftRow:
    """A job that was left alone, and why."""

    jid: str
    link: Link
    why: str


@dataclass(frozen=True, kw_only=True)
class OperationPage(Page):
    """One operation.

    Attributes:
        row: it, as in the list.
        options: how it does what it does.
        facts: who, when, from where, and a note.
        means: what it does to each job.
        undo: how it is undone.
        why: why it rests.
        fare: how the jobs fare that it put to work.
        excluded: who was left out when it was looked at.
        ask: the question, while it is not started.
        actions: what can be done to it.
        classes: its jobs by class.
        queues: its jobs by queue.
        counts: how many were left alone, by reason in words.
        left: a few of those.
        reports: where the whole report can be had, by its kind.
        undone_by: what undoes it; None for nothing.
        undoes: what it undoes; None for nothing.
        is_over: whether nothing more will happen.

    """

    template: ClassVar[str] = "operations/show.html"

    row: OperationRow
    options: str
    facts: tuple[tuple[str, str], ...]
    means: str
    undo: str
    why: str
    fare: str
    excluded: str
    ask: Ask | None
    actions: tuple[Action, ...]
    classes: tuple[Part, ...]
    queues: tuple[Part, ...]
    counts: tuple[tuple[str, int], ...]
    left: tuple[LeftRow, ...]
    reports: tuple[tuple[str, Link], ...]
    undone_by: Link | None
    undoes: Link | None
    is_over: bool


def operation_page(operation: Operation, left: Sequence[Told]) -> OperationPage:
    """Return the page of one operation."""
    link = operation_link(operation.id)
    return OperationPage(
        title=operation_words.title(operation),
        nav="operations",
        crumbs=(Crumb("Operations", Link("operations.index")), Crumb(operation.id[:8])),
        topics=(f"operation:{operation.id}",),
        row=row(operation),
        options=operation_words.options(operation),
        facts=tuple(_facts(operation)),
        means=operation.verb.means,
        undo=operation.verb.undo,
        why=operation_words.why(operation),
        fare=operation_words.fare(operation),
        excluded=operation_words.excluded(operation),
        ask=question(operation) if operation.state == "draft" else None,
        actions=tuple(_actions(operation)),
        classes=_parts(operation.classes),
        queues=_parts(operation.queues, linked=True),
        counts=tuple((words.why(reason), count) for reason, count in operation.left.items()),
        left=tuple(
            LeftRow(jid=each.jid, link=job_link(each.jid), why=words.why(each.reason))
            for each in left
        ),
        reports=tuple(
            (text, link.also(report=kind)) for text, kind in (("NDJSON", "ndjson"), ("CSV", "csv"))
        )
        if operation.at
        else (),
        undone_by=operation_link(operation.undone_by) if operation.undone_by else None,
        undoes=operation_link(operation.of) if operation.of else None,
        is_over=operation.state == "done",
    )


def question(operation: Operation) -> Ask:
    """Ask whether to start an operation."""
    verb = operation.verb
    destroys = verb.permission == "destroy"
    odd = [
        Crumb(f"{isolated(short_jid(jid))}: {words.why(why)}", job_link(jid))
        for jid, why in operation.odd
    ]
    sample = [Crumb(isolated(jid), job_link(jid)) for jid in operation.sample]
    rest = operation.fits - len(sample)
    told = operation_words.options(operation)
    excluded = operation_words.excluded(operation)
    return Ask(
        verb=verb.text,
        count=operation.fits,
        question=_question(operation, told),
        link=Link(
            "act.start_cancelling" if destroys else "act.start_operation",
            {"operation": operation.id},
        ),
        left_out=(excluded,) if excluded else (),
        consequences=tuple(
            each for each in (operation_words.new_queue(operation), verb.means, verb.undo) if each
        ),
        examples=(*sample, *([Crumb(words.more(rest))] if rest > 0 and sample else []), *odd),
        fields=(("expected", str(operation.fits)),),
        back="",
        danger=verb.danger,
    )


def _question(operation: Operation, told: str) -> str:
    if not operation.fits:
        return "Nothing of what was chosen can be acted on now."
    jobs = words.jobs(operation.fits)
    where = operation_words.chosen(operation.selection)
    return f"{operation.verb.text} {jobs} {where}{', ' if told else ''}{told}?"


def _facts(operation: Operation) -> Iterable[tuple[str, str]]:
    if operation.who:
        yield "By", isolated(operation.who)
    if operation.address:
        yield "From", isolated(operation.address)
    if operation.note:
        yield "Note", isolated(operation.note)


def _actions(operation: Operation) -> Iterable[Action]:
    def button(text: str, name: str, icon: str, *, danger: bool = False) -> Action:
        link = Link(f"act.{name}", {"operation": operation.id})
        return Action(text=text, link=link, icon=icon, asks=True, danger=danger)

    rest = operation.total - operation.at
    if operation.state in ("queued", "running"):
        yield button("Pause", "pause_operation", "pause")
    if operation.state in ("paused", "stopped") and rest and not operation.undone_by:
        text = f"Go on with the other {rest:,}" if operation.at else "Resume"
        yield button(text, "resume_operation", "unpause")
    if operation.state in ("queued", "running", "paused"):
        yield button("Stop", "stop_operation", "stop", danger=True)
    if operation.can_undo:
        yield button("Undo", "undo_operation", "retry")


def _parts(counts: Mapping[str, int], *, linked: bool = False) -> tuple[Part, ...]:
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    parts = [
        Part(name=name or "(none)", count=count, link=queue_link(name) if linked and name else None)
        for name, count in ordered[:_PARTS]
    ]
    rest = sum(count for _, count in ordered[_PARTS:])
    return (*parts, *([Part(name="others", count=rest)] if rest else []))


_NONE = EmptyState(
    kind="nothing-yet",
    title="No operation yet",
    text="What is done to many jobs at once is listed here: how far it is, what was left out and "
    "why, and how to undo it. Begin at a group of failures, or at ticked jobs.",
)
