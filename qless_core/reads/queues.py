"""Queues: counts, statistics, and the jobs in each state, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from qless_core.reads.plan import Call, Read, Scope, Slice, call, read
from qless_core.reads.rows import (
    RECURRING_FIELDS,
    JobRow,
    Listing,
    RecurringRow,
    fields_of,
    job_rows,
    number,
    recurring_row,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class QueueSummary:
    """How many jobs a queue has in each state. `waiting` counts scheduled jobs that are due."""

    name: str
    waiting: int
    running: int
    stalled: int
    scheduled: int
    depends: int
    recurring: int
    paused: bool
    #: Since when the next job to be popped has been waiting (epoch seconds); None when none is.
    next_since: float | None = None

    @property
    def total(self) -> int:
        """Count the jobs of the queue, recurring ones left out."""
        return self.waiting + self.running + self.stalled + self.scheduled + self.depends


@dataclass(frozen=True, slots=True)
class QueueDetail:
    """A queue's page: counts, settings that apply to it, and one day of statistics."""

    counts: QueueSummary
    #: False when the queue is not among the known ones.
    known: bool
    #: Hashes as stored: `retries failures failed`, and for wait and run `total mean vk s0 …`.
    stats: dict[str, str] = field(default_factory=dict)
    wait: dict[str, str] = field(default_factory=dict)
    run: dict[str, str] = field(default_factory=dict)
    heartbeat: str | None = None
    max_concurrency: str | None = None


@read
def queue_names(scope: Scope) -> Read[tuple[str, ...]]:
    """Give the names of all queues, sorted."""
    (names,) = yield [call("zrange", scope.keys.queues, 0, -1)]
    return tuple(sorted(names or ()))


@read
def queue_counts(
    scope: Scope, part: Slice, *, only: Sequence[str] | None = None
) -> Read[Listing[QueueSummary]]:
    """Count the jobs of each queue, sorted by name, a page at a time."""
    names, paused = yield [
        call("zrange", scope.keys.queues, 0, -1),
        call("smembers", scope.keys.paused_queues),
    ]
    ordered = sorted(names or ()) if only is None else list(only)
    shown = list(part.of(ordered))
    replies = yield [each for name in shown for each in _count_calls(scope, name)]
    counts = [
        _summary(name, replies[index * _COUNTS : (index + 1) * _COUNTS], paused or ())
        for index, name in enumerate(shown)
    ]
    next_jids = [
        (replies[index * _COUNTS + _COUNTS - 1] or [None])[0] for index in range(len(shown))
    ]
    times = yield [
        call("hget", scope.keys.job(jid), "time") for jid in next_jids if jid is not None
    ]
    remaining = iter(times)
    rows = tuple(
        replace(each, next_since=number(next(remaining)) if jid is not None else None)
        for each, jid in zip(counts, next_jids, strict=True)
    )
    return Listing(rows, len(ordered), part.offset)


@read
def queue(scope: Scope, name: str, day: int | None = None) -> Read[QueueDetail]:
    """Read one queue. `day` is a midnight in epoch seconds, None for today."""
    keys = scope.keys
    known, paused, heartbeat, limit = yield [
        call("zscore", keys.queues, name),
        call("sismember", keys.paused_queues, name),
        call("hget", keys.config, f"{name}-heartbeat"),
        call("hget", keys.config, f"{name}-max-concurrency"),
    ]
    start = int(scope.now) // 86_400 * 86_400 if day is None else day
    *counted, stats, wait, run = yield [
        *_count_calls(scope, name),
        call("hgetall", keys.stats(start, name)),
        call("hgetall", keys.wait(start, name)),
        call("hgetall", keys.run(start, name)),
    ]
    return QueueDetail(
        counts=_summary(name, counted, (name,) if paused else ()),
        known=known is not None,
        stats=stats or {},
        wait=wait or {},
        run=run or {},
        heartbeat=heartbeat,
        max_concurrency=limit,
    )


@read
def queue_jobs(
    scope: Scope, name: str, state: str, part: Slice
) -> Read[Listing[JobRow] | Listing[RecurringRow]]:
    """Give the jobs of a queue in a state: those of the tab of that name.

    Args:
        scope: given by `run`.
        name: the queue.
        state: waiting, running, stalled, scheduled, depends or recurring.
        part: which page.

    """
    if state == "waiting":
        return (yield from _waiting(scope, name, part))
    if state == "recurring":
        return (yield from _recurring(scope, name, part))
    yield []  # the time comes with the first batch, and the bounds below need it
    key, low, high = {
        "running": (scope.keys.locks(name), f"({scope.now}", "+inf"),
        "stalled": (scope.keys.locks(name), "-inf", scope.now),
        "scheduled": (scope.keys.scheduled(name), f"({scope.now}", "+inf"),
        "depends": (scope.keys.depends(name), "-inf", "+inf"),
    }[state]
    total, found = yield [
        call("zcount", key, low, high),
        call("zrangebyscore", key, low, high, start=part.offset, num=part.count, withscores=True),
    ]
    at = {jid: float(score) for jid, score in found or ()}
    replies = yield fields_of(scope.keys, at)
    return Listing(job_rows(list(at), replies, scope.now, at=at), total or 0, part.offset)


def _waiting(scope: Scope, name: str, part: Slice) -> Read[Listing[JobRow]]:
    """Those in work first, best first; then scheduled ones that are due, which pop takes in."""
    keys = scope.keys
    (ready,) = yield [call("zcard", keys.work(name))]
    ready = ready or 0
    begin = max(0, part.offset - ready)
    room = part.count - max(0, min(part.count, ready - part.offset))
    due, first, late = yield [
        call("zcount", keys.scheduled(name), "-inf", scope.now),
        call("zrevrange", keys.work(name), part.offset, part.last),
        call(
            "zrangebyscore",
            keys.scheduled(name),
            "-inf",
            scope.now,
            start=begin,
            num=room,
            withscores=True,
        ),
    ]
    at = {jid: float(score) for jid, score in late or ()}
    jids = [*(first or ()), *at]
    replies = yield fields_of(keys, jids)
    return Listing(
        job_rows(jids, replies, scope.now, at=at, due=at), ready + (due or 0), part.offset
    )


def _recurring(scope: Scope, name: str, part: Slice) -> Read[Listing[RecurringRow]]:
    key = scope.keys.recur(name)
    total, found = yield [
        call("zcard", key),
        call("zrange", key, part.offset, part.last, withscores=True),
    ]
    replies = yield [
        call("hmget", scope.keys.recurring(jid), RECURRING_FIELDS) for jid, _ in found or ()
    ]
    rows = tuple(
        recurring_row(jid, reply, float(score), scope.now)
        for (jid, score), reply in zip(found or (), replies, strict=True)
    )
    return Listing(rows, total or 0, part.offset)


#: How many replies `_count_calls` brings.
_COUNTS = 8


def _count_calls(scope: Scope, name: str) -> list[Call]:
    keys, now = scope.keys, scope.now
    return [
        call("zcard", keys.work(name)),
        call("zcard", keys.locks(name)),
        call("zcount", keys.locks(name), "-inf", now),
        call("zcard", keys.scheduled(name)),
        call("zcount", keys.scheduled(name), "-inf", now),
        call("zcard", keys.depends(name)),
        call("zcard", keys.recur(name)),
        call("zrevrange", keys.work(name), 0, 0),
    ]


def _summary(name: str, replies: Sequence[object], paused: Sequence[str]) -> QueueSummary:
    work, locks, expired, scheduled, due, depends, recurring = (
        int(each or 0)  # type: ignore[call-overload]  # counts, or None for a foreign key
        for each in replies[: _COUNTS - 1]
    )
    return QueueSummary(
        name=name,
        waiting=work + due,
        running=locks - expired,
        stalled=expired,
        scheduled=scheduled - due,
        depends=depends,
        recurring=recurring,
        paused=name in paused,
    )
