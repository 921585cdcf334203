"""What is done for a worker that could not do it itself: its jobs go back, with what happened."""

from __future__ import annotations

import logging
import os
import signal
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from qless_core import wire
from qless_core.errors import BadArgument, JobError, QlessError, RedisUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_core.client import Client
    from qless_core.worker.slate import Traces

log = logging.getLogger("qless.worker")

#: The failure that a job counts as whose process died.
GROUP: Final = "worker-died"


@dataclass(frozen=True, slots=True)
class Death:
    """How a process ended before its job.

    Attributes:
        pid: the process.
        how: `SIGKILL`, or `exit code 3`; "" where it ends by itself.
        what: what the history of a job calls it: `died`, or `stopped` where it was told to.
        why: what else is to be said; "" for nothing.

    """

    pid: int
    how: str
    what: str = "died"
    why: str = ""

    @classmethod
    def of(cls, pid: int, code: int, *, what: str = "died", why: str = "") -> Death:
        """Tell by the exit code of a process, which is a negative signal where one ended it."""
        if code >= 0:
            return cls(pid, f"exit code {code}", what, why)
        try:
            how = signal.Signals(-code).name
        except ValueError:
            how = f"signal {-code}"
        return cls(pid, how, what, why)

    @property
    def details(self) -> dict[str, Any]:
        """What the history of a job says of it."""
        found: dict[str, Any] = {"host": socket.gethostname(), "pid": self.pid}
        if self.how:
            word = "signal" if self.how.startswith("SIG") else "exit"
            found = {word: self.how} | found
        return found | ({"why": self.why} if self.why else {})

    def message(self, worker: str) -> str:
        """Say it as the failure of the job that ran, where that has no retry left."""
        how = f" ended by {self.how}" if self.how else ""
        tail = f": {self.why}" if self.why else ""
        said = f"process {self.pid} of worker {worker} on {socket.gethostname()}{how}{tail}"
        return f"P{said[1:]}" if self.what == "died" else stopped(said)


def stopped(why: str) -> str:
    """Say why a job failed that was stopped, through no fault of its own, without a retry left."""
    return f"The job was stopped, and no retry was left: {why}"


def bury(client: Client, worker: str, traces: Traces, death: Death) -> None:
    """Settle what a dead process held: what it had done is complete, the rest goes back.

    Args:
        client: whose Redis.
        worker: in whose name it held jobs. Nobody else works in that name now.
        traces: what it was at.
        death: how it ended.

    Raises:
        RedisUnavailable: Redis is away; it can be done again.

    """
    _complete(client, worker, traces)
    started = [*traces.done, *traces.kept]
    if traces.begun is not None:
        started.append(traces.begun)
    if not traces.is_complete:
        held = client.commands.worker(worker)
        started = [*held.jobs, *held.stalled]
    give_back_all(client, worker, started, death)


def give_back_all(client: Client, worker: str, started: Sequence[str], death: Death) -> None:
    """Let all jobs wait again that a worker holds.

    Args:
        client: whose Redis.
        worker: the worker.
        started: the jobs that it had begun: these lose a retry, and fail without one.
        death: what happened.

    Raises:
        RedisUnavailable: Redis is away; it can be done again.

    """
    back = client.workers.give_back(
        worker,
        what=death.what,
        started=started,
        details=death.details,
        # Whose fault it is, is not said of one that was told to stop.
        group=GROUP if death.what == "died" else None,
        message=death.message(worker),
    )
    for jid in back.given:
        log.warning("job %r of worker %s goes back: %s", jid, worker, death.how or death.why)
    for jid in back.failed:
        log.warning(
            "job %r of worker %s had no retry left: %s", jid, worker, death.how or death.why
        )


def died_here(why: str, asked: str = "") -> Death:
    """Tell of this process, which gives up; `asked` is the signal that told it to stop."""
    return Death(os.getpid(), asked, "stopped", why)


def _complete(client: Client, worker: str, traces: Traces) -> None:
    """Complete what was done and not told."""
    triples = []
    for job in client.commands.multiget(*traces.done):
        if job.state == "running" and job.worker == worker:
            text = traces.done[job.jid]
            triples.append((job.jid, job.queue, job.data if text is None else text))
    try:
        done = client.commands.bulk_complete(worker, triples).done
    except RedisUnavailable:
        raise
    except QlessError:
        # Something is wrong with one of them: each by itself.
        done = tuple(job[0] for job in triples if _is_completed(client, worker, *job))
    for jid in done:
        log.info("job %r was done, and is settled: complete", jid)


def _is_completed(client: Client, worker: str, jid: str, queue: str, text: str) -> bool:
    """Complete a job, or fail it where that is refused; answers whether it is complete."""
    try:
        client.commands.complete(jid, worker, queue, text)
    except RedisUnavailable:
        raise
    except JobError as trouble:
        log.warning("job %r was done, and is not %s's any more: %s", jid, worker, trouble)
    except QlessError as problem:
        log.warning("job %r was done, and cannot be completed: %s", jid, problem)
        with suppress(JobError, BadArgument):
            group, message = f"{queue}-{type(problem).__name__}", wire.clean(str(problem))
            client.commands.fail(jid, worker, group, message, None)
    else:
        return True
    return False
