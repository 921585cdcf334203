"""Sends one message to one webhook: to the address that was looked at, and no further."""

from __future__ import annotations

import http.client
import socket
import ssl
from threading import Timer
from typing import TYPE_CHECKING, NamedTuple

from qless_web.alerts.address import Refused, target

if TYPE_CHECKING:
    from qless_web.alerts.address import Target

#: Seconds that the other side may say nothing, and that all of it may take.
SILENT_S, WHOLE_S = 5.0, 10.0

#: Bytes of the answer that are read: nothing of it is used.
_ANSWER = 1_024

#: Answers that another attempt may change.
_PASSING = frozenset({408, 425, 429, *range(500, 600)})


class Told(NamedTuple):
    """What came of it: "" or why it was not told, and whether another attempt may help."""

    problem: str = ""
    passes: bool = False


def send(url: str, body: bytes, *, private: bool) -> Told:
    """Send a message.

    Args:
        url: where.
        body: JSON.
        private: whether that may be this machine, or a network of one's own.

    Returns:
        What came of it. Nothing of the answer but its status, and nothing of the address.

    """
    try:
        place = target(url, private=private)
    except Refused as error:
        return Told(str(error), passes="not known" in str(error))
    connection = _connection(place)
    try:
        connection.connect()
        return _said(_post(connection, place, body))
    except (OSError, http.client.HTTPException) as error:
        return _lost(error)
    finally:
        connection.close()


def _said(status: int) -> Told:
    if 200 <= status < 300:  # noqa: PLR2004 - HTTP's own
        return Told()
    if 300 <= status < 400:  # noqa: PLR2004 - HTTP's own
        return Told(f"it answered {status}: it is elsewhere, and that is not followed")
    return Told(f"it answered {status}", passes=status in _PASSING)


def _lost(error: Exception) -> Told:
    if isinstance(error, ssl.SSLError):
        return Told("its certificate is none that this machine trusts")
    if isinstance(error, TimeoutError):
        return Told("it did not answer in time", passes=True)
    return Told("the connection was refused, or lost", passes=True)


def _post(connection: http.client.HTTPConnection, place: Target, body: bytes) -> int:
    """Send it; what drips an answer is cut off."""
    late = Timer(WHOLE_S, _cut, (connection.sock,))
    late.daemon = True
    late.start()
    try:
        headers = {"Content-Type": "application/json", "User-Agent": "qless", "Connection": "close"}
        connection.request("POST", place.path, body, headers)
        answer = connection.getresponse()
        answer.read(_ANSWER)
        return answer.status
    finally:
        late.cancel()


def _cut(connected: socket.socket) -> None:
    try:
        connected.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def _connection(place: Target) -> http.client.HTTPConnection:
    if place.scheme == "https":
        return _Secured(place)
    return _Plain(place)


class _Plain(http.client.HTTPConnection):
    """Connects to the address that was looked at, whatever the name stands for by now."""

    def __init__(self, place: Target) -> None:
        super().__init__(place.host, place.port, timeout=SILENT_S)
        self._place = place

    def connect(self) -> None:
        """Connect."""
        self.sock = socket.create_connection((self._place.ip, self._place.port), SILENT_S)


class _Secured(http.client.HTTPSConnection):
    """The same with TLS, for the name."""

    def __init__(self, place: Target) -> None:
        self._tls = ssl.create_default_context()
        super().__init__(place.host, place.port, timeout=SILENT_S, context=self._tls)
        self._place = place

    def connect(self) -> None:
        """Connect."""
        plain = socket.create_connection((self._place.ip, self._place.port), SILENT_S)
        self.sock = self._tls.wrap_socket(plain, server_hostname=self._place.host)
