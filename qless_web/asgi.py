"""What a2wsgi leaves unsaid of a request that came by way of ASGI."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class WholeBody:
    """Says that a body ends by itself, so that one without a length, in chunks, is read at all."""

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request."""
        # Not of a GET: what comes after its body tells a stream that the browser has left.
        if "asgi.scope" in environ and environ["REQUEST_METHOD"] not in {"GET", "HEAD"}:
            environ["wsgi.input_terminated"] = True
        return self._app(environ, start_response)
