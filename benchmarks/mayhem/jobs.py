"""The jobs that run while all is killed around them; each leaves a line in a file at once.

The file is outside Redis, and its lines are written in one piece, so that it knows of every time
that a job was begun, whatever became of whom.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from qless_core.clock import Clock

if TYPE_CHECKING:
    from qless_core.job import Job

_file = os.open(os.environ["RUNS"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
_clock = Clock()


def begin(job: Job) -> None:
    """Leave a line: jid, process, how often it may yet be handed out again."""
    os.write(_file, f"{job.jid} {os.getpid()} {job.retries_left}\n".encode())


class Quick:
    """Does nothing."""

    @staticmethod
    def process(job: Job) -> None:
        """Do nothing."""
        begin(job)


class Slow:
    """Takes so many seconds as its data says."""

    @staticmethod
    def process(job: Job) -> None:
        """Take its time."""
        begin(job)
        _clock.wait(job["seconds"])


class Fails:
    """Raises each time, which fails it."""

    @staticmethod
    def process(job: Job) -> None:
        """Raise."""
        begin(job)
        problem = "it is meant to fail"
        raise ValueError(problem)


class Returns:
    """Gives itself back the first time."""

    @staticmethod
    def process(job: Job) -> None:
        """Give itself back, or do nothing."""
        begin(job)
        if job.retries_left == job.original_retries:
            job.retry(delay=0.1)


class Moves:
    """Goes on in another queue."""

    @staticmethod
    def process(job: Job) -> None:
        """Go on in the other queue."""
        begin(job)
        job.complete("later")

    @staticmethod
    def later(job: Job) -> None:
        """Do nothing, there."""
        begin(job)
