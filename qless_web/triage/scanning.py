"""A search where there is no index: the lists of Redis are walked, a step at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from qless_core.reads.plan import Read, Scope, read, together
from qless_core.reads.rows import JobRow, fields_of, job_rows
from qless_web.triage import places
from qless_web.triage.checking import fits, plain_names
from qless_web.triage.entry import entries_at_once
from qless_web.triage.patterns import EXHAUSTED_GROUP

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qless_web.triage.entry import Entry, Shown
    from qless_web.triage.places import Place
    from qless_web.triage.query import Node

#: Jobs that one step looks at, at most, and those that are asked for of a place after the first.
STEP: Final = 1_000
_OF_EACH: Final = 50
#: A cursor counts places by this, and jobs of the place below it.
_PLACE: Final = 2**32
#: The places whose scores say when the state of a job changes.
_TIMED: Final = {"locks", "scheduled"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """What a step found.

    Attributes:
        rows: the matches, at most as many as were asked for.
        covered: how many jobs have been looked at by now, from the beginning.
        of: how many there are.
        next: where the next step starts; None after the last.

    """

    rows: tuple[JobRow, ...]
    covered: int
    of: int
    next: int | None

    @property
    def jids(self) -> tuple[str, ...]:
        """The jobs that match."""
        return tuple(row.jid for row in self.rows)

    @property
    def is_over(self) -> bool:
        """Whether there is no further step."""
        return self.next is None


class _Spot(NamedTuple):
    """A place, by its number among those that are walked, and how many jobs of it come before."""

    place: int
    offset: int


class _Listed(NamedTuple):
    """A job that the step looks at, where it stands, and its score there."""

    jid: str
    spot: _Spot
    score: float | None


@read
def scan(
    scope: Scope,
    node: Node | None,
    *,
    now: float,
    start: int,
    count: int,
    shown: Shown | None = None,
) -> Read[Scanned]:
    """Look at the next jobs, in three round trips.

    Args:
        scope: given by `run`.
        node: what is looked for.
        now: epoch seconds.
        start: where the step before said to go on; 0 for the first.
        count: matches that are wanted at most.
        shown: gives data as it may be shown; None where all of it may.

    """
    some = _choose((yield from places.places()(scope)), node)
    asked = list(_stretches(some, _Spot(*divmod(start, _PLACE))))
    sizes, *parts = yield from together(
        [
            places.sizes(some)(scope),
            *(places.scored(some[at.place], at.offset, most)(scope) for at, most in asked),
        ]
    )
    listed, after = _line_up(asked, parts, sizes)
    read_entries, replies = yield from together(
        [_entries(some, listed, shown)(scope), _fields([each.jid for each in listed])(scope)]
    )
    taken, hits = _hits(read_entries, node, now, count)
    goes_on = listed[taken].spot if taken < len(listed) else after
    total = sum(sizes)
    return Scanned(
        rows=_rows(some, [listed[at] for at in hits], [replies[at] for at in hits], now),
        covered=total if goes_on is None else sum(sizes[: goes_on.place]) + goes_on.offset,
        of=total,
        next=None if goes_on is None else goes_on.place * _PLACE + goes_on.offset,
    )


def _choose(found: Sequence[Place], node: Node | None) -> list[Place]:
    """Choose the places in which matches may lie."""
    groups, queues = plain_names(node, "group"), plain_names(node, "queue")
    states = plain_names(node, "state")
    return [
        place
        for place in found
        if (groups is None or (place.kind == "failed" and place.name.casefold() in groups))
        and (queues is None or place.kind == "failed" or place.name.casefold() in queues)
        and (states is None or states & _shown(place))
    ]


def _shown(place: Place) -> set[str]:
    """Give the states that jobs of a place may show."""
    more = {"locks": {"stalled"}, "scheduled": {"waiting"}}.get(place.kind, set())
    return {*place.states, *more}


def _stretches(some: Sequence[Place], start: _Spot) -> Iterator[tuple[_Spot, int]]:
    """Say what to ask for of each place before their sizes are known: of the first most."""
    for at in range(start.place, len(some)):
        is_first = at == start.place
        yield _Spot(at, start.offset if is_first else 0), STEP if is_first else min(STEP, _OF_EACH)


def _line_up(
    asked: Sequence[tuple[_Spot, int]],
    parts: Sequence[Sequence[tuple[str, float | None]]],
    sizes: Sequence[int],
) -> tuple[list[_Listed], _Spot | None]:
    """List the jobs up to the first that was not asked for, and say where that stands."""
    listed: list[_Listed] = []
    for (spot, most), part in zip(asked, parts, strict=True):
        for offset, (jid, score) in enumerate(part, spot.offset):
            if len(listed) == STEP:
                return listed, _Spot(spot.place, offset)
            listed.append(_Listed(jid, _Spot(spot.place, offset), score))
        end = spot.offset + len(part)
        if len(part) == most and end < sizes[spot.place]:
            return listed, _Spot(spot.place, end)
    return listed, None


@read
def _entries(
    scope: Scope, some: Sequence[Place], listed: Sequence[_Listed], shown: Shown | None
) -> Read[list[Entry | None]]:
    """Read what is looked at of jobs."""
    spent = [each.jid for each in listed if some[each.spot.place].name.startswith(EXHAUSTED_GROUP)]
    plan = entries_at_once(
        [each.jid for each in listed], until=_until(some, listed), spent=spent, shown=shown
    )
    return (yield from plan(scope))


def _until(some: Sequence[Place], listed: Sequence[_Listed]) -> dict[str, float | None]:
    return {each.jid: each.score for each in listed if some[each.spot.place].kind in _TIMED}


@read
def _fields(scope: Scope, jids: Sequence[str]) -> Read[list[Any]]:
    """Read what rows show of jobs."""
    return (yield fields_of(scope.keys, jids))


def _hits(
    found: Sequence[Entry | None], node: Node | None, now: float, most: int
) -> tuple[int, list[int]]:
    """Choose those that match; answers how many were looked at until there were enough."""
    hits: dict[str, int] = {}
    for at, entry in enumerate(found):
        if entry is not None and fits(node, entry, now * 1000):
            # One that moved meanwhile may have been met in both lists.
            hits.setdefault(entry.jid, at)
            if len(hits) == most:
                return at + 1, list(hits.values())
    return len(found), list(hits.values())


def _rows(
    some: Sequence[Place], hits: Sequence[_Listed], replies: Sequence[Any], now: float
) -> tuple[JobRow, ...]:
    scores = _until(some, hits)
    due = {each.jid: each.score for each in hits if some[each.spot.place].kind == "scheduled"}
    jids = [each.jid for each in hits]
    return job_rows(jids, replies, now, at=due, due=due, locks=scores)
