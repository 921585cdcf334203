"""What the log hears of a Redis that cannot be reached: each minute, not with each request."""

from __future__ import annotations

import logging
import threading

from qless_core.clock import Clock
from qless_web.formatting import duration

log = logging.getLogger("qless.web")

#: Seconds between two lines about the same outage.
AGAIN_S = 60.0


class Outage:
    """Knows whether Redis is away and since when; shared by the threads of a process."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or Clock()
        self._lock = threading.Lock()
        self._since: float | None = None
        self._told = 0.0

    def goes_on(self, url: str, reason: str) -> None:
        """Note that Redis did not answer, and why; `url` without its password."""
        now = self._clock.monotonic()
        with self._lock:
            is_new = self._since is None
            if not is_new and now - self._told < AGAIN_S:
                return
            self._since = now if self._since is None else self._since
            self._told = now
            lasts = now - self._since
        if is_new:
            log.warning("Redis at %s: %s", url, reason)
        else:
            log.warning("Redis at %s, still, after %s: %s", url, duration(lasts), reason)

    def is_over(self, url: str) -> None:
        """Note that Redis answered."""
        if self._since is None:
            return
        with self._lock:
            since, self._since = self._since, None
        if since is not None:
            lasted = self._clock.monotonic() - since
            log.warning("Redis at %s is back, after %s", url, duration(lasted))
