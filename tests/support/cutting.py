"""A way to Redis on which answers are lost: the command arrives, and the line is cut."""

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
def cut_off(redis: Redis, cuts: int = 1_000_000, greetings: int = 0) -> Iterator[Redis]:
    """Give a client of another one's server that does not hear of the first answers.

    Args:
        redis: the client of the server.
        cuts: how many answers are lost.
        greetings: how many come through first on each connection.

    """
    path = redis.connection_pool.connection_kwargs["path"]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=_serve, args=(listener, path, cuts, greetings), daemon=True)
        thread.start()
        port = listener.getsockname()[1]
        with Redis(port=port, protocol=2, driver_info=None, retry=Retry(NoBackoff(), 0)) as client:
            yield client
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()


def _serve(listener: socket.socket, path: str, cuts: int, greetings: int) -> None:
    while True:
        try:
            incoming, _ = listener.accept()
        except OSError:
            return
        with incoming, socket.socket(socket.AF_UNIX) as outgoing:
            outgoing.connect(path)
            greeted = 0
            while sent := incoming.recv(65536):
                outgoing.sendall(sent)
                answer = outgoing.recv(65536)  # carried out
                greeted += 1
                if cuts > 0 and greeted > greetings:
                    cuts -= 1
                    break
                incoming.sendall(answer)
