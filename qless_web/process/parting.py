"""Connections that no thread has any more: they take the rest of an answer, or their leave.

Who reads slowly, or does not hang up, is waited for by the thread that waits for all of them.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from functools import partial
from selectors import EVENT_READ, EVENT_WRITE
from typing import TYPE_CHECKING, Final

from qless_core.clock import Clock
from qless_web.process.loan import PATIENCE_S, SLOWEST

if TYPE_CHECKING:
    from collections.abc import Callable
    from selectors import BaseSelector

    Then = Callable[[object], None]

#: Seconds that a client has to hang up, and bytes that are heard from it meanwhile: to close with
#: some of them unread would take back the answer.
_LINGER_S: Final = 2.0
_HEARD: Final = 65_536
#: Seconds between two looks for those whose time is up.
_LOOK_S: Final = 0.5

_CLOCK: Final = Clock()


@dataclass(slots=True)
class _Part:
    """What is waited for: `then` is told something true where it came."""

    until: float
    then: Then
    rest: bytes = b""
    heard: int = 0


class Parting:
    """Waits for clients on the thread that calls it, which asks `poller` and calls what that has.

    Args:
        poller: tells which connection is ready.

    """

    def __init__(self, poller: BaseSelector) -> None:
        self._poller = poller
        self._parts: dict[socket.socket, _Part] = {}
        self._looked = 0.0

    def send(self, connection: socket.socket, rest: bytes, then: Then) -> None:
        """Send the rest of an answer, as fast as it is taken.

        Args:
            connection: to whom.
            rest: it.
            then: called with whether all was taken.

        """
        until = _CLOCK.monotonic() + PATIENCE_S + len(rest) / SLOWEST
        self._begin(connection, _Part(until, then, rest), EVENT_WRITE, self._send_more)

    def hear_out(self, connection: socket.socket, then: Then) -> None:
        """Say that nothing more comes, and wait a moment until the client hangs up.

        Args:
            connection: to whom.
            then: called at the end, with whether it did.

        """
        part = _Part(_CLOCK.monotonic() + _LINGER_S, then)
        try:
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            then(None)
        else:
            self._begin(connection, part, EVENT_READ, self._hear_more)

    def look(self) -> None:
        """Go on without those whose time is up; cheap where it was called just before."""
        now = _CLOCK.monotonic()
        if now - self._looked < _LOOK_S:
            return
        self._looked = now
        for connection in [each for each, part in self._parts.items() if part.until < now]:
            self._end(connection, is_well=False)

    def _begin(
        self,
        connection: socket.socket,
        part: _Part,
        event: int,
        more: Callable[[socket.socket, object], None],
    ) -> None:
        connection.settimeout(0)
        self._parts[connection] = part
        self._poller.register(connection, event, partial(more, connection))

    def _end(self, connection: socket.socket, *, is_well: bool) -> None:
        self._poller.unregister(connection)
        self._parts.pop(connection).then(is_well)

    def _send_more(self, connection: socket.socket, _ready: object) -> None:
        part = self._parts[connection]
        try:
            part.rest = part.rest[connection.send(part.rest) :]
        except BlockingIOError:
            return
        except OSError:
            self._end(connection, is_well=False)
            return
        if not part.rest:
            self._end(connection, is_well=True)

    def _hear_more(self, connection: socket.socket, _ready: object) -> None:
        part = self._parts[connection]
        try:
            data = connection.recv(_HEARD)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        part.heard += len(data)
        if not data or part.heard >= _HEARD:
            self._end(connection, is_well=not data)
