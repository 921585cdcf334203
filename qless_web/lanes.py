"""Threads that ask servers, some for each: one that does not answer holds none but its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

P = ParamSpec("P")
T = TypeVar("T")

#: Threads that ask one server.
THREADS: Final = 4
#: Seconds that a page waits for servers that do not answer.
ANSWERS_S: Final = 2.0


class Lanes:
    """A few threads for each server."""

    def __init__(self) -> None:
        self._lock = Lock()
        # Threads do not survive a fork: they are made where something is asked.
        self._lanes: dict[str, ThreadPoolExecutor] = {}

    def __repr__(self) -> str:
        return f"<Lanes to {', '.join(map(repr, self._lanes))}>"

    def begin(
        self, server: str, call: Callable[P, T], /, *args: P.args, **named: P.kwargs
    ) -> Future[T]:
        """Let a thread of a server call something, as soon as one is free."""
        with self._lock:
            lane = self._lanes.get(server)
            if lane is None:
                lane = self._lanes[server] = ThreadPoolExecutor(THREADS, f"qless-{server}")
        return lane.submit(call, *args, **named)
