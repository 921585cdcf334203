"""The other end of a stream: whether it is still there, and whether it takes what it is sent.

A server's write blocks for as long as a browser does not read, and tells of one that left only
when it fails. So the socket, where the server shows it, is asked first.
"""

from __future__ import annotations

import contextlib
import select
import socket

#: Milliseconds after which the kernel gives up on a peer that vanished without a word.
VANISHED_AFTER_MS = 30_000


class Peer:
    """Looks at a connection without ever waiting; without a socket it is taken for willing."""

    def __init__(self, connection: socket.socket | None = None) -> None:
        self._socket = connection
        if connection is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
            with contextlib.suppress(OSError):  # a Unix socket has no such option, and no need
                connection.setsockopt(
                    socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, VANISHED_AFTER_MS
                )

    def state(self) -> str:
        """Say `ready` when it takes a small message, `slow` when not now, `gone` when never."""
        if self._socket is None or not hasattr(select, "poll"):
            return "ready"
        try:
            poller = select.poll()
            poller.register(self._socket, select.POLLIN | select.POLLOUT)
            found = sum(event for _, event in poller.poll(0))
            gone = found & (select.POLLERR | select.POLLHUP | select.POLLNVAL)
            if gone or (found & select.POLLIN and self._ended(self._socket)):
                return "gone"
        except (OSError, ValueError):
            return "gone"
        return "ready" if found & select.POLLOUT else "slow"

    @staticmethod
    def _ended(connection: socket.socket) -> bool:
        """Say whether what can be read is the end."""
        try:
            return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except ValueError:  # TLS does not let anyone peek; the next write will tell
            return False
