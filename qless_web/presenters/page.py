"""What every page shares: the page, its frame, links, tabs, pagers, empty states, questions.

All of it is plain data. A link names an endpoint and its values; the template makes the address,
so that pages work under any prefix. Instants are epoch seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from qless_web.preferences import Preferences

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Rows on one page of a list: what a laptop shows without scrolling.
PAGE_SIZE = 25

#: A bulk action on more jobs than this asks for the number to be typed.
TYPE_THE_NUMBER_ABOVE = 100


@dataclass(frozen=True, slots=True)
class Link:
    """A place in the console: an endpoint name and the values of its address.

    Values that the route does not know become the query, so a filter is one more value.
    """

    endpoint: str
    values: Mapping[str, str | int] = field(default_factory=dict)

    def also(self, **values: str | int) -> Link:
        """Return the same place with more values, or other ones."""
        return Link(self.endpoint, {**self.values, **values})


@dataclass(frozen=True, slots=True)
class Crumb:
    """One step of the way to this page; the last one has no link."""

    text: str
    link: Link | None = None


#: Letters of places whose first one is another's.
_LETTERS = {
    "tags": "s",
    "config": "n",
    "scheduled": "d",
    "operations": "p",
    "alerts": "l",
    "preferences": "e",
    "trouble": "u",
    "search": "h",
}


@dataclass(frozen=True, slots=True)
class RailEntry:
    """One line of the rail: ``key`` is what `Page.nav` names; ``count`` None shows no number."""

    key: str
    text: str
    link: Link
    icon: str
    count: int | None = None
    tone: Literal["", "failed"] = ""

    @property
    def go(self) -> str:
        """The letter that, after g, leads here: the first one, but for words that share it."""
        return _LETTERS.get(self.key, self.key[:1])


@dataclass(frozen=True, slots=True)
class Environment:
    """The word in the top bar that says which world this is, and its colour."""

    name: str
    tone: Literal["neutral", "green", "amber", "red", "blue", "violet"] = "neutral"


@dataclass(frozen=True, slots=True)
class ServerLink:
    """One of several servers that a console shows, and where its pages are."""

    name: str
    address: str
    is_current: bool


#: How an outcome is told.
Tone = Literal["done", "info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Flash:
    """What the last action did, said once: a toast, or a line above the page without JS."""

    text: str
    tone: Tone = "done"
    link: Link | None = None
    link_text: str = ""
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Live:
    """How the page keeps up: the stream's address and, where it is off, why.

    ``poll_s`` is how often to ask again when there is no stream.
    """

    link: Link | None = None
    poll_s: int = 5
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What stands around every page.

    ``here`` is this page's own local address, for forms. ``shell`` is how a line for the shell
    begins that does something to the queue of this console. ``choices`` are the reader's,
    ``views`` the saved ones as name and address, and ``save_view`` saves this one. ``cautions``
    are sentences that every page shows on top.
    """

    application: str
    rail: tuple[RailEntry, ...]
    now: float
    here: str
    environment: Environment | None = None
    read_only: bool = False
    read_only_reason: str = ""
    live: Live = field(default_factory=Live)
    flash: tuple[Flash, ...] = ()
    version: str = ""
    choices: Preferences = field(default_factory=Preferences)
    views: tuple[tuple[str, str], ...] = ()
    save_view: Action | None = None
    cautions: tuple[str, ...] = ()
    servers: tuple[ServerLink, ...] = ()
    all_servers: str = ""
    shell: str = "qless"


@dataclass(frozen=True, kw_only=True)
class Page:
    """The base of every page: what the frame must know about it.

    ``nav`` is the key of the rail entry to mark; ``topics`` are what makes the page refresh, as
    ``("queues", "queue:mail")``.
    """

    template: ClassVar[str]

    title: str
    nav: str
    crumbs: tuple[Crumb, ...] = ()
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """One tab of a page; ``state`` gives it the colour of a job state."""

    key: str
    text: str
    link: Link
    count: int | None = None
    state: str = ""


class PageNumber(int):
    """The number of a page, and of how many rows; `named` where the address says how many."""

    size: int
    named: bool

    def __new__(cls, number: int, size: int = PAGE_SIZE, *, named: bool = False) -> Self:
        """Make it."""
        made = super().__new__(cls, number)
        made.size, made.named = size, named
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Pager:
    """One page of a list: which rows it shows and where the others are.

    ``number`` counts from 1 and lies within the list; a list of nothing has one empty page.
    ``query`` are the filters that stay the same from page to page.
    """

    link: Link
    number: int
    total: int
    size: int = PAGE_SIZE
    query: tuple[tuple[str, str | int], ...] = ()

    @property
    def pages(self) -> int:
        """How many pages there are, at least one."""
        return max(1, -(-self.total // self.size))

    @property
    def offset(self) -> int:
        """How many rows come before this page."""
        return (self.number - 1) * self.size

    @property
    def start(self) -> int:
        """The first row shown, counting from 1; 0 when there is none."""
        return min(self.offset + 1, self.total)

    @property
    def end(self) -> int:
        """The last row shown, counting from 1; 0 when there is none."""
        return min(self.offset + self.size, self.total)

    @property
    def first(self) -> Link | None:
        """The first page, unless this is it."""
        return self.at(1) if self.number > 1 else None

    @property
    def previous(self) -> Link | None:
        """The page before, if any."""
        return self.at(self.number - 1) if self.number > 1 else None

    @property
    def next(self) -> Link | None:
        """The page after, if any."""
        return self.at(self.number + 1) if self.number < self.pages else None

    @property
    def last(self) -> Link | None:
        """The last page, unless this is it."""
        return self.at(self.pages) if self.number < self.pages else None

    def at(self, number: int) -> Link:
        """Return the link of one page; the first is the plain address of the list."""
        link = self.link.also(**dict(self.query))
        return link.also(page=number) if number > 1 else link


def pager(
    link: Link,
    *,
    number: int,
    total: int,
    size: int = PAGE_SIZE,
    query: Iterable[tuple[str, str | int]] = (),
) -> Pager:
    """Return the pager of a list; a number beyond either end is brought back into the list.

    Args:
        link: the list.
        number: as asked; a `PageNumber` says the size, too.
        total: rows in the list.
        size: rows on a page.
        query: the filters; the size comes to them where a reader with other choices needs it.

    """
    if isinstance(number, PageNumber):
        size = number.size
        if number.named or size != PAGE_SIZE:
            query = (*query, ("size", size))
    pages = max(1, -(-total // size))
    number = min(max(1, number), pages)
    return Pager(link=link, number=number, total=total, size=size, query=tuple(query))


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyState:
    """Why a list has no rows, and what to do about it.

    ``nothing-yet`` says how to begin, with a command to copy; ``nothing-wrong`` is good news;
    ``no-match`` offers to clear the filter.
    """

    kind: Literal["nothing-yet", "nothing-wrong", "no-match"]
    title: str
    text: str = ""
    command: str = ""
    link: Link | None = None
    link_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Something that can be done to what a row or a page shows.

    With ``asks`` its GET shows a question first; without, its form acts at once. ``fields`` go
    along as form fields.
    """

    text: str
    link: Link
    icon: str = ""
    asks: bool = False
    danger: bool = False
    fields: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question before something is done: the exact number, what is left out, what it does.

    ``question`` is one sentence ("Retry 4,812 jobs of mail-Timeout into their own queues?"),
    ``left_out`` and ``consequences`` are sentences each, ``examples`` a few of the names.
    ``fields`` go along as hidden form fields, several with one name are allowed. What is
    ``harmless`` only goes on to another question.
    """

    verb: str
    count: int
    question: str
    link: Link
    noun: str = "job"
    left_out: tuple[str, ...] = ()
    consequences: tuple[str, ...] = ()
    examples: tuple[Crumb, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    back: str = ""
    danger: bool = False
    harmless: bool = False
    problem: str = ""

    @property
    def button(self) -> str:
        """What the button says: the verb and the number once more."""
        return f"{self.verb} {self.count:,} {self.noun}{'' if self.count == 1 else 's'}"

    @property
    def type_the_number(self) -> bool:
        """Whether there are so many that the number must be typed."""
        return self.count > TYPE_THE_NUMBER_ABOVE and not self.harmless
