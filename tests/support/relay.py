"""A way to a server that can be held up without an end of its connections: nothing comes back."""

from __future__ import annotations

import socket
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Relay:
    """Passes on what is sent both ways.

    Attributes:
        port: where it listens.
        flows: while it is not set, nothing comes back from the server.

    """

    def __init__(self, listener: socket.socket, to: int) -> None:
        self.port: int = listener.getsockname()[1]
        self.flows = Event()
        self.flows.set()
        self._listener = listener
        self._to = to
        self._sockets: list[socket.socket] = []

    def serve(self) -> None:
        """Take connections for as long as it listens."""
        with suppress(OSError):
            while True:
                incoming, _ = self._listener.accept()
                outgoing = socket.create_connection(("127.0.0.1", self._to))
                self._sockets += [incoming, outgoing]
                always = Event()
                always.set()
                for pair in ((incoming, outgoing, always), (outgoing, incoming, self.flows)):
                    Thread(target=_pass_on, args=pair, daemon=True).start()

    def cut(self) -> None:
        """End every connection, and take no more."""
        for each in (self._listener, *self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self.flows.set()


def _pass_on(source: socket.socket, goal: socket.socket, flows: Event) -> None:
    with suppress(OSError):
        while sent := source.recv(65536):
            flows.wait()
            goal.sendall(sent)
    for each in (source, goal):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


@contextmanager
def relay(to: int) -> Iterator[Relay]:
    """Give a way to a port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = Relay(listener, to)
        thread = Thread(target=made.serve, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            made.cut()
            thread.join(5)
