"""Which servers can serve a stream, by what they say of themselves."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from qless_web.live import hosting
from tests.support.polling import eventually

THREADS = {"wsgi.multithread": True}


@pytest.mark.parametrize(
    ("environ", "reason"),
    [
        ({"SERVER_SOFTWARE": "gunicorn/27"} | THREADS, ""),
        ({"SERVER_SOFTWARE": "gunicorn/27", "wsgi.multithread": False}, "one request at a time"),
        ({"SERVER_SOFTWARE": "WSGIServer/0.2", "wsgi.multithread": False}, "one request at a time"),
        ({"SERVER_SOFTWARE": "gevent/25.5", "wsgi.multithread": False}, ""),
        ({"uwsgi.version": b"2.0"} | THREADS, ""),
        (THREADS, "use a2wsgi"),
        ({"asgi.scope": {}, "wsgi.input": SimpleNamespace()} | THREADS, "use a2wsgi"),
        ({"asgi.scope": {}, "wsgi.input": SimpleNamespace(receive=1, loop=2)} | THREADS, ""),
        ({}, ""),
    ],
)
def test_a_stream_is_refused_where_it_would_harm(environ, reason):
    said = hosting.refusal(environ)

    assert reason in said
    assert bool(said) == bool(reason)


@contextmanager
def running_loop():
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def test_a_browser_behind_asgi_is_gone_once_the_server_says_so():
    with running_loop() as loop:
        told = asyncio.Queue()
        body = SimpleNamespace(loop=loop, receive=told.get)
        peer = hosting.peer({"asgi.scope": {}, "wsgi.input": body})
        loop.call_soon_threadsafe(told.put_nowait, {"type": "http.request"})

        eventually(told.empty)
        assert peer.state() == "ready"

        loop.call_soon_threadsafe(told.put_nowait, {"type": "http.disconnect"})
        eventually(lambda: peer.state() == "gone")
