"""How long a client may take to send a request, so that slow ones do not hold every thread.

A thread of gunicorn reads a request for as long as its client sends it, and writes the answer for
as long as that is read. Here a connection gets a thread only once its request is there, or much of
a large one, of which few threads wait for the rest; and loses it where that does not follow, or
where the answer is not taken at once.
"""

from __future__ import annotations

import errno
import socket
from collections import deque
from functools import partial
from selectors import EVENT_READ
from typing import TYPE_CHECKING, Any, Final

from gunicorn.http import get_parser  # type: ignore[import-untyped]  # gunicorn has none
from gunicorn.http.unreader import SocketUnreader  # type: ignore[import-untyped]  # as above
from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]  # as above

from qless_core.clock import Clock
from qless_web.process.arrival import LARGEST, arrived, without_expectation
from qless_web.process.loan import Loan
from qless_web.process.parting import Parting

if TYPE_CHECKING:
    from concurrent.futures import Future

#: Seconds for a request to come in, and the bytes that give it one more second each: a head takes
#: one packet, and the largest body less than the four minutes that this makes.
PATIENCE_S: Final = 10.0
SLOWEST: Final = 16_384

#: Of the threads, one in so many may wait for the rest of a large request; seconds that others wait
#: for one of these.
_SHARE: Final = 4
_TURN_S: Final = 30.0

#: Seconds that streams have for their last words where the server has nothing left to do.
_FAREWELL_S: Final = 2.0

_CLOCK: Final = Clock()


class PatientReader(SocketUnreader):  # type: ignore[misc]  # the base has no types
    """Reads a request from a connection, until its time is up."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection)
        self._until = 0.0
        self._seen = 0
        #: Whether its time was up before the request was there.
        self.is_late = False
        #: Whether all of the request was there before a thread had it.
        self.is_whole = False

    def begin(self) -> None:
        """Give the next request its time."""
        self._until = _CLOCK.monotonic() + PATIENCE_S
        self._seen = 0

    def leave_off(self) -> None:
        """Wait for nothing more of this request."""
        self._until = 0.0

    def take_in(self) -> bool:
        """Take in what has come, without waiting; answers whether a thread is to have it now."""
        try:
            data = self.sock.recv(LARGEST, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return self._has_come(self.buf.getvalue())
        except OSError:
            return True  # as it is for the thread, which ends it
        sent = self.buf.getvalue() + data
        is_there, heard = self._has_come(sent), sent
        if not is_there and (heard := without_expectation(sent)) != sent:
            self._seen = 0
            is_there = self._has_come(heard) or not self._tells_to_go_on()
        self.buf.seek(0)
        self.buf.truncate()
        self.buf.write(heard)
        return not data or is_there

    def _has_come(self, sent: bytes) -> bool:
        is_there, self.is_whole, self._seen = arrived(sent, self._seen)
        return is_there

    def _tells_to_go_on(self) -> bool:
        """Tell a client that waits for it to send its body; answers whether that went out."""
        try:
            self.sock.send(b"HTTP/1.1 100 Continue\r\n\r\n", socket.MSG_DONTWAIT)
        except OSError:
            return False  # it has left: its thread ends it
        return True

    def chunk(self, size_hint: int | None = None) -> bytes:
        """Give what has come in; what is there already is given however late it is.

        Raises:
            TimeoutError: nothing came in time.

        """
        self.sock.settimeout(max(0.0, self._until - _CLOCK.monotonic()))
        try:
            data: bytes = super().chunk(size_hint)
        except (BlockingIOError, TimeoutError):
            self.is_late = True
            # gunicorn logs this number no more than a client that has left.
            raise TimeoutError(errno.ECONNRESET, "the request did not come in") from None
        finally:
            self.sock.settimeout(None)
        self._until += len(data) / SLOWEST
        return data


class PatientWorker(ThreadWorker):  # type: ignore[misc]  # the base has no types
    """Gives a connection a thread when its request is there."""

    def init_process(self) -> None:
        """Begin; does not return."""
        #: What is left of answers, by connection: from a thread to the main one.
        self._rests: dict[Any, bytes] = {}
        self._unfinished: set[Any] = set()
        self._most_unfinished = max(1, self.cfg.threads // _SHARE)
        self._in_turn: deque[Any] = deque()
        super().init_process()

    def run(self) -> None:
        """Serve to the end, and leave a moment to `Ending`, which ends streams and this process."""
        self._parting = Parting(self.poller)
        super().run()
        _CLOCK.wait(_FAREWELL_S)

    def enqueue_req(self, conn: Any) -> None:  # noqa: ANN401 - the base has no types
        """Have a thread serve a connection, once a request is there."""
        if conn.parser is None:
            conn.parser = get_parser(self.cfg, conn.sock, conn.client)
            conn.parser.unreader = PatientReader(conn.sock)
        if conn.parser.unreader.take_in():
            self._serve(conn)
            return
        conn.timeout = _CLOCK.monotonic() + PATIENCE_S
        self.pending_conns.append(conn)
        ready = partial(self.on_pending_socket_readable, conn)
        self.poller.register(conn.sock, EVENT_READ, ready)

    def on_pending_socket_readable(self, conn: Any, client: Any) -> None:  # noqa: ANN401 - as above
        """Take in more of a request."""
        if conn.parser.unreader.take_in():
            self.poller.unregister(client)
            self.pending_conns.remove(conn)
            self._serve(conn)

    def murder_pending(self) -> None:
        """Go on without those whose time is up."""
        super().murder_pending()
        self._parting.look()
        while self._in_turn and self._in_turn[0].timeout < _CLOCK.monotonic():
            self._drop(self._in_turn.popleft())

    def _serve(self, conn: Any) -> None:  # noqa: ANN401 - as above
        if not conn.parser.unreader.is_whole:
            if len(self._unfinished) >= self._most_unfinished:
                conn.timeout = _CLOCK.monotonic() + _TURN_S
                self._in_turn.append(conn)
                return
            self._unfinished.add(conn)
        conn.data_ready = True
        conn.parser.unreader.begin()
        super().enqueue_req(conn)

    def handle_request(self, req: Any, conn: Any) -> Any:  # noqa: ANN401 - as above
        """Answer a request; the answer may let the connection go, and then it is not ours."""
        connection = conn.sock
        conn.sock = loan = Loan(connection)
        try:
            goes_on = super().handle_request(req, conn)
            if rest := loan.rest():
                self._rests[conn] = rest
            return goes_on and not loan.is_over
        finally:
            if not loan.is_over:
                conn.sock = connection

    def _keepalive_after(self, conn: Any, keepalive: Any) -> bool:  # noqa: ANN401 - as above
        """Say whether the connection can have another request: of this one nothing is to come."""
        reader = conn.parser.unreader
        is_late = reader.is_late
        reader.leave_off()
        goes_on = bool(super()._keepalive_after(conn, keepalive))
        reader.is_late = is_late
        return goes_on

    def finish_request(self, conn: Any, fs: Future[Any]) -> None:  # noqa: ANN401 - as above
        """Keep a connection, or close it; what takes a while takes no thread."""
        self._unfinished.discard(conn)
        while self._in_turn and len(self._unfinished) < self._most_unfinished:
            self._serve(self._in_turn.popleft())
        rest = self._rests.pop(conn, b"")
        if fs.cancelled() or fs.exception() or (fs.result() and not rest):
            super().finish_request(conn, fs)
        elif isinstance(conn.sock, Loan):
            self.nr_conns -= 1
        elif conn.parser.unreader.is_late:
            self._drop(conn)
        elif rest:
            self._parting.send(conn.sock, rest, partial(self._go_on, conn, fs))
        else:
            self._parting.hear_out(conn.sock, lambda _: self._drop(conn))

    def _go_on(self, conn: Any, fs: Future[Any], is_taken: object) -> None:  # noqa: ANN401 - as above
        if is_taken:
            self.finish_request(conn, fs)
        else:
            self._drop(conn)

    def _drop(self, conn: Any) -> None:  # noqa: ANN401 - as above
        self.nr_conns -= 1
        conn.close()
