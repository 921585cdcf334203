"""One browser: what it still has to be told, and the messages of its stream.

What waits for it is a set of topics, so a slow browser costs no more than a quick one, and misses
nothing: it only hears later, and once.
"""

from __future__ import annotations

from queue import Empty, SimpleQueue
from threading import Lock
from typing import TYPE_CHECKING

from qless_web.live import sse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qless_core.clock import Clock
    from qless_web.live.peer import Peer

#: Seconds of silence after which a comment is sent.
HEARTBEAT_S = 15.0
#: Seconds between two looks whether the browser is still there.
LOOK_S = 5.0
#: Seconds that a browser may take nothing before its stream is ended.
SLOW_S = 30.0


class Stream:
    """The mailbox of one browser. The hub fills it, the thread that serves it empties it.

    Args:
        topics: what the browser wants to hear of.
        last_id: the last message it got on a stream before this one, or "".
        peer: its connection.
        clock: measures silence.
        leave: called once, when the stream ends.

    """

    def __init__(
        self,
        topics: frozenset[str],
        last_id: str,
        peer: Peer,
        clock: Clock,
        leave: Callable[[Stream], None],
    ) -> None:
        self.topics = topics
        self.last_id = last_id
        #: Whether it has been told that from now on it misses nothing.
        self.is_ready = False
        self._peer = peer
        self._clock = clock
        self._leave = leave
        self._lock = Lock()
        # Putting into a SimpleQueue is allowed in signal handlers; setting an Event is not.
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._rung = False
        #: What to call in place of ringing, where a crowd feeds the browser.
        self._call: Callable[[], None] | None = None
        self._ended = False
        self._status: bytes | None = None
        self._missed: frozenset[str] | None = None
        self._changed: set[str] = set()
        self._number = ""
        self._told_at = clock.monotonic()
        self._slow_since: float | None = None

    # What the hub calls

    def tell_changed(self, number: str, topics: frozenset[str]) -> None:
        """Note what changed, if this browser wants to hear of it."""
        hit = self.topics & topics
        if hit:
            with self._lock:
                self._changed |= hit
                self._number = number
            self._ring()

    def tell_ready(self, number: str, missed: frozenset[str]) -> None:
        """Note that nothing is missed from here on, and what may have been before."""
        self.is_ready = True
        with self._lock:
            self._missed = missed
            self._number = number
        self._ring()

    def tell_status(self, message: bytes) -> None:
        """Note the state of Redis; only the last one counts."""
        with self._lock:
            self._status = message
        self._ring()

    def is_gone(self) -> bool:
        """Say whether the browser has closed its end."""
        return self._peer.state() == "gone"

    def end(self) -> None:
        """End the stream at once; safe in a signal handler."""
        self._ended = True
        self._bell.put(None)
        if self._call is not None:
            self._call()

    @property
    def has_ended(self) -> bool:
        """Whether it was told to end."""
        return self._ended

    # What feeds the browser calls

    def sit(self, call: Callable[[], None]) -> None:
        """Be fed by a crowd from now on.

        Args:
            call: called whenever there is something to `take`; maybe in a signal handler.

        """
        self._call = call

    def messages(self) -> Iterator[bytes]:
        """Give the messages as they come; waits in between, until either side ends it."""
        try:
            yield sse.OPENING
            while not self._ended:
                self._wait()
                state = self._peer.state()
                if state == "gone" or self._too_slow(slow=state == "slow"):
                    return
                if state == "ready" and not self._ended:
                    yield from self.take()
            if self._peer.state() == "ready":
                yield sse.BYE
        finally:
            self.close()

    def close(self) -> None:
        """Give the place up; calling it again does nothing."""
        self._leave(self)

    def close_unless_fed(self) -> None:
        """Give the place up where no crowd feeds the browser."""
        if self._call is None:
            self.close()

    def _ring(self) -> None:
        if not self._rung:
            self._rung = True
            if self._call is None:
                self._bell.put(None)
            else:
                self._call()

    def _wait(self) -> None:
        patience = LOOK_S
        if self._slow_since is None:
            quiet = self._clock.monotonic() - self._told_at
            patience = min(LOOK_S, max(0.0, HEARTBEAT_S - quiet))
        else:
            patience = 1.0
        try:
            self._bell.get(timeout=patience)
        except Empty:
            return
        self._rung = False

    def _too_slow(self, *, slow: bool) -> bool:
        if not slow:
            self._slow_since = None
            return False
        now = self._clock.monotonic()
        if self._slow_since is None:
            self._slow_since = now
        return now - self._slow_since > SLOW_S

    def take(self) -> list[bytes]:
        """Take what waits; after a long silence a heartbeat."""
        self._rung = False
        with self._lock:
            status, self._status = self._status, None
            missed, self._missed = self._missed, None
            changed, self._changed = frozenset(self._changed), set()
            number = self._number
        found = [status] if status else []
        if missed is not None:
            found.append(sse.ready(number, missed))
        if changed:
            found.append(sse.change(number, changed))
        now = self._clock.monotonic()
        if not found and now - self._told_at >= HEARTBEAT_S:
            found.append(sse.HEARTBEAT)
        if found:
            self._told_at = now
        return found
