"""A worker of several shards: a worker of its own for each, in a process of its own.

So each shard has its share, whatever the others do, and one that is away stops nobody else.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from dataclasses import dataclass, field
from select import select
from typing import TYPE_CHECKING, Any, Final, NoReturn

from qless_core.backoff import Backoff
from qless_core.clock import REAL
from qless_core.errors import BadArgument
from qless_core.worker.early import ENDING
from qless_core.worker.forking import ForkingWorker
from qless_core.worker.signals import SIGNALS, Ears

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.client import Client
    from qless_core.queue import Queue
    from qless_core.shards.client import ShardedClient
    from qless_core.worker.serial import SerialWorker
    from qless_core.worker.threads import ThreadWorker

log = logging.getLogger("qless.worker")

#: Seconds after which a worker that died counts as one that had worked.
WORKED_S: Final = 30.0


@dataclass
class _Process:
    """The process that works one shard."""

    shard: str
    client: Client
    pid: int = 0
    born: float = 0.0
    due: float = 0.0
    is_over: bool = False
    backoff: Backoff = field(default_factory=lambda: Backoff(first=0.5))


class ShardedWorker:
    """Runs the jobs of several shards, each in a process that works as on one.

    Args:
        client: whose shards.
        queues: names of queues, or patterns of names, or queues. They are worked on every shard,
            wherever they are placed.
        kind: what works each shard.
        options: those of that kind; `concurrency` is for each shard.

    """

    def __init__(
        self,
        client: ShardedClient,
        queues: str | Queue | Iterable[str | Queue],
        *,
        kind: type[ForkingWorker | SerialWorker | ThreadWorker] = ForkingWorker,
        **options: Any,  # noqa: ANN401 - those of the kind
    ) -> None:
        given = [queues] if isinstance(queues, str) or hasattr(queues, "name") else [*queues]
        self.queues = [queue if isinstance(queue, str) else queue.name for queue in given]
        self._kind, self._options = kind, options
        self._processes = [_Process(name, shard) for name, shard in client.shards.items()]
        for process in self._processes:
            self._worker(process.client)  # what makes no sense is refused here
        self._ears = Ears((*SIGNALS, signal.SIGCHLD))
        self._leash = self._leash_end = -1
        self._ends = False

    def __repr__(self) -> str:
        shards = ", ".join(repr(process.shard) for process in self._processes)
        return f"<ShardedWorker of {shards}>"

    def run(self) -> None:
        """Work until told to stop, or until a burst is over; signals go on to each process.

        A process that dies is started again, a little later each time.

        Raises:
            BadArgument: this is not the main thread, which alone hears of children.

        """
        if threading.current_thread() is not threading.main_thread():
            problem = "a ShardedWorker runs on the main thread only"
            raise BadArgument(problem)
        self._leash, self._leash_end = os.pipe()
        self._ears.open()
        try:
            while not all(process.is_over for process in self._processes):
                self._start()
                select([self._ears.fileno()], [], [], self._until_due())
                for number in self._ears.read():
                    self._act(number)
                self._reap()
        finally:
            self._ears.close()
            os.close(self._leash_end)
            os.close(self._leash)

    def _worker(self, shard: Client) -> ForkingWorker | SerialWorker | ThreadWorker:
        return self._kind(shard, self.queues, **self._options)

    def _start(self) -> None:
        """Start the processes that are due."""
        for process in self._processes:
            if process.pid or process.is_over or process.due > REAL.monotonic():
                continue
            process.born = REAL.monotonic()
            process.pid = os.fork()
            if not process.pid:
                self._work(process)

    def _work(self, process: _Process) -> NoReturn:
        """Be the process of a shard."""
        code = 1
        try:
            self._ears.close()
            os.close(self._leash_end)
            threading.Thread(target=self._heed_leash, name="qless-leash", daemon=True).start()
            self._worker(process.client.twin()).run()
            code = 0
        except BaseException:
            log.exception("the worker of the shard %s ended", process.shard)
        finally:
            logging.shutdown()
            os._exit(code)

    def _heed_leash(self) -> None:
        """End after the job at hand once the parent is gone."""
        os.read(self._leash, 1)
        os.kill(os.getpid(), signal.SIGQUIT)

    def _act(self, number: signal.Signals) -> None:
        if number == signal.SIGCHLD:
            return
        self._ends = self._ends or number in ENDING
        for process in self._processes:
            if process.pid:
                os.kill(process.pid, number)
            elif self._ends:
                process.is_over = True

    def _reap(self) -> None:
        """Bury the processes that ended."""
        for process in self._processes:
            pid, status = os.waitpid(process.pid, os.WNOHANG) if process.pid else (0, 0)
            if not pid:
                continue
            process.pid, code = 0, os.waitstatus_to_exitcode(status)
            process.is_over = self._ends or code == 0
            if code:
                if REAL.monotonic() - process.born > WORKED_S:
                    process.backoff.reset()
                wait = process.backoff.next()
                process.due = REAL.monotonic() + wait
                what = "ended" if self._ends else f"starts again in {wait:.1f} s"
                log.error("the worker of the shard %s died (%s), %s", process.shard, code, what)

    def _until_due(self) -> float | None:
        """Give the seconds until a process is to be started; None while there is none."""
        due = [each.due for each in self._processes if not each.pid and not each.is_over]
        return max(0.0, min(due) - REAL.monotonic()) if due else None
