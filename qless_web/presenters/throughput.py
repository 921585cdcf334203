"""Completed jobs and failures by minute: a day as a chart, an hour as a spark in a row."""

from __future__ import annotations

import datetime as dt
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_web.formatting import count
from qless_web.presenters.charts import Tick, nice_ceiling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qless_web.minutes import Minute, Minutes
    from qless_web.triage.deploys import Deploy

#: Pixels: completed jobs stand on the axis, failures hang below it.
_UP, _DOWN = 72, 28

#: Pixels of a spark, of the ticks that failures are at its foot, and of air above it.
SPARK = (80, 20)
_FOOT, _AIR = 5, 2

#: Percent of the drawing that the words about a gap need.
_WORDY = 22.0

_HOUR = 60

#: Deploys that the words about a chart name.
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Gap:
    """Minutes that nobody counted: across in percent."""

    x: float
    width: float
    text: str
    has_room: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A deploy: across in percent, and which it is and when."""

    x: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HourRow:
    """What was done in an hour, for the table: `most` is its busiest minute."""

    hour: str
    deploys: str
    completed: int
    failures: int
    most: int
    missed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """A day by minute. Paths are in minutes across, and in pixels down from the top of their part.

    Attributes:
        width: minutes across.
        up: pixels of the part of completed jobs.
        down: pixels of that of failures, below.
        completed: the path of completed jobs.
        failures: the path of failures.
        most_completed: what the top of the upper part stands for.
        most_failures: what the foot of the lower part stands for.
        gaps: where nobody counted.
        deploys: a line at each, the latest first.
        ticks: along the axis.
        label: the same in a sentence.
        rows: the same as a table, the newest hour first.
        known: whether anything was counted at all.

    """

    width: int
    up: int
    down: int
    completed: str
    failures: str
    most_completed: int
    most_failures: int
    gaps: tuple[Gap, ...]
    deploys: tuple[Line, ...]
    ticks: tuple[Tick, ...]
    label: str
    rows: tuple[HourRow, ...]
    known: bool


@dataclass(frozen=True, slots=True)
class Spark:
    """An hour, as small as a word: a line of completed jobs, a tick at the foot for failures."""

    width: int
    height: int
    line: str
    failures: str
    label: str


def throughput(minutes: Minutes, deploys: Sequence[Deploy] = ()) -> Throughput:
    """Return the chart of a day, with the deploys in it, the latest first."""
    counts = minutes.counts
    within = [each for each in deploys if minutes.start <= each.at / 60 < minutes.end]
    completed = [None if each is None else each.completed for each in counts]
    failures = [None if each is None else each.failures for each in counts]
    most_completed = nice_ceiling(max((each or 0 for each in completed), default=0))
    most_failures = nice_ceiling(max((each or 0 for each in failures), default=0))
    return Throughput(
        width=len(counts),
        up=_UP,
        down=_DOWN,
        completed=_area(completed, most_completed, foot=_UP, rise=-_UP),
        failures=_area(failures, most_failures, foot=0, rise=_DOWN),
        most_completed=most_completed,
        most_failures=most_failures,
        gaps=tuple(_gaps(counts)),
        deploys=tuple(_lines(minutes, within)),
        ticks=_ticks(len(counts)),
        label=_words(minutes) + _named(within),
        rows=tuple(reversed(list(_rows(minutes, within)))),
        known=minutes.missed < len(counts),
    )


def spark(minutes: Minutes) -> Spark | None:
    """Return the spark of an hour; None where nobody counted anything."""
    if minutes.missed == len(minutes.counts):
        return None
    width, height = SPARK
    most = max(1, *(each.completed for each in minutes.counts if each))
    step = width / len(minutes.counts)
    line, failures, is_on = [], [], False
    for index, each in enumerate(minutes.counts):
        if each is None:
            is_on = False
            continue
        x = _short(step * (index + 0.5))
        y = _short(_AIR + (height - _FOOT - 2 * _AIR) * (1 - each.completed / most))
        line.append(f"{'L' if is_on else 'M'}{x} {y}" + ("" if is_on else "h.1"))
        is_on = True
        if each.failures:
            failures.append(f"M{x} {height}v-{_FOOT}")
    return Spark(width, height, "".join(line), "".join(failures), f"last hour: {_words(minutes)}")


def _words(minutes: Minutes) -> str:
    failed = minutes.failures
    words = f"{count(minutes.completed)} completed, {count(failed)} failure{_s(failed)}"
    missed = minutes.missed
    gap = f"; {count(missed)} minute{_s(missed)} not counted" if missed else ""
    return words + gap


def _s(number: int) -> str:
    return "" if number == 1 else "s"


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def _area(values: Sequence[int | None], most: int, *, foot: int, rise: int) -> str:
    """Draw steps that stand on a foot; what is there is never drawn lower than a pixel."""
    parts = []
    x = 0
    for value, run in itertools.groupby(values):
        width = len(list(run))
        if value:
            tall = round(rise * value / most) or (1 if rise > 0 else -1)
            parts.append(f"M{x} {foot}v{tall}h{width}v{-tall}z")
        x += width
    return "".join(parts)


def _gaps(counts: Sequence[Minute | None]) -> Iterator[Gap]:
    at = 0
    for is_gap, run in itertools.groupby(each is None for each in counts):
        width = len(list(run))
        if is_gap:
            across = 100 * width / len(counts)
            text = f"{count(width)} minute{_s(width)} not counted"
            x = 100 * at / len(counts)
            yield Gap(round(x, 3), round(across, 3), text, across >= _WORDY)
        at += width


def _lines(minutes: Minutes, deploys: Sequence[Deploy]) -> Iterator[Line]:
    for each in deploys:
        x = 100 * (each.at / 60 - minutes.start) / len(minutes.counts)
        when = f"{dt.datetime.fromtimestamp(each.at, dt.UTC):%Y-%m-%d %H:%M} UTC"
        yield Line(round(x, 3), f"deploy {each.name}, {when}")


def _named(deploys: Sequence[Deploy]) -> str:
    if not deploys:
        return ""
    names = ", ".join(each.name for each in deploys[:_NAMED])
    more = f" and {count(len(deploys) - _NAMED)} more" if len(deploys) > _NAMED else ""
    return f"; deploy{_s(len(deploys))} {names}{more}"


def _ticks(minutes: int) -> tuple[Tick, ...]:
    hours = minutes // _HOUR
    words = (f"{hours * part // 4} h ago" for part in (4, 3, 2, 1))
    ticks = (Tick(at, text) for at, text in zip((0, 25, 50, 75), words, strict=True))
    return (*ticks, Tick(100, "now"))


def _rows(minutes: Minutes, deploys: Sequence[Deploy]) -> Iterator[HourRow]:
    numbered: Iterable[tuple[int, Minute | None]] = enumerate(minutes.counts, minutes.start)
    for hour, part in itertools.groupby(numbered, lambda each: each[0] // _HOUR):
        counts = [each for _, each in part]
        known = [each for each in counts if each]
        yield HourRow(
            deploys=", ".join(each.name for each in deploys if each.at // 3600 == hour),
            hour=f"{dt.datetime.fromtimestamp(hour * 3600, dt.UTC):%Y-%m-%d %H:00}",
            completed=sum(each.completed for each in known),
            failures=sum(each.failures for each in known),
            most=max((each.completed for each in known), default=0),
            missed=counts.count(None),
        )
