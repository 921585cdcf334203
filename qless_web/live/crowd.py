"""Many browsers in one thread: it writes what each has to be told, and waits for none.

A thread a browser is what every WSGI server offers, and enough for a team. Where the server lets a
connection go, as ours does, it comes here, and a browser costs a socket and what waits for it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import selectors
from collections import deque
from dataclasses import dataclass
from functools import partial
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final

from qless_web.live import sse
from qless_web.live.stream import SLOW_S

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from qless_core.clock import Clock
    from qless_web.live.stream import Stream

log = logging.getLogger("qless.web.live")

#: Seconds between two looks at who has heard nothing for long, and at who takes nothing.
ROUND_S: Final = 1.0
#: Seconds that the last message may take when the process ends.
FAREWELL_S: Final = 0.5
_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE


@dataclass(eq=False, slots=True)
class _Seat:
    """A browser: its connection, its stream, and what it was not able to take yet."""

    connection: socket.socket
    stream: Stream
    rest: bytes = b""
    slow_since: float | None = None


if TYPE_CHECKING:
    #: Something that is done for one browser.
    _Do = Callable[[selectors.BaseSelector, set[_Seat], _Seat], None]


class Crowd:
    """The browsers whose connections the server let go.

    Args:
        clock: measures silence.

    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._thread: Thread | None = None
        # Appending to a deque and writing to a pipe are allowed in signal handlers.
        self._rung: deque[_Seat] = deque()
        self._reads = self._writes = -1
        #: Whether the pipe has been written to since the thread last woke.
        self._is_woken = False
        self._ends = False

    def take(self, connection: socket.socket, stream: Stream) -> None:
        """Feed a browser from now on.

        Args:
            connection: its socket, the head of the answer sent; closed when the stream ends.
            stream: what it has to be told.

        """
        connection.settimeout(0)
        seat = _Seat(connection, stream)
        self._rung.append(seat)  # before the thread begins, which at the end stays for none
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._begin()
        stream.sit(lambda: self._ring(seat))
        self._ring(seat)  # once more: it may have been met before it would ring by itself

    def close(self) -> None:
        """Say goodbye to all, and wait a moment for it."""
        self._ends = True
        thread = self._thread
        if thread is not None:
            self._wake()
            thread.join(FAREWELL_S)

    def _begin(self) -> None:
        self._reads, self._writes = os.pipe()
        for end in (self._reads, self._writes):
            os.set_blocking(end, False)
        self._is_woken = False
        thread = Thread(target=self._run, name="qless-crowd", daemon=True)
        thread.start()
        self._thread = thread  # none that has not begun: `close` may come at any moment

    def _ring(self, seat: _Seat) -> None:
        self._rung.append(seat)
        self._wake()

    def _wake(self) -> None:
        # A write for each of two thousand would have the two threads wait for each other as often.
        if self._is_woken:
            return
        self._is_woken = True
        with contextlib.suppress(BlockingIOError):  # it is awake already
            os.write(self._writes, b"\0")

    # In the thread

    def _run(self) -> None:
        seats: set[_Seat] = set()
        round_at = 0.0
        with selectors.DefaultSelector() as selector:
            selector.register(self._reads, _READ)
            while seats or self._rung or not self._ends:
                self._step(selector, seats)
                now = self._clock.monotonic()
                if now >= round_at or self._ends:
                    round_at = now + ROUND_S
                    for seat in [*seats]:
                        self._serve(self._tell, selector, seats, seat)

    def _step(self, selector: selectors.BaseSelector, seats: set[_Seat]) -> None:
        """Wait for something to do, and do it."""
        for key, events in selector.select(ROUND_S):
            if key.data is None:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._reads, 65536)
                self._is_woken = False  # before it is looked who rang
            elif events & _WRITE or not _has_left(key.data.connection):
                self._serve(self._tell, selector, seats, key.data)
            else:
                self._serve(self._drop, selector, seats, key.data)
        for _ in range(len(self._rung)):
            self._serve(self._welcome, selector, seats, self._rung.popleft())

    def _serve(
        self, do: _Do, selector: selectors.BaseSelector, seats: set[_Seat], seat: _Seat
    ) -> None:
        """Do something for one browser; whatever goes wrong there is no matter of the others."""
        try:
            do(selector, seats, seat)
        except Exception:
            log.exception("a live page is let go of: something unexpected happened to it")
            seats.discard(seat)
            for end in (partial(selector.unregister, seat.connection), seat.connection.close):
                with contextlib.suppress(KeyError, ValueError, OSError):
                    end()
            with contextlib.suppress(Exception):  # it is told of above, and may be the same again
                seat.stream.close()

    def _welcome(self, selector: selectors.BaseSelector, seats: set[_Seat], seat: _Seat) -> None:
        """Tell a browser that rang, which may be here for the first time."""
        if seat not in seats and seat.connection.fileno() >= 0:
            seats.add(seat)
            selector.register(seat.connection, _READ, seat)
        self._tell(selector, seats, seat)

    def _tell(self, selector: selectors.BaseSelector, seats: set[_Seat], seat: _Seat) -> None:
        """Write what waits for a browser, as far as it takes that."""
        if seat not in seats:
            return
        ends = self._ends or seat.stream.has_ended
        if not seat.rest:
            seat.rest = b"".join(map(_chunk, seat.stream.take()))
            seat.rest += _chunk(sse.BYE) + _chunk(b"") if ends else b""
        try:
            sent = seat.connection.send(seat.rest) if seat.rest else 0
        except BlockingIOError:
            sent = 0
        except OSError:
            self._drop(selector, seats, seat)
            return
        seat.rest = seat.rest[sent:]
        if (ends and not seat.rest) or self._is_too_slow(seat):
            self._drop(selector, seats, seat)
        else:
            selector.modify(seat.connection, _READ | (_WRITE if seat.rest else 0), seat)

    def _is_too_slow(self, seat: _Seat) -> bool:
        if not seat.rest:
            seat.slow_since = None
            return False
        now = self._clock.monotonic()
        seat.slow_since = now if seat.slow_since is None else seat.slow_since
        return now - seat.slow_since > SLOW_S

    def _drop(self, selector: selectors.BaseSelector, seats: set[_Seat], seat: _Seat) -> None:
        seats.discard(seat)
        selector.unregister(seat.connection)
        seat.connection.close()
        seat.stream.close()


def _chunk(message: bytes) -> bytes:
    """Spell a message as HTTP's chunked bodies have it; the empty one is the end."""
    return b"%X\r\n%b\r\n" % (len(message), message)


def _has_left(connection: socket.socket) -> bool:
    """Say whether a browser from which something can be read has closed its end."""
    try:
        return not connection.recv(4096)
    except BlockingIOError:
        return False
    except OSError:
        return True
