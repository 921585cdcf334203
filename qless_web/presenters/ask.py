"""Pages that ask before something is done, and the toast that says that it was."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from qless_web.formatting import isolated, short_jid
from qless_web.presenters import ask_words as words
from qless_web.presenters.jobs import group_link, job_link, queue_link, worker_link
from qless_web.presenters.page import Ask, Crumb, Flash, Link, Page

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """Something that the question leaves to be filled in.

    ``options`` are pairs of value and text to choose from: the only ones of a ``choice``,
    suggestions of a ``text``. A ``number`` is a whole number with buttons for less and more;
    ``lines`` are text of several lines, ``rows`` of them seen at once; a ``moment`` is a date and
    time, in UTC; what is ``shown`` is there to be read. What is ``more`` is folded away.
    """

    kind: Literal["text", "number", "choice", "lines", "moment", "shown"]
    label: str
    name: str
    value: str = ""
    hint: str = ""
    options: tuple[tuple[str, str], ...] = ()
    required: bool = True
    rows: int = 5
    more: bool = False


@dataclass(frozen=True, kw_only=True)
class AskPage(Page):
    """A question as a page of its own; the panel shows the same."""

    template: ClassVar[str] = "actions/ask.html"

    ask: Ask
    inputs: tuple[Input, ...] = ()

    @property
    def more(self) -> tuple[Input, ...]:
        """What is folded away."""
        return tuple(each for each in self.inputs if each.more)

    @property
    def is_open(self) -> bool:
        """Whether something of that is filled in already."""
        return any(each.value for each in self.more)


@dataclass(frozen=True, kw_only=True)
class ToastPage(Page):
    """The answer to an action that htmx sent."""

    template: ClassVar[str] = "actions/toast.html"

    flash: Flash


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a question is about, and where it stands in the console.

    ``link`` is its page, where the way back leads when nothing else is known.
    """

    nav: str
    name: str
    link: Link
    crumbs: tuple[Crumb, ...] = field(default_factory=tuple)


def ask_page(ask: Ask, subject: Subject, *, inputs: Iterable[Input] = ()) -> AskPage:
    """Make the page of a question."""
    return AskPage(
        title=f"{ask.verb}: {subject.name}",
        nav=subject.nav,
        crumbs=(*subject.crumbs, Crumb(ask.verb)),
        ask=ask,
        inputs=tuple(inputs),
    )


def toast(flash: Flash) -> ToastPage:
    """Make the answer that shows a message beside the page."""
    return ToastPage(title=flash.text, nav="", flash=flash)


def of_queue(queue: str) -> Subject:
    """Ask about a queue."""
    link = queue_link(queue)
    crumbs = (Crumb("Queues", Link("queues.index")), Crumb(isolated(queue), link))
    return Subject(nav="queues", name=isolated(queue), link=link, crumbs=crumbs)


def of_job(jid: str, name: str = "") -> Subject:
    """Ask about a job; `name` is how people see it."""
    link, name = job_link(jid), name or isolated(short_jid(jid))
    return Subject(nav="queues", name=name, link=link, crumbs=(Crumb(name, link),))


def of_group(group: str) -> Subject:
    """Ask about a group of failures."""
    link = group_link(group)
    crumbs = (Crumb("Failures", Link("failures.index")), Crumb(isolated(group), link))
    return Subject(nav="failures", name=isolated(group), link=link, crumbs=crumbs)


def of_failures() -> Subject:
    """Ask about all failures."""
    link = Link("failures.index")
    crumbs = (Crumb("Failures", link),)
    return Subject(nav="failures", name="all failures", link=link, crumbs=crumbs)


def of_worker(worker: str) -> Subject:
    """Ask about a worker."""
    link = worker_link(worker)
    crumbs = (Crumb("Workers", Link("workers.index")), Crumb(isolated(worker), link))
    return Subject(nav="workers", name=isolated(worker), link=link, crumbs=crumbs)


def of_ticked() -> Subject:
    """Ask about jobs that were ticked in a list."""
    return Subject(nav="queues", name="ticked jobs", link=Link("queues.index"))


def about_queue(queue: str, *, verb: str, endpoint: str, consequence: str) -> AskPage:
    """Ask whether to do something to a whole queue."""
    question = Ask(
        verb=verb,
        count=1,
        noun="queue",
        question=f"{verb} the queue {isolated(queue)}?",
        link=Link(endpoint, {"queue": queue}),
        consequences=(consequence,),
        fields=(("expected", "1"),),
    )
    return ask_page(question, of_queue(queue))


def about_worker(
    worker: str, *, verb: str, endpoint: str, consequences: tuple[str, ...], danger: bool = False
) -> AskPage:
    """Ask whether to ask something of a worker."""
    question = Ask(
        verb=verb,
        count=1,
        noun="worker",
        question=f"{verb} the worker {isolated(worker)}?",
        link=Link(endpoint, {"worker": worker}),
        consequences=consequences,
        fields=(("expected", "1"),),
        danger=danger,
    )
    return ask_page(question, of_worker(worker))


def forget_worker(worker: str, held: int) -> AskPage:
    """Ask whether to take a worker that holds so many jobs off the list."""
    until = "stays locked until its lock ends" if held == 1 else "stay locked until their locks end"
    question = Ask(
        verb="Forget",
        count=1,
        noun="worker",
        question=f"Forget the worker {isolated(worker)}?",
        link=Link("act.forget_worker", {"worker": worker}),
        consequences=(
            *((f"It holds {words.jobs(held)}, which {until}.",) if held else ()),
            "A worker that still lives is listed again with its next sign of life.",
        ),
        fields=(("expected", "1"),),
        danger=True,
    )
    return ask_page(question, of_worker(worker))
