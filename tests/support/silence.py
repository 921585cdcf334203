"""A way to a server that can fall silent: connections stay, and what is sent is swallowed."""

from __future__ import annotations

import socket
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Proxy:
    """Passes bytes on in both ways, as long as it is not silent."""

    def __init__(self, listener: socket.socket, port: int) -> None:
        self._listener = listener
        self._port = port
        self._passes = Event()
        self._passes.set()
        self.url = f"redis://127.0.0.1:{listener.getsockname()[1]}/0"

    def fall_silent(self) -> None:
        """Swallow all bytes from now on; a connection that swallowed some is lost for good."""
        self._passes.clear()

    def speak_again(self) -> None:
        self._passes.set()

    def serve(self) -> None:
        while True:
            try:
                incoming, _ = self._listener.accept()
            except OSError:
                return
            try:
                outgoing = socket.create_connection(("127.0.0.1", self._port))
            except OSError:
                incoming.close()
                continue
            for ends in ((incoming, outgoing), (outgoing, incoming)):
                Thread(target=self._carry, args=ends, daemon=True).start()

    def _carry(self, reads: socket.socket, writes: socket.socket) -> None:
        is_whole = True
        with suppress(OSError):
            while data := reads.recv(65536):
                is_whole = is_whole and self._passes.is_set()
                if is_whole:
                    writes.sendall(data)
                elif self._passes.is_set():
                    break
        for end in (reads, writes):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@contextmanager
def proxied(port: int) -> Iterator[Proxy]:
    """Give a way to the server at a port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = Proxy(listener, port)
        thread = Thread(target=proxy.serve, daemon=True)
        thread.start()
        yield proxy
        listener.shutdown(socket.SHUT_RDWR)
    thread.join()
