"""What is wrong: looked for in Redis in three batches, and in the index."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from qless_core import reads
from qless_core.options import as_whole, number_of
from qless_core.reads.overview import LARGEST_GROUPS
from qless_core.reads.plan import Read, Scope, Slice, call, read, together
from qless_web.triage.schema import FLAPS, STATE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from qless_core.keys import Keys
    from qless_core.reads import Keeping, Listing, RecurringRow
    from qless_core.reads.failures import FailureGroup
    from qless_core.reads.plan import Call
    from qless_core.reads.queues import QueueSummary
    from qless_core.reads.workers import WorkerSummary
    from qless_web.triage.inbox import Past

#: Queues, workers and recurring jobs that are looked at, and jobs: of each group, and in all.
QUEUES: Final = 1_000
WORKERS: Final = 200
RECURRING: Final = 200
_OF_GROUP, _JOBS = 10, 1_000
#: Groups whose newest jobs are looked at.
GROUPS: Final = 1_000

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


class _Looked(NamedTuple):
    """A job that was looked at: of which group, how many wait for it, and bytes of its data."""

    jid: str
    group: str = ""
    waiting: int = 0
    size: int = 0
    klass: str | None = ""
    queue: str | None = ""


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
        groups: of failures, the largest, as on the overview.
        workers: those that were seen last.
        recurring: the next to run, and those that are late.
        blockers: failed jobs that others wait for, those with most first.
        looked_at: failed jobs that were looked at for that.
        payloads: the jobs with the most data, of the newest of each queue and group.
        sizes: of keys that may grow.

    """

    queues: Listing[QueueSummary]
    groups: Listing[FailureGroup]
    workers: Listing[WorkerSummary]
    recurring: Listing[RecurringRow]
    blockers: tuple[Blocker, ...]
    looked_at: int
    payloads: tuple[Payload, ...]
    sizes: tuple[Size, ...]


@read
def trouble(scope: Scope) -> Read[Trouble]:
    """Look for trouble, in three batches."""
    found, groups, crew, recurring, (blockers, looked_at, payloads), sizes = yield from together(
        [
            reads.queue_counts(Slice(0, QUEUES))(scope),
            reads.failure_groups(Slice(0, LARGEST_GROUPS))(scope),
            reads.workers(Slice(0, WORKERS), order="seen", grouped=True)(scope),
            reads.recurring(Slice(0, RECURRING))(scope),
            _jobs(scope),
            _sizes(scope),
        ]
    )
    return Trouble(
        queues=found,
        groups=groups,
        workers=crew,
        recurring=recurring,
        blockers=blockers,
        looked_at=looked_at,
        payloads=payloads,
        sizes=sizes,
    )


def newest_of(keys: Keys, now: float, name: str) -> Keeping[tuple[_Looked, ...]]:  # noqa: ARG001 - as all kinds
    """Look at the newest jobs of a queue, to be kept: how large they are."""
    waiting, running = yield [
        ("ZREVRANGE", keys.work(name), 0, 1),
        ("ZREVRANGE", keys.locks(name), 0, 1),
    ]
    jids = [*(waiting or ()), *(running or ())]
    sizes = yield [("HSTRLEN", keys.job(jid), "data") for jid in jids]
    found = zip(jids, sizes, strict=True)
    return tuple(_Looked(jid, size=size or 0) for jid, size in found), math.inf


def newest_failed(keys: Keys, now: float, group: str) -> Keeping[tuple[_Looked, ...]]:  # noqa: ARG001 - as all kinds
    """Look at the newest jobs of a group, to be kept: who waits for them, how large they are."""
    (jids,) = yield [("LRANGE", keys.failed(group), 0, _OF_GROUP - 1)]
    jids = list(dict.fromkeys(jids or ()))
    told = yield [
        each
        for jid in jids
        for each in (("SCARD", keys.dependents(jid)), ("HSTRLEN", keys.job(jid), "data"))
    ]
    found = zip(jids, told[::2], told[1::2], strict=True)
    return tuple(_Looked(jid, group, waiting or 0, size or 0) for jid, waiting, size in found), (
        math.inf
    )


def _jobs(scope: Scope) -> Read[tuple[tuple[Blocker, ...], int, tuple[Payload, ...]]]:
    """Look at the newest jobs of each group and queue: who waits for them, how large they are."""
    keys = scope.keys
    groups, names = yield [call("smembers", keys.failures), call("zrange", keys.queues, 0, -1)]
    groups, names = sorted(groups or ())[:GROUPS], list(names or ())[:QUEUES]
    failed, others = scope.of_many(newest_failed, groups), scope.of_many(newest_of, names)
    kept = {
        each.jid: each
        for those in (others or {}, failed or {})
        for some in those.values()
        for each in some
    }
    jids = yield from _newest(scope, () if failed else groups, () if others else names)
    shown = list(dict.fromkeys([*_blocking(kept), *_large(kept)]))
    told = iter(
        (
            yield [
                *(each for jid in jids for each in _facts(keys, jid)),
                *(call("hmget", keys.job(jid), ["klass", "queue"]) for jid in shown),
            ]
        )
    )
    looked = kept | {
        jid: _Looked(jid, group, next(told) or 0, next(told) or 0, *(next(told) or ("", "")))
        for jid, group in jids.items()
    }
    for jid in shown:
        looked[jid] = kept[jid]._replace(
            **dict(zip(("klass", "queue"), next(told) or (), strict=False))
        )
    return (
        tuple(
            Blocker(jid, looked[jid].klass or "", looked[jid].group, looked[jid].waiting)
            for jid in _blocking(looked)
        ),
        sum(1 for each in looked.values() if each.group),
        tuple(
            Payload(jid, looked[jid].klass or "", looked[jid].queue or "", looked[jid].size)
            for jid in _large(looked)
        ),
    )


def _newest(scope: Scope, groups: Sequence[str], names: Sequence[str]) -> Read[dict[str, str]]:
    """Give the newest jobs of groups, each with its group, and of queues; not more than so many."""
    keys = scope.keys
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
    others = [jid for jids in replies[len(groups) :] for jid in jids or ()]
    return dict.fromkeys(others[:_JOBS], "") | dict(list(failed.items())[:_JOBS])


def _facts(keys: Keys, jid: str) -> tuple[Call, ...]:
    return (
        call("scard", keys.dependents(jid)),
        call("hstrlen", keys.job(jid), "data"),
        call("hmget", keys.job(jid), ["klass", "queue"]),
    )


def _blocking(looked: Mapping[str, _Looked]) -> list[str]:
    """Give the failed jobs for which the most others wait."""
    some = [each for each in looked.values() if each.group and each.waiting]
    return [each.jid for each in sorted(some, key=lambda each: (-each.waiting, each.jid))[:MOST]]


def _large(looked: Mapping[str, _Looked]) -> list[str]:
    """Give the jobs with the most data."""
    some = [each for each in looked.values() if each.size >= LARGE]
    return [each.jid for each in sorted(some, key=lambda each: (-each.size, each.jid))[:MOST]]


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

_FLAPPING: Final = f"""
SELECT j.jid, n.name, j.attempt FROM jobs j INDEXED BY jobs_flapping JOIN names n ON n.id = j.klass
WHERE j.state = ? AND j.attempt >= {FLAPS} ORDER BY j.attempt DESC, j.id DESC LIMIT ?
"""  # noqa: S608 - of ours


def flapping(connection: sqlite3.Connection) -> tuple[Flapping, ...]:
    """Find the jobs that were begun most often, among those that are not at their end."""
    found = [
        Flapping(jid, klass, state, runs)
        for state in ("running", "waiting", "scheduled", "failed")
        for jid, klass, runs in connection.execute(_FLAPPING, (STATE[state], MOST))
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
