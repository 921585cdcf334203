"""One day of a queue's statistics: how long jobs waited and ran, how many failed."""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_core.histogram import LAYOUT, Histogram
from qless_web.formatting import duration
from qless_web.presenters import charts
from qless_web.presenters.page import Link
from qless_web.presenters.throughput import Throughput, throughput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qless_core.reads.queues import QueueDay, QueueDetail
    from qless_web.minutes import Minutes
    from qless_web.triage.deploys import Deploy

#: How many days back the page shows at a glance.
DAYS = 30

_DAY_S = 86_400
_UNITS = "smhd"
_BIN = re.compile(r"([smhd])(-?[0-9]+)", re.ASCII)

#: Bars that a histogram has room for, at least.
_FEWEST = 8

#: Part of the width of a day that its bar takes.
_FILLED = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingView:
    """How long jobs waited, or ran, on a day.

    Attributes:
        count: how many were measured.
        figures: name and value in words: mean, deviation, percentiles.
        chart: how many lasted how long.

    """

    count: int
    figures: tuple[tuple[str, str], ...]
    chart: charts.Histogram


@dataclass(frozen=True, slots=True, kw_only=True)
class DayBar:
    """One day of the last thirty: across in percent, down in pixels.

    Attributes:
        link: its statistics.
        text: what happened, in words.
        x: where its column begins.
        width: how wide the column is.
        bar: its completed jobs.
        failures: its failures, drawn below them.
        is_shown: this page is about it.

    """

    link: Link
    text: str
    x: float
    width: float
    bar: charts.Column
    failures: charts.Column
    is_shown: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStats:
    """The tab of a queue's statistics.

    Attributes:
        day: the day shown, `YYYY-MM-DD` in UTC.
        is_today: whether that is today.
        previous: the day before.
        next: the day after, unless that is to come.
        today: where today's statistics are.
        last_day: the last day that can be asked for.
        completed: jobs that completed on the day.
        failures: times that a job failed on the day.
        failed: jobs that failed on the day and are failed still.
        retries: jobs that were retried or taken back from their worker.
        wait: from put to pop.
        run: from pop to complete.
        days: the last thirty days.
        days_height: pixels.
        busiest: the number that the highest of their bars stands for.
        rows: the same days as a table, the newest first: link, day, completed, failures.
        throughput: what was done in the last day, by minute.

    """

    day: str
    is_today: bool
    previous: Link
    next: Link | None
    today: Link
    last_day: str
    completed: int
    failures: int
    failed: int
    retries: int
    wait: TimingView
    run: TimingView
    days: tuple[DayBar, ...]
    days_height: int
    busiest: int
    rows: tuple[tuple[Link, str, int, int], ...]
    throughput: Throughput


def day_of(text: str | None) -> int | None:
    """Read `?date=YYYY-MM-DD` as a midnight in UTC, epoch seconds; None for what is no day.

    >>> day_of("1970-01-02"), day_of("nan"), day_of(None), day_of("2024-02-30")
    (86400, None, None, None)
    """
    if not text or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text, re.ASCII):
        return None
    try:
        moment = dt.datetime.combine(dt.date.fromisoformat(text), dt.time(), dt.UTC)
    except ValueError:
        return None
    return int(moment.timestamp())


def queue_stats(
    queue: QueueDetail,
    minutes: Minutes,
    day: int | None,
    now: float,
    deploys: Sequence[Deploy] = (),
) -> QueueStats:
    """Return the statistics of a day, None is today, and of the minutes of the last one."""
    today = int(now) // _DAY_S * _DAY_S
    shown = today if day is None else day
    name = queue.counts.name
    run = timing(queue.run)
    busiest = charts.nice_ceiling(
        max((each.completed + each.failures for each in queue.days), default=0)
    )
    return QueueStats(
        day=day_text(shown),
        is_today=shown == today,
        previous=_link(name, shown - _DAY_S, today),
        next=_link(name, shown + _DAY_S, today) if shown < today else None,
        today=_link(name, today, today),
        last_day=day_text(today),
        completed=run.count,
        failures=_natural(queue.stats.get("failures")),
        failed=_natural(queue.stats.get("failed")),
        retries=_natural(queue.stats.get("retries")),
        wait=timing(queue.wait),
        run=run,
        days=_days(queue, shown, today, busiest),
        days_height=_HEIGHT,
        busiest=busiest,
        rows=tuple(
            (_link(name, each.start, today), day_text(each.start), each.completed, each.failures)
            for each in reversed(queue.days)
        ),
        throughput=throughput(minutes, deploys),
    )


def day_text(day: int) -> str:
    """Write a midnight as its date.

    >>> day_text(86400), day_text(-62135596800)
    ('1970-01-02', '0001-01-01')
    """
    return (dt.date(1970, 1, 1) + dt.timedelta(seconds=max(day, _FIRST))).isoformat()


#: The first day there is.
_FIRST = -62_135_596_800


def _link(name: str, day: int, today: int) -> Link:
    link = Link("queues.show", {"queue": name})
    return link if day == today else link.also(date=day_text(day))


#: Pixels.
_HEIGHT = 56


def _days(queue: QueueDetail, shown: int, today: int, busiest: int) -> tuple[DayBar, ...]:
    step = 100 / max(1, len(queue.days))
    return tuple(
        _day_bar(queue.counts.name, each, index * step, step, (shown, today, busiest))
        for index, each in enumerate(queue.days)
    )


def _day_bar(
    name: str, day: QueueDay, x: float, step: float, scale: tuple[int, int, int]
) -> DayBar:
    shown, today, busiest = scale

    def column(number: int, below: float = 0.0) -> charts.Column:
        tall = round(max(2.0, _HEIGHT * number / busiest), 2) if number else 0.0
        return charts.Column(
            round(x + step * (1 - _FILLED) / 2, 3),
            round(max(0.0, _HEIGHT - tall - below), 2),
            round(step * _FILLED, 3),
            tall,
            number,
        )

    failures = column(day.failures)
    return DayBar(
        link=_link(name, day.start, today),
        text=f"{day_text(day.start)}: {day.completed:,} completed, {day.failures:,} failures",
        x=round(x, 3),
        width=round(step, 3),
        bar=column(day.completed, below=failures.height),
        failures=failures,
        is_shown=day.start == shown,
    )


def timing(stored: Mapping[str, str]) -> TimingView:
    """Return a day of waiting or running from its hash: `total mean vk s0 … m1 … h1 … d1 …`."""
    measured = _natural(stored.get("total"))
    mean = max(0.0, _number(stored.get("mean")))
    spread = (
        math.sqrt(max(0.0, _number(stored.get("vk"))) / (measured - 1)) if measured > 1 else 0.0
    )
    bins = histogram(stored)
    percentiles = [
        (word, found)
        for word, percent in (("median", 50), ("p95", 95), ("p99", 99))
        if (found := bins.percentile(percent)) is not None
    ]
    parts = [
        charts.Bin(each.start, each.start + 1 if each.end is None else each.end, each.count)
        for each in bins
        if each.count
    ]
    figures = [
        ("mean", duration(mean if measured else None)),
        ("deviation", duration(spread if measured else None)),
        *((word, _about(found)) for word, found in percentiles),
    ]
    return TimingView(
        count=measured,
        figures=tuple(figures),
        chart=charts.histogram(_roomy(charts.rebin(parts)), marks=percentiles[:2], say=_about),
    )


def _about(seconds: float) -> str:
    # What is read off bins of a second at least is no more exact than that.
    if 0 < seconds < 1:
        return "< 1 s"
    return duration(round(seconds))


def _roomy(bins: tuple[charts.Bin, ...]) -> tuple[charts.Bin, ...]:
    """Add empty bins above, and then below, so that a few bars do not fill the whole width."""
    edges = charts.EDGES_S
    spare = _FEWEST - len(bins)
    if not bins or spare <= 0:
        return bins
    above = edges.index(bins[-1].high)
    last = min(above + spare, len(edges) - 1)
    after = [charts.Bin(edges[at], edges[at + 1], 0) for at in range(above, last)]
    below = edges.index(bins[0].low)
    first = max(0, below - (spare - len(after)))
    before = [charts.Bin(edges[at], edges[at + 1], 0) for at in range(first, below)]
    return (*before, *bins, *after)


def histogram(stored: Mapping[str, str]) -> Histogram:
    """Return the bins of a hash; what lies below the first or beyond the last goes into those.

    >>> histogram({"s0": "2", "s-100": "1", "d9": "4", "x": "1"}).total
    7
    """
    counts = [0] * sum(number for number, _ in LAYOUT)
    for field, value in stored.items():
        found = _BIN.fullmatch(field)
        if found:
            counts[_index(found[1], int(found[2]))] += _natural(value)
    return Histogram(tuple(counts))


def _index(unit: str, number: int) -> int:
    """Give the place of a bin: `s0` is the first, `m1` follows `s59`, `h1` follows `m59`."""
    place = _UNITS.index(unit)
    before = sum(many for many, _ in LAYOUT[:place])
    many = LAYOUT[place][0]
    step = number if unit == "s" else number - 1
    return before + min(max(step, 0), many - 1)


def _natural(value: str | None) -> int:
    """Read a count; clients in the field take back what they never added, and get below 0."""
    return max(0, int(_number(value)))


def _number(value: str | None) -> float:
    try:
        found = float(value or 0)
    except ValueError:
        return 0.0
    return found if math.isfinite(found) else 0.0
