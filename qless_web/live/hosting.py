"""What the server that runs the console lets a stream do, by what it says in the WSGI environ."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Protocol, cast

from qless_web.live.peer import Peer

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable, Mapping
    from concurrent.futures import Future

    Environ = Mapping[str, Any]

#: What servers call the socket of a request.
_SOCKETS = ("gunicorn.socket", "werkzeug.socket")
#: Names that a real server gives itself; adapters from ASGI and test clients have none.
_NAMES = ("SERVER_SOFTWARE", "uwsgi.version")


class _Input(Protocol):
    """The body of a request as a2wsgi has it: with what tells an ASGI application of its end."""

    loop: asyncio.AbstractEventLoop
    receive: Callable[[], Awaitable[Mapping[str, Any]]]


def refusal(environ: Environ) -> str:
    """Say why no stream can be served here; "" where one can."""
    multithread = bool(environ.get("wsgi.multithread"))
    name = str(environ.get("SERVER_SOFTWARE", ""))
    if name and not multithread and not name.startswith("gevent"):
        return "this server serves one request at a time; give it threads"
    if multithread and not any(environ.get(each) for each in _NAMES) and not _asgi(environ):
        return "this adapter from ASGI does not tell when a browser leaves; use a2wsgi"
    return ""


def let_go(environ: Environ) -> Callable[[], socket.socket] | None:
    """Give what takes the connection from the server for good; None where it keeps it."""
    if environ.get("SERVER_PROTOCOL") != "HTTP/1.1":  # before it there were no chunks
        return None
    found = getattr(environ.get("gunicorn.socket"), "hand_over", None)
    return cast("Callable[[], socket.socket] | None", found)


def peer(environ: Environ) -> Peer:
    """Give the other end of a request."""
    if (body := _asgi(environ)) is not None:
        return _AsgiPeer(body)
    return Peer(next((environ[name] for name in _SOCKETS if environ.get(name)), None))


def _asgi(environ: Environ) -> _Input | None:
    body = environ.get("wsgi.input")
    known = "asgi.scope" in environ and hasattr(body, "receive") and hasattr(body, "loop")
    return cast("_Input", body) if known else None


class _AsgiPeer(Peer):
    """A browser behind ASGI: there no write fails, but the server says when it has left."""

    def __init__(self, body: _Input) -> None:
        super().__init__()
        self._left: Future[None] = asyncio.run_coroutine_threadsafe(_until_gone(body), body.loop)

    def state(self) -> str:
        """Say `ready` or `gone`."""
        return "gone" if self._left.done() else "ready"


async def _until_gone(body: _Input) -> None:
    while (await body.receive())["type"] != "http.disconnect":
        pass
