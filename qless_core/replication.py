"""Waiting for replicas: what was acknowledged must survive the server that acknowledged it.

A primary answers before its replicas have heard of a change. If it dies in between, the replica
that takes over has never heard of it. So where another server may take over, each change is
followed, in the same round trip, by WAIT, and counts once a replica has it. A replica that does
not answer slows the queue down once in a while, but never stops it.
"""

from __future__ import annotations

import logging
from typing import Final

from qless_core.clock import Clock

log = logging.getLogger("qless.replication")

#: Milliseconds that replicas may take; usually it is less than one.
WITHIN_MS: Final = 500
#: Seconds without waiting, after replicas were too slow, too few, or not to be asked for.
REST_S: Final = 5.0


class Replication:
    """How many replicas must have a change before it counts; shared by threads.

    Args:
        replicas: how many; with 0 nothing is waited for.

    """

    def __init__(self, replicas: int = 0, clock: Clock | None = None) -> None:
        self.replicas = replicas
        #: What is sent after a change.
        self.command = ("WAIT", replicas, WITHIN_MS)
        self._clock = clock or Clock()
        self._resumes_at = 0.0
        self._fails = False

    @property
    def is_due(self) -> bool:
        """Whether to wait after the next change."""
        return self.replicas > 0 and self._clock.monotonic() >= self._resumes_at

    def told(self, count: int) -> None:
        """Note how many replicas had a change in time."""
        if count < self.replicas:
            self._rest(f"{count} of {self.replicas} replicas had a change within {WITHIN_MS} ms")
        elif self._fails:
            self._fails = False
            log.warning("replicas have what is acknowledged again")

    def refused(self, error: Exception) -> None:
        """Note that the server does not let us wait."""
        self._rest(f"the server does not wait for replicas: {error}")

    def _rest(self, why: str) -> None:
        self._resumes_at = self._clock.monotonic() + REST_S
        if not self._fails:
            self._fails = True
            log.warning("%s; what is acknowledged now may be lost with the primary", why)
