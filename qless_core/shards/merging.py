"""How the answers of all shards become one."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import fields
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, TypeVar

from qless_core.histogram import Histogram
from qless_core.records import (
    Closure,
    JidPage,
    QueueCounts,
    QueueStats,
    Timing,
    TrackedRecord,
    WorkerCounts,
    WorkerJobs,
    WorkerRecord,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_T = TypeVar("_T")


def joined(replies: Iterable[Iterable[_T]]) -> list[_T]:
    """Put lists one behind the other."""
    return [*chain.from_iterable(replies)]


def each_once(replies: Iterable[Iterable[_T]]) -> list[_T]:
    """Put lists together in the order of their places, each entry once."""
    rows = zip_longest(*replies)
    return [*dict.fromkeys(each for row in rows for each in row if each is not None)]


def summed(replies: Iterable[dict[str, int]]) -> dict[str, int]:
    """Add counts by name."""
    total: Counter[str] = Counter()
    for reply in replies:
        total.update(reply)
    return dict(total)


def queue(replies: Sequence[QueueCounts]) -> QueueCounts:
    """Add the counts of one queue; it is paused where all shards have it paused."""
    numbers = [field.name for field in fields(QueueCounts) if field.name not in {"name", "paused"}]
    return QueueCounts(
        name=replies[0].name,
        paused=all(reply.paused for reply in replies),
        **{name: sum(getattr(reply, name) for reply in replies) for name in numbers},
    )


def queues(replies: Iterable[Iterable[QueueCounts]]) -> list[QueueCounts]:
    """Add the counts of every queue."""
    by_name: dict[str, list[QueueCounts]] = {}
    for each in chain.from_iterable(replies):
        by_name.setdefault(each.name, []).append(each)
    return [queue(parts) for parts in by_name.values()]


def page(replies: Sequence[JidPage], start: int, end: int | None) -> JidPage:
    """Cut a page out of what all shards list, one behind the other."""
    jids = joined(reply.jids for reply in replies)
    return JidPage(sum(reply.total for reply in replies), tuple(jids[start:end]))


def tracked(replies: Sequence[TrackedRecord]) -> TrackedRecord:
    """Put the tracked jobs together; one is gone where no shard has it."""
    jobs = tuple(joined(reply.jobs for reply in replies))
    there = {job.jid for job in jobs}
    gone = each_once(reply.expired for reply in replies)
    return TrackedRecord(jobs, tuple(jid for jid in gone if jid not in there))


def workers(replies: Iterable[Iterable[WorkerCounts]]) -> list[WorkerCounts]:
    """Add what each worker holds."""
    known: dict[str, WorkerCounts] = {}
    for each in each_once(replies):
        before = known.get(each.name, WorkerCounts(each.name))
        known[each.name] = WorkerCounts(
            each.name, before.jobs + each.jobs, before.stalled + each.stalled
        )
    return [*known.values()]


def worker(replies: Sequence[WorkerJobs]) -> WorkerJobs:
    """Put together what one worker holds."""
    return WorkerJobs(
        tuple(joined(reply.jobs for reply in replies)),
        tuple(joined(reply.stalled for reply in replies)),
    )


def worker_infos(replies: Sequence[Sequence[WorkerRecord]]) -> list[WorkerRecord]:
    """Take, for each worker, what the shard tells that saw it last."""
    return [max(told, key=lambda record: record.seen or 0) for told in zip(*replies, strict=True)]


def stats(replies: Sequence[QueueStats]) -> QueueStats:
    """Put the statistics of a queue together."""
    return QueueStats(
        retries=sum(reply.retries for reply in replies),
        failures=sum(reply.failures for reply in replies),
        failed=sum(reply.failed for reply in replies),
        wait=_timing([reply.wait for reply in replies]),
        run=_timing([reply.run for reply in replies]),
    )


def _timing(parts: Sequence[Timing]) -> Timing:
    """Put together durations of which counts, means and deviations of samples are known."""
    count = sum(part.count for part in parts)
    if not count:
        return parts[0]
    mean = sum(part.count * part.mean for part in parts) / count
    squares = sum(
        max(part.count - 1, 0) * part.std**2 + part.count * (part.mean - mean) ** 2
        for part in parts
    )
    columns = zip_longest(*(part.histogram.counts for part in parts), fillvalue=0)
    return Timing(
        count=count,
        mean=mean,
        std=math.sqrt(squares / (count - 1)) if count > 1 else 0.0,
        histogram=Histogram(tuple(map(sum, columns))),
    )


def closure(replies: Sequence[Closure]) -> Closure:
    """Put together who waits for some jobs."""
    return Closure(
        tuple(joined(reply.jobs for reply in replies)),
        tuple(joined(reply.missing for reply in replies)),
        is_cut=any(reply.is_cut for reply in replies),
    )
