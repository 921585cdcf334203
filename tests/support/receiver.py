"""A webhook's other side: a real HTTP server of this process that keeps what it was sent."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Receiver:
    """What came, and what is answered: statuses in turn, then 200; headers go along."""

    url: str = ""
    bodies: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)

    @property
    def states(self) -> list[str]:
        """The state that each message told."""
        return [body["state"] for body in self.bodies]


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Receive for as long as the block lasts."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.bodies.append(json.loads(body))
            receiver.headers.append(dict(self.headers))
            self.send_response(receiver.statuses.pop(0) if receiver.statuses else 200)
            for name, value in receiver.answers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook?token=s3cr3t"
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
