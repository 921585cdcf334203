"""A job's history attempt by attempt: who had it, how long it waited and ran, how that ended. Pure.

History counts in whole seconds, and may have lost items after its first: what is not known is
drawn as a gap, and no length is ever negative.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from qless_web.formatting import duration
from qless_web.presenters import charts
from qless_web.presenters.jobs import worker_link
from qless_web.presenters.scale import NOT_RECORDED, axis_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qless_core.reads.job import Happening, JobDetail
    from qless_web.presenters.page import Link

#: Attempts that are drawn, the newest.
LANES = 12

#: Seconds that a drawing spans at least.
SHORTEST_S = 1.0

#: What the queue itself writes into a history; anything else is a line of the job's log.
KNOWN = frozenset({"put", "popped", "done", "failed", "timed-out"})

#: How a run ends, by what ended it: the kind of its bar, the word, and the state it led to.
_ENDS = {
    "done": ("run", "completed", "complete"),
    "failed": ("failed", "failed", "failed"),
    "timed-out": ("stalled", "timed out", "stalled"),
    "put": ("run", "put again", "waiting"),
    # Its worker gave it back with a retry, which leaves no trace: when is not known.
    "popped": ("gap", "retried", "waiting"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One line of the drawing: a job was put, waited, was popped and ran.

    Attributes:
        number: counted from 1; None where it was not popped, did not begin, or comes after a gap.
        queue: where it waited; "" when the history does not tell.
        worker: who popped it, with its link; "" when nobody did.
        outcome: how it ended, or what goes on, in a word or two.
        state: the state of a job that fits the outcome, for its colour and icon; "" for none.
        waited: seconds from put to pop; None when unknown or not over.
        ran: seconds from pop to its end; None when unknown or not over.
        waits_since: since when it waits, epoch seconds; None when it does not.
        runs_since: since when it runs, or has stalled, epoch seconds; None when it does not.
        lane: its bars and marks.

    """

    number: int | None
    queue: str
    worker: str
    outcome: str
    state: str
    waited: float | None
    ran: float | None
    waits_since: float | None
    runs_since: float | None
    lane: charts.Lane
    worker_link: Link | None = None

    @property
    def waited_text(self) -> str:
        """How long it waited, in words; "" when unknown or not over."""
        return "" if self.waited is None else lasted(self.waited)

    @property
    def ran_text(self) -> str:
        """How long it ran, in words; "" when unknown or not over."""
        return "" if self.ran is None else lasted(self.ran)


@dataclass
class _Line:
    """One attempt while the history is walked through."""

    queue: str = ""
    worker: str = ""
    outcome: str = ""
    state: str = ""
    waited: float | None = None
    ran: float | None = None
    waits_since: float | None = None
    runs_since: float | None = None
    counts: bool = False

    def close(self, outcome: str, state: str) -> None:
        """Say how it ended."""
        self.outcome, self.state = outcome, state


@dataclass
class Walk:
    """Walks through a history: what is open, since when, and in which lane."""

    trimmed: bool
    spans: list[charts.Span] = field(default_factory=list)
    marks: list[tuple[str, float, int]] = field(default_factory=list)
    spent: dict[str, float] = field(default_factory=dict)
    present: str = ""
    present_since: float | None = None
    _lines: list[_Line] = field(default_factory=lambda: [_Line()])
    _first_after_gap: int | None = None
    _kind: str = ""
    _since: float = 0.0
    _used: bool = False
    _seen: int = 0

    def take(self, happened: Happening) -> None:
        """Go on to the next item."""
        self._seen += 1
        if happened.when is None:
            return
        if self.trimmed and self._seen == 2:  # noqa: PLR2004 - right after the first
            self._gap(happened.when)
        at = max(happened.when, self._since)
        if was_given_back(happened) and self._kind == "run":
            self._give_back(happened, at)
        elif happened.what not in KNOWN:
            self.marks.append((happened.what, happened.when, self._lane))
        else:
            self._close(happened.what, at)
            self._begin(happened, at)

    @property
    def _lane(self) -> int:
        return len(self._lines) - 1

    @property
    def _line(self) -> _Line:
        return self._lines[-1]

    def _begin(self, happened: Happening, at: float) -> None:
        if happened.what == "popped":
            self._kind, self._used = "run", True
            self._line.worker, self._line.counts = str(happened.detail.get("worker") or ""), True
        elif happened.what in {"put", "timed-out"}:
            self._next_lane()
            self._kind = "wait"
            queue = happened.detail.get("q") or happened.detail.get("queue")
            self._line.queue = str(queue) if queue else self._line.queue
        else:
            self._kind = ""
        self._since = at

    def _give_back(self, happened: Happening, at: float) -> None:
        """Its worker, or who saw that one die, gave it back: it waits again, or fails next."""
        length, ran = at - self._since, happened.detail.get("ran") is True
        word = given_back(happened.what).lower()
        self._line.close(word, "stalled" if ran else "waiting")
        self._line.counts = ran
        self._draw("stalled" if ran else "gap", at, f"{lasted(length)} · {word}" if ran else word)
        if ran:
            self._line.ran = length
            self._spend("ran", length)
        self._next_lane()
        self._kind, self._since = "wait", at

    def finish(self, job: JobDetail, now: float) -> None:
        """Draw what goes on until now; its words say no length, for that grows as one reads."""
        state, now = job.row.state, max(now, self._since)
        if self._kind in {"run", "wait"} and state == "stalled":
            ended = job.row.expires
            if ended is not None and self._since < ended < now:
                # Its worker held it until the lock ended; it is stalled since then alone.
                self._line.ran = ended - self._since
                self._spend("ran", self._line.ran)
                self._draw("run", ended, f"{lasted(self._line.ran)}, while its worker held it")
                self._since = ended
            self._go_on("stalled", "stalled", state, now)
        elif self._kind in {"run", "wait"} and state == "running":
            # After a time-out too: the worker was warned, and its grace period runs.
            self._line.counts = self._line.counts or bool(job.row.worker)
            self._line.worker = self._line.worker or job.row.worker
            self._go_on("run", "running", state, now)
        elif self._kind == "wait" and state in {"waiting", "scheduled", "depends", "throttled"}:
            kind = state if state in {"scheduled", "depends"} else "wait"
            self._go_on(kind, "waiting for others" if state == "depends" else state, state, now)

    def _go_on(self, kind: str, word: str, state: str, now: float) -> None:
        self.present, self.present_since = word, self._since
        self._line.close(word, state)
        if kind in {"run", "stalled"}:
            self._line.runs_since = self._since
        else:
            self._line.waits_since = self._since
        self._draw(kind, now, word)

    def _gap(self, at: float) -> None:
        if self._kind:
            self._draw("gap", at, NOT_RECORDED)
            self._line.close(NOT_RECORDED, "")
        self._kind, self._since = "", at
        self._next_lane()
        self._first_after_gap = self._lane

    def _close(self, what: str, at: float) -> None:
        length = at - self._since
        if self._kind == "wait":
            self._draw("wait", at, f"waited {lasted(length)}")
            self._line.waited = length
            self._spend("waited", length)
        elif self._kind == "run":
            kind, word, state = _ENDS[what]
            self._draw(kind, at, f"{lasted(length)} · {word}")
            self._line.close(word, state)
            if what == "popped":
                self._next_lane()
            else:
                self._line.ran = length
                self._spend("lost" if what == "timed-out" else "ran", length)

    def _spend(self, how: str, length: float) -> None:
        self.spent[how] = self.spent.get(how, 0.0) + length

    def _draw(self, kind: str, end: float, text: str) -> None:
        self.spans.append(charts.Span(kind, self._since, end, text, self._lane))
        self._used = True

    def _next_lane(self) -> None:
        if self._used:
            self._lines.append(_Line(queue=self._line.queue))
            self._used = False

    def attempts(self) -> tuple[tuple[Attempt, ...], tuple[Attempt, ...], charts.Timeline]:
        """Return the attempts that are not drawn, those that are, and the axis of the drawing."""
        lanes = 1 + max((each.lane for each in self.spans), default=-1)
        first = max(0, lanes - LANES)
        spans = [replace(each, lane=each.lane - first) for each in self.spans if each.lane >= first]
        start = min((each.start for each in spans), default=0.0)
        if spans and max(each.end for each in spans) < start + SHORTEST_S:
            # Whole seconds cannot tell more: the last stretch fills the drawing.
            spans[-1] = replace(spans[-1], end=start + SHORTEST_S)
        marks = [(text, at, lane - first) for text, at, lane in self.marks if lane >= first]
        drawing = _to_scale(spans, marks)
        empty = charts.Lane()
        drawn = [drawing.lanes[at - first] if at >= first else empty for at in range(lanes)]
        lines = tuple(
            _attempt(line, number, lane)
            for line, number, lane in zip(self._lines[:lanes], self._numbers(), drawn, strict=False)
        )
        return lines[:first], lines[first:], drawing

    def _numbers(self) -> Iterable[int | None]:
        number = 0
        for lane, line in enumerate(self._lines):
            number += line.counts
            lost = self._first_after_gap is not None and lane >= self._first_after_gap
            yield number if line.counts and not lost else None


def _attempt(line: _Line, number: int | None, lane: charts.Lane) -> Attempt:
    return Attempt(
        number=number,
        queue=line.queue,
        worker=line.worker,
        outcome=line.outcome,
        state=line.state,
        waited=line.waited,
        ran=line.ran,
        waits_since=line.waits_since,
        runs_since=line.runs_since,
        lane=lane,
        worker_link=worker_link(line.worker) if line.worker else None,
    )


def _to_scale(
    spans: Sequence[charts.Span], marks: Iterable[tuple[str, float, int]]
) -> charts.Timeline:
    """Draw stretches to scale; where nothing happened for long, the axis is cut."""
    axis = axis_of(spans)
    drawn = [replace(each, start=axis.at(each.start), end=axis.at(each.end)) for each in spans]
    chart = charts.timeline(
        drawn, marks=[(text, axis.at(at), lane) for text, at, lane in marks], say=duration
    )
    if not axis.cuts:
        return chart
    start, end = axis.pieces[0].drawn_start, axis.pieces[-1].drawn_end
    cuts = tuple(
        charts.TimelineBar(
            "cut",
            round(100 * (cut.drawn_start - start) / (end - start), 3),
            round(100 * (cut.drawn_end - cut.drawn_start) / (end - start), 3),
            f"{duration(cut.end - cut.start)} are left out here",
        )
        for cut in axis.cuts
    )
    return replace(chart, ticks=charts.thinned(axis.ticks(duration)), cuts=cuts)


def was_given_back(happened: Happening) -> bool:
    """Say whether an item tells that a job was given back: under whatever name, it says `ran`."""
    return happened.what not in KNOWN and isinstance(happened.detail.get("ran"), bool)


def given_back(what: str) -> str:
    """Give the word under which a job was given back.

    >>> given_back("not-begun"), given_back("OOM killer!")
    ('Not begun', 'OOM killer!')
    """
    plain = what.replace("-", "")
    return what.replace("-", " ").capitalize() if plain.isalpha() and plain.islower() else what


def lasted(seconds: float) -> str:
    """Say how long something took as far as history tells, which counts in whole seconds.

    >>> lasted(0), lasted(1.9), lasted(61)
    ('under 1 s', '1 s', '1 min 1 s')
    """
    return duration(int(seconds)) if seconds >= 1 else "under 1 s"
