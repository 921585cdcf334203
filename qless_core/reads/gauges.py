"""Everything that is measured from outside: for Prometheus and statsd, in three round trips."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from qless_core.options import as_number, as_whole, number_of
from qless_core.reads.plan import Read, Scope, Slice, call, read, together
from qless_core.reads.queues import QueueSummary, queue_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_core.keys import Keys
    from qless_core.reads.kept import Keeping
    from qless_core.reads.plan import Call

#: Queues, the first by name, and groups of failures, the largest, that are measured one by one.
MEASURED: Final = 1_000

_DAY = 86_400

#: Fields of the hashes of a day.
_SPENT = ("total", "mean", "vk")
_DONE = ("failures", "failed", "retries")


@dataclass(frozen=True, slots=True)
class Spent:
    """How long jobs waited, or ran, today (UTC), in seconds; 0 where nothing was measured."""

    count: int = 0
    mean: float = 0.0
    deviation: float = 0.0

    @property
    def total(self) -> float:
        """How long all of them took."""
        return self.count * self.mean


@dataclass(frozen=True, slots=True)
class QueueGauges:
    """A queue: its jobs now, and what it did today (UTC)."""

    jobs: QueueSummary
    #: How often a job failed; how many that failed today are failed still; how many were retried.
    failures: int
    failed: int
    retries: int
    #: From put to pop, and from pop to complete: their counts are jobs popped and completed.
    wait: Spent
    run: Spent


@dataclass(frozen=True, slots=True)
class Gauges:
    """What is measured. `now` in epoch seconds on the server's clock."""

    now: float
    queues: tuple[QueueGauges, ...]
    #: Failed jobs by group, most first.
    groups: dict[str, int]
    #: Failed jobs in all groups.
    failed: int
    workers: int
    paused: int
    tracked: int
    completed: int
    #: How many queues and groups there are beyond those that are named.
    queues_left_out: int = 0
    groups_left_out: int = 0


#: The fields of the hashes of a day: what was done, how long jobs waited, and how long they ran.
_Figures = tuple["list[str | None] | None", "list[str | None] | None", "list[str | None] | None"]


@dataclass(frozen=True, slots=True)
class _Days:
    """The figures of a day, in the order of the queues, and what has no queue."""

    figures: list[_Figures]
    groups: dict[str, int]
    plain: dict[str, int] = field(default_factory=dict)


@read
def gauges(scope: Scope) -> Read[Gauges]:
    """Measure everything."""
    counts, days = yield from together(
        [queue_counts(Slice(0, MEASURED))(scope), _days(scope)],
    )
    groups = sorted(days.groups.items(), key=lambda each: (-each[1], each[0]))
    return Gauges(
        now=scope.now,
        queues=tuple(
            _gauges(jobs, *figures)
            for jobs, figures in zip(counts.rows, days.figures, strict=False)
        ),
        groups=dict(groups[:MEASURED]),
        failed=sum(days.groups.values()),
        **days.plain,
        queues_left_out=counts.total - len(counts.rows),
        groups_left_out=max(0, len(groups) - MEASURED),
    )


def _days(scope: Scope) -> Read[_Days]:
    keys = scope.keys
    names, paused, groups, age, tracked, completed = yield [
        call("zrange", keys.queues, 0, -1),
        call("scard", keys.paused_queues),
        call("smembers", keys.failures),
        call("hget", keys.config, "max-worker-age"),
        call("zcard", keys.tracked),
        call("zcard", keys.completed),
    ]
    shown, groups = sorted(names or ())[:MEASURED], sorted(groups or ())
    before = scope.now - number_of("max-worker-age", age)
    today = int(scope.now) // _DAY * _DAY
    kept = scope.of_many(day_of, shown)
    workers, *replies = yield [
        call("zcount", keys.workers, f"({before}", "+inf"),
        *(call("llen", keys.failed(group)) for group in groups),
        *(each for name in shown if kept is None for each in _calls(scope, today, name)),
    ]
    lengths, replies = replies[: len(groups)], replies[len(groups) :]
    return _Days(
        figures=[*zip(replies[::3], replies[1::3], replies[2::3], strict=True)]
        if kept is None
        else [kept[name] for name in shown],
        groups={name: length for name, length in zip(groups, lengths, strict=True) if length},
        plain={
            "workers": workers or 0,
            "paused": paused or 0,
            "tracked": tracked or 0,
            "completed": completed or 0,
        },
    )


def day_of(keys: Keys, now: float, name: str) -> Keeping[_Figures]:
    """Read the figures of a queue today, to be kept for as long as it is today."""
    today = int(now) // _DAY * _DAY
    done, wait, run = yield [
        ("HMGET", keys.stats(today, name), *_DONE),
        ("HMGET", keys.wait(today, name), *_SPENT),
        ("HMGET", keys.run(today, name), *_SPENT),
    ]
    return (done, wait, run), today + _DAY


def _calls(scope: Scope, today: int, name: str) -> list[Call]:
    keys = scope.keys
    return [
        call("hmget", keys.stats(today, name), _DONE),
        call("hmget", keys.wait(today, name), _SPENT),
        call("hmget", keys.run(today, name), _SPENT),
    ]


def _gauges(
    jobs: QueueSummary,
    done: Sequence[str | None] | None,
    wait: Sequence[str | None] | None,
    run: Sequence[str | None] | None,
) -> QueueGauges:
    # Clients in the field take back failures of other queues, and so get below 0.
    failures, failed, retries = (max(0, as_whole(each) or 0) for each in done or [None] * 3)
    return QueueGauges(
        jobs=jobs,
        failures=failures,
        failed=failed,
        retries=retries,
        wait=_spent(wait),
        run=_spent(run),
    )


def _spent(stored: Sequence[str | None] | None) -> Spent:
    total, mean, vk = stored or [None] * 3
    count = max(0, as_whole(total) or 0)
    if not count:
        return Spent()
    spread = max(0.0, as_number(vk) or 0.0)
    deviation = math.sqrt(spread / (count - 1)) if count > 1 else 0.0
    return Spent(count, max(0.0, as_number(mean) or 0.0), deviation)
