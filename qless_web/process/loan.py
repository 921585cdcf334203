"""A connection that a thread of gunicorn has for one request, and may let go for good.

gunicorn knows no way to keep a connection without the thread that answers on it, which a stream
would hold for hours, and who does not read their answer for ever. So for the time of a request it
has this in place of the socket.
"""

from __future__ import annotations

import errno
import select
import socket
from typing import Any, Final

from qless_core.clock import Clock

#: What gunicorn does at the end of a request.
_LAST = frozenset({"send", "shutdown", "close"})

#: Bytes of an answer that may be left when its thread goes: pages and their parts are smaller.
LARGEST: Final = 262_144
#: Seconds that a client may take for an answer, and the bytes that give it one more second each.
PATIENCE_S: Final = 10.0
SLOWEST: Final = 16_384

_CLOCK: Final = Clock()


class Loan:
    """Stands in for a socket until that was let go; from then on it takes everything in silence.

    Args:
        connection: the socket.

    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._rest = bytearray()
        self._patience_s = PATIENCE_S
        #: Whether the connection was let go.
        self.is_over = False

    def sendall(self, data: bytes) -> None:
        """Send what the client takes now; waits only where much is left.

        Raises:
            OSError: the client has left, or is too slow.

        """
        if self.is_over:
            return
        self._rest += data
        self._patience_s += len(data) / SLOWEST
        self._send()
        if len(self._rest) > LARGEST:
            self._wait(LARGEST)

    def rest(self) -> bytes:
        """Give what the client has not taken yet."""
        return bytes(self._rest)

    def hand_over(self) -> socket.socket:
        """Give the connection to whoever feeds it from now on, and closes it.

        Raises:
            OSError: the client has left, or is too slow.

        """
        self._wait(0)
        self.is_over = True
        return self._connection

    def _send(self) -> None:
        while self._rest:
            try:
                del self._rest[: self._connection.send(self._rest, socket.MSG_DONTWAIT)]
            except BlockingIOError:
                return

    def _wait(self, most: int) -> None:
        """Wait until no more than so many bytes are left."""
        poll = select.poll()
        poll.register(self._connection, select.POLLOUT)
        while len(self._rest) > most:
            began = _CLOCK.monotonic()
            if not poll.poll(max(0.0, self._patience_s) * 1000):
                # gunicorn logs this number no more than a client that has left.
                raise TimeoutError(errno.ECONNRESET, "the answer was not taken")
            self._patience_s -= _CLOCK.monotonic() - began
            self._send()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a socket has
        if self.is_over and name in _LAST:
            return _nothing
        return getattr(self._connection, name)


def _nothing(*_: object, **__: object) -> int:
    return 0
