"""A worker that runs one job after another, in its own process."""

from __future__ import annotations

import logging
import os
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from qless_core.worker.base import InProcess
from qless_core.worker.loop import Loop
from qless_core.worker.names import holders
from qless_core.worker.signals import heeding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.client import Client
    from qless_core.job import Job
    from qless_core.queue import Queue

log = logging.getLogger("qless.worker")


class SerialWorker(InProcess):
    """Runs one job after another.

    A job that hangs keeps it from the next, and a job that crashes the process ends it too.

    Args:
        client: whose queues to work; its `worker_name` names the worker, and, with a number
            behind that nobody else has, who holds the jobs.
        queues: names of queues, or patterns of names, or queues.
        options: those of `Worker`.

    Raises:
        BadArgument: there is no queue to work, or an option makes no sense.

    """

    kind = "serial"

    def __init__(
        self,
        client: Client,
        queues: str | Queue | Iterable[str | Queue],
        **options: Any,  # noqa: ANN401 - those of Worker
    ) -> None:
        super().__init__(client, queues, **options)
        self._is_main = False

    def step(self) -> Job | None:
        """Take one job, perform and settle it; answers it, or None when there was none.

        Raises:
            RedisUnavailable: no job could be taken.

        """
        return (self.loops[0] if self.loops else self._loop()).step()

    def _loop(self) -> Loop:
        """Make what works, in a name that nobody else has."""
        (name,) = holders(self.name)
        loop = Loop(self.client.named(name), self.plan, self.switch, name)
        self.loops = (loop,)
        return loop

    def run(self) -> None:
        """Work until told to stop, or until a burst is over; while Redis is away, wait for it.

        On the main thread it heeds signals, but those that the program itself handles or ignores.

        Raises:
            NotPermitted: this Redis user may not listen on the worker's channel.

        """
        self._is_main = threading.current_thread() is threading.main_thread()
        queues = ", ".join(map(repr, self.plan.queues))
        log.info("worker %s works %s", self.name, queues)
        loop = self._loop()
        with heeding(self.act), self._accompanied():
            try:
                loop.run()
            finally:
                self._ended.set()
        log.info("worker %s has stopped", self.name)

    def _abandon(self) -> None:
        """End the process if it is ours, as nothing else ends a job that does not listen."""
        if self._ended.is_set():
            return
        why = self._why_not_ended()
        self._give_up(why)
        if self._is_main and not self._ended.is_set():
            log.warning("worker %s: %s, so the process ends", self.name, why)
            with suppress(Exception):
                logging.shutdown()
            os._exit(0)
