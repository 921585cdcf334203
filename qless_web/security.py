"""What keeps other sites and other names out: headers, the same-origin guard, the host list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from flask import abort, request
from werkzeug.wrappers import Response as Plain

from qless_web import problem, request_id
from qless_web.console import current

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment
    from flask import Flask, Response

    from qless_web.settings import Settings

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)

HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

#: Where the dispatcher of shards says below which path one sign-in counts for all of them.
SIGN_IN_ROOT = "qless_web.sign_in_root"

#: Said where `trusted_hosts` does not name the host of a request.
WRONG_HOST = "This console does not answer to that host name."

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

_PORTS = {"http": 80, "https": 443}

#: A name of labels, or an address; as a server in front of browsers ever gets it.
_HOST = re.compile(
    r"(?!.{254})(?:[A-Za-z0-9_-]{1,63}(?:\.[A-Za-z0-9_-]{1,63})*\.?|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
)


class PlaceCheck:
    """Refuses a request whose own address makes no sense, by its headers or a proxy's."""

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request."""
        if found := _misplaced(environ):
            text = f"The {found} of this request makes no sense."
            return _refusal(text, environ)(environ, start_response)
        return self._app(environ, start_response)


def _refusal(text: str, environ: WSGIEnvironment, status: int = 400) -> Plain:
    """Refuse before there is a request that anything else could be asked of."""
    name = request_id.chosen(environ.get("HTTP_X_REQUEST_ID", ""))
    headers = {**HEADERS, request_id.HEADER: name}
    if problem.is_wanted(environ.get("PATH_INFO", "")):
        told = problem.body(status, text, name=name)
        return Plain(told, status, headers, content_type=problem.MEDIA_TYPE)
    return Plain(f"{text}\n", status, headers)


def _misplaced(environ: WSGIEnvironment) -> str:
    """Say which part of a request's address is none; "" when all are."""
    host, prefix = environ.get("HTTP_HOST"), environ.get("SCRIPT_NAME")
    if host and not _HOST.fullmatch(host):
        return "host name"
    if environ.get("wsgi.url_scheme") not in _PORTS:
        return "scheme"
    if prefix and not (prefix.startswith("/") and not prefix.startswith("//")):
        return "prefix"
    return ""


def install(app: Flask, settings: Settings) -> None:
    """Put the guards before every request and the headers on every answer."""

    @app.before_request
    def guard() -> Plain | None:
        if settings.trusted_hosts and _host(request.host) not in settings.trusted_hosts:
            # Plain: whoever got here by a name that is not ours is shown nothing of the queues.
            return _refusal(WRONG_HOST, request.environ, 421)
        if (
            request.method not in _SAFE_METHODS
            and not _brings_a_token()
            and not _same_origin(settings.trusted_origins)
        ):
            abort(403, "Changes are accepted from the console's own pages only.")
        return None

    @app.after_request
    def headers(response: Response) -> Response:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        response.headers.setdefault("Cache-Control", "no-store")
        return response


def bearer() -> str:
    """Give the token that a request of the API brings; "" where it brings none."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def _brings_a_token() -> bool:
    """Tell a request whose token decides: no page of another site can add one by itself."""
    return problem.is_wanted() and bool(current().console.tokens) and bool(bearer())


def _same_origin(trusted: tuple[str, ...]) -> bool:
    """Tell a request of our own pages by what the browser says of where it comes from.

    One that says nothing of it comes from no browser, and has no user's rights to steal.
    """
    origin = request.headers.get("Origin")
    if origin in trusted:
        return True
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site in {"same-origin", "none"}
    # Browsers leave Sec-Fetch-Site out on plain http; "null" is an origin that hides itself.
    here = _place(split(f"{request.scheme}://{request.host}/"))
    return origin is None or (here is not None and _place(split(origin)) == here)


def _place(parts: SplitResult | None) -> tuple[str, str, int | None] | None:
    """Give scheme, host and port; None for what names no place, or also a user."""
    if parts is None or not parts.hostname or "@" in parts.netloc:
        return None
    try:
        port = parts.port
    except ValueError:
        return None
    return parts.scheme, parts.hostname, port or _PORTS.get(parts.scheme)


def split(address: str) -> SplitResult | None:
    """Split an address that anybody may have sent; None where it is none."""
    try:
        return urlsplit(address)
    except ValueError:
        return None


def _host(host: str) -> str:
    return re.sub(r":\d+$", "", host).lower()


def sign_in_root() -> str:
    """Give the path below which a sign-in counts: this console's, or that of all shards."""
    return str(request.environ.get(SIGN_IN_ROOT, request.script_root))


def local_path(path: str, prefix: str) -> str | None:
    """Give the path back if it stays inside the console, else None: no open redirect."""
    if not path.startswith("/") or path.startswith("//") or re.search(r"[\\\x00-\x20\x7f]", path):
        return None
    # Browsers take %2e%2e for a step up, as they do "..".
    inside = unquote(urlsplit(path).path)
    if prefix and inside != prefix and not inside.startswith(f"{prefix}/"):
        return None
    return None if ".." in inside.split("/") else path
