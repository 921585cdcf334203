"""Why a job is where it is, and a queue stands still: one sentence each. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from qless_web.formatting import count, duration
from qless_web.presenters.jobs import BLOCKING
from qless_web.presenters.words import Sentence, coming, group, job, past, queue, sentence, worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qless_core.reads.job import JobDetail
    from qless_core.reads.queues import QueueSummary
    from qless_core.reads.workers import WorkerSummary

#: Seconds without a sign of any worker after which a waiting job says so.
QUIET_S = 180.0

#: Seconds without a sign of its worker before which a running job says nothing of it.
SILENT_S = 120.0


@dataclass(frozen=True, slots=True)
class Why:
    """The sentence, and whether something is wrong: info, warning or error."""

    words: Sentence
    tone: Literal["info", "warning", "error"] = "info"


def why(found: JobDetail, now: float) -> Why:
    """Say why a job is in its state, and what happens next."""
    say = _SAYINGS.get(found.row.state)
    if say is None:
        return Why(sentence(f"Its state is {found.row.state!r}, which the console does not know."))
    return say(found, now)


def _waiting(found: JobDetail, now: float) -> Why:
    said = _waits(found, now)
    if not found.row.timed_out:
        return said
    return Why((*sentence("Timed out by hand. "), *said.words), said.tone)


def _waits(found: JobDetail, now: float) -> Why:
    row = found.row
    before = _before(found)
    if found.paused:
        return Why(sentence("Queue ", queue(row.queue), f" is paused; {before}."), "warning")
    seen = found.any_worker_seen
    if seen is None:
        return Why(sentence(f"No worker is known, so nobody takes it; {before}."), "warning")
    if now - seen > QUIET_S:
        return Why(
            sentence("No worker was seen since ", past(seen), f", so nobody takes it; {before}."),
            "warning",
        )
    if found.max_running and found.running >= found.max_running:
        limit = f" runs {count(found.running)} of at most {count(found.max_running)} jobs"
        return Why(sentence("Queue ", queue(row.queue), f"{limit}; {before}."))
    return Why(sentence(f"{before[:1].upper()}{before[1:]} of ", queue(row.queue), "."))


def _before(found: JobDetail) -> str:
    if found.ahead is None:
        return "it is due, and competes at the next pop"
    if found.ahead == 0:
        return "it is the next to be popped"
    noun = "job is" if found.ahead == 1 else "jobs are"
    return f"{count(found.ahead)} {noun} before it in the waiting list"


def _running(found: JobDetail, now: float) -> Why:
    row = found.row
    if row.in_grace:
        return Why(
            sentence("The lock of worker ", worker(row.worker), " ended, and it was warned; it may "
                     "finish until its grace period ends ", coming(row.expires), ", then the next "
                     "pop of ", queue(row.queue), f" {_NEXT}."),
            "warning",
        )  # fmt: skip
    held = sentence("Worker ", worker(row.worker), " runs it; its lock ends ", coming(row.expires))
    if _silent(found, now):
        return Why(
            (*held, *sentence(". It was last seen ", past(found.worker_seen), ".")), "warning"
        )
    return Why((*held, *sentence(" unless it sends a heartbeat.")))


def _silent(found: JobDetail, now: float) -> bool:
    """Say whether its worker should have sent a heartbeat by now: past half of the lock."""
    if found.worker_seen is None or found.row.expires is None:
        return False
    unheard = now - found.worker_seen
    return unheard > max(SILENT_S, found.row.expires - now)


def _scheduled(found: JobDetail, _now: float) -> Why:
    return Why(sentence("Scheduled: a pop takes it when it is due, ", coming(found.due), "."))


#: What a pop does with a job whose worker let it go.
_NEXT = "gives it to another worker, or fails it when no retry is left"


def _stalled(found: JobDetail, _now: float) -> Why:
    row = found.row
    ended = "The lock of worker "
    next_pop = _NEXT
    if not row.warned and found.grace_s > 0:
        next_pop = f"warns that worker and gives it {duration(found.grace_s)} to finish"
    elif row.warned:
        ended = "The grace period of worker "
    return Why(
        sentence(ended, worker(row.worker), " ended ", past(row.expires),
                 "; the next pop of ", queue(row.queue), f" {next_pop}."),
        "warning",
    )  # fmt: skip


def _depends(found: JobDetail, _now: float) -> Why:
    total = found.dependencies_total
    bad = [each for each in found.dependencies if each.state in BLOCKING]
    others = f", and for {count(total - 1)} more" if total > 1 else ""
    if bad:
        first = bad[0]
        what = ", which failed: it will not run until that completes" if first.state else (
            ", which is gone: only undepend lets it run")  # fmt: skip
        return Why(sentence("Waits for ", job(first.jid, first.klass), f"{what}.",
                            f" It waits for {count(total)} jobs in all." if total > 1 else None),
                   "error")  # fmt: skip
    if not found.dependencies:
        return Why(sentence("It waits for other jobs, but none is recorded."), "warning")
    first = found.dependencies[0]
    how = _HOW.get(first.state, f"is {first.state}")
    return Why(sentence("Waits for ", job(first.jid, first.klass), f", which {how}{others}."))


def _throttled(_found: JobDetail, _now: float) -> Why:
    return Why(
        sentence(
            "A throttle keeps it back: it goes to work when fewer of the jobs run that share one."
        )
    )


#: What another job that is waited for does.
_HOW = {"depends": "itself waits for others", "running": "runs now", "complete": "has completed"}


def _failed(found: JobDetail, _now: float) -> Why:
    row = found.row
    waiting = found.dependents_total
    blocked = ""
    if waiting:
        noun = "job waits" if waiting == 1 else "jobs wait"
        blocked = f" {count(waiting)} {noun} for it."
    return Why(
        sentence("Failed ", past(row.failed_at), " in group ", group(row.failure_group),
                 f" and stays until someone retries, moves or cancels it.{blocked}"),
        "error",
    )  # fmt: skip


def _complete(found: JobDetail, _now: float) -> Why:
    row = found.row
    if row.time is None:
        return Why(sentence("Completed."))
    until = row.time + found.kept_s
    return Why(
        sentence("Completed ", past(row.time), "; its record may be forgotten ", coming(until), ".")
    )


_SAYINGS: dict[str, Callable[[JobDetail, float], Why]] = {
    "waiting": _waiting,
    "running": _running,
    "stalled": _stalled,
    "scheduled": _scheduled,
    "depends": _depends,
    "throttled": _throttled,
    "failed": _failed,
    "complete": _complete,
}


# -- A queue

#: Seconds after which the next job of a queue, of which nothing runs, has waited too long.
STILL_S = 60.0


def still(row: QueueSummary, now: float) -> bool:
    """Say whether a queue has work and stands still."""
    if not row.waiting or row.paused:
        return bool(row.waiting)
    return not row.running and row.next_since is not None and now - row.next_since > STILL_S


def why_still(row: QueueSummary, workers: Sequence[WorkerSummary], now: float) -> Sentence:
    """Say why a queue with work stands still; `workers` are those seen last."""
    work = f" has {count(row.waiting)} waiting job{'' if row.waiting == 1 else 's'}"
    because = sentence(" and is paused: nobody takes them until it is unpaused.")
    if not row.paused:
        alive = [each for each in workers if each.last_seen and now - each.last_seen <= QUIET_S]
        because = _unpolled(row, alive) if alive else _nobody(workers)
    return (queue(row.name), *sentence(work), *because)


def _nobody(workers: Sequence[WorkerSummary]) -> Sentence:
    last = max((each.last_seen or 0.0 for each in workers), default=0.0)
    if not last:
        return sentence(", and no worker is known.")
    return sentence(", and no worker was seen since ", past(last), ".")


def _unpolled(row: QueueSummary, alive: Sequence[WorkerSummary]) -> Sentence:
    """Say why none of those that are alive takes a job of a queue."""
    telling = [each for each in alive if each.info is not None and each.info.queues]
    serving = [each for each in telling if serves(each, row.name)]
    if not serving and len(telling) == len(alive):
        noun = "worker that is" if len(alive) == 1 else "workers that are"
        return sentence(f", and none of the {count(len(alive))} {noun} alive polls it.")
    if serving and all(each.info and each.info.state != "running" for each in serving):
        return sentence(
            ", and who polls it is paused or stopping, as ", worker(serving[0].name), "."
        )
    polls = sentence(", though ", worker(serving[0].name), " polls it") if serving else ()
    waits = sentence(", and nothing runs; the next was put ", past(row.next_since), ".")
    return (*polls, *waits)


def serves(row: WorkerSummary, name: str) -> bool:
    """Say whether a worker polls a queue, by the names and patterns that it tells of."""
    told = row.info.queues if row.info else ()
    refused = [each[1:] for each in told if each.startswith("!")]
    wanted = [each for each in told if not each.startswith("!")]
    return any(fnmatchcase(name, each) for each in wanted) and not any(
        fnmatchcase(name, each) for each in refused
    )
