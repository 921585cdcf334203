"""Hears that jobs were taken from workers: by a lock that ran out, by hand, or by a cancel."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final

from qless_core.backoff import Backoff
from qless_core.clock import REAL
from qless_core.errors import NotPermitted, QlessError
from qless_core.events import ToWorker
from qless_core.worker.interrupt import running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from qless_core.client import Client
    from qless_core.subscription import Subscription

    Held = Callable[[], Iterable[tuple[str, str]]]

log = logging.getLogger("qless.worker")

#: The longest pause between attempts to listen again.
LONGEST_PAUSE_S: Final = 5.0
#: Seconds of listening at a time before a look whether that is still wanted.
SLICE_S: Final = 0.5
#: Seconds that `stop` waits for the thread.
END_WITHIN_S: Final = 5.0


def held_here() -> list[tuple[str, str]]:
    """List the jobs that run in this process, each with the worker that holds it."""
    return [(grip.job.holder, grip.job.jid) for grip in running()]


class LockWatch:
    """Listens on the channels of some workers, in a thread and on a connection of its own.

    When the connection was lost it connects again, and looks what became of the jobs meanwhile.
    In a forked child it is silent: that makes its own.

    Args:
        client: whose Redis.
        names: the workers.
        on_taken: called, in that thread, with the worker, the jid and the reason: `lock_lost` or
            `canceled`.
        held: lists the jobs at work, each as worker and jid: what to look for after a silence;
            by default those that run in this process.

    """

    def __init__(
        self,
        client: Client,
        names: Iterable[str],
        on_taken: Callable[[str, str, str], object],
        *,
        held: Held = held_here,
    ) -> None:
        self._client = client
        self._names = tuple(dict.fromkeys(names))
        self._on_taken = on_taken
        self._held = held
        self._ended = threading.Event()
        self._events: Subscription | None = None
        self._thread: threading.Thread | None = None

    def __repr__(self) -> str:
        return f"<LockWatch of {', '.join(map(repr, self._names))}>"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self, *, look: bool = False) -> None:
        """Begin to listen. Where Redis is away, that is once it is back.

        Args:
            look: whether to look first for the jobs that were taken before.

        Raises:
            NotPermitted: this Redis user may not listen on these channels; nothing was begun.

        """
        try:
            self._connect()
            if look:
                self._look()
        except NotPermitted:
            self._drop()
            raise
        except QlessError as trouble:
            self._drop()
            log.warning("not told of lost locks yet: %s", trouble)
        self._thread = threading.Thread(target=self._run, name="qless-locks", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End; nothing is called any more afterwards, unless it takes longer than a few seconds."""
        self._ended.set()
        events, thread = self._events, self._thread
        if events is not None:
            events.close()
        if thread is not None and thread is not threading.current_thread():
            thread.join(END_WITHIN_S)

    def _run(self) -> None:
        backoff = Backoff(longest=LONGEST_PAUSE_S)
        while not self._ended.is_set():
            try:
                if self._events is None:
                    self._connect()
                    self._look()
                    log.info("told of lost locks again")
                backoff.reset()
                self._listen()
            except QlessError as trouble:
                self._drop()
                wait = backoff.next()
                level = logging.WARNING if backoff.failed == 1 else logging.INFO
                log.log(level, "not told of lost locks, again in %.1f s: %s", wait, trouble)
                REAL.wait(wait, self._ended)
        self._drop()

    def _connect(self) -> None:
        channels = [f"w:{name}" for name in self._names]
        self._events = self._client.events.subscribe(*channels).__enter__()

    def _listen(self) -> None:
        while self._events is not None and not self._ended.is_set():
            event = self._events.get(SLICE_S)
            if isinstance(event, ToWorker):
                self._tell(event.worker, event.jid, event.name)

    def _look(self) -> None:
        """Find the jobs that were taken while nobody listened."""
        held = [(worker, jid) for worker, jid in self._held() if worker in self._names]
        jobs = {job.jid: job for job in self._client.commands.multiget(*(jid for _, jid in held))}
        # Not those that were settled as we looked.
        still = {*self._held()}
        for worker, jid in (each for each in held if each in still):
            job = jobs.get(jid)
            if job is None:
                self._tell(worker, jid, "canceled")
            elif (job.state, job.worker) != ("running", worker):
                self._tell(worker, jid, "lock_lost")

    def _tell(self, worker: str, jid: str, why: str) -> None:
        if self._ended.is_set():
            return
        log.warning("job %r is taken from worker %s: %s", jid, worker, why)
        try:
            self._on_taken(worker, jid, why)
        except Exception:
            log.exception("job %r: what is done when it is taken failed", jid)

    def _drop(self) -> None:
        events, self._events = self._events, None
        if events is not None:
            events.close()
