"""Serves a console from a thread of this process, for a real browser."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from werkzeug.serving import make_server

from qless_web import create_app
from qless_web.console import EXTENSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core import Client
    from qless_web.live.hub import Hub


@dataclass(frozen=True)
class Served:
    """A console that runs in this process: where its first page is, and what feeds its pages."""

    url: str
    hub: Hub


@contextmanager
def served(
    client: Client,
    *,
    working: bool = False,
    **settings: Any,
) -> Iterator[Served]:
    """Serve a console of the client for as long as the block lasts.

    Args:
        client: whose queues they are.
        working: whether it does operations, as the command does.
        settings: of the console.

    """
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    app = create_app(client, **settings)
    hub = app.extensions[EXTENSION].hub
    if working:
        app.extensions[EXTENSION].operations.start()
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Served(f"http://127.0.0.1:{server.server_port}", hub)
    finally:
        hub.close()
        app.extensions[EXTENSION].operations.close()
        server.shutdown()
        server.server_close()
        thread.join(5)
