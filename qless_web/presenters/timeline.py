"""A job's history as a life to scale, and as a table of what happened. Pure.

History counts in whole seconds, and may have lost items after its first: what is not known is
drawn as a gap, and no length is ever negative.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from qless_web.formatting import duration
from qless_web.presenters import charts
from qless_web.presenters.data import tree
from qless_web.presenters.jobs import group_link, queue_link, worker_link
from qless_web.presenters.scale import NOT_RECORDED, axis_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qless_core.reads.job import Happening, JobDetail
    from qless_web.presenters.data import Node
    from qless_web.presenters.page import Link

#: Attempts that are drawn, the newest; all are in the table.
LANES = 12

#: Seconds that a drawing spans at least.
SHORTEST_S = 1.0

#: What the queue itself writes into a history; anything else is a line of the job's log.
_KNOWN = frozenset({"put", "popped", "done", "failed", "timed-out"})

#: How a run ends, by what ended it: the kind of its bar and the word.
_ENDS = {
    "done": ("run", "done"),
    "failed": ("failed", "failed"),
    "timed-out": ("stalled", "timed out"),
    "put": ("run", "put again"),
    # Its worker gave it back with a retry, which leaves no trace: when is not known.
    "popped": ("gap", "ran, and was retried"),
}

_WORDS = {"put": "Put", "popped": "Popped", "done": "Completed", "failed": "Failed",
          "timed-out": "Timed out"}  # fmt: skip

_STATES = {"put": "waiting", "popped": "running", "done": "complete", "failed": "failed",
           "timed-out": "stalled"}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One line of the table.

    Attributes:
        what: the word for it, or the text of a log line.
        state: the state it led to, for its colour; "" for a log line.
        at: epoch seconds.
        after: seconds since the event before; None for the first, and after a gap.
        place: the queue, worker or group it names, with the word for which and its link.
        places: all such.
        said: what was recorded in few words, beside the places.
        detail: what else was recorded, digit for digit; None when nothing.
        gap: items before this one may be missing.

    """

    what: str
    state: str
    at: float | None
    after: float | None
    places: tuple[tuple[str, str, Link], ...] = ()
    said: str = ""
    detail: Node | None = None
    gap: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """A job's history: drawn, in a table newest first, and in a few numbers.

    Attributes:
        chart: the drawing.
        events: the table.
        attempts: how often it was popped, as far as is known.
        left_out: attempts that are not drawn.
        waited: seconds from put to pop, over all attempts; None when none came to an end.
        ran: seconds from pop to done, failed or put again, over all attempts.
        lost: seconds from pop to timed out: nobody knows how long of it the worker lived.
        present: what goes on now, "running" or "waiting"; "" when nothing does, or it is unknown.
        present_since: since when, epoch seconds.

    """

    chart: charts.Timeline
    events: tuple[Event, ...]
    attempts: int
    left_out: int = 0
    waited: float | None = None
    ran: float | None = None
    lost: float | None = None
    present: str = ""
    present_since: float | None = None

    @property
    def totals(self) -> tuple[tuple[str, str], ...]:
        """What the attempts that have come to an end took, in words; unknown ones are left out."""
        took = (("waited", self.waited), ("ran", self.ran), ("lost to time-outs", self.lost))
        return tuple((word, lasted(each)) for word, each in took if each is not None)


def life(job: JobDetail, now: float) -> Life:
    """Return the history of a job as it is known at `now`."""
    walk = _Walk(trimmed=job.history_trimmed)
    for happened in job.history:
        walk.take(happened)
    walk.finish(job, now)
    lanes = walk.lane + 1 if walk.spans else 0
    first = max(0, lanes - LANES)
    spans = [
        charts.Span(each.kind, each.start, each.end, each.text, each.lane - first)
        for each in walk.spans
        if each.lane >= first
    ]
    start = min((each.start for each in spans), default=0.0)
    if spans and max(each.end for each in spans) < start + SHORTEST_S:
        # Whole seconds cannot tell more: the last stretch fills the drawing.
        spans[-1] = replace(spans[-1], end=start + SHORTEST_S)
    return Life(
        chart=_chart(spans, [mark for mark in walk.marks if mark[1] >= start]),
        events=tuple(reversed(list(_events(job.history, trimmed=job.history_trimmed)))),
        attempts=sum(1 for each in job.history if each.what == "popped")
        - sum(1 for each in job.history if each.detail.get("ran") is False),
        left_out=first,
        waited=walk.spent.get("waited"),
        ran=walk.spent.get("ran"),
        lost=walk.spent.get("lost"),
        present=walk.present,
        present_since=walk.present_since,
    )


def _chart(spans: Sequence[charts.Span], marks: Sequence[tuple[str, float]]) -> charts.Timeline:
    """Draw stretches to scale; where nothing happened for long, the axis is cut."""
    axis = axis_of(spans)
    lanes = {each.start: each.lane for each in reversed(spans)}
    cuts = [
        charts.Span(
            "gap", cut.start, cut.end, f"{duration(cut.end - cut.start)} later", lanes[cut.end]
        )
        for cut in axis.cuts
        if not any(each.text == NOT_RECORDED and each.start == cut.start for each in spans)
    ]
    drawn = [
        replace(each, start=axis.at(each.start), end=axis.at(each.end))
        for each in sorted([*spans, *cuts], key=lambda each: each.start)
    ]
    chart = charts.timeline(drawn, marks=[(text, axis.at(at)) for text, at in marks], say=duration)
    return replace(chart, ticks=charts.thinned(axis.ticks(duration))) if axis.cuts else chart


@dataclass
class _Walk:
    """Walks through a history: what is open, since when, and in which lane."""

    trimmed: bool
    spans: list[charts.Span] = field(default_factory=list)
    marks: list[tuple[str, float]] = field(default_factory=list)
    lane: int = 0
    spent: dict[str, float] = field(default_factory=dict)
    present: str = ""
    present_since: float | None = None
    _kind: str = ""
    _since: float = 0.0
    _worker: str = ""
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
        if _was_given_back(happened) and self._kind == "run":
            self._give_back(happened, at)
            return
        if happened.what not in _KNOWN:
            self.marks.append((happened.what, happened.when))
            return
        self._close(happened.what, at)
        if happened.what == "popped":
            self._kind, self._worker = "run", str(happened.detail.get("worker") or "")
            self._used = True
        elif happened.what in {"put", "timed-out"}:
            self._next_lane()
            self._kind = "wait"
        else:
            self._kind = ""
        self._since = at

    def _give_back(self, happened: Happening, at: float) -> None:
        """Its worker, or who saw that one die, gave it back: it waits again, or fails next."""
        length, ran = at - self._since, happened.detail.get("ran") is True
        word = f"{lasted(length)} · {happened.what}" if ran else happened.what
        self._draw("stalled" if ran else "gap", at, f"{self._worker} {word}".strip())
        if ran:
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
                self._spend("ran", ended - self._since)
                self._draw("run", ended, f"{self._worker} held it".strip())
                self._since = ended
            self._go_on("stalled", "stalled", "stalled", now)
        elif self._kind in {"run", "wait"} and state == "running":
            # After a time-out too: the worker was warned, and its grace period runs.
            self._go_on("run", "running", f"{self._worker} running".strip(), now)
        elif self._kind == "wait" and state in {"waiting", "scheduled", "depends"}:
            kind = "wait" if state == "waiting" else state
            word = "waiting for others" if state == "depends" else state
            self._go_on(kind, word, word, now)

    def _go_on(self, kind: str, word: str, text: str, now: float) -> None:
        self.present, self.present_since = word, self._since
        self._draw(kind, now, text)

    def _gap(self, at: float) -> None:
        if self._kind:
            self._draw("gap", at, NOT_RECORDED)
        self._kind, self._since = "", at
        self._next_lane()

    def _close(self, what: str, at: float) -> None:
        length = at - self._since
        if self._kind == "wait":
            self._draw("wait", at, f"wait {lasted(length)}")
            self._spend("waited", length)
        elif self._kind == "run":
            kind, word = _ENDS[what]
            self._draw(kind, at, f"{self._worker} {lasted(length)} · {word}".strip())
            if what == "popped":
                self._next_lane()
            else:
                self._spend("lost" if what == "timed-out" else "ran", length)

    def _spend(self, how: str, length: float) -> None:
        self.spent[how] = self.spent.get(how, 0.0) + length

    def _draw(self, kind: str, end: float, text: str) -> None:
        self.spans.append(charts.Span(kind, self._since, end, text, self.lane))
        self._used = True

    def _next_lane(self) -> None:
        if self._used:
            self.lane += 1
            self._used = False


def _was_given_back(happened: Happening) -> bool:
    """Say whether an item tells that a job was given back: under whatever name, it says `ran`."""
    return happened.what not in _KNOWN and isinstance(happened.detail.get("ran"), bool)


def lasted(seconds: float) -> str:
    """Say how long something took as far as history tells, which counts in whole seconds.

    >>> lasted(0), lasted(1.9), lasted(61)
    ('under 1 s', '1 s', '1 min 1 s')
    """
    return duration(int(seconds)) if seconds >= 1 else "under 1 s"


def _events(history: Sequence[Happening], *, trimmed: bool) -> Iterable[Event]:
    before: float | None = None
    for index, each in enumerate(history):
        gap = trimmed and index == 1
        known, back = each.what in _KNOWN, _was_given_back(each)
        said = _said(each) if back else ""
        since = None if gap or before is None or each.when is None else each.when - before
        yield Event(
            what=_word(each.what) if back else _WORDS.get(each.what, each.what),
            state=_after(each) if back else _STATES.get(each.what, ""),
            at=each.when,
            after=None if since is None else max(0.0, since),
            places=tuple(_places(each)) if known else (),
            said=said,
            detail=None if said else _detail(each, known=known),
            gap=gap,
        )
        before = each.when if each.when is not None else before


#: Characters of what is said of a job that was given back; longer ones are shown as data.
_SAID = 160


def _word(what: str) -> str:
    """Give the word under which a job was given back.

    >>> _word("not-begun"), _word("OOM killer!")
    ('Not begun', 'OOM killer!')
    """
    plain = what.replace("-", "")
    return what.replace("-", " ").capitalize() if plain.isalpha() and plain.islower() else what


def _after(happened: Happening) -> str:
    return "stalled" if happened.detail.get("ran") is True else "waiting"


def _said(happened: Happening) -> str:
    """Say what came with a job that was given back; "" where that is more than a line."""
    ran = "" if happened.detail.get("ran") is True else "it did not run"
    rest = {name: value for name, value in happened.detail.items() if name != "ran"}
    if any(not isinstance(value, str | int) for value in rest.values()):
        return ""
    text = ", ".join(filter(None, (ran, *(f"{name} {value}" for name, value in rest.items()))))
    return text if len(text) <= _SAID else ""


def _places(happened: Happening) -> Iterable[tuple[str, str, Link]]:
    detail = happened.detail
    queue = detail.get("q") or detail.get("queue")
    if queue:
        yield "queue", str(queue), queue_link(str(queue))
    if detail.get("worker"):
        yield "worker", str(detail["worker"]), worker_link(str(detail["worker"]))
    if detail.get("group"):
        yield "group", str(detail["group"]), group_link(str(detail["group"]))


_SAID_BY_PLACES = frozenset({"q", "queue", "worker", "group"})


def _detail(happened: Happening, *, known: bool) -> Node | None:
    """Return what a log line recorded, from the stored text: integers stay integers."""
    rest = {
        key: value
        for key, value in happened.detail.items()
        if not (known and key in _SAID_BY_PLACES)
    }
    if not rest:
        return None
    if known or not happened.text:
        return tree(json.dumps(rest, ensure_ascii=False))
    stored = tree(happened.text, open_levels=3)
    if len(stored.children) < 3:  # noqa: PLR2004 - [when, what, data]
        return None
    return replace(stored.children[2], key=None)
