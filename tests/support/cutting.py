"""A way to Redis on which every answer is lost: the command arrives, and the line is cut."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def cut_off(redis: Redis) -> Iterator[Redis]:
    """Give a client that reaches the server of another one, but never hears of it."""
    path = redis.connection_pool.connection_kwargs["path"]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=_serve, args=(listener, path), daemon=True)
        thread.start()
        port = listener.getsockname()[1]
        with Redis(port=port, protocol=2, driver_info=None, retry=Retry(NoBackoff(), 0)) as client:
            yield client
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def _serve(listener: socket.socket, path: str) -> None:
    while True:
        try:
            incoming, _ = listener.accept()
        except OSError:
            return
        with incoming, socket.socket(socket.AF_UNIX) as outgoing:
            outgoing.connect(path)
            outgoing.sendall(incoming.recv(65536))
            outgoing.recv(65536)  # carried out
