"""`client.workers`: which workers Redis knows, and what each one holds.

This reads who is working; the package `qless_core.worker` runs work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qless_core import wire
from qless_core.records import GivenBack

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

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

    def give_back(
        self,
        worker: str,
        *,
        what: str,
        started: Iterable[str] = (),
        details: Mapping[str, Any] | None = None,
        group: str | None = None,
        message: str | None = None,
    ) -> GivenBack:
        """Let all jobs that a worker holds wait again now: for whoever saw it die.

        Args:
            worker: who held them.
            what: what their history calls that, `died` say.
            started: jids of those that it had begun: these lose a retry, and fail where none is
                left; the others lose nothing.
            details: what their history says of it: the signal, the host, the pid.
            group: the failure that those that were begun count as; None when it is nobody's fault.
            message: what happened. What UTF-8 cannot hold is replaced.

        Returns:
            The jids of those that wait again, and of those that failed.

        """
        begun = list(started)
        text = wire.dumps(dict(details or {}), what="the details of jobs given back")
        group = None if group is None else wire.clean(group)
        message = None if message is None else wire.clean(message)
        given: list[str] = []
        failed: list[str] = []
        while True:
            back = self._client.commands.giveback_all(
                worker, wire.clean(what), text, begun, group, message
            )
            given += back.given
            failed += back.failed
            if not back.given and not back.failed:
                return GivenBack(tuple(given), tuple(failed))

    def deregister(self, *workers: str) -> None:
        """Take workers off the list; one that still works comes back with its next pop."""
        if workers:
            self._client.commands.worker_deregister(*workers)
