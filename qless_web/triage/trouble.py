"""What is wrong without having failed: looked for in Redis in three batches, and in the index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from qless_core import reads
from qless_core.options import as_whole, number_of
from qless_core.reads.plan import Read, Scope, Slice, call, read, together
from qless_web.triage.schema import STATE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from qless_core.reads import Listing, RecurringRow
    from qless_core.reads.queues import QueueSummary
    from qless_core.reads.workers import WorkerSummary
    from qless_web.triage.inbox import Past

#: Queues, workers and recurring jobs that are looked at, and jobs: of each group, and in all.
QUEUES: Final = 1_000
WORKERS: Final = 200
RECURRING: Final = 200
_OF_GROUP, _JOBS = 10, 1_000

#: Jobs of each state, the newest, among which flapping ones are looked for, and runs of one.
_NEWEST: Final = 5_000
FLAPS: Final = 4
MOST: Final = 10

#: Bytes of data from which it is large.
LARGE: Final = 100_000

#: Seconds within which groups began together.
TOGETHER_S: Final = 60.0


class Blocker(NamedTuple):
    """A failed job that others wait for."""

    jid: str
    klass: str
    group: str
    waiting: int


class Payload(NamedTuple):
    """A job with much data; `size` in bytes."""

    jid: str
    klass: str
    queue: str
    size: int


class Size(NamedTuple):
    """How large a key is, and where its bound is; None for none."""

    what: str
    entries: int
    bound: int | None


class Flapping(NamedTuple):
    """A job that was begun again and again."""

    jid: str
    klass: str
    state: str
    runs: int


class Together(NamedTuple):
    """Groups whose first failures came within a minute of one another; epoch seconds."""

    groups: tuple[str, ...]
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What Redis tells.

    Attributes:
        queues: all queues, by name.
        workers: those that were seen last.
        recurring: the next to run, and those that are late.
        blockers: failed jobs that others wait for, those with most first.
        looked_at: failed jobs that were looked at for that.
        payloads: the jobs with the most data, of the newest of each queue and group.
        sizes: of keys that may grow.

    """

    queues: Listing[QueueSummary]
    workers: Listing[WorkerSummary]
    recurring: Listing[RecurringRow]
    blockers: tuple[Blocker, ...]
    looked_at: int
    payloads: tuple[Payload, ...]
    sizes: tuple[Size, ...]


@read
def trouble(scope: Scope) -> Read[Trouble]:
    """Look for trouble, in three batches."""
    found, crew, recurring, (blockers, looked_at, payloads), sizes = yield from together(
        [
            reads.queue_counts(Slice(0, QUEUES))(scope),
            reads.workers(Slice(0, WORKERS), order="seen", grouped=True)(scope),
            reads.recurring(Slice(0, RECURRING))(scope),
            _jobs(scope),
            _sizes(scope),
        ]
    )
    return Trouble(
        queues=found,
        workers=crew,
        recurring=recurring,
        blockers=blockers,
        looked_at=looked_at,
        payloads=payloads,
        sizes=sizes,
    )


def _jobs(scope: Scope) -> Read[tuple[tuple[Blocker, ...], int, tuple[Payload, ...]]]:
    """Look at the newest jobs of each group and queue: who waits for them, how large they are."""
    keys = scope.keys
    groups, names = yield [call("smembers", keys.failures), call("zrange", keys.queues, 0, -1)]
    groups, names = sorted(groups or ()), list(names or ())[:QUEUES]
    replies = yield [
        *(call("lrange", keys.failed(group), 0, _OF_GROUP - 1) for group in groups),
        *(call("zrevrange", keys.work(name), 0, 1) for name in names),
        *(call("zrevrange", keys.locks(name), 0, 1) for name in names),
    ]
    failed = {
        jid: group
        for group, jids in zip(groups, replies[: len(groups)], strict=True)
        for jid in jids or ()
    }
    failed = dict(list(failed.items())[:_JOBS])
    others = [jid for jids in replies[len(groups) :] for jid in jids or ()][:_JOBS]
    looked_at = list(dict.fromkeys([*failed, *others]))
    told = yield [
        *(call("scard", keys.dependents(jid)) for jid in failed),
        *(
            each
            for jid in looked_at
            for each in (
                call("hmget", keys.job(jid), ["klass", "queue"]),
                call("hstrlen", keys.job(jid), "data"),
            )
        ),
    ]
    facts = told[len(failed) :]
    known = dict(zip(looked_at, zip(facts[::2], facts[1::2], strict=True), strict=True))
    return _blockers(failed, told[: len(failed)], known), len(failed), _payloads(known)


_Known = dict[str, tuple["list[str | None] | None", "int | None"]]


def _blockers(
    failed: Mapping[str, str], waiting: Sequence[int | None], known: _Known
) -> tuple[Blocker, ...]:
    found = [
        Blocker(jid, _klass(known, jid), group, count)
        for (jid, group), count in zip(failed.items(), waiting, strict=True)
        if count
    ]
    return tuple(sorted(found, key=lambda each: (-each.waiting, each.jid))[:MOST])


def _payloads(known: _Known) -> tuple[Payload, ...]:
    found = [
        Payload(jid, _klass(known, jid), (fields or [None, None])[1] or "", size)
        for jid, (fields, size) in known.items()
        if (size or 0) >= LARGE and size
    ]
    return tuple(sorted(found, key=lambda each: (-each.size, each.jid))[:MOST])


def _klass(known: _Known, jid: str) -> str:
    return (known[jid][0] or [None])[0] or ""


def _sizes(scope: Scope) -> Read[tuple[Size, ...]]:
    keys = scope.keys
    replies = yield [
        call("zcard", keys.tracked),
        call("zcard", keys.tags),
        call("zcard", keys.workers),
        call("zcard", keys.completed),
        call("scard", keys.failures),
        call("hget", keys.config, "jobs-history-count"),
    ]
    tracked, tags, workers, completed, groups = (as_whole(each) or 0 for each in replies[:5])
    kept = int(number_of("jobs-history-count", replies[5]))
    return (
        Size("tracked jobs", tracked, 1_000),
        Size("tags in use", tags, 10_000),
        Size("worker names", workers, 1_000),
        Size("completed jobs", completed, kept),
        Size("groups of failures", groups, 1_000),
    )


# -- Of the index

_FLAPPING: Final = """
SELECT j.jid, n.name, j.attempt FROM (
  SELECT jid, klass, attempt FROM jobs INDEXED BY jobs_state WHERE state = ?
  ORDER BY since DESC LIMIT ?
) j JOIN names n ON n.id = j.klass WHERE j.attempt >= ? ORDER BY j.attempt DESC LIMIT ?
"""


def flapping(connection: sqlite3.Connection) -> tuple[Flapping, ...]:
    """Find jobs that were begun again and again, among the newest that are not at their end."""
    found = [
        Flapping(jid, klass, state, runs)
        for state in ("running", "waiting", "scheduled", "failed")
        for jid, klass, runs in connection.execute(_FLAPPING, (STATE[state], _NEWEST, FLAPS, MOST))
    ]
    return tuple(sorted(found, key=lambda each: (-each.runs, each.jid))[:MOST])


def together_of(pasts: Mapping[str, Past]) -> tuple[Together, ...]:
    """Find groups that began together, the latest first: one cause may be behind them."""
    ordered = sorted((past.first, name) for name, past in pasts.items())
    found: list[list[tuple[float, str]]] = []
    for each in ordered:
        if found and each[0] - found[-1][0][0] <= TOGETHER_S:
            found[-1].append(each)
        else:
            found.append([each])
    return tuple(
        Together(tuple(name for _, name in those), those[0][0])
        for those in reversed(found)
        if len(those) > 1
    )[:MOST]
