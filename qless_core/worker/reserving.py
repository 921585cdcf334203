"""Which queue the next job comes from."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.job import Job
    from qless_core.queue import Queue


class Reserver(Protocol):
    """Takes the next job from some queues."""

    #: The queues it takes from.
    queues: tuple[Queue, ...]

    def reserve(self) -> Job | None:
        """Take a job; None when no queue has one."""


class Ordered:
    """Takes from the first queue that has a job: a later queue waits for all before it."""

    def __init__(self, queues: Iterable[Queue]) -> None:
        self.queues = tuple(queues)

    def __repr__(self) -> str:
        return f"Ordered({[queue.name for queue in self.queues]!r})"

    def reserve(self) -> Job | None:
        """Take a job; None when no queue has one."""
        for queue in self.queues:
            job = queue.pop()
            if job is not None:
                return job
        return None


class RoundRobin:
    """Takes from the queues in turn: none waits for another to be empty."""

    def __init__(self, queues: Iterable[Queue]) -> None:
        self.queues = tuple(queues)
        self._turns = deque(self.queues)

    def __repr__(self) -> str:
        return f"RoundRobin({[queue.name for queue in self.queues]!r})"

    def reserve(self) -> Job | None:
        """Take a job; None when no queue has one."""
        for _ in range(len(self._turns)):
            queue = self._turns[0]
            self._turns.rotate(-1)
            job = queue.pop()
            if job is not None:
                return job
        return None
