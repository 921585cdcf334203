"""What every page shows around its content: counts for the rail, and what this server allows."""

from __future__ import annotations

from dataclasses import dataclass

from qless_core.options import as_whole, number_of
from qless_core.reads.plan import Read, Scope, attempt, call, read

#: A digest that no script has: a server that would run scripts answers NOSCRIPT to it, one that
#: forbids this user to change anything answers NOPERM. Neither answer changes a thing.
_NO_SUCH_SCRIPT = "0" * 40


@dataclass(frozen=True, slots=True)
class FrameCounts:
    """Counts for the rail."""

    #: Epoch seconds on the server's clock.
    now: float
    queues: int
    paused: int
    failed: int
    groups: int
    workers: int
    tracked: int
    tags: int
    completed: int
    #: The option `application`, "" when it was never set.
    application: str
    #: Why this connection may only read; "" where it may write; None when it was not asked.
    read_only: str | None
    #: What the server does when its memory is full, as `allkeys-lru`; "" where it has no limit, or
    #: does not say; None when it was not asked.
    eviction: str | None


@read
def frame(scope: Scope, *, probe: bool) -> Read[FrameCounts]:
    """Count what the rail shows; with `probe`, also learn whether this user may write."""
    keys = scope.keys
    calls = [
        call("zcard", keys.queues),
        call("scard", keys.paused_queues),
        call("smembers", keys.failures),
        call("zcard", keys.tracked),
        call("zcard", keys.tags),
        call("zcard", keys.completed),
        call("hmget", keys.config, ["application", "max-worker-age"]),
    ]
    if probe:
        calls += [attempt("evalsha", _NO_SUCH_SCRIPT, 0), attempt("info", "replication")]
        calls += [attempt("info", "memory")]
    replies = yield calls
    queues, paused, groups, tracked, tags, completed, options = replies[:7]
    application, age = options or (None, None)
    groups = groups or ()
    before = scope.now - number_of("max-worker-age", age)
    workers, *lengths = yield [
        call("zcount", keys.workers, f"({before}", "+inf"),
        *(call("llen", keys.failed(group)) for group in groups),
    ]
    return FrameCounts(
        now=scope.now,
        queues=queues or 0,
        paused=paused or 0,
        failed=sum(length or 0 for length in lengths),
        groups=sum(1 for length in lengths if length),
        workers=workers or 0,
        tracked=tracked or 0,
        tags=tags or 0,
        completed=completed or 0,
        application=application or "",
        read_only=_reason(*replies[7:9]) if probe else None,
        eviction=_eviction(replies[9]) if probe else None,
    )


def _eviction(memory: object) -> str:
    told = memory if isinstance(memory, dict) else {}
    return str(told.get("maxmemory_policy", "")) if as_whole(told.get("maxmemory")) else ""


def _reason(scripts: object, replication: object) -> str:
    if str(scripts).startswith("NOPERM") or "no permissions" in str(scripts).lower():
        return "this Redis user may only read"
    if isinstance(replication, dict) and replication.get("role") == "slave":
        return "this Redis is a replica"
    return ""
