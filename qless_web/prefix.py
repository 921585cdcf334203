"""Serves the console under a path of its own when nothing in front of it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from werkzeug.wrappers import Response

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class Prefix:
    """Moves a prefix from the path to SCRIPT_NAME, and answers 404 to everything outside it."""

    def __init__(self, app: WSGIApplication, prefix: str) -> None:
        self._app = app
        self._prefix = prefix

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request."""
        path = environ.get("PATH_INFO", "")
        script = environ.get("SCRIPT_NAME", "")
        if script.endswith(self._prefix):
            return self._app(environ, start_response)
        if path in {self._prefix, "", "/"}:
            home = Response(status=308, headers={"Location": f"{script}{self._prefix}/"})
            return home(environ, start_response)
        if not path.startswith(f"{self._prefix}/"):
            return Response("Nothing here.", 404)(environ, start_response)
        environ["SCRIPT_NAME"] = script + self._prefix
        environ["PATH_INFO"] = path[len(self._prefix) :]
        return self._app(environ, start_response)
