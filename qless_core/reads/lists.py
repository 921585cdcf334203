"""Jobs across queues: completed, tracked, and by tag."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from qless_core.reads.plan import Read, Scope, Slice, call, read
from qless_core.reads.rows import JobRow, Listing, fields_of, job_rows, number, state_now

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Members of a list whose states are looked up to sort and count by them. Beyond it the list
#: goes on in its own order, and the counts say what they cover.
SORTED_AT_MOST = 5_000

#: Which states come first where a list is sorted by them: what needs attention, then what is
#: under way, then what is done.
_ORDER = ("failed", "stalled", "waiting", "running", "scheduled", "depends", "complete", "")


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
    replies = yield [
        call("hmget", scope.keys.job(jid), ["state", "expires", "queue"]) for jid in jids or ()
    ]
    states = Counter(_state(reply or [None] * 3, scope.now) for reply in replies)
    return TrackedStates(dict(states), len(replies), members or 0)


@read
def completed(scope: Scope, part: Slice) -> Read[Listing[JobRow]]:
    """Give completed jobs, newest first, a page at a time."""
    total, found = yield [
        call("zcard", scope.keys.completed),
        call("zrevrange", scope.keys.completed, part.offset, part.last, withscores=True),
    ]
    at = {jid: float(score) for jid, score in found or ()}
    replies = yield fields_of(scope.keys, at)
    return Listing(job_rows(list(at), replies, scope.now, at=at), total or 0, part.offset)


@read
def tags(scope: Scope, part: Slice) -> Read[Listing[tuple[str, int]]]:
    """Give tags and how often each is used, most used first, a page at a time."""
    total, found = yield [
        call("zcount", scope.keys.tags, "(0", "+inf"),
        call(
            "zrevrangebyscore",
            scope.keys.tags,
            "+inf",
            "(0",
            start=part.offset,
            num=part.count,
            withscores=True,
        ),
    ]
    rows = tuple((tag, int(float(score))) for tag, score in found or ())
    return Listing(rows, total or 0, part.offset)


@read
def tracked(scope: Scope, part: Slice, state: str | None = None) -> Read[StateListing]:
    """Give tracked jobs, those that need attention first; `state` keeps one state ("" = gone)."""
    return (yield from _by_state(scope, scope.keys.tracked, part, state))


@read
def tagged(scope: Scope, tag: str, part: Slice, state: str | None = None) -> Read[StateListing]:
    """Give jobs with a tag, failed and waiting ones first, completed ones last."""
    return (yield from _by_state(scope, scope.keys.tag(tag), part, state))


def _by_state(scope: Scope, key: str, part: Slice, state: str | None) -> Read[StateListing]:
    keys = scope.keys
    members, found, beyond = yield [
        call("zcard", key),
        call("zrevrange", key, 0, SORTED_AT_MOST - 1, withscores=True),
        # A page past the sorted part, in the list's own order.
        call("zrevrange", key, max(part.offset, SORTED_AT_MOST), part.last, withscores=True),
    ]
    members = members or 0
    at = {jid: float(score) for jid, score in found or ()}
    replies = yield [call("hmget", keys.job(jid), ["state", "expires", "queue"]) for jid in at]
    states = {
        jid: _state(reply or [None] * 3, scope.now) for jid, reply in zip(at, replies, strict=True)
    }
    ordered = sorted(at, key=lambda jid: _rank(states[jid]))  # stable: newest first within
    if state is not None:
        ordered = [jid for jid in ordered if states[jid] == state]
    jids: Sequence[str] = part.of(ordered)
    if state is None and beyond:
        late = {jid: float(score) for jid, score in beyond}
        at |= late
        jids = [*jids, *late]
    queues = {
        jid: reply[2] for jid, reply in zip(states, replies, strict=True) if reply and reply[2]
    }
    due_of = [jid for jid in jids if states.get(jid) == "scheduled" and jid in queues]
    answers = yield [
        *fields_of(keys, jids),
        *(call("zscore", keys.scheduled(queues[jid]), jid) for jid in due_of),
    ]
    due = {jid: number(score) for jid, score in zip(due_of, answers[len(jids) :], strict=True)}
    return StateListing(
        rows=job_rows(jids, answers[: len(jids)], scope.now, at=at, due=due),
        total=members if state is None else len(ordered),
        offset=part.offset,
        states=dict(Counter(states.values())),
        covered=len(states),
        members=members,
    )


def _state(reply: Sequence[str | None], now: float) -> str:
    state, expires, _ = reply
    return state_now(state or "", expires=number(expires) or None, due=None, now=now)


def _rank(state: str) -> int:
    return _ORDER.index(state) if state in _ORDER else len(_ORDER)
