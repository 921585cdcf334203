"""A job's history: attempts to scale, a table of all that happened, and a few numbers. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from qless_web.presenters.attempts import KNOWN, Walk, given_back, lasted, was_given_back
from qless_web.presenters.data import tree
from qless_web.presenters.jobs import group_link, queue_link, worker_link

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from qless_core.reads.job import Happening, JobDetail
    from qless_web.presenters import charts
    from qless_web.presenters.attempts import Attempt
    from qless_web.presenters.data import Node
    from qless_web.presenters.page import Link

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
    """A job's history: attempt by attempt, as a table of all that happened, and in a few numbers.

    Attributes:
        attempts: those that are drawn, in order.
        earlier: those before them, which are not drawn.
        ticks: of the axis of the drawing.
        cuts: stretches of it in which nothing happened, and which are not to scale.
        events: the table, newest first.
        popped: how often it was popped, as far as is known.
        trimmed: whether older items may be missing, so that it may have been more.
        logged: how many of the events are lines of the job's log.
        waited: seconds from put to pop, over all attempts; None when none came to an end.
        ran: seconds from pop to done, failed or put again, over all attempts.
        lost: seconds from pop to timed out: nobody knows how long of it the worker lived.
        present: what goes on now, "running" or "waiting"; "" when nothing does, or it is unknown.
        present_since: since when, epoch seconds.

    """

    attempts: tuple[Attempt, ...]
    earlier: tuple[Attempt, ...]
    ticks: tuple[charts.Tick, ...]
    cuts: tuple[charts.TimelineBar, ...]
    events: tuple[Event, ...]
    popped: int
    trimmed: bool = False
    logged: int = 0
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
    walk = Walk(trimmed=job.history_trimmed)
    for happened in job.history:
        walk.take(happened)
    walk.finish(job, now)
    earlier, drawn, drawing = walk.attempts()
    return Life(
        attempts=drawn,
        earlier=earlier,
        ticks=drawing.ticks,
        cuts=drawing.cuts,
        events=tuple(reversed(list(_events(job.history, trimmed=job.history_trimmed)))),
        popped=sum(1 for each in job.history if each.what == "popped")
        - sum(1 for each in job.history if each.detail.get("ran") is False),
        trimmed=job.history_trimmed,
        logged=sum(
            1 for each in job.history if each.what not in KNOWN and not was_given_back(each)
        ),
        waited=walk.spent.get("waited"),
        ran=walk.spent.get("ran"),
        lost=walk.spent.get("lost"),
        present=walk.present,
        present_since=walk.present_since,
    )


def _events(history: Sequence[Happening], *, trimmed: bool) -> Iterable[Event]:
    before: float | None = None
    for index, each in enumerate(history):
        gap = trimmed and index == 1
        known, back = each.what in KNOWN, was_given_back(each)
        said = _said(each) if back else ""
        detail = None if said else _detail(each, known=known)
        since = None if gap or before is None or each.when is None else each.when - before
        yield Event(
            what=given_back(each.what) if back else _WORDS.get(each.what, each.what),
            state=_after(each) if back else _STATES.get(each.what, ""),
            at=each.when,
            after=None if since is None else max(0.0, since),
            places=tuple(_places(each)) if known else (),
            said=said or _flat(detail),
            detail=None if _flat(detail) else detail,
            gap=gap,
        )
        before = each.when if each.when is not None else before


#: Characters of what is said in one line of what was recorded; what is longer is shown as data.
_SAID = 160

_QUOTE = '"'


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


def _flat(detail: Node | None) -> str:
    """Say in a line what was recorded, digit for digit; "" where it takes more than that."""
    if detail is None or detail.kind != "object" or detail.more:
        return ""
    if any(each.children or each.kind in {"array", "object"} for each in detail.children):
        return ""
    text = ", ".join(f"{each.key} {each.text.strip(_QUOTE)}" for each in detail.children)
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
