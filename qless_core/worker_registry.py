"""`client.workers`: which workers Redis knows, and what each one holds.

This reads who is working; the package `qless_core.worker` runs work.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from qless_core import wire
from qless_core.records import GivenBack
from qless_core.several import texts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from qless_core.client import Client
    from qless_core.records import WorkerCounts, WorkerInfo, WorkerRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownWorker:
    """A worker: what it holds, when it was seen, and what it tells of itself.

    Attributes:
        name: what it is called.
        jobs: the jids that it holds, within their lock.
        stalled: those whose lock ran out.
        seen: when it gave a sign of life last, epoch seconds; None when it is not on the list.
        asked: what it is asked to do and has not done yet; "" for nothing.
        info: its host, pid, kind, version, queues, concurrency, start, state and children; None
            when it tells nothing of itself, as children and other clients.

    """

    name: str
    jobs: tuple[str, ...]
    stalled: tuple[str, ...]
    seen: float | None
    asked: str
    info: WorkerInfo | None


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

    def __getitem__(self, worker: str) -> KnownWorker:
        """Read what a worker holds and tells of itself; empty for one that is not known."""
        held = self._client.commands.worker(worker)
        (record,) = self._client.commands.worker_info(worker)
        return KnownWorker(
            name=worker,
            jobs=held.jobs,
            stalled=held.stalled,
            seen=record.seen,
            asked=record.asked,
            info=record.info,
        )

    def __contains__(self, worker: object) -> bool:
        """Whether a worker of this name was seen lately."""
        return worker in [*self]

    def __iter__(self) -> Iterator[str]:
        """Give the names of the workers seen lately, the most recent first."""
        return (each.name for each in self.counts)

    def __len__(self) -> int:
        return len(self.counts)

    def details(self, *workers: str) -> list[WorkerRecord]:
        """Read what workers tell of themselves, in one call; without names, all seen lately."""
        names = workers or [each.name for each in self.counts]
        return self._client.commands.worker_info(*names)

    def ask(self, worker: str, request: str) -> None:
        """Ask a worker to `stop` once its jobs are done, to `pause`, or to `resume`.

        It hears of it within seconds. The last request counts, for five minutes; what a worker was
        asked and has not done yet is `workers[name].asked`.

        Raises:
            BadArgument: there is no such request.
            WorkerNotFound: nobody of that name hears requests, as children and other clients.

        """
        self._client.commands.worker_ask(worker, request)

    def beat(self, worker: str, info: WorkerInfo) -> str:
        """Give a sign of life of a process that works; answers what it is asked to do.

        Args:
            worker: in which name.
            info: what it tells of itself.

        Returns:
            `stop`, `pause` or `resume`, again and again until `info.state` says that it was done;
            "" for nothing.

        """
        told = wire.dumps(asdict(info), what="what a worker tells of itself")
        return self._client.commands.worker_beat(worker, told)

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
            message: what happened; without a group it is told of those alone that had no retry
                left. What UTF-8 cannot hold is replaced.

        Returns:
            The jids of those that wait again, and of those that failed.

        """
        begun = texts_of("started", started) or []
        text = wire.dumps(dict(details or {}), what="the details of jobs given back")
        message = None if message is None else wire.clean(message)
        if group is not None:
            group = wire.clean(group)
        elif message is not None:
            group = ""  # nobody's fault
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
