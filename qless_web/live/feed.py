"""The thread of the hub: hears events, looks around each second, says which topics changed."""

from __future__ import annotations

import logging
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from qless_core.backoff import Backoff
from qless_core.errors import QlessError, RedisUnavailable
from qless_web.live.topics import topics_of
from qless_web.live.watch import Watch

if TYPE_CHECKING:
    from qless_core.client import Client
    from qless_core.clock import Clock
    from qless_core.reads import Mark
    from qless_core.subscription import Subscription
    from qless_web.live.hub import Hub
    from qless_web.reading import Reading

log = logging.getLogger("qless.web.live")

#: Seconds between two signals: whatever goes on, a browser hears of it within half a second, as
#: it takes a tenth until the last of two thousand has been told.
SIGNAL_EVERY_S = 0.4
#: Seconds that the thread listens at a time before it looks at what else there is to do.
SLICE_S = 0.2
#: The longest pause, in seconds, between two attempts to reach a Redis that is gone, and between
#: two ticks while nobody looks.
LONGEST_PAUSE_S = 5.0
#: Events heard before it is looked at what else there is to do.
AT_ONCE = 500
#: Seconds to rest after an error that nobody thought of, and between two lines about it.
CONFUSED_S, COMPLAINT_EVERY_S = 1.0, 60.0

_BACKOFF = Backoff(longest=LONGEST_PAUSE_S)


class Feed:
    """What one run of the hub's thread works with. Only `soon` is for other threads."""

    def __init__(
        self, hub: Hub, client: Client, reading: Reading, clock: Clock, tick_s: float
    ) -> None:
        self._hub = hub
        self._client = client
        self._reading = reading
        self._clock = clock
        self._tick_s = tick_s
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._watch = Watch()
        self._subscription: Subscription = client.events.subscribe()
        #: Topics that differ from before, and those among them that only an event named so far.
        self._changed: set[str] = set()
        self._hinted: set[str] = set()
        self._tick_at = 0.0
        self._signal_at = 0.0
        #: Attempts that failed in a row, of the tick and of the subscription.
        self._failed = 0
        self._deaf = 0
        self._listen_at = 0.0
        self._complain_at = 0.0
        #: Ticks in a row that nobody looked at.
        self._alone = 0

    def soon(self) -> None:
        """Look around at once: there is a new browser, or the process ends."""
        self._tick_at = 0.0
        if self._bell.empty():
            self._bell.put(None)

    def run(self) -> None:
        """Feed the hub for as long as it wants to be fed."""
        try:
            while self._hub.goes_on():
                try:
                    self._step()
                except Exception as error:  # noqa: BLE001 - the feed must outlive whatever it is fed
                    self._complain(error)
                    self._rest(CONFUSED_S)
        finally:
            self._subscription.close()

    def _complain(self, error: Exception) -> None:
        """Log an error; one that comes each second, once a minute."""
        now = self._clock.monotonic()
        if now >= self._complain_at:
            self._complain_at = now + COMPLAINT_EVERY_S
            log.error("the live feed met what it did not expect, and goes on", exc_info=error)

    def _step(self) -> None:
        now = self._clock.monotonic()
        soonest = min(self._tick_at, self._signal_at) if self._changed else self._tick_at
        self._listen(min(SLICE_S, max(0.0, soonest - now)))
        if self._clock.monotonic() >= self._tick_at:
            self._tick()
        if self._changed and self._clock.monotonic() >= self._signal_at:
            self._signal()

    def _signal(self) -> None:
        """Tell the browsers what changed, and leave nothing of it for the next signal to repeat.

        Events of what a tick has seen are there by now, and are heard first; what only events
        named is looked at first.
        """
        self._listen(0)
        hinted, self._hinted = self._hinted & self._hub.watched(), set()
        if hinted and not self._failed:
            self._look(sorted(hinted))
        changed, self._changed = frozenset(self._changed), set()
        self._hub.signal(changed)
        self._signal_at = self._clock.monotonic() + SIGNAL_EVERY_S

    def _listen(self, patience: float) -> None:
        """Hear the events there are, waiting for the first; while deaf, wait instead."""
        if self._clock.monotonic() < self._listen_at:
            self._rest(patience)
            return
        heard: set[str] = set()
        try:
            event = self._subscription.get(patience)
            for _ in range(AT_ONCE):
                if event is None:
                    break
                heard |= topics_of(event)
                event = self._subscription.get(0)
        except RedisUnavailable as error:
            self._went_deaf(error)
        else:
            self._hears_again()
        watched = heard & self._hub.watched() if heard else heard
        self._hinted |= watched
        self._changed |= watched

    def _hears_again(self) -> None:
        """Take all for changed after deafness: what was said meanwhile is lost."""
        if self._deaf:
            self._deaf = 0
            log.info("the live feed hears events again")
            self._changed |= self._hub.watched()

    def _went_deaf(self, error: RedisUnavailable) -> None:
        """Try again later. The tick says whether Redis is gone, or only refuses to tell."""
        if not self._deaf:
            log.warning("the live feed hears no events: %s", error)
            self._tick_at = 0.0
        self._listen_at = self._clock.monotonic() + _BACKOFF.delay(self._deaf)
        self._deaf += 1

    def _tick(self) -> None:
        """Look at what is watched, a bounded part of it, and welcome who waits for that."""
        self._tick_at = self._clock.monotonic() + self._interval()
        if not self._look(self._watch.due(self._hub.watched())):
            return
        if self._failed:
            self._failed = 0
            log.info("the live feed reaches Redis again")
            self._changed |= self._hub.watched()
        self._hub.reached(self._watch)

    def _look(self, topics: list[str]) -> bool:
        """Compare topics with the time before; answers whether Redis could be asked."""
        try:
            marks = self._marks(topics)
        except RedisUnavailable as error:
            self._lost(error)
            return False
        self._changed |= self._watch.changed(topics, marks)
        return True

    def _marks(self, topics: list[str]) -> list[Mark]:
        """Read all marks at once; each alone where one cannot be read, and that one as empty."""
        try:
            return self._read(topics)
        except RedisUnavailable:
            raise
        except QlessError as error:
            if len(topics) == 1:
                log.debug("no mark of %r: %s", topics[0], error)
                return [{}]
            return [mark for topic in topics for mark in self._marks([topic])]

    def _read(self, topics: list[str]) -> list[Mark]:
        # Where pages read: of what a replica does not have yet it is told once it does.
        _, marks = self._reading.run(self._watch.plans(topics))
        return list(marks)

    def _interval(self) -> float:
        self._alone = 0 if self._hub.streams else self._alone + 1
        return min(self._tick_s * 2.0**self._alone, max(self._tick_s, LONGEST_PAUSE_S))

    def _lost(self, error: RedisUnavailable) -> None:
        reason = f"{self._client.safe_url}: {error}"
        if not self._failed:
            log.warning("the live feed does not reach Redis at %s", reason)
        self._hub.lost(reason)
        self._tick_at = self._clock.monotonic() + _BACKOFF.delay(self._failed)
        self._failed += 1

    def _rest(self, seconds: float) -> None:
        """Wait, or until somebody calls `soon`."""
        try:
            self._bell.get(timeout=max(0.0, seconds))
        except Empty:
            return
