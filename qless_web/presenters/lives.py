"""The lives of several jobs on one axis, a line each: a group of failures, or a chain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from qless_web.formatting import absolute, duration, isolated, short_jid
from qless_web.presenters import charts, named
from qless_web.presenters.jobs import group_link, job_link
from qless_web.presenters.page import Crumb, EmptyState, Link, Page
from qless_web.presenters.scale import axis_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_web.triage.lives import OneLife

#: How a run ends, by what ended it: the kind of its bar.
_ENDS = {"done": "run", "put": "run", "failed": "failed", "failed-retries": "failed",
         "timed-out": "stalled", "popped": "gap"}  # fmt: skip

#: States in which a job goes on waiting, or running.
_WAITS = {"waiting": "wait", "scheduled": "scheduled", "depends": "depends", "throttled": "wait"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeRow:
    """One job: ``step`` says in words how far it is in a chain; "" outside of one."""

    jid: str
    klass: str
    state: str
    link: Link
    step: str
    lane: charts.Lane


@dataclass(frozen=True, kw_only=True)
class LivesPage(Page):
    """Lives on one axis.

    Attributes:
        rows: the jobs.
        drawing: the axis.
        begins: when the axis begins, in words.
        note: what is shown of how much.
        empty: what to show where there is nothing.

    """

    template: ClassVar[str] = "lives/index.html"

    rows: tuple[LifeRow, ...]
    drawing: charts.Timeline
    begins: str
    note: str
    empty: EmptyState | None


def group_lives(group: str, found: Sequence[OneLife], now: float) -> LivesPage:
    """Return the lives of the newest jobs of a group; the first to begin comes first."""
    crumbs = (
        Crumb("Failures", Link("failures.index")),
        Crumb(isolated(named.short(group, 40)), group_link(group)),
        Crumb("Timeline"),
    )
    ordered = sorted(found, key=lambda each: (each.items[0].when if each.items else now, each.jid))
    note = f"The newest {len(found)} of the group; time in which nothing happened is cut."
    return _page(f"Timeline · {isolated(named.short(group, 40))}", crumbs, ordered, now, note=note)


def chain_lives(jid: str, found: Sequence[OneLife], now: float) -> LivesPage:
    """Return the lives of a chain of jobs, in the order in which they depend on one another."""
    crumbs = (Crumb(isolated(short_jid(jid)), job_link(jid)), Crumb("Timeline"))
    ordered = sorted(found, key=lambda each: (each.step, each.jid))
    note = (
        "What it waits for, and what waits for it, two steps each way. A job that has begun no "
        "longer says what it waited for."
    )
    return _page(
        f"Timeline · {isolated(short_jid(jid))}", crumbs, ordered, now, note=note, steps=True
    )


def _page(
    title: str,
    crumbs: tuple[Crumb, ...],
    found: Sequence[OneLife],
    now: float,
    *,
    note: str,
    steps: bool = False,
) -> LivesPage:
    spans = [span for lane, each in enumerate(found) for span in _spans(each, lane, now)]
    drawing = _drawn(spans)
    lanes = (*drawing.lanes, *(charts.Lane() for _ in found[len(drawing.lanes) :]))
    return LivesPage(
        title=title,
        nav="" if steps else "failures",
        crumbs=crumbs,
        rows=tuple(_row(each, lane, steps=steps) for each, lane in zip(found, lanes, strict=False)),
        drawing=drawing,
        begins=absolute(min(span.start for span in spans)) if spans else "",
        note=note,
        empty=None if found else EmptyState(kind="no-match", title="No job is here to be drawn"),
    )


def _row(each: OneLife, lane: charts.Lane, *, steps: bool) -> LifeRow:
    return LifeRow(
        jid=each.jid,
        klass=each.klass,
        state=each.state,
        link=job_link(each.jid),
        step=_step(each.step) if steps else "",
        lane=lane,
    )


def _step(step: int) -> str:
    if not step:
        return "this job"
    way = "before" if step < 0 else "after"
    return f"{abs(step)} {'step' if abs(step) == 1 else 'steps'} {way}"


def _spans(each: OneLife, lane: int, now: float) -> list[charts.Span]:
    """Draw a life: what it waited and ran, and what goes on now."""
    spans: list[charts.Span] = []
    begun: tuple[str, float, str] | None = None
    for item in each.items:
        if item.what not in _ENDS:
            continue  # a line of the job's log
        if begun is not None:
            kind, start, name = begun
            ended = _ENDS[item.what] if kind == "run" else kind
            spans.append(_span(ended, start, item.when, name, lane))
        begun = {
            "put": ("wait", item.when, item.name),
            "popped": ("run", item.when, item.name),
            "timed-out": ("wait", item.when, ""),
        }.get(item.what)
    goes_on = _WAITS.get(each.state) or ("run" if each.state == "running" else "")
    if begun is not None and goes_on:
        spans.append(_span(goes_on, begun[1], now, begun[2], lane))
    return spans


_WORDS = {"wait": "waited", "run": "ran", "failed": "ran and failed", "stalled": "lost its lock",
          "gap": "not known", "scheduled": "scheduled", "depends": "waited for others"}  # fmt: skip


def _span(kind: str, start: float, end: float, name: str, lane: int) -> charts.Span:
    end = max(start, end)
    where = f" ({named.short(name, 40)})" if name else ""
    return charts.Span(kind, start, end, f"{_WORDS[kind]} {duration(end - start)}{where}", lane)


def _drawn(spans: Sequence[charts.Span]) -> charts.Timeline:
    """Draw stretches to scale; where nothing happened for long, the axis is cut."""
    if not spans:
        return charts.Timeline((), ())
    axis = axis_of(spans)
    drawn = [replace(each, start=axis.at(each.start), end=axis.at(each.end)) for each in spans]
    chart = charts.timeline(drawn, say=duration)
    start, end = axis.pieces[0].drawn_start, axis.pieces[-1].drawn_end
    if not axis.cuts or end <= start:
        return chart
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
