"""Pages of all shards: what each has in one list, in which every row names its shard. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, NamedTuple, TypeVar

from qless_core.reads.queues import ORDERS
from qless_web.formatting import count
from qless_web.presenters.page import Link, Pager
from qless_web.presenters.paging import beyond

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from qless_core.reads import JobRow
    from qless_core.reads.failures import FailureGroup
    from qless_core.reads.frame import FrameCounts
    from qless_core.reads.queues import QueueSummary
    from qless_core.reads.workers import WorkerSummary
    from qless_web.presenters.page import EmptyState
    from qless_web.triage.searching import Certainty

    #: By what rows are put in order.
    _Key = tuple[Any, ...]

T = TypeVar("T")

#: Queues and groups that the first page shows.
GLANCE: Final = 8
#: Rows of a page, and how far into a list pages go: each shard is read that far.
SIZE: Final = 50
REACH: Final = 1_000


class At(NamedTuple, Generic[T]):
    """Something, and the address of its page on its shard."""

    address: str
    it: T


@dataclass(frozen=True, slots=True)
class Part(Generic[T]):
    """The first of a list of one shard, how many there are, and the time that it goes by."""

    rows: tuple[At[T], ...]
    total: int
    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """What the first page shows of a shard."""

    counts: FrameCounts
    where: str
    queues: tuple[At[QueueSummary], ...]
    groups: tuple[At[FailureGroup], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """What a search found on a shard.

    Attributes:
        named: the things of this name, each by its kind.
        jobs: the first jobs that match.
        total: how many match, as far as is known.
        certainty: of that.
        walked: whether not every job was looked at.
        address: of the same search on that shard alone.
        now: the time that the shard goes by.

    """

    named: tuple[At[str], ...]
    jobs: tuple[At[JobRow], ...]
    total: int
    certainty: Certainty
    walked: bool
    address: str
    now: float


class Row(NamedTuple, Generic[T]):
    """Something on a shard."""

    shard: str
    address: str
    it: T


class Shard(NamedTuple):
    """One shard in the list of all: what is there, or why that is not known."""

    name: str
    address: str
    glance: Glance | None
    problem: str


class Aside(NamedTuple):
    """What a shard has besides what is shown: how many in words, and where."""

    shard: str
    address: str
    total: str


@dataclass(frozen=True, kw_only=True)
class ShardsPage:
    """What every page of all shards has.

    Attributes:
        nav: which page it is.
        silent: the shards that did not answer, each with the reason.
        now: the time that rows are counted from, epoch seconds; None where no shard answered.

    """

    template: ClassVar[str] = ""
    title: ClassVar[str] = ""
    nav: ClassVar[str] = ""

    silent: Mapping[str, str] = field(default_factory=dict)
    now: float | None = None


@dataclass(frozen=True, kw_only=True)
class ListPage(ShardsPage, Generic[T]):
    """A list of all shards.

    Attributes:
        rows: those of this page.
        total: how many there are on the shards that answered.
        asked: the number of the page that was asked for, from 1.
        match: a part of the names that are shown; "" for all.
        order: what it is ordered by.

    """

    rows: tuple[Row[T], ...]
    total: int
    asked: int
    match: str = ""
    order: str = "name"

    @property
    def number(self) -> int:
        """Which page it is, within the list."""
        return min(self.asked, self.pages)

    @property
    def pages(self) -> int:
        """How many pages there are, as far as they go."""
        return max(1, -(-min(self.total, REACH) // SIZE))

    @property
    def is_cut(self) -> bool:
        """Whether there are more than pages go."""
        return self.total > REACH

    @property
    def beyond(self) -> EmptyState | None:
        """What to show in place of the rows of a page after the last."""
        order = "" if self.order == "name" else self.order
        told = tuple((name, text) for name, text in (("q", self.match), ("sort", order)) if text)
        total = min(self.total, REACH)
        pages = Pager(link=Link(self.nav), number=self.number, total=total, size=SIZE, query=told)
        return beyond(pages, self.asked)


@dataclass(frozen=True, kw_only=True)
class QueuesPage(ListPage["QueueSummary"]):
    """The queues of all shards: one that has jobs on several has a row for each."""

    template: ClassVar[str] = "shards/queues.html"
    title: ClassVar[str] = "Queues"
    nav: ClassVar[str] = "queues"


@dataclass(frozen=True, kw_only=True)
class FailuresPage(ListPage["FailureGroup"]):
    """The groups of failures of all shards."""

    template: ClassVar[str] = "shards/failed.html"
    title: ClassVar[str] = "Failed"
    nav: ClassVar[str] = "failed"


@dataclass(frozen=True, kw_only=True)
class WorkersPage(ListPage["WorkerSummary"]):
    """The workers of all shards."""

    template: ClassVar[str] = "shards/workers.html"
    title: ClassVar[str] = "Workers"
    nav: ClassVar[str] = "workers"


@dataclass(frozen=True, kw_only=True)
class OverviewPage(ShardsPage):
    """All shards, the longest queues and the largest groups of failures.

    Attributes:
        shards: all of them.
        queues: those with the most jobs that wait.
        groups: those with the most jobs.

    """

    template: ClassVar[str] = "shards/index.html"
    title: ClassVar[str] = "All shards"
    nav: ClassVar[str] = "overview"

    shards: tuple[Shard, ...]
    queues: tuple[Row[QueueSummary], ...]
    groups: tuple[Row[FailureGroup], ...]

    @property
    def totals(self) -> tuple[int, ...]:
        """Count queues, paused ones, failed jobs, workers and completed jobs on all shards.

        A queue or worker that several shards know counts for each.
        """
        counts = [each.glance.counts for each in self.shards if each.glance]
        return tuple(sum(getattr(each, name) for each in counts) for name in COUNTED)


#: What is counted of each shard, as its console counts it.
COUNTED: Final = ("queues", "paused", "failed", "workers", "completed")


@dataclass(frozen=True, kw_only=True)
class SearchPage(ShardsPage):
    """What was found on all shards.

    Attributes:
        query: what was typed.
        named: what it names, each by its kind.
        jobs: the newest jobs that match.
        asides: all that each shard found.
        problem: what is wrong with the query; "" where nothing is.

    """

    template: ClassVar[str] = "shards/search.html"
    title: ClassVar[str] = "Search"
    nav: ClassVar[str] = "search"

    query: str
    named: tuple[Row[str], ...] = ()
    jobs: tuple[Row[JobRow], ...] = ()
    asides: tuple[Aside, ...] = ()
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class JobPage(ShardsPage):
    """Why no job can be shown: none has that jid, or several do.

    Attributes:
        jid: that was asked for.
        rows: the shards that have one.

    """

    template: ClassVar[str] = "shards/job.html"
    title: ClassVar[str] = "Job"
    nav: ClassVar[str] = ""

    jid: str
    rows: tuple[Row[str], ...] = ()


def overview_page(
    found: Mapping[str, Glance], silent: Mapping[str, str], places: Mapping[str, str]
) -> OverviewPage:
    """Put together what each shard has at a glance; `places` are the addresses of all shards."""
    queues = [row for name, each in found.items() for row in _on(name, each.queues)]
    groups = [row for name, each in found.items() for row in _on(name, each.groups)]
    return OverviewPage(
        shards=tuple(
            Shard(name, address, found.get(name), silent.get(name, ""))
            for name, address in places.items()
        ),
        queues=tuple(sorted(queues, key=_by_order("waiting"))[:GLANCE]),
        groups=tuple(sorted(groups, key=_by_count)[:GLANCE]),
        silent=silent,
        now=max((each.counts.now for each in found.values()), default=None),
    )


def queues_page(
    found: Mapping[str, Part[QueueSummary]],
    silent: Mapping[str, str],
    *,
    number: int,
    match: str,
    order: str,
) -> QueuesPage:
    """Put the queues of all shards in one order."""
    rows, total, now = _listed(found, _by_order(order), number)
    return QueuesPage(
        rows=rows, total=total, asked=number, match=match, order=order, silent=silent, now=now
    )


def failures_page(
    found: Mapping[str, Part[FailureGroup]], silent: Mapping[str, str], *, number: int
) -> FailuresPage:
    """Put the groups of all shards in one order: those with the most jobs first."""
    rows, total, now = _listed(found, _by_count, number)
    return FailuresPage(rows=rows, total=total, asked=number, silent=silent, now=now)


def workers_page(
    found: Mapping[str, Part[WorkerSummary]],
    silent: Mapping[str, str],
    *,
    number: int,
    match: str,
) -> WorkersPage:
    """Put the workers of all shards in one order: by name."""
    rows, total, now = _listed(found, _by_name, number)
    return WorkersPage(rows=rows, total=total, asked=number, match=match, silent=silent, now=now)


def search_page(query: str, found: Mapping[str, Hits], silent: Mapping[str, str]) -> SearchPage:
    """Put together what was found, the newest jobs first."""
    jobs = [row for name, each in found.items() for row in _on(name, each.jobs)]
    jobs.sort(key=lambda row: -(row.it.time or 0.0))
    return SearchPage(
        query=query,
        named=tuple(row for name, each in found.items() for row in _on(name, each.named)),
        jobs=tuple(jobs[:SIZE]),
        asides=tuple(Aside(name, each.address, _found(each)) for name, each in found.items()),
        silent=silent,
        now=max((each.now for each in found.values()), default=None),
    )


def _found(hits: Hits) -> str:
    """Say how many jobs match.

    >>> _found(Hits(named=(), jobs=(), total=1200, certainty="about", walked=False, address="",
    ...             now=0.0))
    'about 1,200'
    """
    words = "" if hits.certainty == "exact" else f"{hits.certainty} "
    return f"{words}{count(hits.total)}{', of those looked at so far' if hits.walked else ''}"


def _on(shard: str, rows: Iterable[At[T]]) -> Iterable[Row[T]]:
    return (Row(shard, *each) for each in rows)


def _listed(
    found: Mapping[str, Part[T]], key: Callable[[Row[T]], _Key], number: int
) -> tuple[tuple[Row[T], ...], int, float | None]:
    """Merge lists, cut a page out, and add the numbers of all rows."""
    rows = [row for name, each in found.items() for row in _on(name, each.rows)]
    rows.sort(key=key)
    start = (number - 1) * SIZE
    shown = rows[:REACH][start : start + SIZE]
    now = max((each.now for each in found.values()), default=None)
    return tuple(shown), sum(each.total for each in found.values()), now


def _by_order(order: str) -> Callable[[Row[QueueSummary]], _Key]:
    key = ORDERS.get(order)
    return (lambda row: (key(row.it), row.shard)) if key else _by_name


def _by_name(row: Row[QueueSummary] | Row[WorkerSummary]) -> _Key:
    return (row.it.name, row.shard)


def _by_count(row: Row[FailureGroup]) -> _Key:
    return (-row.it.count, row.it.name, row.shard)
