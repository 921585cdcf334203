"""Puts jobs while their server dies, so that each is there once, and knows which are."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING

from qless_core.backoff import Backoff
from qless_core.client import Client
from qless_core.clock import Clock
from qless_core.errors import OutcomeUnknown, RedisUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.mayhem.plan import Planned

#: For how many seconds a client insists that is made to.
PATIENCE_S = 60.0
#: Where the classes are.
MODULE = "benchmarks.mayhem.jobs"


class Putter(Thread):
    """Puts jobs at an even pace.

    Every other job is put by a client with patience, which sends it again under an id. The rest are
    put by one without, who has to look for himself whether a put has run whose answer was lost.

    Args:
        url: of the server.
        jobs: to be put, in order.
        seconds: in which they are.

    """

    def __init__(self, url: str, jobs: Sequence[Planned], seconds: float) -> None:
        super().__init__(name="putter", daemon=True)
        self._jobs = jobs
        self._pace = seconds / len(jobs)
        self._patient = Client(url, worker_name="patient", patience=PATIENCE_S)
        self._plain = Client(url, worker_name="plain")
        self._clock = Clock()
        #: Those whose put was acknowledged, or that were seen.
        self.acked: set[str] = set()
        #: How many puts there were whose outcome was not known.
        self.unknown = 0
        #: What ended it before all were put.
        self.trouble: Exception | None = None

    def run(self) -> None:
        """Put all."""
        begun = self._clock.monotonic()
        try:
            for number, job in enumerate(self._jobs):
                self._clock.wait(begun + number * self._pace - self._clock.monotonic())
                if number % 2:
                    self._put(self._patient, job)
                else:
                    self._insist(job)
                self.acked.add(job.jid)
        except Exception as trouble:  # noqa: BLE001 - told by whoever waits for the thread
            self.trouble = trouble

    def _put(self, client: Client, job: Planned) -> None:
        client.queues["chaos"].put(
            f"{MODULE}.{job.klass}", job.data, jid=job.jid, replace=False, **job.options
        )

    def _insist(self, job: Planned) -> None:
        """Put a job, until it is known to be there.

        `replace=False` alone will not do: a job that has run and is complete would be put anew.
        """
        backoff, is_unknown = Backoff(0.02, 0.2), False
        while True:
            try:
                if not (is_unknown and self._plain.jobs[job.jid]):
                    self._put(self._plain, job)
            except RedisUnavailable as trouble:
                if isinstance(trouble, OutcomeUnknown):
                    is_unknown = True
                    self.unknown += 1
                self._clock.wait(backoff.next())
            else:
                return
