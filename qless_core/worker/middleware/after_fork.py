"""Closing what a process inherited from the one that it was forked from."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qless_core.job import Job


class AfterFork:
    """Calls something before the first job of each process that is forked from this one.

    Connections to databases and the like must not be shared by processes: close them here, so that
    the job opens its own. What fails fails the job, and is called again before the next one.

    Args:
        calls: what to call, in this order.

    """

    def __init__(self, *calls: Callable[[], object]) -> None:
        self._calls = calls
        self._pid = os.getpid()

    def __repr__(self) -> str:
        return f"AfterFork({', '.join(map(repr, self._calls))})"

    @contextmanager
    def __call__(self, job: Job) -> Iterator[None]:  # noqa: ARG002 - every middleware takes it
        """Run a job within."""
        if os.getpid() != self._pid:
            for call in self._calls:
                call()
            self._pid = os.getpid()
        yield
