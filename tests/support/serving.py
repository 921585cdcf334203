"""Serves a console from a thread of this process, for a real browser."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from werkzeug.serving import make_server

from qless_web import create_app
from qless_web.console import EXTENSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core import Client


@contextmanager
def served(client: Client, **settings: object) -> Iterator[str]:
    """Serve a console of the client; gives the address of its first page."""
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    app = create_app(client, **settings)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        app.extensions[EXTENSION].hub.close()
        server.shutdown()
        server.server_close()
        thread.join(5)
