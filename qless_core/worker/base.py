"""What workers of all kinds share: how they are made, what they are told, how they end."""

from __future__ import annotations

import logging
import os
import signal
import socket
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, ClassVar, Final

from qless_core.clock import REAL
from qless_core.errors import QlessError
from qless_core.records import WorkerInfo
from qless_core.version import __version__
from qless_core.worker.bounded import within
from qless_core.worker.control import Control
from qless_core.worker.deaths import died_here, give_back_all
from qless_core.worker.heartbeat import keep
from qless_core.worker.interrupt import JobTaken, WorkerStopping, running
from qless_core.worker.locks import LockWatch
from qless_core.worker.plan import Plan
from qless_core.worker.reserving import Ordered, names_of
from qless_core.worker.signals import log_stacks
from qless_core.worker.switch import Mode, Switch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from qless_core.client import Client
    from qless_core.queue import Queue
    from qless_core.records import WorkerChild
    from qless_core.worker.loop import Loop
    from qless_core.worker.performing import Middleware
    from qless_core.worker.reserving import Order

log = logging.getLogger("qless.worker")

#: Seconds between two attempts to interrupt what has not begun yet.
INSIST_S: Final = 0.05
#: Seconds that a worker takes at most to give back what it holds, when its jobs do not end.
GIVE_UP_S: Final = 2.0
#: Seconds that it takes at most to say that it leaves.
LEAVE_S: Final = 2.0
#: Of these, what is left at least to take it off the list.
DEREGISTER_S: Final = 0.5


class Worker:
    """What all workers share.

    Args:
        client: whose queues to work; its `worker_name` names the worker.
        queues: names of queues, or patterns of names, or queues.
        interval: seconds to wait for a job before the worker looks anew; a job that comes ends the
            waiting at once.
        order: in which the queues are asked: `Ordered`, `RoundRobin`, `Shuffled`, `Weighted`, or
            any callable that takes the names and the one that gave the last job, and answers the
            names in order.
        prefetch: how many jobs are taken at once, at most; above 1 for jobs that are short.
        middleware: what goes around each job, the outermost first: callables that take the job and
            answer a context manager.
        heartbeats: whether to keep the locks of all jobs, in the background; a class asks for its
            own jobs by `heartbeats = True`.
        grace: seconds that jobs have to end when the worker is told to stop at once.
        burst: whether to end when nothing is left, running or due.

    Raises:
        BadArgument: there is no queue to work, or an option makes no sense.

    """

    #: What kind it is, as the console says.
    kind: ClassVar[str]

    def __init__(  # noqa: PLR0913 - options, keyword-only
        self,
        client: Client,
        queues: str | Queue | Iterable[str | Queue],
        *,
        interval: float = 60.0,
        order: Order | type[Order] = Ordered,
        prefetch: int = 1,
        middleware: Iterable[Middleware] = (),
        heartbeats: bool = False,
        grace: float = 5.0,
        burst: bool = False,
        **limits: Any,  # noqa: ANN401 - of the children that some kinds have, as `Plan` takes them
    ) -> None:
        self.client = client
        self.plan = Plan(
            queues=names_of(queues),
            order=order,
            interval=interval,
            prefetch=prefetch,
            middleware=(*([keep] if heartbeats else []), *middleware),
            grace=grace,
            burst=burst,
            **limits,
        )
        self.switch = Switch()
        self.concurrency = 1
        self._started = 0.0

    def __repr__(self) -> str:
        queues = ", ".join(map(repr, self.plan.queues))
        return f"<{type(self).__name__} {self.name!r} of {queues}>"

    @property
    def name(self) -> str:
        """In whose name jobs are held."""
        return self.client.worker_name

    @property
    def is_stopping(self) -> bool:
        """Whether it was told to stop."""
        return self.switch.is_ending

    @property
    def is_paused(self) -> bool:
        """Whether it was told to take no jobs for the time being."""
        return self.switch.mode is Mode.PAUSE

    def stop(self, *, now: bool = False) -> None:
        """Take no more jobs, and end. Any thread may say so.

        Args:
            now: interrupt what runs, and give it back; else it is finished.

        """
        self._tell(Mode.STOP if now else Mode.FINISH)

    def pause(self) -> None:
        """Take no more jobs for the time being; what runs is finished. Any thread may say so."""
        self._tell(Mode.PAUSE)

    def resume(self) -> None:
        """Take jobs again. Any thread may say so."""
        self._tell(Mode.RUN)

    def info(self) -> WorkerInfo:
        """Give what the worker tells of itself: host, pid, kind, version, queues, state."""
        return WorkerInfo(
            host=socket.gethostname(),
            pid=os.getpid(),
            kind=self.kind,
            version=__version__,
            queues=self.plan.queues,
            concurrency=self.concurrency,
            started=self._started,
            state=self._state(),
            children=self._children_told(),
        )

    def _state(self) -> str:
        states = {Mode.RUN: "running", Mode.PAUSE: "paused"}
        return states.get(self.switch.mode, "stopping")

    def _children_told(self) -> tuple[WorkerChild, ...]:
        """Give the processes that run its jobs; none where it runs them itself."""
        return ()

    def _control(self) -> Control:
        """Make what lets the console see and steer it."""
        self._started = self.client.clock.now()
        acts = {"stop": self.stop, "pause": self.pause, "resume": self.resume}
        return Control(self.client, self.info, lambda asked: acts[asked]())

    def _locks(self) -> LockWatch:
        """Make what hears of lost locks."""
        raise NotImplementedError

    def _holders(self) -> list[str]:
        """List the names in which it holds jobs."""
        raise NotImplementedError

    @contextmanager
    def _accompanied(self) -> Iterator[None]:
        """Hear of lost locks and give signs of life meanwhile, and leave the list at the end.

        That takes no longer than `LEAVE_S`, though Redis be frozen.

        Raises:
            NotPermitted: this Redis user may not listen on the workers' channels.

        """
        locks, control = self._locks(), self._control()
        locks.start()
        control.start()
        try:
            yield
        finally:
            until = REAL.monotonic() + LEAVE_S
            # Both at once, and then wait for both.
            control.end()
            within(LEAVE_S, locks.stop, "qless-leave")
            # A sign of life that came after the worker is off the list would bring it back.
            control.join(until - REAL.monotonic())
            within(max(until - REAL.monotonic(), DEREGISTER_S), self._leave, "qless-leave")

    def _leave(self) -> None:
        """Take the worker off the list of those at work, if that can be done."""
        with suppress(QlessError):
            self.client.workers.deregister(self.name, *self._holders())

    def _tell(self, mode: Mode) -> bool:
        is_new = self.switch.tell(mode)
        if is_new:
            log.info("worker %s %s", self.name, _SAID[mode])
        return is_new


_SAID: Final = {
    Mode.RUN: "takes jobs again",
    Mode.PAUSE: "takes no jobs for the time being",
    Mode.FINISH: "takes no more jobs",
    Mode.STOP: "stops at once",
}


class InProcess(Worker):
    """A worker whose jobs run in this process, in one or several loops."""

    def __init__(
        self,
        client: Client,
        queues: str | Queue | Iterable[str | Queue],
        **options: Any,  # noqa: ANN401 - those of Worker
    ) -> None:
        super().__init__(client, queues, **options)
        self.loops: Sequence[Loop] = ()
        #: Set when all loops have ended.
        self._ended = Event()
        #: The signal that told it to stop at once; "" where it was no signal.
        self._asked = ""

    def act(self, number: signal.Signals) -> None:
        """Do what a signal asks for; not on the thread that handles it."""
        if number in (signal.SIGTERM, signal.SIGINT):
            self._asked = number.name
            if self.switch.mode is Mode.STOP:
                log.warning("worker %s was told twice to stop", self.name)
                self._abandon()
            self.stop(now=True)
        elif number == signal.SIGQUIT:
            self.stop()
        elif number == signal.SIGUSR1:
            log.warning("worker %s stops what runs, and goes on", self.name)
            self.interrupt("the job was killed")
        elif number == signal.SIGUSR2:
            self.pause()
            self._log_stacks()
        elif number == signal.SIGCONT:
            self.resume()

    def interrupt(self, why: str) -> None:
        """Interrupt the jobs that run; they go back to their queues."""
        names = {loop.name for loop in self.loops}
        for grip in running():
            if not grip.is_told_to_stop and grip.job.holder in names:
                grip.interrupt(WorkerStopping(why))

    def _tell(self, mode: Mode) -> bool:
        is_new = super()._tell(mode)
        if is_new and mode is not Mode.RUN:
            watches = {Mode.STOP: self._insist, Mode.FINISH: self._see_off}
            for call in (watches.get(mode), self._wake):
                if call is not None:
                    Thread(target=call, name="qless-stop", daemon=True).start()
        return is_new

    def _wake(self) -> None:
        """Let loops go on that wait for a job. Where Redis is frozen, that takes its time."""
        for loop in self.loops:
            loop.source.wake()

    def _log_stacks(self) -> None:
        """Log what each job is doing."""
        log_stacks()

    def _insist(self) -> None:
        """Interrupt what runs until it has ended, and what begins at this very moment."""
        until = REAL.monotonic() + self.plan.grace
        while not self._ended.is_set():
            self.interrupt(f"the worker stops{self._asked and f' ({self._asked})'}")
            if REAL.monotonic() >= until:
                self._abandon()
                return
            REAL.wait(INSIST_S, self._ended)

    def _see_off(self) -> None:
        """Let no loop take longer than the grace to end once its job has ended."""
        until = None
        while not self._ended.is_set() and self.switch.mode is not Mode.STOP:
            now = REAL.monotonic()
            if any(loop.is_at_work for loop in self.loops):
                until = None
            elif until is None:
                until = now + self.plan.grace
            elif now >= until:
                self.switch.stopped.set()
                self._abandon()
                return
            REAL.wait(INSIST_S, self._ended)

    def _abandon(self) -> None:
        """Give back what does not end, and end without it."""

    def _why_not_ended(self) -> str:
        """Say what keeps it from ending in time."""
        if any(loop.is_at_work for loop in self.loops):
            return "its job did not end in time"
        return "Redis did not answer in time"

    def _give_up(self, why: str) -> None:
        """Give back what the loops hold; where Redis is away, not for long."""
        death = died_here(why, self._asked)

        def give_back() -> None:
            for loop in self.loops:
                loop.tell()
                with suppress(QlessError):
                    give_back_all(self.client, loop.name, [*loop.begun], death)
            self._leave()

        within(GIVE_UP_S, give_back, "qless-give-up")

    def _taken(self, worker: str, jid: str, why: str) -> None:
        """Stop a job that is no longer ours."""
        loop = next((loop for loop in self.loops if loop.name == worker), None)
        if loop is None:
            return
        # Before the look at what runs: what begins at this very moment looks here afterwards.
        loop.taken.add(jid)
        for grip in running():
            if not grip.is_told_to_stop and (grip.job.holder, grip.job.jid) == (worker, jid):
                grip.interrupt(JobTaken(why))

    def _locks(self) -> LockWatch:
        return LockWatch(self.client, self._holders(), self._taken)

    def _holders(self) -> list[str]:
        return [loop.name for loop in self.loops]
