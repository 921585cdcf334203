"""Listens to `/events` as a browser does, from the hub itself or over HTTP."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from dataclasses import dataclass
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from tests.support.polling import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True)
class Message:
    """One message of a stream; a comment has no event, and its text as data."""

    event: str
    data: Any
    id: str = ""

    @property
    def topics(self) -> list[str]:
        topics: list[str] = self.data["topics"]
        return topics


def parsed(chunks: Iterable[bytes]) -> Iterator[Message]:
    """Read messages out of the bytes of a stream."""
    rest = b""
    for chunk in chunks:
        *blocks, rest = (rest + chunk).split(b"\n\n")
        for block in blocks:
            fields = {
                line.partition(":")[0]: line.partition(":")[2].strip()
                for line in block.decode("ascii").split("\n")
            }
            data = json.loads(fields["data"]) if "data" in fields else fields.get("", "")
            yield Message(fields.get("event", ""), data, fields.get("id", ""))


class Listener:
    """Reads a stream in a thread of its own, and waits for what is expected of it."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self.messages: list[Message] = []
        self.ended = False
        self._news = Condition()
        self._thread = Thread(target=self._read, args=(chunks,), daemon=True)
        self._thread.start()

    def _read(self, chunks: Iterable[bytes]) -> None:
        try:
            for message in parsed(chunks):
                with self._news:
                    self.messages.append(message)
                    self._news.notify_all()
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            pass  # the connection was cut, by us or by the server
        with self._news:
            self.ended = True
            self._news.notify_all()

    def wait_for(
        self, event: str, topic: str | None = None, *, after: int = 0, within: float = PATIENCE_S
    ) -> Message:
        """Wait for a message of a kind, if need be one that names a topic."""

        def found() -> Message | None:
            for message in self.messages[after:]:
                if message.event == event and (topic is None or topic in message.topics):
                    return message
            return None

        with self._news:
            self._news.wait_for(lambda: found() or self.ended, within)
            message = found()
        assert message, f"no {event} of {topic} among {self.messages[after:]}"
        return message

    def wait_for_end(self, within: float = PATIENCE_S) -> None:
        with self._news:
            assert self._news.wait_for(lambda: self.ended, within), "the stream goes on"


class Connection:
    """A connection to `/events` of a running console."""

    def __init__(self, url: str, topics: Iterable[str] = (), *, last_id: str = "") -> None:
        place = urlsplit(url)
        self._connection = http.client.HTTPConnection(
            place.hostname or "", place.port, timeout=PATIENCE_S * 3
        )
        query = urlencode([("topics", json.dumps(list(topics)))]) if topics else ""
        headers = {"Last-Event-ID": last_id} if last_id else {}
        self._connection.request("GET", f"{place.path.rstrip('/')}/events?{query}", headers=headers)
        self._socket = self._connection.sock
        self.response = self._connection.getresponse()

    def chunks(self) -> Iterator[bytes]:
        while line := self.response.readline():
            yield line

    def close(self) -> None:
        with contextlib.suppress(OSError):
            # Wakes who reads, so that what is read from can be closed.
            self._socket.shutdown(socket.SHUT_RDWR)
        self.response.close()
        self._connection.close()
