"""Workers as rows: on their own pages and on the overview. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_web.presenters.jobs import job_link, queue_link, worker_link
from qless_web.presenters.page import Action, Link

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.reads.workers import HeldJob, WorkerSummary
    from qless_core.records import WorkerChild, WorkerInfo

#: Queues of a worker that a row names; the rest is a number.
_NAMED_QUEUES = 3

#: What a worker is doing: the word, and the state of a job that has its colour and icon.
Doing = tuple[str, str]

_GONE: Doing = ("gone", "stalled")
_SILENT: Doing = ("silent", "stalled")
_PAUSED: Doing = ("paused", "paused")
_STOPPING: Doing = ("stopping", "scheduled")
_FAILING: Doing = ("failing", "failed")
_STALLED: Doing = ("stalled", "stalled")
_WORKING: Doing = ("working", "running")
_IDLE: Doing = ("idle", "waiting")


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentJob:
    """A job that a worker holds; `ends` is when its lock ends or ended, epoch seconds."""

    jid: str
    klass: str
    link: Link
    ends: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRow:
    """One worker, with what its children hold.

    Attributes:
        facts: what it is, in few words: its kind, host, pid, children.
        doing: what it does, and the state of a job that has its colour; None when it is not known.
        asked: what it is asked to do and has not done yet, in words; "" for nothing.
        seen: when it last gave a sign of life, epoch seconds.
        queues: some of the queues that it serves, or of the jobs it holds; a pattern, and one that
            there is not, has no link.
        more_queues: how many more there are.
        job: the job whose lock ends first; None when it holds none.
        more_jobs: how many more it holds.
        gone: it was not seen for so long that it counts as gone.

    """

    name: str
    link: Link
    running: int
    stalled: int
    seen: float | None
    facts: tuple[str, ...] = ()
    doing: Doing | None = None
    asked: str = ""
    queues: tuple[tuple[str, Link | None], ...] = ()
    more_queues: int = 0
    job: CurrentJob | None = None
    more_jobs: int = 0
    gone: bool = False
    actions: tuple[Action, ...] = ()


def worker_rows(workers: Iterable[WorkerSummary]) -> tuple[WorkerRow, ...]:
    """Return the rows of workers, in their order."""
    return tuple(worker_row(each) for each in workers)


def worker_row(worker: WorkerSummary) -> WorkerRow:
    """Return the row of one worker."""
    running = sum(each.running for each in worker.everyone)
    stalled = sum(each.stalled for each in worker.everyone)
    first = _first_job(worker)
    return WorkerRow(
        name=worker.name,
        link=worker_link(worker.name),
        running=running,
        stalled=stalled,
        seen=worker.last_seen,
        facts=tuple(_facts(worker)),
        doing=doing(worker, running, stalled),
        asked=f"asked to {worker.asked}" if worker.asked else "",
        queues=queues_of(worker.queues[:_NAMED_QUEUES], worker.known_queues),
        more_queues=max(0, len(worker.queues) - _NAMED_QUEUES),
        job=first,
        more_jobs=max(0, running + stalled - 1) if first else 0,
        gone=worker.gone,
        actions=(*request_actions(worker), forget_action(worker.name)),
    )


def child_row(child: WorkerSummary, told: WorkerChild, parent: str) -> WorkerRow:
    """Return the row of a child on the page of its worker, which tells of it."""
    first = _first_job(child)
    held = child.running + child.stalled
    return WorkerRow(
        name=child.name,
        link=worker_link(child.name),
        running=child.running,
        stalled=child.stalled,
        seen=child.last_seen,
        facts=(f"pid {told.pid}",) if told.pid else (),
        doing=doing(child, child.running, child.stalled) or _IDLE,
        job=first,
        more_jobs=max(0, held - 1) if first else 0,
        gone=child.gone,
        actions=() if child.name == parent else (forget_action(child.name),),
    )


def doing(worker: WorkerSummary, running: int, stalled: int) -> Doing | None:
    """Say what a worker does that holds so many jobs; None where it tells nothing of itself."""
    if worker.gone:
        return _GONE
    if worker.silent:
        return _SILENT
    told = {"paused": _PAUSED, "stopping": _STOPPING, "failing": _FAILING}
    if worker.info is not None and worker.info.state in told:
        return told[worker.info.state]
    if running or stalled:
        return _WORKING if running else _STALLED
    return None if worker.info is None else _IDLE


def queues_of(names: Iterable[str], known: frozenset[str]) -> tuple[tuple[str, Link | None], ...]:
    """Return names of queues with their links; what is no queue leads nowhere."""
    return tuple((name, queue_link(name) if name in known else None) for name in names)


def _facts(worker: WorkerSummary) -> Iterable[str]:
    info, count = worker.info, worker.children_total
    if info is not None and info.kind:
        yield info.kind
    if count:
        yield f"{count:,} {'child' if count == 1 else 'children'}"
    elif info is not None and info.concurrency > 1:
        yield f"{info.concurrency:,} at once"
    # Last, as a row may cut it off: the name says it too, unless another one was given.
    if info is not None and (place := where(info)):
        yield place


def where(info: WorkerInfo) -> str:
    """Say where a worker runs; "" when it does not tell.

    >>> from qless_core.records import WorkerInfo
    >>> where(WorkerInfo(host="web-3", pid=4711)), where(WorkerInfo(pid=4711)), where(WorkerInfo())
    ('pid 4711 on web-3', 'pid 4711', '')
    """
    place = f"pid {info.pid}" if info.pid else ""
    return f"{place} on {info.host}".strip() if info.host else place


def _first_job(worker: WorkerSummary) -> CurrentJob | None:
    held = [each for one in worker.everyone for each in one.jobs]
    if not held:
        return None
    return _current(min(held, key=lambda each: each.ends if each.ends is not None else 0.0))


def _current(job: HeldJob) -> CurrentJob:
    return CurrentJob(jid=job.jid, klass=job.klass, link=job_link(job.jid), ends=job.ends)


def request_actions(worker: WorkerSummary) -> tuple[Action, ...]:
    """Return what a worker can be asked: nothing where nobody would hear it."""
    info = worker.info
    if info is None or worker.gone or worker.silent or info.state == "stopping":
        return ()
    values = {"worker": worker.name}
    if info.state == "paused" or worker.asked == "pause":
        turn = Action(text="Resume", link=Link("act.resume_worker", values), icon="unpause")
    else:
        turn = Action(text="Pause", link=Link("act.pause_worker", values), icon="pause")
    if worker.asked == "stop":
        return (turn,)
    stop = Action(text="Stop", link=Link("act.stop_worker", values), icon="stop", asks=True)
    return (turn, stop)


def forget_action(name: str) -> Action:
    """Return what takes a worker off the list."""
    return Action(
        text="Forget", link=Link("act.forget_worker", {"worker": name}), icon="forget", asks=True
    )
