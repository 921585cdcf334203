"""Asks another server for a JSON object: of bounded size, in bounded time, there alone."""

from __future__ import annotations

import http.client
import socket
import urllib.error
import urllib.request
from threading import Timer
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlencode, urlsplit

from qless_core import wire
from qless_core.clock import REAL

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Seconds that the other side may say nothing, and that all of it may take.
SILENT_S: Final = 5.0
WHOLE_S: Final = 10.0
#: Bytes of an answer, and of one part of it.
MOST: Final = 512 * 1024
_PART: Final = 32 * 1024

#: Hosts that may be asked without TLS: nobody stands between.
_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class Unreachable(Exception):  # noqa: N818 - it says what is the case
    """Raised where there is no answer to use; the message says why, for the log.

    Attributes:
        status: what the other side answered; 0 where it did not.
        told: the object that came along with a refusal.

    """

    def __init__(self, why: str, status: int = 0, told: Mapping[str, Any] | None = None) -> None:
        super().__init__(why)
        self.status = status
        self.told = dict(told or {})


def is_safe(url: object) -> bool:
    """Say whether secrets may go to an address: by TLS, or to this machine.

    >>> [is_safe(each) for each in ("https://id.example/", "http://id.example/", "http://[::1]:80/")]
    [True, False, True]
    """
    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        _ = parts.port
    except ValueError:
        return False
    if not parts.hostname or "@" in parts.netloc:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _HERE)


def get(url: str) -> dict[str, Any]:
    """Ask for an object.

    Raises:
        Unreachable: there is none.

    """
    return _ask(urllib.request.Request(url, headers=_HEADERS))  # noqa: S310 - only where is_safe


def post(url: str, fields: Mapping[str, str], headers: Mapping[str, str]) -> dict[str, Any]:
    """Send a form, and give the object that is answered.

    Raises:
        Unreachable: there is none.

    """
    body = urlencode(fields).encode()
    return _ask(urllib.request.Request(url, body, {**_HEADERS, **headers}))  # noqa: S310 - as above


_HEADERS: Final = {"Accept": "application/json", "User-Agent": "qless"}


class _Nowhere(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: what was sent is meant for one address."""

    def redirect_request(self, *_args: object, **_named: object) -> None:
        """Follow none."""


class _Leash:
    """The connections of one request: they are cut off when its time is over, whatever they do.

    urllib bounds each silence alone, and each attempt to connect: of several addresses, several.
    """

    def __init__(self, whole_s: float) -> None:
        self._until = REAL.monotonic() + whole_s
        self._held: list[socket.socket] = []
        self._late = Timer(whole_s, self._cut)
        self._late.daemon = True

    def __enter__(self) -> Self:
        self._late.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._late.cancel()
        for each in self._held:
            each.close()

    @property
    def is_over(self) -> bool:
        """Whether the time is over."""
        return REAL.monotonic() >= self._until

    def connect(
        self, address: tuple[str, int], timeout: float, _source: object = None
    ) -> socket.socket:
        """Connect to a host and a port, at one of its addresses.

        Raises:
            OSError: it cannot be done, or not in time.

        """
        problem: OSError = TimeoutError("it was not reached in time")
        for *_, place in socket.getaddrinfo(*address, type=socket.SOCK_STREAM):
            left = self._until - REAL.monotonic()
            if left <= 0:
                break
            try:
                found = socket.create_connection((str(place[0]), address[1]), min(timeout, left))
            except OSError as error:
                problem = error
                continue
            found.settimeout(timeout)
            # A second name of the same connection: TLS takes the first one for itself.
            self._held.append(found.dup())
            if not self.is_over:
                return found
            found.close()
        raise problem

    def _cut(self) -> None:
        for each in self._held:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # it has ended by itself


class _Plain(urllib.request.HTTPHandler):
    def __init__(self, leash: _Leash) -> None:
        super().__init__()
        self._leash = leash

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_leashed(http.client.HTTPConnection, self._leash), req)


class _Secured(urllib.request.HTTPSHandler):
    def __init__(self, leash: _Leash) -> None:
        super().__init__()
        self._leash = leash

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_leashed(http.client.HTTPSConnection, self._leash), req)


def _leashed(kind: type[http.client.HTTPConnection], leash: _Leash) -> Any:  # noqa: ANN401 - as urllib wants it
    def make(host: str, **told: Any) -> http.client.HTTPConnection:  # noqa: ANN401 - passed on
        connection = kind(host, **told)
        # What http.client connects by, also to a proxy, is an attribute, if one without a promise.
        connection._create_connection = leash.connect  # type: ignore[attr-defined]  # noqa: SLF001 - as above
        return connection

    return make


def _ask(request: urllib.request.Request) -> dict[str, Any]:
    if not is_safe(request.full_url):
        problem = "its address is neither https nor on this machine"
        raise Unreachable(problem)
    with _Leash(WHOLE_S) as leash:
        try:
            with _opener(request, leash).open(request, timeout=SILENT_S) as answer:
                return _object(_read(answer))
        except urllib.error.HTTPError as error:
            raise _refused(error) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            problem = f"{type(error).__name__}: {error}"
            raise Unreachable("it took too long" if leash.is_over else problem) from None


def _opener(request: urllib.request.Request, leash: _Leash) -> urllib.request.OpenerDirector:
    here = urlsplit(request.full_url).hostname in _HERE
    # The proxy of this machine is somebody in between: it is for what may go by TLS alone.
    direct = [urllib.request.ProxyHandler({})] if here else []
    return urllib.request.build_opener(_Nowhere, _Plain(leash), _Secured(leash), *direct)


def _refused(error: urllib.error.HTTPError) -> Unreachable:
    with error:
        try:
            told = _object(_read(error))
        except (OSError, http.client.HTTPException, ValueError):
            told = {}
    return Unreachable(f"it answered {error.code}", error.code, told)


def _read(answer: Any) -> bytes:  # noqa: ANN401 - what urllib gives has no one type
    whole = b""
    while part := answer.read1(_PART):
        whole += part
        if len(whole) > MOST:
            problem = "it says too much"
            raise OSError(problem)
    return whole


def _object(body: bytes) -> dict[str, Any]:
    found = wire.loads(body.decode())
    if not isinstance(found, dict):
        problem = "it is no JSON object"
        raise ValueError(problem)  # noqa: TRY004 - as all that cannot be read
    return found
