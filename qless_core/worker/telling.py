"""Jobs that are done and not told yet: many are told in one call, none waits long for it."""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING, Final

from qless_core.errors import QlessError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from qless_core.client import Client
    from qless_core.job import Job

    #: A job with its data as JSON.
    Done = tuple[Job, str]

log = logging.getLogger("qless.worker")

#: Seconds that a done job waits for others to be told with, while the next one runs.
FLUSH_S: Final = 0.05


class Telling:
    """The jobs that a loop has done and not told yet.

    The loop tells them with its next call; where jobs were taken ahead and one of them takes long,
    a thread tells those before it.

    Args:
        client: whose Redis.
        worker: who holds the jobs.
        on_heard: called with what was told, and with what was left of it and why, in the thread
            that told it.

    """

    def __init__(
        self,
        client: Client,
        worker: str,
        on_heard: Callable[[list[Done], Mapping[str, str]], object],
    ) -> None:
        self._client = client
        self._worker = worker
        self._on_heard = on_heard
        # Who takes from these takes one by one, so that nothing is lost that comes meanwhile.
        self._done: deque[Done] = deque()
        #: Jobs of which nobody knows whether they were told.
        self.doubtful: deque[Job] = deque()
        self._calling = threading.Lock()
        self._work = threading.Event()
        self._ended = False
        self._thread: threading.Thread | None = None

    def __repr__(self) -> str:
        return f"<Telling of {len(self._done)} jobs of {self._worker!r}>"

    def add(self, job: Job, text: str) -> None:
        """Keep a job that is done, with its data as JSON."""
        self._done.append((job, text))

    def claim(self) -> list[Done]:
        """Give what is to be told now, and forget it: the caller tells it."""
        if self._thread is None:
            return self._taken()
        with self._calling:
            return self._taken()

    def tell(self) -> None:
        """Tell all now, in one call; what could not be told is doubtful afterwards."""
        with self._calling:
            done = self._taken()
            if not done:
                return
            triples = [(job.jid, job.queue_name, text) for job, text in done]
            try:
                report = self._client.commands.bulk_complete(self._worker, triples)
            except QlessError as trouble:
                log.info("%d jobs are done, which could not be told: %s", len(done), trouble)
                self.doubtful += [job for job, _ in done]
            else:
                heard(done, report.left)
                self._on_heard(done, report.left)

    def _taken(self) -> list[Done]:
        done: list[Done] = []
        while self._done:
            try:
                done.append(self._done.popleft())
            except IndexError:
                break  # another thread was faster
        return done

    def begin(self) -> None:
        """Take jobs ahead: from now on a thread tells what waits too long."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="qless-telling", daemon=True)
            self._thread.start()
        self._work.set()

    def rest(self) -> None:
        """Take jobs ahead no more, for the time being."""
        self._work.clear()

    def end(self) -> None:
        """End the thread."""
        self._ended = True
        self._work.set()
        if self._thread is not None:
            self._thread.join(FLUSH_S * 4)

    def _run(self) -> None:
        pause = threading.Event()
        while not self._ended:
            self._work.wait()
            # Most batches are over by then.
            pause.wait(FLUSH_S)
            if self._done and self._work.is_set():
                self.tell()


def heard(done: list[Done], left: Mapping[str, str]) -> None:
    """Log what became of jobs that were told to be done."""
    if left:
        for jid, why in left.items():
            log.warning("job %r is no longer ours: %s", jid, why)
    if log.isEnabledFor(logging.INFO):
        for job, _ in done:
            if job.jid not in left:
                log.info("job %r is settled: complete", job.jid)
