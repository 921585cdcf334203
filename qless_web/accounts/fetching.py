"""Asks another server for a JSON object: of bounded size, in bounded time, there alone."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit

from qless_core import wire
from qless_core.clock import REAL

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Seconds that the other side may say nothing, and that all of its answer may take.
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


def _ask(request: urllib.request.Request) -> dict[str, Any]:
    if not is_safe(request.full_url):
        problem = "its address is neither https nor on this machine"
        raise Unreachable(problem)
    opener = urllib.request.build_opener(_Nowhere)
    until = REAL.monotonic() + WHOLE_S
    try:
        with opener.open(request, timeout=SILENT_S) as answer:
            return _object(_read(answer, until))
    except urllib.error.HTTPError as error:
        raise _refused(error, until) from None
    except (OSError, http.client.HTTPException, ValueError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise Unreachable(problem) from None


def _refused(error: urllib.error.HTTPError, until: float) -> Unreachable:
    with error:
        try:
            told = _object(_read(error, until))
        except (OSError, http.client.HTTPException, ValueError):
            told = {}
    return Unreachable(f"it answered {error.code}", error.code, told)


def _read(answer: Any, until: float) -> bytes:  # noqa: ANN401 - what urllib gives has no one type
    whole = b""
    while part := answer.read1(_PART):
        whole += part
        if len(whole) > MOST or REAL.monotonic() > until:
            problem = "it says too much, or too slowly"
            raise OSError(problem)
    return whole


def _object(body: bytes) -> dict[str, Any]:
    found = wire.loads(body.decode())
    if not isinstance(found, dict):
        problem = "it is no JSON object"
        raise ValueError(problem)  # noqa: TRY004 - as all that cannot be read
    return found
