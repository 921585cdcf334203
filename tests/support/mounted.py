"""Consoles mounted in other programs: starts such a program, and asks it over HTTP."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import ssl
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urljoin, urlsplit

from tests.support.polling import PATIENCE_S, eventually
from tests.support.processes import ROOT
from tests.support.streams import Listener

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@dataclass
class Answer:
    """What came back, in the words of Werkzeug's test client."""

    status_code: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def content_type(self) -> str:
        return self.headers.get("Content-Type", "")

    @property
    def text(self) -> str:
        return self.body.decode()

    def get_data(self, *, as_text: bool) -> Any:
        return self.text if as_text else self.body


class Cut:
    """A stream that is listened to, until it is cut as a browser does that leaves."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        self._socket = connection.sock
        self.answer = connection.getresponse()
        self.status = self.answer.status
        self.listener = Listener(self._chunks())

    def _chunks(self) -> Iterator[bytes]:
        while line := self.answer.readline():
            yield line

    def leave(self) -> None:
        with contextlib.suppress(OSError):
            # Wakes who reads, so that what is read from can be closed.
            self._socket.shutdown(socket.SHUT_RDWR)
        self.listener.wait_for_end()
        self.answer.close()
        self._connection.close()


@dataclass(frozen=True)
class Site:
    """A console somewhere: `url` is where it is mounted, without a slash at the end."""

    url: str
    authority: Path | None = None
    streams: list[Cut] = field(default_factory=list)

    @property
    def origin(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def mount(self) -> str:
        return urlsplit(self.url).path

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 0

    def get(self, path: str, **headers: str) -> Answer:
        """Ask for an address of the server; `mount` is part of it."""
        return self._ask("GET", path, None, headers)

    def post(self, path: str, form: Mapping[str, str] | None = None, **headers: str) -> Answer:
        return self._ask("POST", path, urlencode(form or {}), headers)

    def send_in_parts(self, path: str, *parts: bytes) -> Answer:
        """Post JSON in chunks, without a length."""
        return self._ask("POST", path, iter(parts), {"Content-Type": "application/json"})

    def follow(self, path: str) -> Answer:
        """Ask as a browser does, which goes where it is sent."""
        answer = self.get(path)
        while answer.status_code in {301, 302, 303, 307, 308}:
            place = urljoin(self.origin + path, answer.headers["Location"])
            assert place.startswith(self.origin), f"{path} leads to {place}"
            path = place.removeprefix(self.origin)
            answer = self.get(path)
        return answer

    def listen(self, *topics: str) -> Cut:
        """Open a stream of live updates."""
        connection = self._connection()
        query = urlencode([("topics", topic) for topic in topics])
        connection.request("GET", f"{self.mount}/events?{query}")
        stream = Cut(connection)
        self.streams.append(stream)
        return stream

    def close(self) -> None:
        for stream in self.streams:
            stream.leave()

    def _ask(
        self, method: str, path: str, body: str | Iterator[bytes] | None, given: Mapping[str, str]
    ) -> Answer:
        connection = self._connection()
        headers = {name.replace("_", "-"): value for name, value in given.items()}
        if isinstance(body, str):
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            connection.request(
                method, path, body, headers, encode_chunked=not isinstance(body, str | None)
            )
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        host, port = parts.hostname or "", parts.port
        if parts.scheme == "http":
            return http.client.HTTPConnection(host, port, timeout=PATIENCE_S)
        trust = ssl.create_default_context(cafile=self.authority)
        return http.client.HTTPSConnection(host, port, timeout=PATIENCE_S, context=trust)


@dataclass
class Programs:
    """Programs that run in a folder of their own until the test ends."""

    folder: Path
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def log(self) -> str:
        """What they wrote, all of them."""
        return (self.folder / "log").read_text()

    def start(self, port: int, *command: str, **more: str) -> subprocess.Popen[bytes]:
        """Start one, and return when its port answers."""
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith("QLESS_")
        }
        with (self.folder / "log").open("a") as log:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**inherited, "PYTHONPATH": f"{self.folder}:{ROOT}", **more},
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )
        self.running.append(process)
        eventually(lambda: self._answers(process, port))
        return process

    def python(self, port: int, *command: str, **more: str) -> subprocess.Popen[bytes]:
        """Start a program of this Python: `-m …`, or a file."""
        return self.start(port, sys.executable, *command, **more)

    def _answers(self, process: subprocess.Popen[bytes], port: int) -> bool:
        assert process.poll() is None, f"it ended: {self.log}"
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            return False
        return True

    def end(self) -> None:
        for process in reversed(self.running):
            process.terminate()
        for process in reversed(self.running):
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise
