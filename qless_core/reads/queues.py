"""Queues: counts, statistics, and the jobs in each state, a page at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from qless_core.options import as_number, as_whole
from qless_core.reads.plan import Call, Read, Scope, Slice, call, read
from qless_core.reads.rows import (
    RECURRING_FIELDS,
    JobRow,
    Listing,
    RecurringRow,
    by_score,
    fields_of,
    job_rows,
    recurring_row,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from qless_core.keys import Keys
    from qless_core.reads.kept import Keeping

#: Queues that are counted to put them in an order other than their names'.
ORDERED_AT_MOST: Final = 1_000


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
    #: How often a job of it failed today (UTC).
    failures_today: int = 0
    #: Jobs that a throttle keeps back.
    throttled: int = 0

    @property
    def total(self) -> int:
        """Count the jobs of the queue, recurring ones left out."""
        late = self.scheduled + self.depends + self.throttled
        return self.waiting + self.running + self.stalled + late


@dataclass(frozen=True, slots=True)
class QueueDay:
    """What a queue did on a day. `start` is its midnight UTC, epoch seconds."""

    start: int
    completed: int
    failures: int


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
    #: Options as stored: its own, then those of all queues that count where it has none.
    heartbeat: str | None = None
    max_concurrency: str | None = None
    shared_heartbeat: str | None = None
    grace_period: str | None = None
    #: The days that were asked for, oldest first.
    days: tuple[QueueDay, ...] = ()


@read
def queue_names(scope: Scope) -> Read[tuple[str, ...]]:
    """Give the names of all queues, sorted."""
    (names,) = yield [call("zrange", scope.keys.queues, 0, -1)]
    return tuple(sorted(names or ()))


@read
def queue_counts(
    scope: Scope,
    part: Slice,
    *,
    only: Sequence[str] | None = None,
    match: str = "",
    order: str = "name",
) -> Read[Listing[QueueSummary]]:
    """Count the jobs of each queue, a page at a time.

    Args:
        scope: given by `run`.
        part: which page.
        only: these queues, in this order, whether known or not.
        match: keep the queues whose name contains this, in any case.
        order: `name`, or one of `ORDERS`: most first, then by name. Of more than
            `ORDERED_AT_MOST` queues the rest follows by name.

    """
    names, paused = yield [
        call("zrange", scope.keys.queues, 0, -1),
        call("smembers", scope.keys.paused_queues),
    ]
    wanted = match.casefold()
    ordered = (
        sorted(name for name in names or () if wanted in name.casefold())
        if only is None
        else list(only)
    )
    reach = ORDERED_AT_MOST if order in ORDERS else 0
    late = Slice(max(part.offset, reach), max(0, part.last + 1 - max(part.offset, reach)))
    counted = [*ordered[:reach], *late.of(ordered)]
    if (kept := scope.of_many(counts_of, counted)) is not None:
        rows = [_paused(kept[name], paused or ()) for name in counted]
        return _listing(rows, part, order, len(ordered), reach)
    replies = yield [each for name in counted for each in _count_calls(scope, name)]
    by_queue = [replies[index * _COUNTS : (index + 1) * _COUNTS] for index in range(len(counted))]
    next_jids = [(each[-1] or [None])[0] for each in by_queue]
    times = iter(
        (yield [call("hget", scope.keys.job(jid), "time") for jid in next_jids if jid is not None])
    )
    rows = [
        replace(
            _summary(name, each, paused or ()),
            next_since=as_number(next(times)) if jid is not None else None,
        )
        for name, each, jid in zip(counted, by_queue, next_jids, strict=True)
    ]
    return _listing(rows, part, order, len(ordered), reach)


def _listing(
    rows: Sequence[QueueSummary], part: Slice, order: str, total: int, reach: int
) -> Listing[QueueSummary]:
    """Put the first rows in an order, of which a part is shown; the others are that part."""
    head = sorted(rows[:reach], key=ORDERS[order]) if reach else []
    return Listing((*part.of(head), *rows[reach:]), total, part.offset)


def _paused(row: QueueSummary, paused: Collection[str]) -> QueueSummary:
    return replace(row, paused=True) if row.name in paused else row


def counts_of(keys: Keys, now: float, name: str) -> Keeping[QueueSummary]:
    """Count the jobs of one queue, to be kept; whether it is paused is read with each page.

    It holds until a lock ends, a job is due, or the day does.
    """
    day = int(now) // _DAY * _DAY
    locks, scheduled, later = keys.locks(name), keys.scheduled(name), f"({now!r}"
    *replies, ends, dues = yield [
        ("ZCARD", keys.work(name)),
        ("ZCARD", locks),
        ("ZCOUNT", locks, "-inf", now),
        ("ZCARD", scheduled),
        ("ZCOUNT", scheduled, "-inf", now),
        ("ZCARD", keys.depends(name)),
        ("ZCARD", keys.recur(name)),
        ("ZCARD", keys.cron(name)),
        ("ZCARD", keys.throttled(name)),
        ("HGET", keys.stats(day, name), "failures"),
        ("ZREVRANGE", keys.work(name), 0, 0),
        ("ZRANGEBYSCORE", locks, later, "+inf", "WITHSCORES", "LIMIT", 0, 1),
        ("ZRANGEBYSCORE", scheduled, later, "+inf", "WITHSCORES", "LIMIT", 0, 1),
    ]
    since = None
    if replies[-1]:
        (since,) = yield [("HGET", keys.job(replies[-1][0]), "time")]
    row = replace(_summary(name, replies, ()), next_since=as_number(since))
    changes = [float(score) for found in (ends, dues) for _, score in found or ()]
    return row, min([day + _DAY, *changes])


@read
def queue(scope: Scope, name: str, day: int | None = None, *, days: int = 0) -> Read[QueueDetail]:
    """Read one queue.

    Args:
        scope: given by `run`.
        name: the queue.
        day: the midnight in epoch seconds of the day to give statistics of, None for today.
        days: of how many days up to today to give the sums.

    """
    keys = scope.keys
    known, paused, options = yield [
        call("zscore", keys.queues, name),
        call("sismember", keys.paused_queues, name),
        call(
            "hmget",
            keys.config,
            [f"{name}-heartbeat", f"{name}-max-concurrency", "heartbeat", "grace-period"],
        ),
    ]
    today = int(scope.now) // _DAY * _DAY
    start = today if day is None else day
    starts = [today - _DAY * back for back in reversed(range(days))]
    replies = yield [
        *_count_calls(scope, name),
        call("hgetall", keys.stats(start, name)),
        call("hgetall", keys.wait(start, name)),
        call("hgetall", keys.run(start, name)),
        *(call("hget", keys.run(each, name), "total") for each in starts),
        *(call("hget", keys.stats(each, name), "failures") for each in starts),
    ]
    stats, wait, run = replies[_COUNTS : _COUNTS + 3]
    completed = replies[_COUNTS + 3 : _COUNTS + 3 + days]
    failures = replies[_COUNTS + 3 + days :]
    heartbeat, limit, shared_heartbeat, grace = options or [None] * 4
    return QueueDetail(
        counts=_summary(name, replies[:_COUNTS], (name,) if paused else ()),
        known=known is not None,
        stats=stats or {},
        wait=wait or {},
        run=run or {},
        heartbeat=heartbeat,
        max_concurrency=limit,
        shared_heartbeat=shared_heartbeat,
        grace_period=grace,
        days=tuple(
            QueueDay(each, _at_least_0(done), _at_least_0(failed))
            for each, done, failed in zip(starts, completed, failures, strict=True)
        ),
    )


@read
def queue_jobs(
    scope: Scope, name: str, state: str, part: Slice
) -> Read[Listing[JobRow] | Listing[RecurringRow]]:
    """Give the jobs of a queue in a state: those of the tab of that name.

    Args:
        scope: given by `run`.
        name: the queue.
        state: waiting, running, stalled, scheduled, depends, throttled or recurring.
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
        "throttled": (scope.keys.throttled(name), "-inf", "+inf"),
    }[state]
    total, found = yield [
        call("zcount", key, low, high),
        call("zrangebyscore", key, low, high, start=part.offset, num=part.count, withscores=True),
    ]
    at = by_score(found)
    asked = at if state == "depends" else ()
    replies = yield [
        *fields_of(scope.keys, at),
        *(call("scard", scope.keys.dependencies(jid)) for jid in asked),
    ]
    # The score is the end of the lock for what runs, and for scheduled jobs when they are due.
    rows = job_rows(list(at), replies[: len(at)], scope.now, at=at, locks=at, due=at)
    if asked:
        counts = replies[len(at) :]
        rows = tuple(
            replace(row, waits_for=count or 0) for row, count in zip(rows, counts, strict=True)
        )
    return Listing(rows, total or 0, part.offset)


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
    at = by_score(late)
    jids = [*(first or ()), *at]
    replies = yield fields_of(keys, jids)
    return Listing(
        job_rows(jids, replies, scope.now, at=at, due=at), ready + (due or 0), part.offset
    )


def _recurring(scope: Scope, name: str, part: Slice) -> Read[Listing[RecurringRow]]:
    """Both kinds, by next run."""
    keys = scope.keys
    by_interval, by_cron, found, crons = yield [
        call("zcard", keys.recur(name)),
        call("zcard", keys.cron(name)),
        call("zrange", keys.recur(name), 0, part.last, withscores=True),
        call("zrange", keys.cron(name), 0, part.last, withscores=True),
    ]
    either = [(score, jid, False) for jid, score in found or ()]
    either += [(score, jid, True) for jid, score in crons or ()]
    shown = part.of(sorted(either))
    replies = yield [
        each
        for _, jid, is_cron in shown
        for each in (
            call("hmget", (keys.cron_job if is_cron else keys.recurring)(jid), RECURRING_FIELDS),
            call("zcount", keys.cron_runs(jid), "-inf", scope.now),
        )
    ]
    rows = tuple(
        recurring_row(jid, fields, as_number(score), scope.now, planned=past if is_cron else None)
        for (score, jid, is_cron), fields, past in zip(
            shown, replies[::2], replies[1::2], strict=True
        )
    )
    return Listing(rows, (by_interval or 0) + (by_cron or 0), part.offset)


#: How many replies `_count_calls` brings.
_COUNTS = 11

_DAY = 86_400


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
        call("zcard", keys.cron(name)),
        call("zcard", keys.throttled(name)),
        call("hget", keys.stats(int(now) // _DAY * _DAY, name), "failures"),
        call("zrevrange", keys.work(name), 0, 0),
    ]


def _summary(name: str, replies: Sequence[object], paused: Sequence[str]) -> QueueSummary:
    work, locks, expired, scheduled, due, depends, recurring, crons, throttled = (
        int(each or 0)  # type: ignore[call-overload]  # counts, or None for a foreign key
        for each in replies[:9]
    )
    return QueueSummary(
        name=name,
        waiting=work + due,
        running=locks - expired,
        stalled=expired,
        scheduled=scheduled - due,
        depends=depends,
        recurring=recurring + crons,
        paused=name in paused,
        failures_today=_at_least_0(replies[9]),
        throttled=throttled,
    )


def _at_least_0(stored: object) -> int:
    # Clients in the field take back failures of other queues, and so get below 0.
    return max(0, as_whole(stored) or 0)


#: What queues can be ordered by, each with the key that puts the most first.
ORDERS: Final[dict[str, Callable[[QueueSummary], tuple[float, str]]]] = {
    "waiting": lambda each: (-each.waiting, each.name),
    "running": lambda each: (-each.running, each.name),
    "stalled": lambda each: (-each.stalled, each.name),
    "scheduled": lambda each: (-each.scheduled, each.name),
    "depends": lambda each: (-each.depends, each.name),
    "recurring": lambda each: (-each.recurring, each.name),
    "failures": lambda each: (-each.failures_today, each.name),
    "oldest": lambda each: (
        math.inf if each.next_since is None else each.next_since,
        each.name,
    ),
}
