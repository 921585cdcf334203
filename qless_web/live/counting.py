"""Notes what was done in each minute: in the background, by one console of all there are.

Each console looks at the clock of Redis when a minute ends, and the first to take the turn of that
minute notes it. So it costs the same however many consoles there are, and when one ends another
goes on. Where nobody noted a minute the charts show a gap.
"""

from __future__ import annotations

import logging
import os
import secrets
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from qless_core import reads
from qless_core.clock import SERVER, Clock
from qless_web import minutes
from qless_web.sending import call, send

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_core.client import Client
    from qless_core.reads import Plan
    from qless_web.settings import Settings

log = logging.getLogger("qless.web.live")

#: Seconds after the end of a minute within which its counts are those of its end.
LATE_S = 5.0
#: Seconds after the end of a minute at which consoles look.
_AFTER_S = 0.2
#: Milliseconds that a turn is remembered: far longer than anybody could come too late.
_TURN_MS = 120_000
#: Seconds until the next look where this one failed.
_AGAIN_S = 20.0


class Counting:
    """Counts for one process.

    Args:
        client: whose queues are counted.
        settings: `count_minutes` and `read_only` count.

    """

    def __init__(self, client: Client, settings: Settings) -> None:
        self._client = client
        self._is_on = settings.count_minutes and not settings.read_only
        # Not the client's clock: in tests that one stands still, and here seconds must pass.
        self._clock = Clock()
        self._end = Event()
        self._thread: Thread | None = None
        self._fails = False

    def start(self) -> None:
        """Count from now on, on a thread of this process; after a fork, call it in the child."""
        if self._is_on and (self._thread is None or not self._thread.is_alive()):
            self._thread = Thread(target=self._run, name="qless-counting", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Count no more; safe in a signal handler."""
        self._end.set()

    def look(self) -> float:
        """Note the minute that has just ended, unless another does; give the seconds to the next.

        Raises:
            QlessError: Redis could not be asked.

        """
        now, (around,) = self._read(reads.frame(probe=True))
        number, late = divmod(now, 60)
        minute = int(number) - 1
        if not around.read_only and late < LATE_S and self._takes(minute):
            self._note(minute)
        return float(60 - late) + _AFTER_S

    def _run(self) -> None:
        pause = 0.0
        while not self._clock.wait(pause, self._end):
            try:
                pause = self.look()
            except Exception as error:  # noqa: BLE001 - counting must outlive whatever Redis answers
                pause = _AGAIN_S
                self._complain(error)
            else:
                self._fails = False

    def _complain(self, error: Exception) -> None:
        if not self._fails:
            log.warning("minutes are not counted for now: %s", error)
        self._fails = True

    def _takes(self, minute: int) -> bool:
        key = minutes.turn_key(self._client.keys, minute)
        name = f"{os.getpid()}-{secrets.token_hex(4)}"
        (taken,) = send(self._client, call("set", key, name, nx=True, px=_TURN_MS))
        return bool(taken)

    def _note(self, minute: int) -> None:
        _, (totals, (last, fields)) = self._read(minutes.totals(minute), minutes.noted(minute))
        found = minutes.note(minute, totals, last, fields)
        keys = self._client.keys
        noted = []
        if found.fields:
            hour = minutes.hour_key(keys, minute // minutes.HOUR)
            noted = [
                call("hset", hour, mapping=found.fields),
                call("expire", hour, minutes.HOUR_KEPT_S),
            ]
        last = minutes.last_key(keys)
        send(self._client, *noted, call("set", last, found.last, ex=minutes.LAST_KEPT_S))

    def _read(self, *plans: Plan[Any]) -> tuple[float, Sequence[Any]]:
        stamp = self._client.clock.stamp()
        now = None if stamp == SERVER else float(stamp)
        scope, found = reads.run(self._client.redis, self._client.keys, plans, now=now)
        return scope.now, found
