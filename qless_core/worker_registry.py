"""`client.workers`: which workers Redis knows, and what each one holds.

This reads who is working; the package `qless_core.worker` runs work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qless_core.client import Client
    from qless_core.records import WorkerCounts, WorkerJobs


class Workers:
    """The workers seen lately (option `max-worker-age`)."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __repr__(self) -> str:
        return f"<Workers of {self._client!r}>"

    @property
    def counts(self) -> list[WorkerCounts]:
        """How many jobs each worker holds, the most recently seen first."""
        return self._client.commands.workers()

    def __getitem__(self, worker: str) -> WorkerJobs:
        """Read the jids that a worker holds; empty for one that is not known."""
        return self._client.commands.worker(worker)

    def deregister(self, *workers: str) -> None:
        """Take workers off the list; one that still works comes back with its next pop."""
        if workers:
            self._client.commands.worker_deregister(*workers)
