"""What a search leads to: what a word names, what resembles it, and the jobs that match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from qless_web.formatting import count, duration, isolated
from qless_web.presenters import jobs, named, paging
from qless_web.presenters.page import EmptyState, Link, Page, Pager, pager

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from qless_core.reads import JobRow as Snapshot
    from qless_core.reads.job import Found
    from qless_core.reads.names import Similar
    from qless_web.presenters.rows import JobRow
    from qless_web.sought import Sought
    from qless_web.triage.searching import Facet as Counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing that was found: its kind in words, its whole name, what is shown of it."""

    kind: str
    name: str
    shown: str
    link: Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """What is wrong with a query: a sentence, and the query before, at and behind the place."""

    problem: str
    before: str
    at: str
    behind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A value of a facet: how many jobs have it, and where a click on it leads."""

    value: str
    shown: str
    jobs: int
    link: Link
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """What jobs have in common: the values of a field that the most have."""

    field: str
    title: str
    choices: tuple[Choice, ...]
    more: int


class Ways(NamedTuple):
    """From a query to others.

    Attributes:
        chosen: the values that it asks for, each with the query without it.
        narrowed: gives the query for those that have a value of a field besides.

    """

    chosen: Mapping[tuple[str, str], str]
    narrowed: Callable[[str, str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """The jobs that match.

    Attributes:
        rows: those of this page.
        total: how many there are, in words.
        facets: what they have in common.
        facets_of: what the facets tell of, in a sentence; "" where that is all of them.
        pages: where the others are; None for a walk.
        beyond: what to say of a page after the last; None where there is one.
        further: where a walk goes on; None where it is over.
        remarks: what there is to know about this answer, in sentences.
        verbs: what can be done to ticked ones.

    """

    rows: tuple[JobRow, ...]
    total: str
    facets: tuple[Facet, ...]
    facets_of: str
    pages: Pager | None
    beyond: EmptyState | None
    further: Link | None
    remarks: tuple[str, ...]
    verbs: tuple[jobs.TickedVerb, ...]


@dataclass(frozen=True, kw_only=True)
class SearchPage(Page):
    """What was found.

    Attributes:
        query: what was typed.
        exact: what it names.
        similar: what resembles it, each kind under its heading.
        wrong: what is wrong with it; None where nothing is.
        jobs: the jobs that match; None where none were looked for.
        empty: what to show where nothing was found.
        examples: how one searches, and what that finds.

    """

    template: ClassVar[str] = "search/index.html"

    query: str
    exact: tuple[Hit, ...] = ()
    similar: tuple[tuple[str, tuple[Hit, ...]], ...] = ()
    wrong: Wrong | None = None
    jobs: Jobs | None = None
    empty: EmptyState | None = None
    examples: tuple[tuple[str, str], ...] = ()


_LINKS: dict[str, Callable[[str], Link]] = {
    "job": jobs.job_link,
    "recurring job": jobs.job_link,
    "queue": jobs.queue_link,
    "failure group": jobs.group_link,
    "worker": jobs.worker_link,
    "tag": jobs.tag_link,
}

#: Fields that have facets, and their headings.
_TITLES: Final = {
    "state": "State",
    "group": "Failure group",
    "klass": "Class",
    "queue": "Queue",
    "host": "Host",
    "tag": "Tag",
}

#: The language by examples, and what each finds.
EXAMPLES: Final = (
    ("connection reset", "both words in a message, the data, the class, the group or the tags"),
    ('"connection reset" -timeout', "the one after the other, and not the last"),
    ("klass:shop.* state:failed age:<1h", "of these classes, failed within the last hour"),
    ("data.user_id:42", "with this value in the data"),
    ("host:web-7 attempt:>=3", "that ran there, at least their third run"),
    ("(queue:mail or queue:sms) -tag:vip", "of either queue, without the tag"),
)


def hits(name: str, found: Found) -> tuple[Hit, ...]:
    """Return what a name names exactly."""
    kinds = {
        # A jid is of one kind; where both exist, one page shows the recurring one.
        "job": found.job and not found.recurring,
        "recurring job": found.recurring,
        "queue": found.queue,
        "failure group": found.group,
        "worker": found.worker,
        "tag": found.tag,
    }
    return tuple(_hit(kind, name) for kind, there in kinds.items() if there)


def _hit(kind: str, name: str) -> Hit:
    return Hit(kind=kind, name=name, shown=named.short(name), link=_LINKS[kind](name))


def asking_page() -> SearchPage:
    """Return the page of no search: how one is written."""
    empty = EmptyState(
        kind="nothing-yet",
        title="What do you look for?",
        text="A jid, or its beginning, a queue, a failure group, a worker or a tag leads straight "
        "to its page. Anything else finds the jobs that have it.",
    )
    return SearchPage(title="Search", nav="search", query="", empty=empty, examples=EXAMPLES)


def wrong(query: str, problem: str, position: int) -> Wrong:
    """Say what is wrong with a query; `position` is where."""
    return Wrong(
        problem=problem,
        before=query[:position],
        at=query[position : position + 1] or " ",
        behind=query[position + 1 :],
    )


def search_page(
    query: str,
    exact: tuple[Hit, ...],
    alike: Similar,
    found: Jobs | None,
    mistake: Wrong | None = None,
) -> SearchPage:
    """Return the page of what was found."""
    groups = tuple(_similar(alike, {(each.kind, each.name) for each in exact}))
    is_empty = not (exact or groups or mistake or (found and (found.rows or found.further)))
    return SearchPage(
        title="Search",
        nav="search",
        query=query,
        exact=exact,
        similar=groups,
        wrong=mistake,
        jobs=found,
        empty=_empty(query, found) if is_empty else None,
        examples=EXAMPLES if mistake else (),
    )


def found_jobs(
    query: str,
    sought: Sought,
    rows: Sequence[Snapshot],
    ways: Ways,
    number: int,
    now: float,
) -> Jobs:
    """Return the jobs that match.

    Args:
        query: what was typed.
        sought: what was found.
        rows: the jobs, as they are now.
        ways: to other queries.
        number: of the page.
        now: epoch seconds.

    """
    link = Link("search.index", {"q": query})
    walked = bool(sought.why_walked)
    pages = None if walked else _pages(link, sought, number)
    return Jobs(
        rows=jobs.job_rows(rows, named=True),
        total=_total(sought),
        facets=tuple(_facet(each, ways) for each in sought.facets if each.values),
        facets_of=_facets_of(sought),
        pages=pages,
        beyond=paging.beyond(pages, number, "search") if pages and not rows else None,
        further=link.also(after=sought.next) if walked and sought.next is not None else None,
        remarks=tuple(_remarks(sought, now)),
        verbs=jobs.ticked_verbs(_state(ways.chosen)),
    )


def _state(chosen: Mapping[tuple[str, str], str]) -> str:
    states = [value for field, value in chosen if field == "state"]
    return states[0] if len(states) == 1 else ""


def _total(sought: Sought) -> str:
    noun = "job" if sought.total == 1 and sought.certainty == "exact" else "jobs"
    word = {"exact": "", "about": "about ", "at least": "at least "}[sought.certainty]
    shown = _rounded(sought.total) if sought.certainty == "about" else sought.total
    return f"{word}{count(shown)} {noun}"


def _rounded(number: int) -> int:
    """Leave of an estimate no more digits than it is good for.

    >>> _rounded(1234567), _rounded(98)
    (1230000, 98)
    """
    least = 10 ** max(0, len(str(number)) - 3)
    return int(round(number / least) * least)


def _facets_of(sought: Sought) -> str:
    if not sought.facets or sought.sampled == sought.total:
        return ""
    return f"Counted in a fair sample of {count(sought.sampled)}."


def _facet(facet: Counted, ways: Ways) -> Facet:
    choices = []
    for value, number in facet.values:
        without = ways.chosen.get((facet.name, value))
        query = ways.narrowed(facet.name, value) if without is None else without
        choices.append(
            Choice(
                value=value,
                shown=named.short(value, 40),
                jobs=number,
                link=Link("search.index", {"q": query}),
                is_chosen=without is not None,
            )
        )
    return Facet(
        field=facet.name,
        title=_TITLES[facet.name],
        choices=tuple(choices),
        more=facet.distinct - len(choices),
    )


#: Matches up to which one can page through many.
_REACH: Final = 10_000


def _pages(link: Link, sought: Sought, number: int) -> Pager:
    whole = sought.certainty == "exact" and sought.sampled == sought.total
    return pager(link, number=number, total=sought.total if whole else min(sought.total, _REACH))


def _remarks(sought: Sought, now: float) -> Iterable[str]:
    if sought.why_walked:
        yield (
            f"Looked at {count(sought.covered)} of {count(sought.of)} jobs, one list after the "
            f"other, without the index: {sought.why_walked}."
        )
        return
    if sought.covered < sought.of and not sought.is_complete:
        yield (
            f"The index is being filled: it has {count(sought.covered)} of about "
            f"{count(sought.of)} jobs so far."
        )
    if sought.certainty == "at least":
        yield "There was no time to look at all jobs. Narrow the search to see every match."
    lag = 0.0 if sought.as_of is None else now - sought.as_of
    if lag > _LATE_S:
        yield f"The index is {duration(lag)} behind."


#: Seconds that an index may be behind before it is worth a word.
_LATE_S: Final = 10.0


def _job(jid: str, klass: str) -> Hit:
    return Hit(kind=klass, name=jid, shown=named.short(jid), link=jobs.job_link(jid))


def _similar(alike: Similar, known: set[tuple[str, str]]) -> Iterable[tuple[str, tuple[Hit, ...]]]:
    for title, kind, names in (
        ("Queues", "queue", alike.queues),
        ("Failure groups", "failure group", alike.groups),
        ("Tags", "tag", alike.tags),
        ("Workers", "worker", alike.workers),
    ):
        found = tuple(_hit(kind, name) for name in names if (kind, name) not in known)
        if found:
            yield f"{title} with this in their name", found
    jids = tuple(_job(jid, klass) for jid, klass in alike.jobs if ("job", jid) not in known)
    if jids:
        yield "Jobs whose jid begins with this", jids


def _empty(query: str, found: Jobs | None) -> EmptyState:
    if found and found.beyond:
        return found.beyond
    return EmptyState(
        kind="no-match",
        title=f"Nothing is called {isolated(named.short(query))}, and no job has it",
        text="A whole jid always finds its job; the beginning of one finds it while the job is "
        "near the head of a list, or in the index. Jobs that completed long ago or were "
        "cancelled are no longer there.",
    )
