"""A time axis that is to scale where something happens, and cut where nothing does. Pure.

A job that failed at night and is retried in the morning ran for seconds in either case: drawn to
one scale, nothing but the night would be seen. What is cut is marked with its real length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_web.presenters.charts import Span, Tick

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

#: What part of the time in which something happens an idle stretch may take before it is cut.
LONGEST_IDLE = 1.0

#: What part of that time a cut takes.
CUT = 0.14

#: Percent of the drawing that a tick's word takes.
_TICK = 9.0


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the axis: real instants, and where it is drawn."""

    start: float
    end: float
    drawn_start: float
    drawn_end: float
    cut: bool


@dataclass(frozen=True, slots=True)
class Axis:
    """The whole axis, in order."""

    pieces: tuple[Piece, ...]

    @property
    def cuts(self) -> tuple[Piece, ...]:
        """The stretches that are cut."""
        return tuple(piece for piece in self.pieces if piece.cut)

    def at(self, instant: float) -> float:
        """Return where an instant is drawn."""
        for piece in self.pieces:
            if instant <= piece.end:
                length = piece.end - piece.start
                inside = max(0.0, instant - piece.start) / length if length else 0.0
                return piece.drawn_start + inside * (piece.drawn_end - piece.drawn_start)
        return self.pieces[-1].drawn_end if self.pieces else instant

    def ticks(self, say: Callable[[float], str]) -> tuple[Tick, ...]:
        """Return a tick where each stretch begins that is not cut, with the real time since."""
        first, last = self.pieces[0], self.pieces[-1]
        length = (last.drawn_end - first.drawn_start) or 1.0
        ticks: list[Tick] = []
        for piece in (piece for piece in self.pieces if not piece.cut):
            across = 100 * (piece.drawn_start - first.drawn_start) / length
            if not ticks or across - ticks[-1].at >= _TICK:
                since = piece.start - first.start
                ticks.append(Tick(round(across, 3), f"+{say(since)}" if since else "0"))
        return tuple(ticks)


def axis_of(spans: Sequence[Span]) -> Axis:
    """Return the axis for stretches; the time between them, and gaps, may be cut."""
    busy = _merged(stretch for span in spans for stretch in _busy(span))
    active = sum(end - start for start, end in busy)
    pieces: list[Piece] = []
    drawn = end_before = busy[0][0] if busy else 0.0
    for start, end in busy:
        idle = start - end_before
        if idle > 0:
            cut = idle > LONGEST_IDLE * active
            width = CUT * max(active, 1.0) if cut else idle
            pieces.append(Piece(end_before, start, drawn, drawn + width, cut))
            drawn += width
        pieces.append(Piece(start, end, drawn, drawn + end - start, cut=False))
        drawn += end - start
        end_before = end
    return Axis(tuple(pieces))


#: What a stretch of lost history is called.
NOT_RECORDED = "not recorded"


def _busy(span: Span) -> tuple[tuple[float, float], ...]:
    """Return the stretches in which something is known to happen: of lost history, its ends."""
    if span.text == NOT_RECORDED:
        return ((span.start, span.start), (span.end, span.end))
    return ((span.start, span.end),)


def _merged(stretches: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for start, end in sorted(stretches):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
