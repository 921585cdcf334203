"""Putters and workers that go on while their server dies, and know what they were promised."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from itertools import count, cycle, pairwise
from threading import Event, Thread
from typing import TYPE_CHECKING

from qless_core.backoff import Backoff
from qless_core.clock import Clock
from qless_core.errors import JobError, OutcomeUnknown, RedisUnavailable
from tests.support.polling import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from qless_core.client import Client
    from qless_core.job import Job
    from qless_core.queue import Queue

log = logging.getLogger("qless.load")

QUEUE = "load"


@dataclass
class Findings:
    """What became of the jobs, once all is calm again."""

    #: Puts that were acknowledged, and those of them that are gone.
    acked: int = 0
    lost: list[str] = field(default_factory=list)
    #: Completions that were acknowledged, and those of them that the server knows nothing of.
    completed: int = 0
    undone: list[str] = field(default_factory=list)
    #: Jobs that were performed, and those of them that the server never handed out.
    performed: int = 0
    unrecorded: list[str] = field(default_factory=list)
    #: Jobs that were performed more than once.
    again: int = 0
    #: Calls of which nobody knows whether they ran, calls that failed, seconds without any answer.
    unknown: int = 0
    failed: int = 0
    outage_s: float = 0.0

    @property
    def is_clean(self) -> bool:
        """Whether every promise was kept."""
        return not (self.lost or self.undone or self.unrecorded)


class Load:
    """Threads that put and work jobs, each with a client of its own, as processes would have.

    Args:
        connect: makes a client in whose name jobs are worked.
        putters: how many threads put jobs.
        workers: how many threads work them.
        pause_s: how long each putter rests after each job.
        queues: the names of the queues.
        elsewhere: where others work them, and `workers` is 0: what the jobs are, and who says how
            many of them are complete.

    """

    def __init__(
        self,
        connect: Callable[[str], Client],
        *,
        putters: int = 2,
        workers: int = 2,
        pause_s: float = 0.0,
        queues: Sequence[str] = (QUEUE,),
        elsewhere: tuple[str, Callable[[], int] | None] = ("Load", None),
    ) -> None:
        self._connect = connect
        self._queues = queues
        self._klass, self._complete_elsewhere = elsewhere
        self._clock = Clock()
        self._pause_s = pause_s
        self._enough, self._over = Event(), Event()
        self.acked: dict[str, float] = {}
        self.completed: dict[str, float] = {}
        self.performed: Counter[str] = Counter()
        self.unknown: set[str] = set()
        self.errors: Counter[str] = Counter()
        #: Moments at which a call succeeded, of all threads.
        self._beats: list[float] = []
        self._threads = [
            Thread(target=target, args=(f"{name}-{number}",), daemon=True)
            for name, target, size in (
                ("putter", self._put, putters),
                ("worker", self._work, workers),
            )
            for number in range(size)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        eventually(lambda: self._completed() > 50)
        return self

    def __exit__(self, *_: object) -> None:
        self._enough.set()
        self._over.set()
        for thread in self._threads:
            thread.join()

    def goes_on(self) -> None:
        """Wait until jobs are put and completed again."""
        acked, completed = len(self.acked), eventually(self._completed)
        eventually(lambda: len(self.acked) > acked + 50 and self._completed() > completed + 50)

    def finish(self) -> Findings:
        """Put no more jobs, work all there are, and look what became of them."""
        self._enough.set()
        with self._connect("finder") as client:
            queues = [client.queues[name] for name in self._queues]
            eventually(lambda: not any(map(_left_in, queues)))
            self._over.set()
            for thread in self._threads:
                thread.join()
            return self._found(client)

    def _completed(self) -> int:
        """Count the jobs that are complete; 0 where that cannot be asked."""
        if self._complete_elsewhere is None:
            return len(self.completed)
        try:
            return self._complete_elsewhere()
        except RedisUnavailable:
            return 0

    def _found(self, client: Client) -> Findings:
        known = {job.jid: job for job in _jobs(client, [*self.acked, *self.performed])}
        return Findings(
            acked=len(self.acked),
            lost=[jid for jid in self.acked if jid not in known],
            completed=len(self.completed),
            undone=[
                jid for jid in self.completed if jid not in known or known[jid].state != "complete"
            ],
            performed=len(self.performed),
            unrecorded=[
                jid for jid in self.performed if jid not in known or not _was_popped(known[jid])
            ],
            again=sum(1 for times in self.performed.values() if times > 1),
            unknown=len(self.unknown),
            failed=sum(self.errors.values()),
            outage_s=self._outage(),
        )

    def _outage(self) -> float:
        beats = sorted(self._beats)
        return max((after - before for before, after in pairwise(beats)), default=0)

    def _put(self, name: str) -> None:
        backoff = Backoff(0.05, 0.4)
        with self._connect(name) as client:
            queues = cycle([client.queues[name] for name in self._queues])
            for number, queue in zip(count(), queues):
                jid = f"{name}-{queue.name}-{number}"
                while not self._enough.is_set():
                    try:
                        queue.put(self._klass, {}, jid=jid)
                    except RedisUnavailable as error:
                        self._note(error, jid)
                        self._clock.wait(backoff.next(), self._enough)
                        if isinstance(error, OutcomeUnknown):
                            break  # it may be there, and may be worked already
                    else:
                        self._acked(self.acked, jid)
                        backoff.reset()
                        break
                if self._enough.wait(self._pause_s):
                    return

    def _work(self, name: str) -> None:
        backoff = Backoff(0.05, 0.4)
        with self._connect(name) as client:
            queues = cycle([client.queues[name] for name in self._queues])
            while not self._over.is_set():
                try:
                    job = next(queues).pop()
                except RedisUnavailable as error:
                    self._note(error, "pop")
                    self._clock.wait(backoff.next(), self._over)
                    continue
                backoff.reset()
                if job is None:
                    self._over.wait(0.01)
                    continue
                self.performed[job.jid] += 1
                self._complete(job)

    def _complete(self, job: Job) -> None:
        backoff = Backoff(0.05, 0.4)
        while not self._over.is_set():
            try:
                job.complete()
            except RedisUnavailable as error:
                self._note(error, job.jid)
                self._clock.wait(backoff.next(), self._over)
            except JobError as error:
                # Told already, by a call whose answer was lost, or handed to somebody else.
                self.errors[type(error).__name__] += 1
                return
            else:
                self._acked(self.completed, job.jid)
                return

    def _acked(self, what: dict[str, float], jid: str) -> None:
        what[jid] = self._clock.monotonic()
        self._beats.append(what[jid])

    def _note(self, error: RedisUnavailable, what: str) -> None:
        self.errors[type(error).__name__] += 1
        log.info("%s: %s", what, error)
        if isinstance(error, OutcomeUnknown):
            self.unknown.add(what)


def _left_in(queue: Queue) -> int:
    """Count what nobody has worked yet."""
    counts = queue.counts
    return counts.waiting + counts.scheduled


def _jobs(client: Client, jids: list[str]) -> list[Job]:
    found: list[Job] = []
    for start in range(0, len(jids), 500):
        found += client.jobs.get(*jids[start : start + 500])
    return found


def _was_popped(job: Job) -> bool:
    return any(event.what == "popped" for event in job.history)
