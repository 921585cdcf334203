"""Jobs across queues: completed, tracked, and by tag."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from qless_core.options import as_whole
from qless_core.reads.plan import Call, Read, Scope, Slice, call, read
from qless_core.reads.rows import (
    CLUES,
    Clue,
    JobRow,
    Listing,
    by_score,
    clue_of,
    fields_of,
    job_rows,
    listed,
    scored,
    scores_calls,
    scores_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qless_core.keys import Keys
    from qless_core.reads.kept import Keeping

#: Members of a list whose states are looked up to sort and count by them: 4 ms of the server.
#: Beyond it the list goes on in its own order, and the counts say what they cover.
SORTED_AT_MOST = 2_000
#: Tags that are sorted by name, the most used ones.
NAMED_AT_MOST = 5_000

#: Which states come first where a list is sorted by them: what needs attention, then what is
#: under way, then what is done.
_ORDER = (
    "failed",
    "stalled",
    "waiting",
    "running",
    "scheduled",
    "depends",
    "throttled",
    "complete",
    "",
)


@dataclass(frozen=True, slots=True)
class StateListing(Listing[JobRow]):
    """A part of a list that is sorted by state."""

    #: Members in each state, among the newest `covered`; "" for those whose job is gone.
    states: dict[str, int] = field(default_factory=dict)
    covered: int = 0
    #: Members in the list as a whole, whatever the filter.
    members: int = 0


@dataclass(frozen=True, slots=True)
class TrackedStates:
    """How many tracked jobs are in each state, "" for those that are gone, among the newest."""

    states: dict[str, int]
    covered: int
    members: int


@read
def tracked_states(scope: Scope, most: int = 500) -> Read[TrackedStates]:
    """Count the states of the newest tracked jobs, however many there are."""
    members, jids = yield [
        call("zcard", scope.keys.tracked),
        call("zrevrange", scope.keys.tracked, 0, most - 1),
    ]
    clues = yield from _clues(scope, jids or ())
    asked = scored(clues)
    scores = scores_of(asked, (yield scores_calls(scope.keys, asked)))
    states = Counter(
        clue.state_now(due=scores.get(jid), lock=scores.get(jid), now=scope.now)
        for jid, clue in clues.items()
    )
    return TrackedStates(dict(states), len(clues), members or 0)


@read
def completed(scope: Scope, part: Slice, *, oldest: bool = False) -> Read[Listing[JobRow]]:
    """Give completed jobs, newest first or oldest first, a page at a time."""
    order = "zrange" if oldest else "zrevrange"
    total, found = yield [
        call("zcard", scope.keys.completed),
        call(order, scope.keys.completed, part.offset, part.last, withscores=True),
    ]
    at = by_score(found)
    rows = yield from listed(scope, list(at), at=at)
    return Listing(rows, total or 0, part.offset)


@read
def tags(scope: Scope, part: Slice, *, named: bool = False) -> Read[Listing[tuple[str, int]]]:
    """Give tags and how often each is used, a page at a time.

    Args:
        scope: given by `run`.
        part: which page.
        named: by name, as far as the `NAMED_AT_MOST` most used go, and the others after them;
            without it the most used first.

    """
    reach = NAMED_AT_MOST if named else 0
    total, most, found = yield [
        call("zcount", scope.keys.tags, "(0", "+inf"),
        _most_used(scope, Slice(0, reach)),
        _most_used(scope, _after(part, reach)),
    ]
    by_name = sorted(most or ())[part.offset : part.offset + part.count]
    rows = tuple((tag, as_whole(score) or 0) for tag, score in [*by_name, *(found or ())])
    return Listing(rows, total or 0, part.offset)


def _most_used(scope: Scope, part: Slice) -> Call:
    start, num = part.offset, part.count
    return call(
        "zrevrangebyscore", scope.keys.tags, "+inf", "(0", start=start, num=num, withscores=True
    )


def _after(part: Slice, reach: int) -> Slice:
    """Give what of a part lies behind the first so many."""
    start = max(part.offset, reach)
    return Slice(start, max(0, part.last + 1 - start))


@read
def tracked(scope: Scope, part: Slice, state: str | None = None) -> Read[StateListing]:
    """Give tracked jobs, those that need attention first; `state` keeps one state ("" = gone)."""
    return (yield from _by_state(scope, scope.keys.tracked, part, state))


@read
def tagged(scope: Scope, tag: str, part: Slice, state: str | None = None) -> Read[StateListing]:
    """Give jobs with a tag, failed and waiting ones first, completed ones last."""
    return (yield from _by_state(scope, scope.keys.tag(tag), part, state))


def _by_state(scope: Scope, key: str, part: Slice, state: str | None) -> Read[StateListing]:
    """Sort by state, and give a part.

    The fields of the part are asked for together with the scores that tell states for certain, so
    that some more are asked for: whichever part the jobs belong to whose state was unsure.
    """
    members, found, beyond = yield [
        call("zcard", key),
        call("zrevrange", key, 0, SORTED_AT_MOST - 1, withscores=True),
        # A page past the sorted part, in the list's own order.
        call("zrevrange", key, max(part.offset, SORTED_AT_MOST), part.last, withscores=True),
    ]
    members = members or 0
    at = by_score(found)
    late = {} if state is not None else by_score(beyond)
    everybody = [*at, *late]
    clues = yield from _clues(scope, everybody)
    sure = {jid: clues[jid] for jid in at if not clues[jid].is_unsure(scope.now)}
    unsure = {jid: clues[jid] for jid in at if jid not in sure}
    # Those in doubt may end up before any of the others, and push them on, or not be there at all.
    spare = list(unsure) if state in {None, "running", "stalled"} else []
    start = max(0, part.offset - len(spare))
    near = _ordered(_states(sure, {}, scope.now), state)[start : part.offset + part.count]
    candidates = [*near, *spare, *late]
    asked = scored({jid: clues[jid] for jid in candidates} | unsure)
    answers = yield [*fields_of(scope.keys, candidates), *scores_calls(scope.keys, asked)]
    fields = dict(zip(candidates, answers[: len(candidates)], strict=True))
    scores = scores_of(asked, answers[len(candidates) :])
    locks = {jid: scores.get(jid) for jid in unsure}
    states = _states({jid: clues[jid] for jid in at}, locks, scope.now)
    ordered = _ordered(states, state)
    jids = [*part.of(ordered), *late]
    rows = job_rows(
        jids, [fields[jid] for jid in jids], scope.now, at=at | late, due=scores, locks=scores
    )
    return StateListing(
        rows=rows,
        total=members if state is None else len(ordered),
        offset=part.offset,
        states=dict(Counter(states.values())),
        covered=len(states),
        members=members,
    )


def clue_kept(keys: Keys, now: float, jid: str) -> Keeping[Clue]:  # noqa: ARG001 - as all kinds
    """Read what a job says of its state, to be kept until the job changes."""
    (reply,) = yield [("HMGET", keys.job(jid), *CLUES)]
    return clue_of(reply), math.inf


def _clues(scope: Scope, jids: Sequence[str]) -> Read[dict[str, Clue]]:
    """Read what each job says of its state; what is kept of many takes no batch."""
    if (kept := scope.of_many(clue_kept, jids)) is not None:
        return kept
    replies = yield [call("hmget", scope.keys.job(jid), CLUES) for jid in jids]
    return dict(zip(jids, map(clue_of, replies), strict=True))


def _states(
    clues: Mapping[str, Clue], locks: Mapping[str, float | None], now: float
) -> dict[str, str]:
    """Give the state of each job; a scheduled one is that until its row is read."""
    return {
        jid: clue.state_now(due=None, lock=locks.get(jid), now=now) for jid, clue in clues.items()
    }


def _ordered(states: Mapping[str, str], state: str | None) -> list[str]:
    """Put jobs in the order of their states, or choose those in one; newest first within."""
    if state is not None:
        return [jid for jid, found in states.items() if found == state]
    return sorted(states, key=lambda jid: _rank(states[jid]))


def _rank(state: str) -> int:
    return _ORDER.index(state) if state in _ORDER else len(_ORDER)
