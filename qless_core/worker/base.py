"""What every worker does: reserve a job, perform it, settle it, until told to stop.

A worker outlives its troubles: a lost lock ends the work on that job alone, and while Redis is
away it waits, ever longer, and then goes on.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING

from qless_core.errors import BadArgument, QlessError
from qless_core.queue import Queue
from qless_core.worker.performing import attempt
from qless_core.worker.reserving import Ordered
from qless_core.worker.settling import Settler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qless_core.client import Client
    from qless_core.job import Job
    from qless_core.worker.reserving import Reserver

log = logging.getLogger("qless.worker")


class Worker:
    """What all workers share.

    Args:
        client: whose queues to work; its `worker_name` holds the jobs.
        queues: names of queues, or queues.
        interval: seconds to wait before looking again when there was no job.
        reserver: makes what takes the next job from some queues; in their order by default.

    Raises:
        BadArgument: there is no queue to work.

    """

    def __init__(
        self,
        client: Client,
        queues: Iterable[str | Queue],
        *,
        interval: float = 60.0,
        reserver: Callable[[Iterable[Queue]], Reserver] = Ordered,
    ) -> None:
        names = [queues] if isinstance(queues, str) else queues
        found = [queue if isinstance(queue, Queue) else client.queues[queue] for queue in names]
        if not found:
            problem = "a worker needs at least one queue"
            raise BadArgument(problem)
        self.client = client
        self.interval = interval
        self.reserver = reserver(found)
        self._stop = Event()
        self._settler = Settler(client)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} of {self.reserver!r}>"

    @property
    def name(self) -> str:
        """In whose name jobs are held."""
        return self.client.worker_name

    @property
    def is_stopping(self) -> bool:
        """Whether it was told to stop."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Take no more jobs; the one that runs is finished. Any thread may say so."""
        log.info("worker %s takes no more jobs", self.name)
        self._stop.set()

    def step(self) -> Job | None:
        """Take one job, perform and settle it; answers it, or None when there was none.

        Raises:
            RedisUnavailable: no job could be taken.

        """
        job = self.reserver.reserve()
        if job is not None:
            self._work(job)
        return job

    def _work(self, job: Job) -> None:
        """Perform and settle a job; whatever becomes of it, the worker lives on."""
        log.info("job %r (%r) from %r begins", job.jid, job.klass_name, job.queue_name)
        if not self._settler.settle(job, attempt(job)):
            self._settler.flush(self._stop)

    def _leave(self) -> None:
        """Take the worker off the list of those at work, if that can be done."""
        with suppress(QlessError):
            self.client.workers.deregister(self.name)
