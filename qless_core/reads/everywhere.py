"""Scheduled and recurring jobs of all queues, in the order in which they are due."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from qless_core.options import as_number
from qless_core.reads.plan import Call, Read, Scope, Slice, call, read
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
    from collections.abc import Iterable, Sequence

#: How far into the order of all queues a list goes; a page of it is read from every queue. The
#: queues themselves list all of theirs.
REACH: Final = 1_000


@dataclass(frozen=True, slots=True)
class Everywhere(Listing[T]):
    """A part of the first `REACH` of a list; `whole` is how many there are in all queues."""

    whole: int = 0


@read
def scheduled(scope: Scope, part: Slice) -> Read[Everywhere[JobRow]]:
    """Give the scheduled jobs that are not due yet, of all queues, the next to be due first."""
    (names,) = yield [call("zrange", scope.keys.queues, 0, -1)]
    keys = [scope.keys.scheduled(name) for name in names or ()]
    later, most = f"({scope.now}", _most(part)
    replies = yield [
        each
        for key in keys
        for each in (
            call("zcount", key, later, "+inf"),
            call("zrangebyscore", key, later, "+inf", start=0, num=most, withscores=True),
        )
    ]
    whole = sum(count or 0 for count in replies[::2])
    every = [(float(score), jid) for found in replies[1::2] for jid, score in found or ()]
    at = by_score([(jid, score) for score, jid in _part(part, every)])
    fields = yield fields_of(scope.keys, at)
    rows = job_rows(list(at), fields, scope.now, at=at, due=at)
    return Everywhere(rows, min(whole, REACH), part.offset, whole)


@read
def recurring(scope: Scope, part: Slice) -> Read[Everywhere[RecurringRow]]:
    """Give the recurring jobs of all queues, of both kinds, the next to run first."""
    keys = scope.keys
    (names,) = yield [call("zrange", keys.queues, 0, -1)]
    sets = [(kind, name) for name in names or () for kind in (False, True)]
    most = _most(part)
    replies = yield [
        each
        for is_cron, name in sets
        for each in _first((keys.cron if is_cron else keys.recur)(name), most)
    ]
    whole = sum(count or 0 for count in replies[::2])
    every = [
        (float(score), jid, is_cron)
        for (is_cron, _), found in zip(sets, replies[1::2], strict=True)
        for jid, score in found or ()
    ]
    shown = _part(part, every)
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


def _most(part: Slice) -> int:
    """Say how many of each queue may be in a part."""
    return max(0, min(part.last + 1, REACH))


def _first(key: str, most: int) -> Iterable[Call]:
    yield call("zcard", key)
    # A range that ends before it begins is empty; one that ends at -1 is all.
    yield call("zrange", key, 0, most - 1, withscores=True) if most else call("zrange", key, 1, 0)


def _part(part: Slice, every: Sequence[Any]) -> Sequence[Any]:
    """Put what the queues have in one order, and cut the part out."""
    return part.of(sorted(every)[:REACH])
