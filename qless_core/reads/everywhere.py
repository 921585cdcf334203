"""Scheduled and recurring jobs of all queues, in the order in which they are due."""

from __future__ import annotations

import math
from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from qless_core.options import as_number
from qless_core.reads.plan import Read, Scope, Slice, call, read
from qless_core.reads.rows import (
    RECURRING_FIELDS,
    JobRow,
    Listing,
    RecurringRow,
    T,
    by_score,
    fields_of,
    job_rows,
    recurring_row,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from qless_core.keys import Keys
    from qless_core.reads.kept import Keeping, Kind
    from qless_core.reads.tracking import Command

#: How far into the order of all queues a list goes; a page of it is read from every queue. The
#: queues themselves list all of theirs.
REACH: Final = 1_000

#: How many of each of many queues are kept, the first.
KEPT_OF_EACH: Final = 8


@dataclass(frozen=True, slots=True)
class Everywhere(Listing[T]):
    """A part of the first `REACH` of a list; `whole` is how many there are in all queues."""

    whole: int = 0


class Head(NamedTuple):
    """The first of what a queue has of a kind, by score, and how many there are."""

    total: int
    first: tuple[tuple[float, str], ...]


def next_due(keys: Keys, now: float, name: str) -> Keeping[Head]:
    """Look which scheduled jobs of a queue are due next, to be kept until the first is."""
    found = yield from _head(keys.scheduled(name), f"({now!r}")
    return found, found.first[0][0] if found.first else math.inf


def next_runs(keys: Keys, now: float, name: str) -> Keeping[Head]:  # noqa: ARG001 - as all kinds
    """Look which jobs of a queue recur next by an interval, to be kept."""
    return (yield from _head(keys.recur(name), "-inf")), math.inf


def next_crons(keys: Keys, now: float, name: str) -> Keeping[Head]:  # noqa: ARG001 - as all kinds
    """Look which jobs of a queue recur next by a cron expression, to be kept."""
    return (yield from _head(keys.cron(name), "-inf")), math.inf


def _head(key: str, low: str) -> Generator[Sequence[Command], list[Any], Head]:
    count, found = yield [
        ("ZCOUNT", key, low, "+inf"),
        ("ZRANGEBYSCORE", key, low, "+inf", "WITHSCORES", "LIMIT", 0, KEPT_OF_EACH),
    ]
    return Head(count or 0, tuple((float(score), jid) for jid, score in found or ()))


class _Source(NamedTuple):
    """A sorted set that each queue has: how its head is kept, its key, and its lowest score."""

    kind: Kind[Head]
    key: Callable[[str], str]
    low: str = "-inf"


@read
def scheduled(scope: Scope, part: Slice) -> Read[Everywhere[JobRow]]:
    """Give the scheduled jobs that are not due yet, of all queues, the next to be due first."""
    (names,) = yield [call("zrange", scope.keys.queues, 0, -1)]
    source = _Source(next_due, scope.keys.scheduled, f"({scope.now}")
    whole, shown = yield from _of_all(scope, part, names or (), (source,))
    at = by_score([(jid, score) for score, jid, _ in shown])
    fields = yield fields_of(scope.keys, at)
    rows = job_rows(list(at), fields, scope.now, at=at, due=at)
    return Everywhere(rows, min(whole, REACH), part.offset, whole)


@read
def recurring(scope: Scope, part: Slice) -> Read[Everywhere[RecurringRow]]:
    """Give the recurring jobs of all queues, of both kinds, the next to run first."""
    keys = scope.keys
    (names,) = yield [call("zrange", keys.queues, 0, -1)]
    sources = (_Source(next_runs, keys.recur), _Source(next_crons, keys.cron))
    whole, shown = yield from _of_all(scope, part, names or (), sources)
    fields = yield [
        each
        for _, jid, is_cron in shown
        for each in (
            call("hmget", (keys.cron_job if is_cron else keys.recurring)(jid), RECURRING_FIELDS),
            call("zcount", keys.cron_runs(jid), "-inf", scope.now),
        )
    ]
    rows = tuple(
        recurring_row(jid, found, as_number(score), scope.now, planned=past if is_cron else None)
        for (score, jid, is_cron), found, past in zip(shown, fields[::2], fields[1::2], strict=True)
    )
    return Everywhere(rows, min(whole, REACH), part.offset, whole)


def _of_all(
    scope: Scope, part: Slice, names: Sequence[str], sources: Sequence[_Source]
) -> Read[tuple[int, Sequence[tuple[float, str, int]]]]:
    """Count what all queues have, and give a part of it, by score; the last is whose it is.

    Where the heads of queues are kept, only those are asked that may have more of that part.
    """
    # A page of it is read from every queue, and none is beyond the reach.
    most = min(part.last + 1, REACH) if part.offset < REACH else 0
    kept = [scope.of_many(source.kind, names) for source in sources]
    heads = {
        (at, name): head for at, those in enumerate(kept) for name, head in (those or {}).items()
    }
    first = nsmallest(most, (score for head in heads.values() for score, _ in head.first))
    last = (first[-1] if len(first) == most else math.inf) if most else -math.inf
    asked = [
        (at, name)
        for at, those in enumerate(kept)
        for name in names
        if those is None or _may_have_more(those[name], last)
    ]
    replies = yield [
        each
        for at, name in asked
        for key, low in [(sources[at].key(name), sources[at].low)]
        for each in (
            call("zcount", key, low, "+inf"),
            call("zrangebyscore", key, low, "+inf", start=0, num=most, withscores=True),
        )
    ]
    for place, count, found in zip(asked, replies[::2], replies[1::2], strict=True):
        heads[place] = Head(count or 0, tuple((float(score), jid) for jid, score in found or ()))
    every = [(score, jid, at) for (at, _), head in heads.items() for score, jid in head.first]
    whole = sum(head.total for head in heads.values())
    return whole, part.of(nsmallest(most, every))


def _may_have_more(head: Head, last: float) -> bool:
    """Say whether a queue may have more, up to a score, than is kept of it."""
    return head.total > len(head.first) and bool(head.first) and head.first[-1][0] <= last
