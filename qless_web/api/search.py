"""Search, and how the index stands that it asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from flask import request

from qless_core.reads import Slice
from qless_web.api import cursor
from qless_web.api.entries import JOB, JobEntry, job_entry
from qless_web.api.params import CURSOR, Param
from qless_web.api.route import Route, shown
from qless_web.console import current
from qless_web.problem import ApiProblem
from qless_web.sought import seeking
from qless_web.triage.query import BadQuery, parse

if TYPE_CHECKING:
    from qless_web.triage.searching import Facet

_Q = Param(
    name="q",
    default="",
    help="What is looked for, in the language of searches; nothing is all jobs.",
    example='group:shop-* age:<1h "no answer"',
)
_LIMIT = Param(name="limit", kind="whole", default=50, help="How many jobs to give at most.")


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetValue:
    """A value, and how many jobs have it."""

    value: str
    jobs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFacet:
    """What jobs that were found have in common."""

    field: Annotated[str, "As it is called in a search."]
    values: Annotated[tuple[FacetValue, ...], "The most frequent ones."]
    distinct: Annotated[int, "How many values there are."]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """A part of what was found."""

    items: Annotated[tuple[JobEntry, ...], "As they are now, the newest first."]
    total: int
    total_is: Annotated[
        Literal["exact", "about", "at least"],
        "`about`: estimated by a fair sample; `at least`: there was no time to look at all.",
    ]
    complete: Annotated[bool, "Whether every job was looked at."]
    as_of: Annotated[float, "Until when the index is up to date, epoch seconds; of a walk, now."]
    facets: tuple[SearchFacet, ...]
    facets_of: Annotated[int, "Of how many jobs the facets tell."]
    covered: Annotated[int, "How many jobs the index has, or a walk has looked at by now."]
    of: Annotated[int, "How many there are."]
    index: Annotated[str, "Why the index was not asked; empty where it was."]
    next: Annotated[str | None, "The cursor of the next part; null after the last one."]


@shown(
    Route(
        name="search",
        rule="/search",
        family="search",
        params=(_Q, _LIMIT, CURSOR),
        answers=SearchAnswer,
        example=SearchAnswer(
            items=(JOB,),
            total=1,
            total_is="exact",
            complete=True,
            as_of=1798761660.5,
            facets=(
                SearchFacet(
                    field="klass", values=(FacetValue(value="shop.Charge", jobs=1),), distinct=1
                ),
            ),
            facets_of=1,
            covered=120_000,
            of=120_000,
            index="",
            next=None,
        ),
    )
)
def search(q: str, limit: int, cursor: str | None) -> SearchAnswer:
    """Search all jobs; without an index in steps, each with a part of them."""
    here = current()
    must_parse(q, "q")
    found, rows = here.read(seeking(q, Slice(_start(q, cursor), limit)))
    return SearchAnswer(
        items=tuple(map(job_entry, rows)),
        total=found.total,
        total_is=found.certainty,
        complete=found.is_complete,
        as_of=here.now if found.as_of is None else found.as_of,
        facets=tuple(map(_facet, found.facets)),
        facets_of=found.sampled,
        covered=found.covered,
        of=found.of,
        index=found.why_walked,
        next=None if found.next is None else _cursor(found.next, q),
    )


def must_parse(query: str, parameter: str) -> None:
    """Let nothing but a search pass.

    Raises:
        ApiProblem: it is none; it tells where the mistake is.

    """
    try:
        parse(query)
    except BadQuery as error:
        raise ApiProblem(
            400, "bad-query", error.problem, parameter=parameter, position=error.position
        ) from None


def _start(query: str, text: str | None) -> int:
    if text is None:
        return 0
    return cursor.read(text, request.path, {"q": query}, farthest=cursor.FARTHEST_WALK)


def _cursor(place: int, query: str) -> str:
    return cursor.write(place, request.path, {"q": query})


def _facet(found: Facet) -> SearchFacet:
    values = tuple(FacetValue(value=each.value, jobs=each.jobs) for each in found.values)
    return SearchFacet(field=found.name, values=values, distinct=found.distinct)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexState:
    """How the index of this host stands."""

    jobs: Annotated[int, "How many are in it."]
    total: Annotated[int, "How many there are in Redis, about."]
    complete: Annotated[bool, "Whether every job has been read once."]
    as_of: Annotated[float | None, "Until when it is up to date, epoch seconds."]
    lag_s: Annotated[float | None, "Seconds that it is behind."]
    problem: Annotated[str, "Why it is not used; empty where it is."]


@shown(
    Route(
        name="index",
        rule="/index",
        family="search",
        answers=IndexState,
        example=IndexState(
            jobs=120_000, total=120_000, complete=True, as_of=1798761660.5, lag_s=0.4, problem=""
        ),
    )
)
def index() -> IndexState:
    """Say how complete and how old the index of all jobs is."""
    here = current()
    status = here.index.status(here.now)
    return IndexState(
        jobs=status.jobs,
        total=status.total,
        complete=status.is_complete,
        as_of=status.as_of,
        lag_s=status.lag(here.now),
        problem=status.why_not,
    )
