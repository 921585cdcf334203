"""Failures: the groups, and the jobs in one."""

from __future__ import annotations

from dataclasses import dataclass

from qless_core.options import as_number
from qless_core.reads.plan import Read, Scope, Slice, call, read
from qless_core.reads.rows import JobRow, Listing, failure_of, listed


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """A group of failures. Instants are epoch seconds."""

    name: str
    count: int
    #: The newest failure in the group: which job, its class, queue, message and time.
    newest_jid: str | None = None
    newest_klass: str = ""
    newest_queue: str = ""
    newest_message: str = ""
    last_seen: float | None = None


@read
def failure_groups(scope: Scope, part: Slice) -> Read[Listing[FailureGroup]]:
    """Give the groups with the most jobs first, a page at a time."""
    keys = scope.keys
    (found,) = yield [call("smembers", keys.failures)]
    groups = sorted(found or ())
    replies = yield [
        each
        for group in groups
        for each in (call("llen", keys.failed(group)), call("lindex", keys.failed(group), 0))
    ]
    counted = sorted(
        (
            (group, replies[2 * index], replies[2 * index + 1])
            for index, group in enumerate(groups)
            if replies[2 * index]
        ),
        key=lambda each: (-each[1], each[0]),
    )
    shown = part.of(counted)
    newest = yield [
        call("hmget", keys.job(jid or ""), ["klass", "queue", "failure"]) for _, _, jid in shown
    ]
    rows = tuple(
        _group(name, count, jid, reply or [None] * 3)
        for (name, count, jid), reply in zip(shown, newest, strict=True)
    )
    return Listing(rows, len(counted), part.offset)


def _group(name: str, count: int, jid: str | None, newest: list[str | None]) -> FailureGroup:
    klass, queue, failure = newest
    found = failure_of(failure)
    return FailureGroup(
        name=name,
        count=count,
        newest_jid=jid,
        newest_klass=klass or "",
        newest_queue=queue or "",
        newest_message=str(found.get("message") or ""),
        last_seen=as_number(found.get("when")),
    )


@read
def failure_counts(scope: Scope) -> Read[dict[str, int]]:
    """Give the number of jobs in each group, most first."""
    keys = scope.keys
    (found,) = yield [call("smembers", keys.failures)]
    groups = sorted(found or ())
    lengths = yield [call("llen", keys.failed(group)) for group in groups]
    counted = {group: length for group, length in zip(groups, lengths, strict=True) if length}
    return dict(sorted(counted.items(), key=lambda each: (-each[1], each[0])))


@read
def failure_jobs(scope: Scope, group: str, part: Slice) -> Read[Listing[JobRow]]:
    """Give the jobs of a group, newest failure first, a page at a time."""
    key = scope.keys.failed(group)
    total, jids = yield [call("llen", key), call("lrange", key, part.offset, part.last)]
    rows = yield from listed(scope, jids or ())
    return Listing(rows, total or 0, part.offset)
