"""How long a client may take to send a request, so that slow ones do not hold every thread.

A thread of gunicorn reads a request for as long as its client sends it. Here a connection gets a
thread only once its request is there, or much of a large one, and loses it where the rest does not
follow.
"""

from __future__ import annotations

import errno
import socket
from functools import partial
from selectors import EVENT_READ
from typing import TYPE_CHECKING, Any, Final

from gunicorn.http import get_parser  # type: ignore[import-untyped]  # gunicorn has none
from gunicorn.http.unreader import SocketUnreader  # type: ignore[import-untyped]  # as above
from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]  # as above

from qless_core.clock import Clock
from qless_web.process.arrival import LARGEST, is_there, without_expectation
from qless_web.process.loan import Loan

if TYPE_CHECKING:
    from concurrent.futures import Future

#: Seconds for a request to come in, and the bytes that give it one more second each: a head takes
#: one packet, and the largest body less than the four minutes that this makes.
PATIENCE_S: Final = 10.0
SLOWEST: Final = 16_384

#: Seconds that streams have for their last words where the server has nothing left to do.
_FAREWELL_S: Final = 2.0

_CLOCK: Final = Clock()


class PatientReader(SocketUnreader):  # type: ignore[misc]  # the base has no types
    """Reads a request from a connection, until its time is up."""

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection)
        self._until = 0.0
        #: Whether its time was up before the request was there.
        self.is_late = False

    def begin(self) -> None:
        """Give the next request its time."""
        self._until = _CLOCK.monotonic() + PATIENCE_S

    def take_in(self) -> bool:
        """Take in what has come, without waiting; answers whether a thread is to have it now."""
        try:
            data = self.sock.recv(LARGEST, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return is_there(self.buf.getvalue())
        except OSError:
            return True  # as it is for the thread, which ends it
        sent = self.buf.getvalue() + data
        heard = sent if is_there(sent) else without_expectation(sent)
        self.buf.seek(0)
        self.buf.truncate()
        self.buf.write(heard)
        return not data or is_there(heard) or (heard != sent and not self._tells_to_go_on())

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

    def run(self) -> None:
        """Serve to the end, and leave a moment to `Ending`, which ends streams and this process."""
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

    def _serve(self, conn: Any) -> None:  # noqa: ANN401 - as above
        conn.data_ready = True
        conn.parser.unreader.begin()
        super().enqueue_req(conn)

    def handle_request(self, req: Any, conn: Any) -> Any:  # noqa: ANN401 - as above
        """Answer a request; the answer may let the connection go, and then it is not ours."""
        connection, conn.sock = conn.sock, Loan(conn.sock)
        try:
            goes_on = super().handle_request(req, conn)
            return goes_on and not conn.sock.is_over
        finally:
            if not conn.sock.is_over:
                conn.sock = connection

    def finish_request(self, conn: Any, fs: Future[Any]) -> None:  # noqa: ANN401 - as above
        """Keep a connection, or close it: where that may take a while, not on the main thread."""
        if fs.cancelled() or fs.exception() or fs.result():
            super().finish_request(conn, fs)
            return
        self.nr_conns -= 1
        if isinstance(conn.sock, Loan):
            return
        if conn.parser.unreader.is_late:
            conn.close()
        else:
            self.tpool.submit(conn.close, graceful=True)
