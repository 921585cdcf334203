"""Numbers become SVG geometry: state bars, histograms, timelines. Pure.

Across they speak in percent of the drawing's width (0..100), so that a chart fits any column while
its words keep their size; down in pixels.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

#: Percent: something that is there is never drawn narrower than this.
NARROWEST = 1.0

#: Seconds: where the bars of a histogram of durations begin and end, up to a week.
EDGES_S = (
    *(0, 1, 2, 5, 10, 20, 30),
    *(60, 120, 300, 600, 1200, 1800),
    *(3600, 7200, 18000, 43200),
    *(86400, 172800, 604800),
)

#: Seconds: the steps a time axis may count in.
STEPS_S = (
    *(0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 15, 30),
    *(60, 120, 300, 600, 900, 1800),
    *(3600, 7200, 21600, 43200, 86400, 604800, 2592000),
)


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a stacked bar: where it begins, how wide it is, what it stands for."""

    state: str
    count: int
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Bars:
    """A stacked bar to scale, with the sentence that says the same in words."""

    segments: tuple[Segment, ...]
    label: str


def state_bar(counts: Iterable[tuple[str, int]], *, full: int = 0) -> Bars:
    """Return the stacked bar of counts by state.

    Args:
        counts: states in the order to draw them, each with its number of jobs.
        full: the number that fills the whole width, as the largest queue's total; the bar's own
            total when that is larger.

    """
    parts = [(state, count) for state, count in counts if count > 0]
    total = sum(count for _, count in parts)
    scale = max(full, total)
    widths = [max(NARROWEST, 100 * count / scale) for _, count in parts]
    # What the narrow ones were given is taken from the wide ones, so that nothing sticks out.
    shrink = min(1.0, 100 / sum(widths)) if widths else 1.0
    segments = []
    x = 0.0
    for (state, count), width in zip(parts, widths, strict=True):
        segments.append(Segment(state, count, round(x, 2), round(width * shrink, 2)))
        x += width * shrink
    words = ", ".join(f"{count:,} {state}" for state, count in parts) or "no jobs"
    return Bars(tuple(segments), words)


@dataclass(frozen=True, slots=True)
class Column:
    """One upright bar, in pixels or percent as its chart says."""

    x: float
    y: float
    width: float
    height: float
    value: float = 0


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis: across in percent, or down in pixels, and its word.

    ``spare`` marks one that is left out where the drawing is narrow.
    """

    at: float
    text: str
    spare: bool = False


@dataclass(frozen=True, slots=True)
class Bin:
    """How many lasted from ``low`` to below ``high`` seconds."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """Upright bars over durations: across in percent, down in pixels; ``rows`` say it in words."""

    height: int
    columns: tuple[Column, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    marks: tuple[Tick, ...]
    rows: tuple[tuple[str, int], ...]
    total: int


def rebin(bins: Iterable[Bin], edges: Sequence[float] = EDGES_S) -> tuple[Bin, ...]:
    """Return the counts between the given edges, without the empty ones at both ends.

    A bin belongs where it begins; whatever begins beyond the last edge goes into the last one.
    """
    counts = [0] * (len(edges) - 1)
    for part in bins:
        below = sum(1 for edge in edges[1:] if edge <= part.low)
        counts[min(below, len(counts) - 1)] += part.count
    filled = [index for index, count in enumerate(counts) if count]
    if not filled:
        return ()
    span = range(filled[0], filled[-1] + 1)
    return tuple(Bin(edges[index], edges[index + 1], counts[index]) for index in span)


def histogram(
    bins: Sequence[Bin],
    *,
    marks: Iterable[tuple[str, float]] = (),
    say: Callable[[float], str],
    height: int = 120,
) -> Histogram:
    """Return equally wide bars for bins that follow one another.

    Args:
        bins: as `rebin` returns them.
        marks: names and seconds of what to mark, as ``("median", 2.5)``.
        say: seconds in words, for the axis.
        height: pixels.

    """
    if not bins:
        return Histogram(height, (), (), (), (), (), 0)
    step = 100 / len(bins)
    top = nice_ceiling(max(part.count for part in bins))
    columns = tuple(
        Column(
            round(index * step, 3),
            round(height * (1 - part.count / top), 2),
            round(step, 3),
            round(height * part.count / top, 2),
            part.count,
        )
        for index, part in enumerate(bins)
    )
    every = -(-len(bins) // 8)
    x_ticks = tuple(
        Tick(round(index * step, 3), say(part.low))
        for index, part in enumerate(bins)
        if index % every == 0
    )
    y_ticks = tuple(Tick(round(height * (1 - value / top), 2), f"{value:,}") for value in (top,))
    places = tuple(
        Tick(round(_place(bins, seconds), 2), f"{name} {say(seconds)}") for name, seconds in marks
    )
    rows = tuple((f"{say(part.low)} to {say(part.high)}", part.count) for part in bins)
    return Histogram(
        height, columns, x_ticks, y_ticks, places, rows, sum(part.count for part in bins)
    )


def _place(bins: Sequence[Bin], seconds: float) -> float:
    """Percent across at which a duration lies, inside its bar in proportion."""
    step = 100 / len(bins)
    for index, part in enumerate(bins):
        if seconds < part.high:
            inside = max(0.0, (seconds - part.low) / (part.high - part.low))
            return step * (index + inside)
    return 100.0


def nice_ceiling(value: float) -> int:
    """Return the next number at or above that reads well: 1, 2, 5, 10, 20, 50, …, at least 1.

    >>> nice_ceiling(0), nice_ceiling(7), nice_ceiling(43), nice_ceiling(2100)
    (1, 10, 50, 5000)
    """
    if value <= 1:
        return 1
    magnitude = int(10 ** math.floor(math.log10(value)))
    return next(step * magnitude for step in (1, 2, 5, 10) if step * magnitude >= value)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a job's life.

    ``kind`` is wait, run, scheduled, depends, failed, stalled or gap.
    """

    kind: str
    start: float
    end: float
    text: str
    lane: int = 0


@dataclass(frozen=True, slots=True)
class TimelineBar:
    """One stretch drawn, across in percent; its words are for whoever points at it."""

    kind: str
    x: float
    width: float
    text: str


@dataclass(frozen=True, slots=True)
class Lane:
    """What happened side by side in one line: stretches, and moments on them."""

    bars: tuple[TimelineBar, ...] = ()
    marks: tuple[Tick, ...] = ()


@dataclass(frozen=True, slots=True)
class Timeline:
    """A life to scale: lanes on one axis, whose ticks count from the start."""

    lanes: tuple[Lane, ...]
    ticks: tuple[Tick, ...]
    cuts: tuple[TimelineBar, ...] = ()


#: Percent: moments nearer to one another than this are one mark.
NEAREST_MARKS = 1.2

#: How many moments one mark names.
MOST_WORDS = 5


def timeline(
    spans: Sequence[Span],
    *,
    marks: Iterable[tuple[str, float, int]] = (),
    say: Callable[[float], str],
) -> Timeline:
    """Return stretches of time to scale, from the first beginning to the last end.

    Args:
        spans: in order; overlapping ones belong into different lanes.
        marks: words, instants and lanes of what to mark, as log entries.
        say: a duration in words, for the axis.

    """
    if not spans:
        return Timeline((), ())
    start = min(span.start for span in spans)
    length = max(max(span.end for span in spans) - start, 1e-3)

    def across(at: float) -> float:
        return round(min(max(100 * (at - start) / length, 0.0), 100.0), 3)

    places = [(across(at), text, lane) for text, at, lane in marks]
    lanes = tuple(
        Lane(
            tuple(_bar(span, across) for span in spans if span.lane == lane),
            _merged_marks(sorted((at, text) for at, text, its in places if its == lane)),
        )
        for lane in range(1 + max(span.lane for span in spans))
    )
    return Timeline(lanes, time_ticks(length, say))


def _bar(span: Span, across: Callable[[float], float]) -> TimelineBar:
    x = across(span.start)
    width = max(across(span.end) - x, NARROWEST / 2)
    return TimelineBar(span.kind, round(min(x, 100 - width), 3), round(width, 3), span.text)


def _merged_marks(marks: Iterable[tuple[float, str]]) -> tuple[Tick, ...]:
    """Make one mark of moments that would lie on one another."""
    groups: list[tuple[float, list[str]]] = []
    for at, text in marks:
        if groups and at - groups[-1][0] < NEAREST_MARKS:
            groups[-1][1].append(text)
        else:
            groups.append((at, [text]))
    return tuple(Tick(at, _listed(texts)) for at, texts in groups)


def _listed(texts: Sequence[str]) -> str:
    """Name a few moments, and how many more there are.

    >>> _listed(["half"]), _listed(["a"] * 7)
    ('half', 'a, a, a, a, a and 2 more')
    """
    more = len(texts) - MOST_WORDS
    return ", ".join(texts[:MOST_WORDS]) + (f" and {more:,} more" if more > 0 else "")


def time_ticks(length: float, say: Callable[[float], str]) -> tuple[Tick, ...]:
    """Return at most seven ticks of an axis of so many seconds."""
    step = next((step for step in STEPS_S if length / step <= 6), length / 4)  # noqa: PLR2004 - six ticks fit a phone
    times = itertools.takewhile(lambda at: at <= length, itertools.count(0, step))
    return thinned(
        Tick(round(100 * at / length, 3), "0" if at == 0 else f"+{say(at)}") for at in times
    )


def thinned(ticks: Iterable[Tick]) -> tuple[Tick, ...]:
    """Mark the ticks whose words would touch those before them where the drawing is narrow.

    >>> [each.spare for each in thinned([Tick(0, "0"), Tick(9, "+1 min"), Tick(15, "+2 min")])]
    [False, False, True]
    """
    kept: list[Tick] = []
    end = -math.inf
    for tick in ticks:
        # Percent: on a phone a letter takes so much of the drawing.
        width = 1.8 * len(tick.text)
        # The template anchors a word at the very end by its end.
        start = tick.at - width if tick.at > 94 else tick.at  # noqa: PLR2004 - as the template has it
        kept.append(replace(tick, spare=start < end + 2))
        if start >= end + 2:
            end = start + width
    return tuple(kept)
