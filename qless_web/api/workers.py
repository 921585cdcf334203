"""Workers, and the jobs that each holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from qless_core import reads
from qless_web.api.entries import JOB, JobEntry, job_entry
from qless_web.api.queues import MATCH
from qless_web.api.route import Page, Route, address, listed, missing, shown
from qless_web.console import current

if TYPE_CHECKING:
    from qless_core.reads import Slice
    from qless_core.reads.workers import WorkerSummary
    from qless_core.records import WorkerInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a worker tells of itself with each sign of life."""

    host: str
    pid: int
    kind: Annotated[str, "`forking`, `serial`, `thread` or `greenlet`."]
    version: str
    concurrency: Annotated[int, "How many jobs it runs at once, at most."]
    started: Annotated[float | None, "Epoch seconds."]
    state: Annotated[str, "`running`, `paused`, `stopping` or `failing`."]
    children: Annotated[tuple[str, ...], "The names of the processes that run its jobs."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A worker."""

    name: str
    url: str
    last_seen: Annotated[float | None, "Epoch seconds."]
    running: int
    stalled: int
    queues: Annotated[tuple[str, ...], "Those it tells of, or else of some jobs that it holds."]
    gone: Annotated[bool, "It was not seen for `max-worker-age` seconds."]
    silent: Annotated[bool, "It gives signs of life, but gave none of late."]
    asked: Annotated[str, "What it is asked to do and has not done yet; empty for nothing."]
    info: Annotated[Told | None, "Null for a child, and for a worker of another client."]


WORKER = Worker(
    name="shop-1-4101",
    url="/api/v1/workers/shop-1-4101",
    last_seen=1798761631.0,
    running=2,
    stalled=0,
    queues=("mail",),
    gone=False,
    silent=False,
    asked="",
    info=Told(
        host="shop-1",
        pid=4101,
        kind="forking",
        version="0.1.0",
        concurrency=4,
        started=1798761600.0,
        state="running",
        children=("shop-1-4101-0",),
    ),
)


def _worker(found: WorkerSummary) -> Worker:
    return Worker(
        name=found.name,
        url=address("worker", worker=found.name),
        last_seen=found.last_seen,
        running=found.running,
        stalled=found.stalled,
        queues=found.queues,
        gone=found.gone,
        silent=found.silent,
        asked=found.asked,
        info=None if found.info is None else _told(found.info),
    )


def _told(info: WorkerInfo) -> Told:
    return Told(
        host=info.host,
        pid=info.pid,
        kind=info.kind,
        version=info.version,
        concurrency=info.concurrency,
        started=info.started or None,
        state=info.state,
        children=tuple(child.name for child in info.children),
    )


@listed(
    Route(
        name="workers",
        rule="/workers",
        family="workers",
        answers=Page[Worker],
        example=WORKER,
        params=(MATCH,),
    )
)
def workers(part: Slice, q: str) -> Page[Worker]:
    """List the workers by name."""
    return Page.of(current().read(reads.workers(part, match=q)), _worker)


@shown(
    Route(
        name="worker",
        rule="/workers/<name:worker>",
        family="workers",
        answers=Worker,
        example=WORKER,
    )
)
def show(worker: str) -> Worker:
    """Show a worker."""
    found = current().read(reads.worker(worker, reads.Slice()))
    if not found.known:
        raise missing(worker=worker)
    return _worker(found.summary)


@listed(
    Route(
        name="workerJobs",
        rule="/workers/<name:worker>/jobs",
        family="workers",
        answers=Page[JobEntry],
        example=JOB,
    )
)
def jobs(worker: str, part: Slice) -> Page[JobEntry]:
    """List the jobs that a worker holds, those whose lock ends first at the head."""
    found = current().read(reads.worker(worker, part))
    if not found.known:
        raise missing(worker=worker)
    return Page.of(found.jobs, job_entry)
