"""Statistics of a queue by day: how long jobs waited and ran, how many failed."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core.client import Client
    from qless_core.records import StatsRecord, TimingRecord

#: How many bins of which width, in seconds: 60 seconds, 59 minutes, 23 hours, 6 days.
LAYOUT: Final = ((60, 1), (59, 60), (23, 3600), (6, 86400))


def _starts() -> tuple[int, ...]:
    """List where each bin begins: second 0 first, then minute 1, hour 1 and day 1."""
    starts = [*range(LAYOUT[0][0])]
    for count, width in LAYOUT[1:]:
        starts += [step * width for step in range(1, count + 1)]
    return tuple(starts)


#: Where each bin begins, seconds; a bin ends where the next begins, the last never.
STARTS: Final = _starts()


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin of a histogram.

    Attributes:
        start: its shortest duration, seconds.
        end: the shortest duration of the next bin, seconds; None for the last.
        count: how many jobs fell into it.

    """

    start: int
    end: int | None
    count: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often which durations occurred, in bins that grow from a second to a day."""

    counts: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[Bin]:
        ends = (*STARTS[1:], None)
        for start, end, count in zip(STARTS, ends, self.counts, strict=False):
            yield Bin(start, end, count)

    @property
    def total(self) -> int:
        """How many durations were counted."""
        return sum(self.counts)

    def percentile(self, percent: float) -> float | None:
        """Estimate the duration, seconds, that so many percent do not exceed.

        Within a bin durations are taken to be spread evenly. None when nothing was counted.
        """
        wanted = self.total * percent / 100
        if not self.total:
            return None
        before = 0
        for bin_ in self:
            if bin_.count and before + bin_.count >= wanted:
                width = 0 if bin_.end is None else bin_.end - bin_.start
                return bin_.start + width * max(0.0, wanted - before) / bin_.count
            before += bin_.count
        return float(STARTS[-1])


@dataclass(frozen=True, slots=True)
class Timing:
    """How long jobs waited, or ran: count, mean and standard deviation (seconds), histogram."""

    count: int
    mean: float
    std: float
    histogram: Histogram

    @classmethod
    def from_record(cls, record: TimingRecord) -> Self:
        """Build it from what the script answered."""
        return cls(record.count, record.mean, record.std, Histogram(record.histogram))


@dataclass(frozen=True, slots=True)
class QueueStats:
    """What happened in a queue on one day.

    Attributes:
        retries: jobs that were taken back from a worker or retried.
        failures: times that a job failed.
        failed: jobs that failed on that day and are failed still.
        wait: from put to pop.
        run: from pop to complete.

    """

    retries: int
    failures: int
    failed: int
    wait: Timing
    run: Timing

    @classmethod
    def from_record(cls, record: StatsRecord) -> Self:
        """Build it from what the script answered."""
        wait, run = Timing.from_record(record.wait), Timing.from_record(record.run)
        return cls(record.retries, record.failures, record.failed, wait, run)


class Stats:
    """`client.stats`: the statistics of any queue on any day."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def get(self, queue: str, day: float | dt.date | dt.datetime | None = None) -> QueueStats:
        """Read the statistics of a queue.

        Args:
            queue: its name.
            day: the day in UTC, as a date or any moment of it; today when not given.

        """
        moment = self._client.now() if day is None else _moment(day)
        return QueueStats.from_record(self._client.commands.stats(queue, moment))


def _moment(day: float | dt.date | dt.datetime) -> float:
    """Give an instant of a day, epoch seconds; a time without a zone is UTC."""
    if isinstance(day, dt.datetime):
        return (day if day.tzinfo else day.replace(tzinfo=dt.UTC)).timestamp()
    if isinstance(day, dt.date):
        return dt.datetime.combine(day, dt.time(), dt.UTC).timestamp()
    return day
