"""A worker that runs one job after another, in its own process."""

from __future__ import annotations

import logging

from qless_core.backoff import Backoff
from qless_core.errors import ClusterNeedsTag, QlessError
from qless_core.worker.base import Worker
from qless_core.worker.signals import ending

log = logging.getLogger("qless.worker")


class SerialWorker(Worker):
    """Runs one job after another.

    A job that hangs keeps it from the next, and a job that crashes the process ends it too.
    """

    def run(self) -> None:
        """Work until `stop` is called; while Redis is away, wait for it.

        On the main thread TERM and Ctrl-C call it too, and this returns after the job at hand; a
        second one ends the program at once. Handlers that the program has set stay in force.
        """
        queues = ", ".join(repr(queue.name) for queue in self.reserver.queues)
        log.info("worker %s works %s", self.name, queues)
        backoff = Backoff()
        with ending(self.stop):
            try:
                while not self.is_stopping:
                    self._turn(backoff)
            finally:
                self._leave()
                log.info("worker %s has stopped", self.name)

    def _turn(self, backoff: Backoff) -> None:
        """Work one job, or wait: for the next one, or for Redis."""
        try:
            job = self.step()
        except ClusterNeedsTag:
            raise  # will be so for ever
        except QlessError as trouble:
            wait = backoff.next()
            log.warning("no job can be taken, again in %.1f s: %s", wait, trouble)
            self.client.clock.wait(wait, self._stop)
            return
        backoff.reset()
        if job is None:
            self.client.clock.wait(self.interval, self._stop)
