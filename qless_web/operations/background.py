"""The worker of this process that does operations: a serial worker of qless, on a thread."""

from __future__ import annotations

import atexit
import logging
import os
import secrets
import socket
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Final

from qless_core.clock import REAL
from qless_core.errors import NotPermitted, QlessError
from qless_core.worker.serial import SerialWorker
from qless_web.operations import ordering
from qless_web.operations.running import Bench

if TYPE_CHECKING:
    from qless_core.client import Client
    from qless_web.settings import Settings

log = logging.getLogger("qless.web.operations")

#: Seconds until the next try where the worker could not work.
_AGAIN_S: Final = 20.0
#: Seconds that the worker has to give back what it does when the process ends.
_GRACE_S: Final = 2.0
#: Seconds between two looks for operations that nobody does: a process may die as it orders one.
_MEND_S: Final = 60.0
#: Seconds after which a lock that ran out is another's: chunks are safe whoever does them.
_NO_GRACE: Final = "0"


class Background:
    """Does operations in one process.

    Args:
        client: whose jobs they are about.
        settings: `run_operations`, `read_only`, and those of the trash and the audit count.
        mend_s: seconds between two looks for operations that nobody does.

    """

    def __init__(self, client: Client, settings: Settings, *, mend_s: float = _MEND_S) -> None:
        self._client = client
        self._mend_s = mend_s
        self._is_on = settings.run_operations and not settings.read_only
        self._settings = settings
        self._end = Event()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._worker: SerialWorker | None = None
        self._fails = False

    @property
    def bench(self) -> Bench:
        """What an operation is done with."""
        return Bench(self._client, self._settings)

    def start(self) -> None:
        """Work from now on, on a thread of this process; after a fork, call it in the child."""
        if self._is_on and (self._thread is None or not self._thread.is_alive()):
            self._thread = Thread(target=self._run, name="qless-operations", daemon=True)
            self._thread.start()
            Thread(target=self._mend, name="qless-operations-mend", daemon=True).start()
            atexit.register(self.close)

    def close(self) -> None:
        """Give back what is being done, and work no more."""
        self._end.set()
        with self._lock:
            worker, thread = self._worker, self._thread
        if worker is not None:
            worker.stop(now=True)
        if thread is not None:
            thread.join(_GRACE_S)
        atexit.unregister(self.close)

    def _run(self) -> None:
        pause = 0.0
        while not REAL.wait(pause, self._end):
            pause = _AGAIN_S
            try:
                self._work()
            except Exception as error:  # noqa: BLE001 - it must outlive whatever Redis answers
                self._complain(error)

    def _mend(self) -> None:
        while not REAL.wait(self._mend_s, self._end):
            try:
                ordering.mend(self._client)
            except QlessError as error:
                log.info("nobody looked for operations that stand still: %s", error)

    def _work(self) -> None:
        name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
        with self._client.twin() as client, ordering.workshop(client, name) as workshop:
            workshop.config["grace-period"] = _NO_GRACE
            bury(workshop)
            ordering.mend(client)
            worker = SerialWorker(
                workshop,
                [ordering.QUEUE],
                interval=30,
                heartbeats=True,
                middleware=[Bench(client, self._settings)],
                grace=_GRACE_S,
            )
            with self._lock:
                self._worker = worker
            self._fails = False
            if not self._end.is_set():
                worker.run()

    def _complain(self, error: Exception) -> None:
        if not self._fails:
            # Of a user who may only read each page says so already.
            level = logging.INFO if isinstance(error, NotPermitted) else logging.WARNING
            log.log(level, "operations are not done by this process for now: %s", error)
        self._fails = True


def bury(workshop: Client) -> int:
    """Take the jobs away from workers of this host whose processes are dead; answers how many.

    Raises:
        QlessError: Redis could not be asked.

    """
    taken = 0
    for counts in workshop.workers.counts:
        host, _, rest = counts.name.rpartition("-")[0].rpartition("-")
        if host != socket.gethostname() or not rest.isdigit() or _lives(int(rest)):
            continue
        jids = workshop.commands.worker(counts.name).jobs
        if jids:
            workshop.commands.timeout(*jids)
            taken += len(jids)
        workshop.workers.deregister(counts.name)
    return taken


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
