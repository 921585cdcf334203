"""Statistics: a day of a queue and the last thirty, and what was done by minute."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from qless_core import reads
from qless_core.options import as_number
from qless_web.api.params import Param
from qless_web.api.route import Route, missing, shown
from qless_web.console import current
from qless_web.minutes import DAY, HOUR, of_day
from qless_web.presenters.queue_stats import DAYS, day_text, histogram
from qless_web.presenters.queues import exists

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_core.reads.queues import QueueDetail

_DAY_S = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """How many durations were from `start` up to `end`, in seconds."""

    start: int
    end: Annotated[int | None, "Null where the bin has no end."]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How long jobs waited, or ran, on a day, in seconds; null where nothing was measured."""

    count: int
    mean: float | None
    deviation: float | None
    median: Annotated[float | None, "Read off the bins, as the percentiles are."]
    p95: float | None
    p99: float | None
    bins: Annotated[tuple[Bin, ...], "Those that are not empty; older days keep none."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """What a queue did on a day."""

    date: str
    completed: int
    failures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStats:
    """The statistics of a queue on one day (UTC)."""

    queue: str
    date: str
    completed: Annotated[int, "Jobs that completed on the day."]
    failures: Annotated[int, "Times that a job failed on the day."]
    failed: Annotated[int, "Jobs that failed on the day and are failed still."]
    retries: Annotated[int, "Jobs that were retried or taken back from their worker."]
    wait: Annotated[Timing, "From put to pop."]
    run: Annotated[Timing, "From pop to complete."]
    days: Annotated[tuple[Day, ...], "The last thirty days, the oldest first."]
    as_of: float


_TIMING = Timing(
    count=2,
    mean=1.5,
    deviation=0.5,
    median=1.0,
    p95=1.9,
    p99=1.98,
    bins=(Bin(start=1, end=2, count=2),),
)


@shown(
    Route(
        name="queueStats",
        rule="/queues/<name:queue>/stats",
        family="stats",
        answers=QueueStats,
        example=QueueStats(
            queue="mail",
            date="2026-12-31",
            completed=2,
            failures=1,
            failed=1,
            retries=0,
            wait=_TIMING,
            run=_TIMING,
            days=(Day(date="2026-12-31", completed=2, failures=1),),
            as_of=1798761660.5,
        ),
        params=(Param(name="date", kind="day", help="The day (UTC); today without.", example=""),),
    )
)
def stats(queue: str, date: int | None) -> QueueStats:
    """Show what a queue did on a day: completed, failures, how long jobs waited and ran."""
    here = current()
    found = here.read(reads.queue(queue, date, days=DAYS))
    if not exists(found):
        raise missing(queue=queue)
    today = int(here.now) // _DAY_S * _DAY_S
    return _of_day(found, today if date is None else date, here.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class MinuteDone:
    """What was done in a minute; null where nobody counted."""

    start: Annotated[int, "Epoch seconds."]
    completed: int | None
    failures: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """What was done in each of the last minutes, by one queue or by all."""

    queue: Annotated[str | None, "Null for all queues."]
    completed: Annotated[int, "The sum of the minutes."]
    failures: Annotated[int, "The sum of the minutes."]
    missed: Annotated[int, "How many of the minutes nobody counted."]
    minutes: Annotated[tuple[MinuteDone, ...], "The oldest first; the last one has ended."]
    as_of: float


@shown(
    Route(
        name="throughput",
        rule="/stats/throughput",
        family="stats",
        answers=Throughput,
        example=Throughput(
            queue="mail",
            completed=12,
            failures=1,
            missed=1,
            minutes=(
                MinuteDone(start=1798761540, completed=None, failures=None),
                MinuteDone(start=1798761600, completed=12, failures=1),
            ),
            as_of=1798761660.5,
        ),
        params=(
            Param(name="queue", help="Of this queue; of all without.", example="mail"),
            Param(
                name="minutes",
                kind="whole",
                most=DAY,
                default=HOUR,
                help="How many of the last minutes.",
                example=2,
            ),
        ),
        statuses=(404,),
    )
)
def throughput(queue: str | None, minutes: int) -> Throughput:
    """Show how many jobs completed and failed in each of the last minutes."""
    here = current()
    if queue is None:
        done = here.read(of_day(minutes=minutes))
    else:
        found, done = here.read(reads.queue(queue), of_day(queue, minutes=minutes))
        if not exists(found):
            raise missing(queue=queue)
    return Throughput(
        queue=queue,
        completed=done.completed,
        failures=done.failures,
        missed=done.missed,
        minutes=tuple(
            MinuteDone(
                start=number * 60,
                completed=each.completed if each else None,
                failures=each.failures if each else None,
            )
            for number, each in enumerate(done.counts, done.start)
        ),
        as_of=here.now,
    )


def _of_day(found: QueueDetail, day: int, now: float) -> QueueStats:
    run = _timing(found.run)
    return QueueStats(
        queue=found.counts.name,
        date=day_text(day),
        completed=run.count,
        failures=_natural(found.stats.get("failures")),
        failed=_natural(found.stats.get("failed")),
        retries=_natural(found.stats.get("retries")),
        wait=_timing(found.wait),
        run=run,
        days=tuple(
            Day(date=day_text(each.start), completed=each.completed, failures=each.failures)
            for each in found.days
        ),
        as_of=now,
    )


def _timing(stored: Mapping[str, str]) -> Timing:
    count, bins = _natural(stored.get("total")), histogram(stored)
    vk = max(0.0, as_number(stored.get("vk")) or 0.0)
    return Timing(
        count=count,
        mean=max(0.0, as_number(stored.get("mean")) or 0.0) if count else None,
        deviation=math.sqrt(vk / (count - 1)) if count > 1 else None,
        median=bins.percentile(50),
        p95=bins.percentile(95),
        p99=bins.percentile(99),
        bins=tuple(
            Bin(start=each.start, end=each.end, count=each.count) for each in bins if each.count
        ),
    )


def _natural(stored: str | None) -> int:
    """Read a count; clients in the field take back what they never added, and get below 0."""
    return max(0, int(as_number(stored) or 0))
