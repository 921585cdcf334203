"""Jobs in lists: what a row says, and what can be done to it in the state it is in.

Each list names the instant that matters in it (`Moment`), and every list of jobs is made here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Literal

from qless_core.cron import Cron
from qless_core.errors import BadArgument
from qless_web.formatting import count, duration, isolated
from qless_web.presenters.message import telling
from qless_web.presenters.page import Action, Link
from qless_web.presenters.rows import JobRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qless_core.reads import rows as snapshots
    from qless_core.records import Progress

#: The states of a job in the order in which pages show them.
STATES = (
    "waiting",
    "running",
    "stalled",
    "scheduled",
    "depends",
    "throttled",
    "failed",
    "complete",
)

#: The states of a job that a worker holds; one turns into the other when the lock runs out.
HELD = frozenset({"running", "stalled"})

#: The states of a job that holds up those that depend on it until somebody acts; "" is gone.
BLOCKING = frozenset({"failed", ""})

#: Which instant a list is about: "put", "due", "lock" (its end), "failed", "completed" or
#: "tracked"; "state" takes the one that fits the state of each job.
Moment = Literal["state", "put", "due", "lock", "failed", "completed", "tracked"]

#: The instant that fits a state; a job in another one shows when it was last put.
_BY_STATE: dict[str, Moment] = {
    "running": "lock",
    "stalled": "lock",
    "scheduled": "due",
    "failed": "failed",
    "complete": "completed",
}

_WORDS: dict[Moment, str] = {
    "put": "put",
    "due": "due",
    "failed": "failed",
    "completed": "completed",
    "tracked": "tracked",
}

#: How to begin: a line for the shell that puts a job.
PUT_COMMAND = """qless put mail shop.Welcome '{"to": "kim"}'"""

#: Characters of a failure's line that a row shows.
_NOTE = 200


def job_link(jid: str) -> Link:
    """Return the place of a job; the link carries the whole jid."""
    return Link("jobs.show", {"jid": jid})


def queue_link(name: str) -> Link:
    """Return the place of a queue."""
    return Link("queues.show", {"queue": name})


def worker_link(name: str) -> Link:
    """Return the place of a worker."""
    return Link("workers.show", {"worker": name})


def group_link(name: str) -> Link:
    """Return the place of a group of failures."""
    return Link("failures.group", {"group": name})


def tag_link(tag: str) -> Link:
    """Return the place of a tag."""
    return Link("tags.show", {"tag": tag})


def job_rows(
    rows: Iterable[snapshots.JobRow],
    *,
    moment: Moment = "state",
    named: bool = False,
    tracked: bool = False,
    group: str = "",
) -> tuple[JobRow, ...]:
    """Return the rows of a list.

    Args:
        rows: as read.
        moment: which instant the list shows.
        named: whether each row says what its instant is; not needed where the heading says it.
        tracked: whether all of them are tracked.
        group: the group of failures whose jobs these are, which no message needs to repeat.

    """
    return tuple(
        job_row(row, moment=moment, named=named, tracked=tracked, group=group) for row in rows
    )


def job_row(
    row: snapshots.JobRow,
    *,
    moment: Moment = "state",
    named: bool = False,
    tracked: bool = False,
    group: str = "",
) -> JobRow:
    """Return one row; a job that is gone keeps its jid, its link and what the list knows."""
    shown = _BY_STATE.get(row.state, "put") if moment == "state" else moment
    return JobRow(
        jid=row.jid,
        link=job_link(row.jid),
        klass=row.klass,
        state=row.state,
        queue=row.queue,
        queue_link=queue_link(row.queue) if row.queue else None,
        worker=row.worker,
        worker_link=worker_link(row.worker) if row.worker else None,
        tags=tuple((tag, tag_link(tag)) for tag in row.tags),
        priority=row.priority,
        retries=row.retries,
        remaining=row.remaining,
        at=_instant(row, shown),
        at_word=_word(row, shown) if named else "",
        note=_note(row, group),
        group=row.failure_group,
        tracked=tracked,
        gone=row.gone,
        actions=() if row.gone else job_actions(row.jid, row.state, tracked=tracked),
    )


def _instant(row: snapshots.JobRow, moment: Moment) -> float | None:
    match moment:
        case "lock":
            return row.expires or row.at
        case "failed":
            return row.failed_at or row.time
        case "put":
            return row.time
        case "completed":
            return row.time or row.at
        case _:
            return row.at


def _word(row: snapshots.JobRow, moment: Moment) -> str:
    if moment == "lock":
        return "lock ended" if row.state == "stalled" else "lock ends"
    return _WORDS.get(moment, "")


def _note(row: snapshots.JobRow, group: str) -> str:
    if row.timed_out:
        return "timed out by hand"
    if row.progress is not None:
        return progress(row.progress)
    if row.waits_for is not None and not row.gone:
        return f"waits for {count(row.waits_for)} job{'' if row.waits_for == 1 else 's'}"
    if row.state != "failed" or not row.failure_message:
        return ""
    return isolated(telling(row.failure_message, group, _NOTE))


def progress(told: Progress) -> str:
    r"""Say how far a job is.

    >>> from qless_core.records import Progress
    >>> progress(Progress(30, 40, "letters")), progress(Progress(1200.5)), progress(Progress(0, 0))
    ('30 of 40, 75 %: \u2068letters\u2069', '1,200.5 done', '0 of 0, 100 %')
    """
    text = f"{told.done:,} done"
    if told.total is not None and told.share is not None:
        # Rounded down: what is not done is never told as done.
        text = f"{told.done:,} of {told.total:,}, {int(told.share * 100)} %"
    return f"{text}: {isolated(told.note)}" if told.note else text


def job_actions(jid: str, state: str, *, tracked: bool = False) -> tuple[Action, ...]:
    """Return what fits the state, what mends first and what destroys last."""
    values = {"jid": jid}
    fitting = _FITTING.get(state, (_MOVE_ONE, _RANK, _TRACK, _CANCEL_ONE))
    return tuple(
        make(link=Link(endpoint, values))
        for endpoint, make in (
            (_UNTRACK if tracked and each is _TRACK else each) for each in fitting
        )
    )


#: What can be done to one job: where, and what it looks like. Lists have hundreds of them.
_Verb = tuple[str, "Callable[..., Action]"]


def _verb(name: str, text: str, icon: str, *, asks: bool = False, danger: bool = False) -> _Verb:
    return f"act.{name}", partial(Action, text=text, icon=icon, asks=asks, danger=danger)


_RETRY_ONE = _verb("retry_job", "Retry", "retry")
_TIME_OUT = _verb("time_out_job", "Time out", "timeout", asks=True)
_MOVE_ONE = _verb("move_job", "Move", "move", asks=True)
_RANK = _verb("set_priority", "Priority", "priority", asks=True)
_TRACK = _verb("track_job", "Track", "track")
_UNTRACK = _verb("untrack_job", "Untrack", "untrack")
_RUN_ONE = _verb("run_job", "Run now", "retry")
_RESCHEDULE_ONE = _verb("reschedule_job", "Reschedule", "scheduled", asks=True)
_CANCEL_ONE = _verb("cancel_job", "Cancel", "cancel", asks=True, danger=True)

_FITTING: dict[str, tuple[_Verb, ...]] = {
    "scheduled": (_RUN_ONE, _RESCHEDULE_ONE, _MOVE_ONE, _RANK, _TRACK, _CANCEL_ONE),
    "failed": (_RETRY_ONE, _MOVE_ONE, _TRACK, _CANCEL_ONE),
    "running": (_TIME_OUT, _MOVE_ONE, _TRACK, _CANCEL_ONE),
    "stalled": (_TIME_OUT, _MOVE_ONE, _TRACK, _CANCEL_ONE),
    "complete": (_MOVE_ONE, _TRACK),
}


def but_priority(actions: Iterable[Action]) -> tuple[Action, ...]:
    """Leave the priority out, for pages that have its button beside the number, in every state."""
    return tuple(each for each in actions if each.link.endpoint != "act.set_priority")


#: What can be done to ticked rows: text, icon, where its question is, and whether it destroys.
TickedVerb = tuple[str, str, Link, bool]

_RETRY: TickedVerb = ("Retry", "retry", Link("act.retry_jobs"), False)
_MOVE: TickedVerb = ("Move", "move", Link("act.move_jobs"), False)
_CANCEL: TickedVerb = ("Cancel", "cancel", Link("act.cancel_jobs"), True)
_RUN: TickedVerb = ("Run now", "retry", Link("act.run_jobs"), False)
_RESCHEDULE: TickedVerb = ("Reschedule", "scheduled", Link("act.reschedule_jobs"), False)


def ticked_verbs(state: str = "") -> tuple[TickedVerb, ...]:
    """Return what the ticked rows of a list of one state can be made to do; "" for mixed ones."""
    if state == "complete":
        return (_MOVE,)
    if state in {"failed", ""}:
        return (_RETRY, _MOVE, _CANCEL)
    if state == "scheduled":
        return (_RUN, _RESCHEDULE, _MOVE, _CANCEL)
    return (_MOVE, _CANCEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecurringRow:
    """One recurring job in a list.

    Attributes:
        every: its interval in words, a dash when none is stored; or its cron expression.
        explained: the cron expression in plain English; "" where there is none that can be read.
        paused: it makes no jobs until somebody lets it go on.
        last_run: when it ran last, epoch seconds.
        next_run: when its next job is made, epoch seconds.
        owed: how many jobs are due by now and not made yet.
        count: how many were made so far.
        backlog: how many late ones it makes at most; 0 for all of them.
        gone: its definition is no longer there.

    """

    jid: str
    link: Link
    klass: str
    every: str
    next_run: float | None
    owed: int
    count: int
    backlog: int
    priority: int
    retries: int | None
    queue: str = ""
    queue_link: Link | None = None
    explained: str = ""
    paused: bool = False
    last_run: float | None = None
    tags: tuple[tuple[str, Link], ...] = ()
    gone: bool = False
    actions: tuple[Action, ...] = ()


@lru_cache(maxsize=1_000)
def explained(expression: str) -> str:
    """Say in plain English when a cron expression comes; "" for one that cannot be read.

    >>> explained("0 9 * * 1-5"), explained("whenever"), explained("")
    ('At 09:00 on Monday through Friday', '', '')
    """
    try:
        return Cron(expression).words if expression else ""
    except (BadArgument, ValueError, OverflowError):
        return ""


def recurring_rows(rows: Iterable[snapshots.RecurringRow]) -> tuple[RecurringRow, ...]:
    """Return the rows of a list of recurring jobs."""
    return tuple(
        RecurringRow(
            jid=row.jid,
            link=job_link(row.jid),
            klass=row.klass,
            queue=row.queue,
            queue_link=queue_link(row.queue) if row.queue else None,
            every=f"{row.cron} {row.timezone}" if row.cron else duration(row.interval),
            explained=explained(row.cron),
            paused=row.paused,
            last_run=row.last_run,
            next_run=row.next_run,
            owed=row.owed,
            count=row.count,
            backlog=row.backlog,
            priority=row.priority,
            retries=row.retries,
            tags=tuple((tag, tag_link(tag)) for tag in row.tags),
            gone=row.gone,
            actions=() if row.gone else recurring_actions(row.jid, paused=row.paused),
        )
        for row in rows
    )


def recurring_actions(jid: str, *, paused: bool = False) -> tuple[Action, ...]:
    """Return what can be done to a recurring job from a list."""
    values = {"jid": jid}
    hold = (
        Action(text="Unpause", link=Link("act.unpause_recurring", values), icon="unpause")
        if paused
        else Action(text="Pause", link=Link("act.pause_recurring", values), icon="pause")
    )
    return (
        Action(text="Run now", link=Link("act.run_recurring", values), icon="retry"),
        hold,
        Action(text="Edit", link=Link("act.edit_recurring", values), icon="config", asks=True),
        Action(text="Move", link=Link("act.move_job", values), icon="move", asks=True),
        Action(text="Priority", link=Link("act.set_priority", values), icon="priority", asks=True),
        Action(
            text="Cancel",
            link=Link("act.cancel_job", values),
            icon="cancel",
            asks=True,
            danger=True,
        ),
    )
