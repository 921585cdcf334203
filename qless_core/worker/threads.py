"""A worker that runs several jobs at once in threads, for jobs that wait for others."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any, Final

from qless_core.errors import BadArgument
from qless_core.worker.base import InProcess
from qless_core.worker.loop import Loop
from qless_core.worker.names import holders
from qless_core.worker.signals import heeding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.client import Client
    from qless_core.queue import Queue

log = logging.getLogger("qless.worker")

#: The most jobs at once: each thread holds a connection or two.
MOST: Final = 1000


class ThreadWorker(InProcess):
    """Runs several jobs at once, each in a thread.

    A job that is stopped hears of it when it is back from what it waits for: Python has nothing
    that wakes a thread. A job that crashes the process ends all.

    Args:
        client: whose queues to work; its `worker_name` names the worker, and, with a number
            behind that nobody else has, its threads.
        queues: names of queues, or patterns of names, or queues.
        concurrency: how many jobs run at once.
        options: those of `Worker`.

    Raises:
        BadArgument: there is no queue to work, or an option makes no sense.

    """

    kind = "thread"

    def __init__(
        self,
        client: Client,
        queues: str | Queue | Iterable[str | Queue],
        *,
        concurrency: int = 1,
        **options: Any,  # noqa: ANN401 - those of Worker
    ) -> None:
        if not 1 <= concurrency <= MOST:
            problem = f"concurrency must be from 1 to {MOST}, got {concurrency!r}"
            raise BadArgument(problem)
        super().__init__(client, queues, **options)
        self.concurrency = concurrency
        #: What ended a loop that should not have ended.
        self._broken: BaseException | None = None
        #: How many loops have ended.
        self._left = threading.Semaphore(0)
        self._is_abandoned = False

    def run(self) -> None:
        """Work until told to stop, or until a burst is over; while Redis is away, wait for it.

        On the main thread it heeds signals, but those that the program itself handles or ignores.
        Jobs that do not end when told to are given back and left behind.

        Raises:
            NotPermitted: this Redis user may not listen on the workers' channels.

        """
        # One waits for jobs, one keeps locks or tells what was done; and what the jobs use.
        self.client.make_room(3 * self.concurrency + 16)
        self.loops = [self._loop(name) for name in holders(self.name, self.concurrency)]
        queues = ", ".join(map(repr, self.plan.queues))
        log.info("worker %s works %s in %d threads", self.name, queues, self.concurrency)
        with heeding(self.act), self._accompanied():
            try:
                self._run_all()
            finally:
                self._ended.set()
        log.info("worker %s has stopped", self.name)
        if self._broken is not None:
            raise self._broken

    def _loop(self, name: str) -> Loop:
        return Loop(self.client.named(name), self.plan, self.switch, name)

    def _run_all(self) -> None:
        """Run each loop, until all have ended or are given up."""
        for loop in self.loops:
            self._start(loop)
        for _ in self.loops:
            self._left.acquire()
            if self._is_abandoned:
                return

    def _start(self, loop: Loop) -> None:
        """Run a loop in a thread."""
        name = f"qless-{loop.name}"
        threading.Thread(target=self._run_one, args=(loop,), name=name, daemon=True).start()

    def _run_one(self, loop: Loop) -> None:
        try:
            loop.run()
        except BaseException as error:  # noqa: BLE001 - raised where all is run
            self._broken = error
            self.stop()
        finally:
            self._left.release()

    def _abandon(self) -> None:
        """Give back what does not end, and leave it behind: nothing ends a thread."""
        if self._ended.is_set() or self._is_abandoned:
            return
        self._is_abandoned = True
        why = self._why_not_ended()
        log.warning("worker %s: %s, what does not end is left behind", self.name, why)
        self._give_up(why)
        self._left.release()
