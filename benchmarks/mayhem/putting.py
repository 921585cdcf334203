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
#: Where jobs begin.
QUEUE = "chaos"


class Putter(Thread):
    """Puts jobs at an even pace, bunch after bunch.

    A third of the bunches is put with one call, by a client with patience, which sends it again
    under an id. A third is put job by job in the same way. The rest is put by a client without
    patience, whose user has to look for himself whether a put has run whose answer was lost.

    Args:
        url: of the server.
        bunches: of jobs to be put, in order.
        seconds: in which they are.

    """

    def __init__(self, url: str, bunches: Sequence[Sequence[Planned]], seconds: float) -> None:
        super().__init__(name="putter", daemon=True)
        self._bunches = bunches
        self._pace = seconds / len(bunches)
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
        ways = (self._put_at_once, self._put_patiently, self._put_looking)
        try:
            for number, jobs in enumerate(self._bunches):
                self._clock.wait(begun + number * self._pace - self._clock.monotonic())
                ways[number % len(ways)](jobs)
        except Exception as trouble:  # noqa: BLE001 - told by whoever waits for the thread
            self.trouble = trouble

    def _put_at_once(self, jobs: Sequence[Planned]) -> None:
        self.acked.update(self._patient.queues[QUEUE].put_many([job.arguments for job in jobs]))

    def _put_patiently(self, jobs: Sequence[Planned]) -> None:
        for job in jobs:
            self.acked.add(self._patient.queues[QUEUE].put(**job.arguments, replace=False))

    def _put_looking(self, jobs: Sequence[Planned]) -> None:
        for job in jobs:
            self._insist(job)
            self.acked.add(job.jid)

    def _insist(self, job: Planned) -> None:
        """Put a job, until it is known to be there.

        `replace=False` alone will not do: a job that has run and is complete would be put anew.
        """
        backoff, is_unknown = Backoff(0.02, 0.2), False
        while True:
            try:
                if not (is_unknown and self._plain.jobs[job.jid]):
                    self._plain.queues[QUEUE].put(**job.arguments, replace=False)
            except RedisUnavailable as trouble:
                if isinstance(trouble, OutcomeUnknown):
                    is_unknown = True
                    self.unknown += 1
                self._clock.wait(backoff.next())
            else:
                return
