"""What keeps other sites and other names out: headers, the same-origin guard, the host list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from flask import abort, request

if TYPE_CHECKING:
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

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def install(app: Flask, settings: Settings) -> None:
    """Put the guards before every request and the headers on every answer."""

    @app.before_request
    def guard() -> None:
        if settings.trusted_hosts and _host(request.host) not in settings.trusted_hosts:
            abort(421, "This console does not answer to that host name.")
        if request.method not in _SAFE_METHODS and not _same_origin(settings.trusted_origins):
            abort(403, "Changes are accepted from the console's own pages only.")

    @app.after_request
    def headers(response: Response) -> Response:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        response.headers.setdefault("Cache-Control", "no-store")
        return response


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
    return origin is None or urlsplit(origin).netloc == request.host


def _host(host: str) -> str:
    return re.sub(r":\d+$", "", host).lower()


def local_path(path: str, prefix: str) -> str | None:
    """Give the path back if it stays inside the console, else None: no open redirect."""
    if not path.startswith("/") or path.startswith("//") or re.search(r"[\\\x00-\x20\x7f]", path):
        return None
    inside = urlsplit(path).path
    if prefix and inside != prefix and not inside.startswith(f"{prefix}/"):
        return None
    return None if ".." in inside.split("/") else path
