"""Jobs as lists show them: the few fields of a row, never the data or the history."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from qless_core.reads.plan import Call, call

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qless_core.keys import Keys

T = TypeVar("T")

FIELDS = (
    "klass",
    "queue",
    "state",
    "worker",
    "priority",
    "expires",
    "retries",
    "remaining",
    "tags",
    "time",
    "failure",
    "spawned_from_jid",
)

RECURRING_FIELDS = (
    "klass",
    "queue",
    "priority",
    "tags",
    "interval",
    "count",
    "retries",
    "backlog",
)

#: Characters of a failure's message that a row keeps; the job's page has all of it.
MESSAGE_HEAD = 4_000


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job in a list. Instants are epoch seconds; None where Redis says nothing."""

    jid: str
    klass: str
    queue: str
    #: As a pop would find it: a running job whose lock is past is `stalled`, a scheduled one
    #: that is due is `waiting`. Empty when the job is gone.
    state: str
    worker: str
    priority: int
    tags: tuple[str, ...]
    #: Retries allowed and left.
    retries: int | None
    remaining: int | None
    #: When it was last put, popped or completed.
    time: float | None
    #: When its lock ends.
    expires: float | None
    failure_group: str
    #: The beginning of the message, at most `MESSAGE_HEAD` characters.
    failure_message: str
    failed_at: float | None
    spawned_from_jid: str
    #: The number this list is ordered by, where it is a time: due, completed, tracked, lock end.
    at: float | None = None
    #: The list names a job whose data is no longer there.
    gone: bool = False
    #: For how many other jobs it waits; None where the list does not ask.
    waits_for: int | None = None


@dataclass(frozen=True, slots=True)
class RecurringRow:
    """One recurring job in a list. `interval` in seconds, `next_run` in epoch seconds."""

    jid: str
    klass: str
    queue: str
    priority: int
    tags: tuple[str, ...]
    interval: float | None
    count: int
    retries: int | None
    backlog: int
    next_run: float | None
    #: How many of its jobs are due by now and not made yet.
    owed: int
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """A part of a list, and how long the whole is."""

    rows: tuple[T, ...]
    total: int
    offset: int


def fields_of(keys: Keys, jids: Iterable[str]) -> list[Call]:
    """Ask for the row fields of each job."""
    return [call("hmget", keys.job(jid), FIELDS) for jid in jids]


def job_rows(
    jids: Sequence[str],
    replies: Sequence[Sequence[str | None] | None],
    now: float,
    *,
    at: Mapping[str, float] | None = None,
    due: Mapping[str, float | None] | None = None,
) -> tuple[JobRow, ...]:
    """Make rows of the replies to `fields_of`.

    Args:
        jids: the jobs, in order.
        replies: their fields, in the same order.
        now: epoch seconds.
        at: the number each is listed by.
        due: when scheduled jobs are due.

    """
    times = at or {}
    return tuple(
        replace(
            _job_row(jid, reply or [None] * len(FIELDS), now, (due or {}).get(jid)),
            at=times.get(jid),
        )
        for jid, reply in zip(jids, replies, strict=True)
    )


def _job_row(jid: str, reply: Sequence[str | None], now: float, due: float | None) -> JobRow:
    found = dict(zip(FIELDS, reply, strict=True))
    failure = failure_of(found["failure"])
    expires = number(found["expires"]) or None
    return JobRow(
        jid=jid,
        klass=found["klass"] or "",
        queue=found["queue"] or "",
        state=state_now(found["state"] or "", expires=expires, due=due, now=now),
        worker=_worker(found, failure),
        priority=whole(found["priority"]) or 0,
        tags=tags_of(found["tags"]),
        retries=whole(found["retries"]),
        remaining=whole(found["remaining"]),
        time=number(found["time"]),
        expires=expires,
        failure_group=str(failure.get("group") or ""),
        failure_message=str(failure.get("message") or "")[:MESSAGE_HEAD],
        failed_at=number(failure.get("when")),
        spawned_from_jid=found["spawned_from_jid"] or "",
        gone=all(value is None for value in reply),
    )


def _worker(found: Mapping[str, str | None], failure: Mapping[str, Any]) -> str:
    """Give the worker; a failure takes a job away from it, and says who it was."""
    if found["worker"] or found["state"] != "failed":
        return found["worker"] or ""
    return str(failure.get("worker") or "")


def recurring_row(
    jid: str, reply: Sequence[str | None], next_run: float | None, now: float
) -> RecurringRow:
    """Make a row of a recurring job's `RECURRING_FIELDS`."""
    found = dict(zip(RECURRING_FIELDS, reply, strict=True))
    interval = number(found["interval"])
    return RecurringRow(
        jid=jid,
        klass=found["klass"] or "",
        queue=found["queue"] or "",
        priority=whole(found["priority"]) or 0,
        tags=tags_of(found["tags"]),
        interval=interval,
        count=whole(found["count"]) or 0,
        retries=whole(found["retries"]),
        backlog=whole(found["backlog"]) or 0,
        next_run=next_run,
        owed=owed(next_run, interval, now),
        gone=all(value is None for value in reply),
    )


def owed(next_run: float | None, interval: float | None, now: float) -> int:
    """Count the runs of a recurring job that are due and not made yet."""
    if next_run is None or not interval or interval <= 0 or next_run > now:
        return 0
    return int((now - next_run) / interval) + 1


def state_now(state: str, *, expires: float | None, due: float | None, now: float) -> str:
    """Give the state a pop would find, from the one that is stored."""
    if state == "running" and expires is not None and expires <= now:
        return "stalled"
    if state == "scheduled" and due is not None and due <= now:
        return "waiting"
    return state


def tags_of(text: str | None) -> tuple[str, ...]:
    """Read a job's tags, whatever shape another client left them in."""
    stored = parse(text)
    if isinstance(stored, dict):
        stored = list(stored.values())
    if not isinstance(stored, list):
        return ()
    return tuple(each if isinstance(each, str) else json.dumps(each) for each in stored)


def failure_of(text: str | None) -> dict[str, Any]:
    """Read a job's failure, or an empty one where there is none or it makes no sense."""
    stored = parse(text)
    return stored if isinstance(stored, dict) else {}


def parse(text: str | None) -> Any:  # noqa: ANN401 - whatever JSON says
    """Read JSON that other clients wrote: None where it is missing or broken."""
    if not text:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def number(value: object) -> float | None:
    """Read a number that Redis holds as text: None where it is not a finite one."""
    try:
        found = float(value)  # type: ignore[arg-type]  # what is no number raises, and is None
    except (TypeError, ValueError):
        return None
    return found if -1e308 < found < 1e308 else None  # noqa: PLR2004 - refuses inf and nan


def whole(value: object) -> int | None:
    """Read a whole number that Redis holds as text."""
    found = number(value)
    return None if found is None else int(found)
