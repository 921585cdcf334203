"""A connection that a thread of gunicorn has for one request, and may let go for good.

gunicorn knows no way to keep a connection without the thread that answers on it, which a stream
would hold for hours. So for the time of a request it has this in place of the socket.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket

#: What gunicorn does at the end of a request.
_LAST = frozenset({"sendall", "send", "shutdown", "close"})


class Loan:
    """Stands in for a socket until that was let go; from then on it takes everything in silence.

    Args:
        connection: the socket.

    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        #: Whether the connection was let go.
        self.is_over = False

    def hand_over(self) -> socket.socket:
        """Give the connection to whoever feeds it from now on, and closes it."""
        self.is_over = True
        return self._connection

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a socket has
        if self.is_over and name in _LAST:
            return _nothing
        return getattr(self._connection, name)


def _nothing(*_: object, **__: object) -> int:
    return 0
