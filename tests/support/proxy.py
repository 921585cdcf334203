"""A small reverse proxy with TLS that passes requests on as Traefik's stripPrefix does.

It cuts a prefix off, says so in X-Forwarded-Prefix, sets the other headers whatever the client says
in them, keeps Host, and holds nothing of a stream back.

    python -m tests.support.proxy PORT CERTIFICATE KEY PREFIX TO_PORT
"""

from __future__ import annotations

import http.client
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

#: Headers of one connection, which no proxy passes on.
_HOP = {"connection", "keep-alive", "transfer-encoding", "upgrade"}


class Handler(BaseHTTPRequestHandler):
    """Passes one request on; each answer ends with its connection."""

    prefix = ""
    to = 0

    def _pass_on(self) -> None:
        if self.path.partition("?")[0] != self.prefix and not self.path.startswith(
            f"{self.prefix}/"
        ):
            self.send_error(404)
            return
        behind = http.client.HTTPConnection("127.0.0.1", self.to)
        path = self.path.removeprefix(self.prefix)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        behind.putrequest(
            self.command,
            path if path.startswith("/") else f"/{path}",
            skip_host=True,
            skip_accept_encoding=True,
        )
        for name, value in self._headers():
            behind.putheader(name, value)
        behind.endheaders(body)
        self._pass_back(behind.getresponse())
        behind.close()

    def _headers(self) -> list[tuple[str, str]]:
        """Give what is sent on: what came, but for what a client cannot know."""
        host = self.headers["Host"]
        address = self.client_address[0]
        kept = [
            (name, value)
            for name, value in self.headers.items()
            if name.lower() not in _HOP and not name.lower().startswith("x-forwarded-")
        ]
        told = {
            "For": address,
            "Host": host,
            "Port": host.rpartition(":")[2],
            "Prefix": self.prefix,
            "Proto": "https",
            "Server": "proxy",
        }
        return kept + [(f"X-Forwarded-{name}", value) for name, value in told.items()]

    def _pass_back(self, answer: http.client.HTTPResponse) -> None:
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _HOP:
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        while chunk := answer.read1(65_536):
            self.wfile.write(chunk)
            self.wfile.flush()

    do_GET = do_POST = do_HEAD = _pass_on  # noqa: N815 - the names that the base looks for

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main(port: str, certificate: str, key: str, prefix: str, to: str) -> None:
    Handler.prefix, Handler.to = prefix, int(to)
    trust = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    trust.load_cert_chain(certificate, key)
    server = ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
    # The handshake is left to the thread of the request.
    server.socket = trust.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
