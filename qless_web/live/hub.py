"""The hub: one subscription and one tick for all the browsers of a process.

Events are hints that come at once; the tick compares small marks of what is being looked at, and
so finds what no event tells. Both only name topics. It starts with the first browser, in a thread
of the process that serves it, and stops a while after the last one has left.
"""

from __future__ import annotations

import re
import secrets
from collections import deque
from threading import RLock, Thread
from typing import TYPE_CHECKING

from qless_core.clock import Clock
from qless_web.live import sse
from qless_web.live.crowd import Crowd
from qless_web.live.feed import Feed
from qless_web.live.peer import Peer
from qless_web.live.stream import Stream
from qless_web.reading import Reading

if TYPE_CHECKING:
    from qless_core.client import Client
    from qless_web.live.watch import Watch
    from qless_web.settings import Settings

#: Seconds that the hub stays after the last browser left: pages come and go.
LINGER_S = 30.0
#: Signals kept for browsers that come back: at five in two seconds, a minute and a half of them.
KEPT = 240
_NUMBER = re.compile(r"[0-9]{1,15}")


class HubFull(Exception):  # noqa: N818 - it says what is the case
    """Raised when as many browsers are fed as may be; one more has to ask from time to time."""


class HubClosed(Exception):  # noqa: N818 - it says what is the case
    """Raised when the process is about to end."""


class Hub:
    """Feeds the browsers of this process.

    Args:
        client: whose queues are looked at.
        settings: `live_max_streams` and `live_tick_s` count.
        reading: where pages read; the client's server, unless it says another one.

    """

    def __init__(self, client: Client, settings: Settings, reading: Reading | None = None) -> None:
        self._client = client
        self._reading = reading or Reading(client)
        self._most = settings.live_max_streams
        self._tick_s = settings.live_tick_s
        # Not the client's clock: in tests that one stands still, and here seconds must pass.
        self._clock = Clock()
        # Reentrant, so that a signal handler may close the hub whatever it interrupted.
        self._lock = RLock()
        #: Feeds the browsers whose connections the server lets go.
        self.crowd = Crowd(self._clock)
        self._closed = False
        self._thread: Thread | None = None
        self._feed: Feed | None = None
        self._streams: set[Stream] = set()
        #: What is watched, and the number of the last signal before it began to be.
        self._since: dict[str, int] = {}
        #: Topics that nobody looks at any more, and until when they stay watched.
        self._lingering: dict[str, float] = {}
        #: Numbers mean something within one hub only, so the name of the hub is in each id.
        self._name = secrets.token_hex(4)
        self._number = 0
        self._recent: deque[tuple[int, frozenset[str]]] = deque(maxlen=KEPT)
        #: Why Redis cannot be reached; "" when it can, or when nobody has asked.
        self._trouble = ""

    @property
    def streams(self) -> int:
        """How many browsers are being fed."""
        return len(self._streams)

    # For the threads that serve browsers

    def open(self, topics: frozenset[str], last_id: str = "", peer: Peer | None = None) -> Stream:
        """Take a browser in. Redis is not asked here, so it works while there is none.

        Args:
            topics: what it wants to hear of; each must be `known`.
            last_id: the id of the last message that it got on an earlier stream.
            peer: its connection.

        Raises:
            HubFull: there are as many already as may be.
            HubClosed: the process is about to end.

        """
        stream = Stream(topics, last_id, peer or Peer(), self._clock, self._leave)
        with self._lock:
            if self._closed:
                raise HubClosed
            if len(self._streams) >= self._most and not self._make_room():
                raise HubFull
            self._streams.add(stream)
            self._watch_also(topics)
            if self._trouble:
                stream.tell_status(sse.down(self._trouble))
            self._start().soon()
        return stream

    def close(self) -> None:
        """End every stream at once and take no more; safe in a signal handler."""
        self._closed = True
        with self._lock:
            streams, feed = list(self._streams), self._feed
        for stream in streams:
            stream.end()
        if feed is not None:
            feed.soon()
        self.crowd.close()

    def _make_room(self) -> bool:
        """Take the places of browsers that are gone, before their streams notice by themselves."""
        gone = [stream for stream in self._streams if stream.is_gone()]
        for stream in gone:
            stream.end()
            self._leave(stream)
        return bool(gone)

    def _watch_also(self, topics: frozenset[str]) -> None:
        if topics - self._since.keys():
            # A number of its own, so that who comes back with an older one is told of these.
            self._number += 1
            self._recent.append((self._number, frozenset()))
        for topic in topics:
            self._since.setdefault(topic, self._number)
            self._lingering.pop(topic, None)

    def _start(self) -> Feed:
        # After a fork the thread is the parent's, and not alive here.
        if self._feed is None or self._thread is None or not self._thread.is_alive():
            self._feed = Feed(self, self._client, self._reading, self._clock, self._tick_s)
            self._thread = Thread(target=self._feed.run, name="qless-live", daemon=True)
            self._thread.start()
        return self._feed

    def _leave(self, stream: Stream) -> None:
        with self._lock:
            if stream not in self._streams:
                return
            self._streams.remove(stream)
            still = frozenset[str]().union(*(each.topics for each in self._streams))
            until = self._clock.monotonic() + LINGER_S
            self._lingering |= dict.fromkeys(stream.topics - still, until)

    # For the thread that feeds

    def goes_on(self) -> bool:
        """Say whether there is somebody to feed; when not, the thread is taken for gone."""
        with self._lock:
            if not self._closed and (self._streams or self.watched()):
                return True
            self._thread = self._feed = None
            return False

    def watched(self) -> frozenset[str]:
        """Give the topics that somebody looks at, or did a moment ago."""
        now = self._clock.monotonic()
        with self._lock:
            for topic in [each for each, until in self._lingering.items() if until < now]:
                del self._lingering[topic], self._since[topic]
            return frozenset(self._since)

    def signal(self, changed: frozenset[str]) -> None:
        """Tell the browsers what changed, each what it wants to hear of."""
        with self._lock:
            self._number += 1
            self._recent.append((self._number, changed))
            for stream in self._streams:
                stream.tell_changed(self._id(), changed)

    def reached(self, watch: Watch) -> None:
        """Note that Redis answered; welcome those whose topics have all been looked at."""
        with self._lock:
            if self._trouble:
                self._trouble = ""
                for stream in self._streams:
                    stream.tell_status(sse.UP)
            for stream in self._streams:
                if not stream.is_ready and watch.knows(stream.topics):
                    stream.tell_ready(self._id(), self._missed(stream))

    def lost(self, reason: str) -> None:
        """Note that Redis does not answer, and tell the browsers why."""
        with self._lock:
            if self._trouble:
                return
            self._trouble = reason
            for stream in self._streams:
                stream.tell_status(sse.down(reason))

    def _id(self) -> str:
        return f"{self._name}-{self._number}"

    def _missed(self, stream: Stream) -> frozenset[str]:
        """Say what may have changed since the last message that a browser got."""
        name, _, text = stream.last_id.partition("-")
        last = int(text) if name == self._name and _NUMBER.fullmatch(text) else -1
        if not self._recent[0][0] - 1 <= last <= self._number:
            return stream.topics
        since = (topics for number, topics in self._recent if number > last)
        changed = frozenset[str]().union(*since)
        return frozenset(
            topic for topic in stream.topics if topic in changed or self._since[topic] > last
        )
