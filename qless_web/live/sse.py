"""Server-sent events as bytes: names of what changed, never content. All of it is ASCII."""

from __future__ import annotations

import json
from functools import lru_cache

#: Milliseconds after which a browser's own EventSource connects again; live.js decides for itself.
RETRY_MS = 2_000

#: The first bytes, sent at once so that proxies and browsers see that the stream is open.
OPENING = f"retry: {RETRY_MS}\n: qless\n\n".encode()
#: A comment: keeps proxies from closing a stream on which nothing happens.
HEARTBEAT = b": still here\n\n"
#: The last message of a server that stops.
BYE = b"event: bye\ndata: {}\n\n"
#: Redis is back: what is shown may be old.
UP = b"event: up\ndata: {}\n\n"


def down(reason: str) -> bytes:
    """Say that Redis is gone, and why."""
    return _message("down", {"reason": reason})


@lru_cache(maxsize=512)
def change(number: str, topics: frozenset[str]) -> bytes:
    """Name what changed. Browsers that hear the same share the bytes."""
    return _message("change", {"topics": sorted(topics)}, number)


@lru_cache(maxsize=64)
def ready(number: str, topics: frozenset[str]) -> bytes:
    """Say that from here on nothing is missed, and name what may have changed before."""
    return _message("ready", {"topics": sorted(topics)}, number)


def _message(event: str, data: dict[str, object], number: str = "") -> bytes:
    head = f"id: {number}\n" if number else ""
    return f"{head}event: {event}\ndata: {json.dumps(data)}\n\n".encode("ascii")
