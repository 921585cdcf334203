"""Jobs as lists show them: the few fields of a row, never the data or the history."""

from __future__ import annotations

import json
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from qless_core import wire
from qless_core.options import as_number, as_whole
from qless_core.reads.plan import Call, Read, call
from qless_core.records import Progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qless_core.keys import Keys
    from qless_core.reads.plan import Scope

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
    "grace",
    "progress",
)

#: The fields that `clue_of` reads.
CLUES = ("state", "queue", "expires", "grace")
_clues_in = itemgetter(*map(FIELDS.index, CLUES))

RECURRING_FIELDS = (
    "klass",
    "queue",
    "priority",
    "tags",
    "interval",
    "count",
    "retries",
    "backlog",
    "cron",
    "timezone",
    "held",
    "made",
    "ran",
)

#: Characters of a failure's message that a row keeps; the job's page has all of it.
MESSAGE_HEAD = 4_000


@dataclass(frozen=True, slots=True)
class JobRow:
    """One job in a list. Instants are epoch seconds; None where Redis says nothing."""

    jid: str
    klass: str
    queue: str
    #: As a pop would find it: a running job whose lock is past is `stalled`; a scheduled one that
    #: is due, and one that was timed out by hand, is `waiting`. Empty when the job is gone. Within
    #: its grace a job is `running`.
    state: str
    worker: str
    priority: int
    tags: tuple[str, ...]
    #: Retries allowed and left.
    retries: int | None
    remaining: int | None
    #: When it was last put, popped or completed.
    time: float | None
    #: When its lock ends; where its worker was warned, when its grace does.
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
    #: Its worker was warned that the lock ran out: the next time a pop hands the job on.
    warned: bool = False
    #: The lock ran out, and the worker that was warned may finish until `expires`.
    in_grace: bool = False
    #: It waits because somebody took its lock away: `stalled` is stored, and no lock is left.
    timed_out: bool = False
    #: How far it is, by the word of the worker that runs it now.
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class RecurringRow:
    """One recurring job in a list. `interval` in seconds, `next_run` in epoch seconds.

    Where a cron expression says when, `interval` is None.
    """

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
    #: The cron expression and its time zone; "" where it recurs by interval.
    cron: str = ""
    timezone: str = ""
    #: It makes no jobs until somebody lets it go on; the queue may be paused beside it.
    paused: bool = False
    #: Its last run, as far as its definition tells: by interval, one before the next.
    last_run: float | None = None


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """A part of a list, and how long the whole is."""

    rows: tuple[T, ...]
    total: int
    offset: int


def fields_of(keys: Keys, jids: Iterable[str]) -> list[Call]:
    """Ask for the row fields of each job."""
    return [call("hmget", keys.job(jid), FIELDS) for jid in jids]


def listed(
    scope: Scope, jids: Sequence[str], *, at: Mapping[str, float | None] | None = None
) -> Read[tuple[JobRow, ...]]:
    """Read rows in two batches: their fields, then the scores that say which state they are in.

    Args:
        scope: given by `run`.
        jids: the jobs, in order.
        at: the number each is listed by; without it, when those are due that are scheduled.

    """
    replies = yield fields_of(scope.keys, jids)
    clues = {jid: _clue(reply) for jid, reply in zip(jids, replies, strict=True)}
    asked = scored(clues)
    scores = scores_of(asked, (yield scores_calls(scope.keys, asked)))
    if at is None:
        at = {jid: scores[jid] for jid, clue in asked.items() if clue.state == "scheduled"}
    return job_rows(jids, replies, scope.now, at=at, due=scores, locks=scores)


def job_rows(
    jids: Sequence[str],
    replies: Sequence[Sequence[str | None] | None],
    now: float,
    *,
    at: Mapping[str, float | None] | None = None,
    due: Mapping[str, float | None] | None = None,
    locks: Mapping[str, float | None] | None = None,
) -> tuple[JobRow, ...]:
    """Make rows of the replies to `fields_of`.

    Args:
        jids: the jobs, in order.
        replies: their fields, in the same order.
        now: epoch seconds.
        at: the number each is listed by.
        due: when scheduled jobs are due.
        locks: when the locks of running jobs end, by the set of locks: a grace period moves that
            alone. Where it does not tell, what the job itself says.

    """
    times, dues, ends = at or {}, due or {}, locks or {}
    none = [None] * len(FIELDS)
    return tuple(
        _job_row(jid, reply or none, now, _Scores(times.get(jid), dues.get(jid), ends.get(jid)))
        for jid, reply in zip(jids, replies, strict=True)
    )


class _Scores(NamedTuple):
    """What sets say of a job: the number it is listed by, when it is due, when its lock ends."""

    at: float | None
    due: float | None
    lock: float | None


def _job_row(jid: str, reply: Sequence[str | None], now: float, scores: _Scores) -> JobRow:
    found = dict(zip(FIELDS, reply, strict=True))
    failure = failure_of(found["failure"])
    clue = _clue(reply)
    expires = clue.ends(scores.lock)
    state = clue.state_now(due=scores.due, lock=scores.lock, now=now)
    warned = clue.warned and clue.state == "running"
    return JobRow(
        jid=jid,
        klass=found["klass"] or "",
        queue=found["queue"] or "",
        state=state,
        worker=_worker(found, failure),
        priority=as_whole(found["priority"]) or 0,
        tags=tags_of(found["tags"]),
        retries=as_whole(found["retries"]),
        remaining=as_whole(found["remaining"]),
        time=as_number(found["time"]),
        at=scores.at,
        expires=expires,
        failure_group=str(failure.get("group") or ""),
        failure_message=str(failure.get("message") or "")[:MESSAGE_HEAD],
        failed_at=as_number(failure.get("when")),
        spawned_from_jid=found["spawned_from_jid"] or "",
        gone=all(value is None for value in reply),
        warned=warned,
        in_grace=warned and state == "running" and clue.is_late(now),
        timed_out=clue.state == "stalled",
        progress=_progress(found),
    )


def _progress(found: Mapping[str, str | None]) -> Progress | None:
    """Read how far a running job is; what an earlier run told is not true of this one."""
    told = Progress.from_reply(parse(found["progress"]))
    if told is None or found["state"] != "running" or told.worker != found["worker"]:
        return None
    return told if told.when >= (as_number(found["time"]) or 0) else None


@dataclass(frozen=True, slots=True)
class Clue:
    """What a job itself says of its state: the stored word, and whether time has changed it."""

    state: str
    queue: str
    #: The end of its lock, but for the grace period, which its queue's set of locks alone tells.
    expires: float | None
    warned: bool

    def ends(self, lock: float | None) -> float | None:
        """Give the end of its lock, by its score in the set of locks where there is one."""
        return lock if self.state == "running" and lock is not None else self.expires

    def is_late(self, now: float) -> bool:
        """Whether the lock that its worker took or renewed last has run out."""
        return self.expires is not None and self.expires <= now

    def is_unsure(self, now: float) -> bool:
        """Whether it takes the score to tell running from stalled."""
        return self.state == "running" and self.warned and self.is_late(now)

    def state_now(self, *, due: float | None, lock: float | None, now: float) -> str:
        """Give the state a pop would find, from the one that is stored."""
        ends = self.ends(lock)
        if self.state == "running" and ends is not None and ends <= now:
            return "stalled"
        if self.state == "scheduled" and due is not None and due <= now:
            return "waiting"
        # Stored only when it was timed out by hand: the queue has it among those that wait.
        return "waiting" if self.state == "stalled" else self.state


def clue_of(reply: Sequence[str | None] | None) -> Clue:
    """Read the reply to a HMGET of `CLUES`."""
    state, queue, expires, grace = reply or [None] * len(CLUES)
    return Clue(state or "", queue or "", as_number(expires) or None, as_number(grace) == 1)


def _clue(reply: Sequence[str | None] | None) -> Clue:
    """Read it from the fields of a row."""
    return clue_of(reply and _clues_in(reply))


def by_score(found: Sequence[tuple[str, object]] | None) -> dict[str, float | None]:
    """Read members with their scores; a score that is no finite number is None."""
    return {member: as_number(score) for member, score in found or ()}


def scored(clues: Mapping[str, Clue]) -> dict[str, Clue]:
    """Choose the jobs whose state depends on a score: running and scheduled ones."""
    return {
        jid: clue
        for jid, clue in clues.items()
        if clue.queue and clue.state in {"running", "scheduled"}
    }


def scores_calls(keys: Keys, jobs: Mapping[str, Clue]) -> list[Call]:
    """Ask when the lock of each job that runs ends, and when each scheduled one is due."""
    return [
        call("zscore", (keys.locks if clue.state == "running" else keys.scheduled)(clue.queue), jid)
        for jid, clue in jobs.items()
    ]


def scores_of(jobs: Iterable[str], replies: Sequence[object]) -> dict[str, float | None]:
    """Read the replies to `scores_calls`, by jid."""
    return {jid: as_number(score) for jid, score in zip(jobs, replies, strict=True)}


def _worker(found: Mapping[str, str | None], failure: Mapping[str, Any]) -> str:
    """Give the worker; a failure takes a job away from it, and says who it was."""
    if found["worker"] or found["state"] != "failed":
        return found["worker"] or ""
    return str(failure.get("worker") or "")


def recurring_row(
    jid: str,
    reply: Sequence[str | None] | None,
    next_run: float | None,
    now: float,
    *,
    planned: int | None = None,
) -> RecurringRow:
    """Make a row of a recurring job's `RECURRING_FIELDS`; None is a key of another type.

    `planned` is how many of the runs planned for a cron job are past.
    """
    reply = reply or [None] * len(RECURRING_FIELDS)
    found = dict(zip(RECURRING_FIELDS, reply, strict=True))
    interval = as_number(found["interval"])
    # One that was paused goes on where the original defines it anew: then it has a next run.
    paused = found["held"] is not None and next_run is None
    return RecurringRow(
        jid=jid,
        klass=found["klass"] or "",
        queue=found["queue"] or "",
        priority=as_whole(found["priority"]) or 0,
        tags=tags_of(found["tags"]),
        interval=interval,
        count=as_whole(found["count"]) or 0,
        retries=as_whole(found["retries"]),
        backlog=as_whole(found["backlog"]) or 0,
        next_run=next_run,
        owed=0 if paused else owed(next_run, interval, now) if planned is None else planned,
        gone=all(value is None for value in reply),
        cron=found["cron"] or "",
        timezone=found["timezone"] or "",
        paused=paused,
        last_run=_last_run(found, as_number(found["held"]) if paused else next_run, interval),
    )


def _last_run(
    found: Mapping[str, str | None], next_run: float | None, interval: float | None
) -> float | None:
    """Tell the last run: that which was made of a cron job, or the one before the next."""
    last = as_number(found["made"])
    if interval and interval > 0 and next_run is not None and (as_whole(found["count"]) or 0) > 0:
        last = next_run - interval
    known = [each for each in (last, as_number(found["ran"])) if each is not None]
    return max(known, default=None)


def owed(next_run: float | None, interval: float | None, now: float) -> int:
    """Count the runs of a recurring job that are due and not made yet."""
    if next_run is None or not interval or interval <= 0 or next_run > now:
        return 0
    return (as_whole((now - next_run) / interval) or 0) + 1


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
    """Read JSON that other clients wrote: None where it is missing or broken.

    Halves of characters that it spells as escapes are replaced: no text can be made of them.
    """
    if not text:
        return None
    try:
        found = json.loads(text)
        if "\\ud" in text.lower():
            found = json.loads(wire.clean(json.dumps(found, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return None
    return found
