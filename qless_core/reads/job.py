"""One job, or one recurring job, with everything its page shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from qless_core.options import as_number, number_of
from qless_core.reads.plan import Read, Scope, Slice, call, read, together
from qless_core.reads.rows import (
    FIELDS,
    RECURRING_FIELDS,
    JobRow,
    RecurringRow,
    failure_of,
    job_rows,
    parse,
    recurring_row,
)
from qless_core.reads.runs import Run, runs_of

#: Bytes of data that come along with the page; more is read when asked for.
DATA_SHOWN = 65_536

#: Items of history that are read: the first and the newest; the script keeps 100 unless configured.
HISTORY_SHOWN = 200

#: Jobs shown of those this one waits for, and of those that wait for it.
RELATED_SHOWN = 50

#: Runs shown on the page of a recurring job; the others are on a page of their own.
RUNS_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Happening:
    """One item of a job's history. `when` in epoch seconds."""

    what: str
    when: float | None
    detail: dict[str, Any]
    #: The item as stored, for its digits; "" where an old client wrote it another way.
    text: str = ""


@dataclass(frozen=True, slots=True)
class Related:
    """Another job that this one waits for, or that waits for it. `state` "" when it is gone."""

    jid: str
    klass: str
    state: str


@dataclass(frozen=True, slots=True)
class JobDetail:
    """A job as its page shows it."""

    row: JobRow
    #: The data as stored, byte for byte; None when it is larger than `DATA_SHOWN`.
    data: str | None
    #: Its size in bytes.
    data_bytes: int
    #: The failure as stored; the message whole.
    failure: dict[str, Any]
    history: tuple[Happening, ...]
    #: Items that are missing after the first one may have been: it has as many as are kept.
    history_trimmed: bool
    dependencies: tuple[Related, ...]
    dependencies_total: int
    dependents: tuple[Related, ...]
    dependents_total: int
    tracked_since: float | None
    #: When a scheduled job is due (epoch seconds).
    due: float | None
    #: For a waiting job: how many are before it.
    ahead: int | None
    paused: bool
    #: When the worker that holds it was last seen.
    worker_seen: float | None
    #: When any worker was last seen.
    any_worker_seen: float | None
    #: Jobs of its queue that run now, and how many may; 0 when there is no limit.
    running: int
    max_running: int
    #: Seconds for which completed jobs are kept.
    kept_s: float
    #: Seconds that a worker whose lock ran out still gets.
    grace_s: float
    #: All queues, to move it to.
    queues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecurringDetail:
    """A recurring job as its page shows it."""

    row: RecurringRow
    data: str | None
    data_bytes: int
    paused: bool
    #: The last job it made, if it still exists.
    last: JobRow | None
    #: Its newest runs, at most `RUNS_SHOWN`.
    runs: tuple[Run, ...]
    tracked_since: float | None
    queues: tuple[str, ...]


@read
def job(scope: Scope, jid: str) -> Read[JobDetail | RecurringDetail | None]:
    """Read one job of either kind, or None when there is none by that jid."""
    keys = scope.keys
    (
        fields,
        size,
        tracked,
        first,
        newest,
        length,
        dependencies,
        dependents,
        legacy,
        recurring,
        recurring_size,
        cron,
        cron_size,
        queues,
    ) = yield [
        call("hmget", keys.job(jid), FIELDS),
        call("hstrlen", keys.job(jid), "data"),
        call("zscore", keys.tracked, jid),
        call("lrange", keys.history(jid), 0, 0),
        call("lrange", keys.history(jid), -HISTORY_SHOWN, -1),
        call("llen", keys.history(jid)),
        call("sscan", keys.dependencies(jid), 0, None, RELATED_SHOWN),
        call("sscan", keys.dependents(jid), 0, None, RELATED_SHOWN),
        call("hget", keys.job(jid), "history"),
        call("hmget", keys.recurring(jid), RECURRING_FIELDS),
        call("hstrlen", keys.recurring(jid), "data"),
        call("hmget", keys.cron_job(jid), RECURRING_FIELDS),
        call("hstrlen", keys.cron_job(jid), "data"),
        call("zrange", keys.queues, 0, -1),
    ]
    names = tuple(sorted(queues or ()))
    for reply, bytes_ in ((recurring, recurring_size), (cron, cron_size)):
        if any(reply or ()):
            return (yield from _recurring(scope, jid, reply, bytes_ or 0, tracked, names))
    if not any(value is not None for value in fields or ()):
        return None
    found = dict(zip(FIELDS, fields, strict=True))
    queue, worker = found["queue"] or "", found["worker"] or ""
    waits_for, blocks = _members(dependencies), _members(dependents)
    shown_size = size if (size or 0) <= DATA_SHOWN else 0
    (
        data,
        due,
        lock,
        paused,
        seen,
        last_seen,
        ahead,
        running,
        config,
        waits_for_total,
        blocks_total,
        *related,
    ) = yield [
        call("hget", keys.job(jid), "data" if shown_size else "no-such-field"),
        call("zscore", keys.scheduled(queue), jid),
        call("zscore", keys.locks(queue), jid),
        call("sismember", keys.paused_queues, queue),
        call("zscore", keys.workers, worker),
        call("zrevrange", keys.workers, 0, 0, withscores=True),
        call("zrevrank", keys.work(queue), jid),
        call("zcount", keys.locks(queue), f"({scope.now}", "+inf"),
        call(
            "hmget",
            keys.config,
            ["max-job-history", "jobs-history", "grace-period", f"{queue}-max-concurrency"],
        ),
        call("scard", keys.dependencies(jid)),
        call("scard", keys.dependents(jid)),
        *(call("hmget", keys.job(each), ["klass", "state"]) for each in (*waits_for, *blocks)),
    ]
    kept_items, kept_s, grace_s, most = config or [None] * 4
    others = [
        Related(each, (reply or [None])[0] or "", (reply or [None, None])[1] or "")
        for each, reply in zip((*waits_for, *blocks), related, strict=True)
    ]
    (row,) = job_rows(
        [jid],
        [fields],
        scope.now,
        due={jid: as_number(due)},
        locks={jid: as_number(lock)},
    )
    events = [*((first or ()) if (length or 0) > HISTORY_SHOWN else ()), *(newest or ())]
    return JobDetail(
        row=row,
        data=data if shown_size else ("" if not size else None),
        data_bytes=size or 0,
        failure=failure_of(found["failure"]),
        history=_history(events, legacy),
        history_trimmed=_trimmed(length or 0, number_of("max-job-history", kept_items)),
        dependencies=tuple(others[: len(waits_for)]),
        dependencies_total=waits_for_total or 0,
        dependents=tuple(others[len(waits_for) :]),
        dependents_total=blocks_total or 0,
        tracked_since=as_number(tracked),
        due=as_number(due),
        ahead=ahead,
        paused=bool(paused),
        worker_seen=as_number(seen),
        any_worker_seen=as_number(last_seen[0][1]) if last_seen else None,
        running=running or 0,
        max_running=max(0, int(number_of("<queue>-max-concurrency", most))),
        kept_s=number_of("jobs-history", kept_s),
        grace_s=number_of("grace-period", grace_s),
        queues=names,
    )


def _recurring(
    scope: Scope,
    jid: str,
    fields: list[str | None],
    size: int,
    tracked: object,
    queues: tuple[str, ...],
) -> Read[RecurringDetail]:
    row = recurring_row(jid, fields, None, scope.now)
    (data, next_run, paused, past), runs = yield from together(
        [
            _recurring_rest(scope, jid, row, size),
            runs_of(scope, jid, row.count, Slice(0, RUNS_SHOWN)),
        ]
    )
    return RecurringDetail(
        row=recurring_row(
            jid, fields, as_number(next_run), scope.now, planned=past or 0 if row.cron else None
        ),
        data=data,
        data_bytes=size,
        paused=bool(paused),
        last=runs[0].row if runs and not runs[0].row.gone else None,
        runs=runs,
        tracked_since=as_number(tracked),
        queues=queues,
    )


def _recurring_rest(scope: Scope, jid: str, row: RecurringRow, size: int) -> Read[list[Any]]:
    keys = scope.keys
    key, waits = (
        (keys.cron_job(jid), keys.cron(row.queue))
        if row.cron
        else (keys.recurring(jid), keys.recur(row.queue))
    )
    return (
        yield [
            call("hget", key, "data" if size <= DATA_SHOWN else "no-such-field"),
            call("zscore", waits, jid),
            call("sismember", keys.paused_queues, row.queue),
            call("zcount", keys.cron_runs(jid), "-inf", scope.now),
        ]
    )


@read
def job_row(scope: Scope, jid: str) -> Read[JobRow | RecurringRow | None]:
    """Read one job of either kind as lists show it, or None when there is none by that jid."""
    keys = scope.keys
    fields, *either = yield [
        call("hmget", keys.job(jid), FIELDS),
        call("hmget", keys.recurring(jid), RECURRING_FIELDS),
        call("hmget", keys.cron_job(jid), RECURRING_FIELDS),
    ]
    for recurring, waits in zip(either, (keys.recur, keys.cron), strict=True):
        if any(recurring or ()):
            known = dict(zip(RECURRING_FIELDS, recurring, strict=True))
            (next_run,) = yield [call("zscore", waits(known["queue"] or ""), jid)]
            return recurring_row(jid, recurring, as_number(next_run), scope.now)
    if not any(value is not None for value in fields or ()):
        return None
    queue = dict(zip(FIELDS, fields, strict=True))["queue"] or ""
    due, lock = yield [
        call("zscore", keys.scheduled(queue), jid),
        call("zscore", keys.locks(queue), jid),
    ]
    (row,) = job_rows(
        [jid],
        [fields],
        scope.now,
        due={jid: as_number(due)},
        locks={jid: as_number(lock)},
    )
    return row


@read
def data(scope: Scope, jid: str) -> Read[str | None]:
    """Give a job's data whole, byte for byte, whatever its size."""
    replies: list[str | None] = yield [
        call("hget", scope.keys.job(jid), "data"),
        call("hget", scope.keys.recurring(jid), "data"),
        call("hget", scope.keys.cron_job(jid), "data"),
    ]
    return next((found for found in replies if found is not None), None)


@read
def failure_message(scope: Scope, jid: str) -> Read[str | None]:
    """Give the message of a job's failure whole; None when it has none."""
    (stored,) = yield [call("hget", scope.keys.job(jid), "failure")]
    message = failure_of(stored).get("message")
    return None if message is None else str(message)


@dataclass(frozen=True, slots=True)
class Found:
    """Which things a word names exactly."""

    job: bool
    recurring: bool
    queue: bool
    group: bool
    worker: bool
    tag: bool


@read
def anything(scope: Scope, name: str) -> Read[Found]:
    """Say what a word names: a job, a queue, a failure group, a worker or a tag."""
    keys = scope.keys
    found = yield [
        call("exists", keys.job(name)),
        call("exists", keys.recurring(name), keys.cron_job(name)),
        call("zscore", keys.queues, name),
        call("sismember", keys.failures, name),
        call("zscore", keys.workers, name),
        call("exists", keys.tag(name)),
    ]
    return Found(
        job=bool(found[0]),
        recurring=bool(found[1]),
        queue=found[2] is not None,
        group=bool(found[3]),
        worker=found[4] is not None,
        tag=bool(found[5]),
    )


def _members(reply: Any) -> list[str]:  # noqa: ANN401 - SSCAN's reply, or None for a foreign key
    return sorted(reply[1])[:RELATED_SHOWN] if reply else []


def _trimmed(length: int, kept: float) -> bool:
    return length > HISTORY_SHOWN or 0 < kept <= length


def _history(items: list[str], legacy: str | None) -> tuple[Happening, ...]:
    """Read the list, and before it what an old client left in the job's own field."""
    happened = [*_legacy(legacy)]
    for item in items:
        stored = parse(item)
        if isinstance(stored, list) and len(stored) >= 2:  # noqa: PLR2004 - when and what
            detail = stored[2] if len(stored) > 2 and isinstance(stored[2], dict) else {}  # noqa: PLR2004 - when, what and the details
            happened.append(Happening(str(stored[1]), as_number(stored[0]), detail, item))
    return tuple(happened)


def _legacy(text: str | None) -> list[Happening]:
    stored = parse(text)
    if not isinstance(stored, list):
        return []
    found = []
    for item in (each for each in stored if isinstance(each, dict)):
        for what, key, detail in (
            ("put", "put", {"q": item.get("q")}),
            ("popped", "popped", {"worker": item.get("worker")}),
            ("failed", "failed", {"worker": item.get("worker")}),
            ("done", "done", {}),
        ):
            when = as_number(item.get(key))
            if when:
                found.append(Happening(what, when, detail))
    return found
