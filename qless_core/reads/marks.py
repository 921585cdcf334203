"""Marks: what a page shows, boiled down to something small that differs once the page would.

They find what the log channel never tells (pop, heartbeat, retry, pause, tag, priority, recur), so
they are taken every second, and the cost of each is bounded whatever lies in Redis. A mark is a
mapping of parts; where there are too many, each call looks at the next few, and `turn` counts on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qless_core.reads.frame import frame
from qless_core.reads.plan import Call, Read, Scope, call, read
from qless_core.reads.queues import counts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: The parts of a mark by name; only whether they differ from those before means anything.
Mark = dict[str, object]

#: Queues, groups and workers that one call looks at.
AT_ONCE = 64
#: Rows at the head of a list that are looked at one by one.
HEAD = 25

_JOB_FIELDS = (
    "state",
    "queue",
    "worker",
    "expires",
    "priority",
    "tags",
    "retries",
    "remaining",
    "progress",
)
_RECURRING_FIELDS = (
    "queue",
    "priority",
    "tags",
    "interval",
    "count",
    "retries",
    "backlog",
    "held",
    "cron",
    "timezone",
)


def turned(names: Iterable[str], turn: int) -> list[str]:
    """Choose the few names whose turn it is; all of them when they are few."""
    ordered = sorted(names)
    rounds = max(1, -(-len(ordered) // AT_ONCE))
    start = turn % rounds * AT_ONCE
    return ordered[start : start + AT_ONCE]


def _by_name(names: Sequence[str], replies: Sequence[object], each: int) -> Mark:
    return {
        f"of {name}": tuple(map(_still, replies[index * each : (index + 1) * each]))
        for index, name in enumerate(names)
    }


def _still(reply: Any) -> object:  # noqa: ANN401 - whatever Redis answers
    """Bring a reply into an order that does not change from call to call."""
    if isinstance(reply, dict):
        return sorted(reply.items())
    return sorted(reply) if isinstance(reply, set) else reply


@read
def rail_mark(scope: Scope) -> Read[Mark]:
    """Mark the counts around every page."""
    counts = yield from frame(probe=False)(scope)
    return {
        name: getattr(counts, name)
        for name in ("queues", "paused", "failed", "workers", "tracked", "tags", "completed")
    }


@read
def queues_mark(scope: Scope, turn: int = 0) -> Read[Mark]:
    """Mark the counts of all queues; where those of many are not kept, a few at a time."""
    keys = scope.keys
    names, paused = yield [
        call("zrange", keys.queues, 0, -1),
        call("smembers", keys.paused_queues),
    ]
    mark: Mark = {"known": len(names or ()), "paused": _still(paused)}
    if (kept := scope.of_many(counts_of, names or ())) is not None:
        return mark | {f"of {name}": row for name, row in kept.items()}
    few = turned(names or (), turn)
    replies = yield [each for name in few for each in _counts(scope, name)]
    return mark | _by_name(few, replies, _COUNTS)


#: How many replies `_counts` brings.
_COUNTS = 9


def _counts(scope: Scope, name: str) -> list[Call]:
    keys, now = scope.keys, scope.now
    return [
        call("zcard", keys.work(name)),
        call("zrevrange", keys.work(name), 0, 0),
        call("zcard", keys.locks(name)),
        call("zcount", keys.locks(name), "-inf", now),
        call("zcard", keys.scheduled(name)),
        call("zcount", keys.scheduled(name), "-inf", now),
        call("zcard", keys.depends(name)),
        call("zcard", keys.recur(name)),
        call("zcard", keys.cron(name)),
    ]


@read
def queue_mark(scope: Scope, name: str) -> Read[Mark]:
    """Mark one queue: its counts, and the head of each of its lists."""
    keys = scope.keys
    paused, *heads = yield [
        call("sismember", keys.paused_queues, name),
        call("zrevrange", keys.work(name), 0, HEAD - 1, withscores=True),
        # The lock that ends last: every pop and every heartbeat makes another one that.
        call("zrevrange", keys.locks(name), 0, 0, withscores=True),
        call("zrange", keys.locks(name), 0, HEAD - 1),
        call("zrange", keys.scheduled(name), 0, HEAD - 1, withscores=True),
        call("zrange", keys.recur(name), 0, HEAD - 1, withscores=True),
        call("zrange", keys.cron(name), 0, HEAD - 1, withscores=True),
    ]
    counts = yield _counts(scope, name)
    return {"paused": paused, "heads": heads, "counts": counts}


@read
def job_mark(scope: Scope, jid: str) -> Read[Mark]:
    """Mark one job, or recurring job."""
    keys = scope.keys
    found = yield [
        call("hmget", keys.job(jid), _JOB_FIELDS),
        call("hlen", keys.job(jid)),
        call("llen", keys.history(jid)),
        call("scard", keys.dependencies(jid)),
        call("scard", keys.dependents(jid)),
        call("zscore", keys.tracked, jid),
        call("hmget", keys.recurring(jid), _RECURRING_FIELDS),
        call("hmget", keys.cron_job(jid), _RECURRING_FIELDS),
    ]
    queues = [(reply or [None])[0] for reply in found[-2:]]
    following = yield [
        call("zscore", waits(queue), jid)
        for waits, queue in zip((keys.recur, keys.cron), queues, strict=True)
        if queue is not None
    ]
    return {"job": found, "next": following}


@read
def failures_mark(scope: Scope, turn: int = 0) -> Read[Mark]:
    """Mark the groups of failures, a few at a time."""
    (groups,) = yield [call("smembers", scope.keys.failures)]
    few = turned(groups or (), turn)
    replies = yield [
        each
        for group in few
        for each in (
            call("llen", scope.keys.failed(group)),
            call("lindex", scope.keys.failed(group), 0),
        )
    ]
    return {"groups": len(groups or ()), **_by_name(few, replies, 2)}


@read
def group_mark(scope: Scope, group: str) -> Read[Mark]:
    """Mark one group of failures."""
    key = scope.keys.failed(group)
    return {"group": (yield [call("llen", key), call("lrange", key, 0, HEAD - 1)])}


@read
def workers_mark(scope: Scope, turn: int = 0) -> Read[Mark]:
    """Mark how much each worker holds, what it tells and is asked, a few at a time."""
    keys = scope.keys
    (names,) = yield [call("zrange", keys.workers, 0, -1)]
    few = turned(names or (), turn)
    replies = yield [
        each
        for name in few
        for each in (
            call("zcard", keys.worker_jobs(name)),
            call("zcount", keys.worker_jobs(name), "-inf", scope.now),
            call("get", keys.worker_info(name)),
            call("get", keys.worker_asked(name)),
        )
    ]
    return {"known": len(names or ()), **_by_name(few, replies, 4)}


@read
def worker_mark(scope: Scope, name: str) -> Read[Mark]:
    """Mark what one worker holds, and until when."""
    key = scope.keys.worker_jobs(name)
    held = yield [
        call("zscore", scope.keys.workers, name),
        call("zcard", key),
        call("zrange", key, 0, HEAD - 1, withscores=True),
        call("get", scope.keys.worker_info(name)),
        call("get", scope.keys.worker_asked(name)),
    ]
    stalled = yield [call("zcount", key, "-inf", scope.now)]
    return {"held": held, "stalled": stalled}


@read
def tracked_mark(scope: Scope) -> Read[Mark]:
    """Mark the tracked jobs: how many, and the states of the last ones."""
    return (yield from _members(scope, scope.keys.tracked))


@read
def tags_mark(scope: Scope) -> Read[Mark]:
    """Mark the tags: how many, and the counts of the most used."""
    key = scope.keys.tags
    return {
        "tags": (
            yield [call("zcard", key), call("zrevrange", key, 0, 2 * HEAD - 1, withscores=True)]
        )
    }


@read
def tag_mark(scope: Scope, tag: str) -> Read[Mark]:
    """Mark the jobs with a tag: how many, and the states of the last ones."""
    return (yield from _members(scope, scope.keys.tag(tag)))


@read
def completed_mark(scope: Scope) -> Read[Mark]:
    """Mark the completed jobs: how many, and which is the last."""
    key = scope.keys.completed
    return {"completed": (yield [call("zcard", key), call("zrevrange", key, 0, 0)])}


@read
def config_mark(scope: Scope) -> Read[Mark]:
    """Mark the options that were set."""
    (options,) = yield [call("hgetall", scope.keys.config)]
    return {"options": _still(options)}


def _members(scope: Scope, key: str) -> Read[Mark]:
    total, last = yield [call("zcard", key), call("zrevrange", key, 0, HEAD - 1)]
    states = yield [
        call("hmget", scope.keys.job(jid), ["state", "queue", "priority", "tags"])
        for jid in last or ()
    ]
    return {"total": total, "last": last, "states": states}
