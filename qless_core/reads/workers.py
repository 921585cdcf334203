"""Workers: who was seen, and what each holds."""

from __future__ import annotations

from dataclasses import dataclass

from qless_core.options import as_number, number_of
from qless_core.reads.plan import Read, Scope, Slice, call, read
from qless_core.reads.rows import JobRow, Listing, by_score, fields_of, job_rows

#: Jobs of a worker that are looked at to tell which queues it serves.
_SAMPLE = 5


@dataclass(frozen=True, slots=True)
class WorkerSummary:
    """A worker. `last_seen` in epoch seconds."""

    name: str
    last_seen: float | None
    running: int
    stalled: int
    #: Queues of jobs it holds now.
    queues: tuple[str, ...] = ()
    #: It was not seen for `max-worker-age` seconds.
    gone: bool = False


@dataclass(frozen=True, slots=True)
class WorkerDetail:
    """One worker, and a part of the jobs it holds, those whose lock ends first at the head."""

    summary: WorkerSummary
    known: bool
    jobs: Listing[JobRow]


@read
def workers(
    scope: Scope, part: Slice, *, match: str = "", alive: bool = False
) -> Read[Listing[WorkerSummary]]:
    """Give workers sorted by name, so that rows stay where they are, a page at a time.

    Args:
        scope: given by `run`.
        part: which page.
        match: keep the workers whose name contains this, in any case.
        alive: leave out those that are gone.

    """
    keys = scope.keys
    found, configured = yield [
        call("zrange", keys.workers, 0, -1, withscores=True),
        call("hget", keys.config, "max-worker-age"),
    ]
    before = scope.now - number_of("max-worker-age", configured)
    wanted = match.casefold()
    ordered = sorted(
        (name, float(seen))
        for name, seen in found or ()
        if wanted in name.casefold() and not (alive and float(seen) <= before)
    )
    shown = part.of(ordered)
    replies = yield [
        each
        for name, _ in shown
        for each in (
            call("zcount", keys.worker_jobs(name), f"({scope.now}", "+inf"),
            call("zcount", keys.worker_jobs(name), "-inf", scope.now),
            call("zrange", keys.worker_jobs(name), 0, _SAMPLE - 1),
        )
    ]
    samples = [replies[3 * index + 2] or [] for index in range(len(shown))]
    queues = iter(
        (yield [call("hget", keys.job(jid), "queue") for sample in samples for jid in sample])
    )
    rows = tuple(
        WorkerSummary(
            name=name,
            last_seen=as_number(seen),
            running=replies[3 * index] or 0,
            stalled=replies[3 * index + 1] or 0,
            queues=tuple(sorted({each for _ in samples[index] if (each := next(queues))})),
            gone=seen <= before,
        )
        for index, (name, seen) in enumerate(shown)
    )
    return Listing(rows, len(ordered), part.offset)


@read
def worker(scope: Scope, name: str, part: Slice) -> Read[WorkerDetail]:
    """Give one worker and the jobs it holds, a page at a time."""
    keys = scope.keys
    seen, configured, held = yield [
        call("zscore", keys.workers, name),
        call("hget", keys.config, "max-worker-age"),
        call("zcard", keys.worker_jobs(name)),
    ]
    stalled, found = yield [
        call("zcount", keys.worker_jobs(name), "-inf", scope.now),
        call("zrange", keys.worker_jobs(name), part.offset, part.last, withscores=True),
    ]
    at = by_score(found)
    replies = yield fields_of(keys, at)
    rows = job_rows(list(at), replies, scope.now, at=at, locks=at)
    held, stalled = held or 0, stalled or 0
    last_seen = as_number(seen)
    before = scope.now - number_of("max-worker-age", configured)
    return WorkerDetail(
        summary=WorkerSummary(
            name=name,
            last_seen=last_seen,
            running=held - stalled,
            stalled=stalled,
            queues=tuple(sorted({row.queue for row in rows if row.queue})),
            gone=last_seen is not None and last_seen <= before,
        ),
        known=last_seen is not None or held > 0,
        jobs=Listing(rows, held, part.offset),
    )
