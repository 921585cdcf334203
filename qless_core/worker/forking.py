"""A worker whose jobs run in children: one that crashes, leaks or hangs takes nothing else with it.

The parent takes no jobs. It forks, hears what becomes of its children, gives back what a dead one
held, and passes on what it is told itself.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import threading
from collections import deque
from contextlib import suppress
from select import select
from typing import TYPE_CHECKING, Any, Final

from qless_core.clock import REAL
from qless_core.errors import BadArgument
from qless_core.records import WorkerChild
from qless_core.worker import titles
from qless_core.worker.base import Worker
from qless_core.worker.births import Births
from qless_core.worker.burials import Burials, code_of, reap_orphans
from qless_core.worker.child import GO, Child
from qless_core.worker.lines import Lines
from qless_core.worker.locks import LockWatch
from qless_core.worker.names import holders
from qless_core.worker.rehearsal import rehearse
from qless_core.worker.signals import SIGNALS, Ears, log_stacks
from qless_core.worker.slots import Slot
from qless_core.worker.switch import Mode

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.client import Client
    from qless_core.queue import Queue
    from qless_core.worker.slots import Process

log = logging.getLogger("qless.worker")

#: Seconds that the parent tries to give back what is left when it ends and Redis is away.
BURY_S: Final = 2.0
#: Seconds that a child that has told its last has to end, at least.
LEAVE_S: Final = 2.0
#: The same where the parent ends.
LEAVE_NOW_S: Final = 1.0


class ForkingWorker(Worker):
    """Runs jobs in children, several at once.

    Args:
        client: whose queues to work; its `worker_name` names the worker, and, with a number
            behind that nobody else has, its children.
        queues: names of queues, or patterns of names, or queues.
        concurrency: how many children work at once.
        jobs_per_child: how many jobs a child runs before another one takes its place; 1 for a
            fresh child each, None for any number.
        child_age_s: seconds after which another one takes its place, once it has run its job.
        child_memory: bytes of memory from which on another one takes its place.
        options: those of `Worker`, and `on_fork`: functions that each child calls first, to close
            what it inherited, such as connections to databases. Where one fails another child
            takes its place, a little later.

    Raises:
        BadArgument: there is no queue to work, or an option makes no sense.

    """

    kind = "forking"

    def __init__(
        self,
        client: Client,
        queues: str | Queue | Iterable[str | Queue],
        *,
        concurrency: int = 1,
        jobs_per_child: int | None = None,
        child_age_s: float | None = None,
        child_memory: int | None = None,
        **options: Any,  # noqa: ANN401 - those of Worker
    ) -> None:
        if concurrency < 1:
            problem = f"concurrency must be from 1 up, got {concurrency!r}"
            raise BadArgument(problem)
        super().__init__(
            client,
            queues,
            jobs_per_child=jobs_per_child,
            child_age_s=child_age_s,
            child_memory=child_memory,
            **options,
        )
        self.concurrency = concurrency
        self._slots: list[Slot] = []
        self._births: Births
        self._burials: Burials
        #: The connections that children inherit, where each lives for one job.
        self._lines: Lines | None = None
        #: Children that have told their last, and end.
        self._leaving: list[Process] = []
        self._ears = Ears((*SIGNALS, signal.SIGCHLD))
        #: Jobs that were taken from their child: worker and jid.
        self._taken: deque[tuple[str, str]] = deque()
        #: When the parent gives up what is left, once it ends.
        self._over_at: float | None = None

    def run(self) -> None:
        """Work until told to stop, or until a burst is over; while Redis is away, wait for it.

        It heeds signals, but those that the program itself handles or ignores.

        Raises:
            BadArgument: this is not the main thread, which alone hears of children.
            NotPermitted: this Redis user may not listen on the workers' channels.

        """
        if threading.current_thread() is not threading.main_thread():
            problem = "a ForkingWorker runs on the main thread only"
            raise BadArgument(problem)
        self._open()
        try:
            with self._accompanied():
                self._look_after()
        finally:
            self._close()

    # What it is told

    def act(self, number: signal.Signals) -> None:
        """Do what a signal asks for."""
        if number in (signal.SIGTERM, signal.SIGINT):
            if self.switch.mode is Mode.STOP:
                log.warning("worker %s was told twice to stop", self.name)
                self._kill_at(REAL.monotonic())
            self.stop(now=True)
        elif number == signal.SIGQUIT:
            self.stop()
        elif number == signal.SIGUSR1:
            log.warning("worker %s stops what runs, and goes on", self.name)
            self._end_children()
        elif number == signal.SIGUSR2:
            self.pause()
            self._pass_on()
            self._send(signal.SIGUSR2)
            log_stacks()
        elif number == signal.SIGCONT:
            self.resume()

    def _tell(self, mode: Mode) -> bool:
        is_new = super()._tell(mode)
        if is_new:
            self._ears.wake()
        return is_new

    def _pass_on(self) -> None:
        """Let the children do what the worker was told meanwhile."""
        mode = self.switch.mode
        if mode is not Mode.RUN:
            self._dismiss_spares()
        if mode is Mode.STOP and self._over_at is None:
            self._over_at = REAL.monotonic() + self.plan.grace + BURY_S
            self._end_children()
        elif mode in (Mode.PAUSE, Mode.FINISH):
            for child in self._children:
                if not child.is_told:
                    child.is_told = True
                    self._signal(child, signal.SIGQUIT)

    def _end_children(self) -> None:
        """Let the children end at once; kill those that take longer than the grace."""
        for child in self._children:
            child.is_told = True
            self._signal(child, signal.SIGTERM)
        self._kill_at(REAL.monotonic() + self.plan.grace)

    def _kill_at(self, moment: float) -> None:
        for child in self._children:
            child.kill_at = moment if child.kill_at is None else min(moment, child.kill_at)

    def _was_taken(self, worker: str, jid: str, _: str) -> None:
        """Note, on the thread that listens, that a job is not its child's any more."""
        self._taken.append((worker, jid))
        self._ears.wake()

    def _locks(self) -> LockWatch:
        return LockWatch(self.client, self._holders(), self._was_taken, held=self._held)

    def _holders(self) -> list[str]:
        return [slot.name for slot in self._slots]

    def _state(self) -> str:
        """Say `failing` where one child after another dies before it works, in all slots."""
        failing = [slot.is_failing for slot in self._slots]
        if self.switch.mode is Mode.RUN and failing and all(failing):
            return "failing"
        return super()._state()

    def _children_told(self) -> tuple[WorkerChild, ...]:
        """Give the processes that run its jobs."""
        found = [(slot.name, slot.child) for slot in self._slots]
        return tuple(
            WorkerChild(name, child.pid, child.started)
            for name, child in found
            if child is not None
        )

    def _held(self) -> list[tuple[str, str]]:
        """List the jobs at work."""
        begun = [(slot.name, slot.slate.traces().begun) for slot in self._slots if slot.child]
        return [(name, jid) for name, jid in begun if jid is not None]

    # What it does

    def _look_after(self) -> None:
        """Supervise; where that breaks, the children end, and what they held goes back."""
        try:
            self._supervise()
        except BaseException:
            self.stop(now=True)
            self._supervise()
            raise
        finally:
            self._dismiss_spares()
            self._await([*self._children, *self._leaving])

    def _supervise(self) -> None:
        while True:
            self._reap()
            self._pass_on()
            self._see_to_taken()
            self._kill_due()
            if self._is_over():
                return
            self._fill()
            self._listen()

    def _listen(self) -> None:
        """Wait until something happens, or is due."""
        now = REAL.monotonic()
        ours = (*self._children, *self._leaving)
        due = [child.kill_at for child in ours if child.kill_at is not None]
        due += [at for slot in self._slots for at in slot.taken.values()]
        if self.switch.mode is Mode.RUN:
            free = [slot.start_at for slot in self._slots if slot.is_free]
            due += [max(at, self._births.at) for at in free]
            due += [self._births.stock_at] if self._wants_spares else []
        due += [self._over_at] if self._over_at is not None else []
        timeout = max(0.0, min(due) - now) if due else None
        last = self._births.fileno()
        ready, _, _ = select([self._ears.fileno(), last], [], [], timeout)
        if last in ready:
            self._hear_last()
        for number in self._ears.read():
            if number != signal.SIGCHLD:
                self.act(number)

    def _hear_last(self) -> None:
        """Let another child go on where one has told its last."""
        for pid, number, goes_on, is_clean in self._births.hear():
            slot = self._slots[number]
            if slot.child is not None and slot.child.pid == pid:
                if not is_clean:
                    self._break_line(slot, slot.child)
                self._let_leave(slot.child)
                slot.child = None
                slot.is_over = not goes_on
                slot.backoff.reset()
                slot.taken.clear()

    def _fill(self) -> None:
        """Let a child work in each free slot, and have some in store where they are short-lived."""
        if self.switch.mode is not Mode.RUN:
            return
        now = REAL.monotonic()
        for slot in self._slots:
            if slot.is_free and slot.start_at <= now:
                child = self._births.next()
                if child is not None:
                    self._begin(slot, child)
        if self._wants_spares:
            self._births.stock()

    def _begin(self, slot: Slot, child: Process) -> None:
        """Let a child work in a slot."""
        slot.slate.wipe()
        child.turn = slot.slate.turn
        child.born, child.started = REAL.monotonic(), self.client.clock.now()
        child.line = self._lines.number(slot.number) if self._lines is not None else 0
        slot.child = child
        with suppress(OSError):  # it is dead, and will be reaped
            os.write(child.go, GO.pack(slot.number, child.line))
        os.close(child.go)
        child.go = -1

    @property
    def _wants_spares(self) -> bool:
        return self._births.is_short and not all(slot.is_over for slot in self._slots)

    def _see_to_taken(self) -> None:
        """Let children drop the jobs that were taken, and kill those that cannot."""
        while self._taken:
            worker, jid = self._taken.popleft()
            for slot in self._slots:
                if slot.name == worker and slot.child is not None:
                    turn = slot.slate.take(jid)
                    slot.taken[jid, turn] = REAL.monotonic() + self.plan.grace
                    self._signal(slot.child, signal.SIGUSR1)
        for slot in self._slots:
            due = [hold for hold, at in slot.taken.items() if at <= REAL.monotonic()]
            for jid, turn in due:
                del slot.taken[jid, turn]
                if slot.child is None or slot.slate.turn != turn:
                    continue  # it has ended, and may have come back since
                if slot.slate.traces().begun == jid:
                    slot.child.why = "the job was taken from it, and did not end"
                    self._signal(slot.child, signal.SIGKILL)

    def _kill_due(self) -> None:
        for child in (*self._children, *self._leaving):
            if child.kill_at is not None and child.kill_at <= REAL.monotonic():
                child.kill_at = None
                log.warning("process %d does not end, it is killed", child.pid)
                child.why = "it was told to stop and did not end"
                self._signal(child, signal.SIGKILL)

    # Those who end

    def _reap(self) -> None:
        """See who is dead, and what it held."""
        for slot in self._slots:
            if slot.child is not None and (code := code_of(slot.child.pid)) is not None:
                self._is_dead(slot, slot.child, code)
        self._births.reap()
        self._leaving = [child for child in self._leaving if code_of(child.pid) is None]
        if os.getpid() == 1:
            ours = (*self._children, *self._births.spares, *self._leaving)
            reap_orphans({child.pid for child in ours})

    def _is_dead(self, slot: Slot, child: Process, code: int) -> None:
        """See to what a dead child held."""
        # It may have told its last just now.
        if select([self._births.fileno()], [], [], 0)[0]:
            self._hear_last()
            if slot.child is not child:
                self._leaving.remove(child)
                return
        self._break_line(slot, child)
        self._burials.begin(slot, child, code)

    def _break_line(self, slot: Slot, child: Process) -> None:
        """Let nobody inherit what a child may not have read to its end."""
        if self._lines is not None and child.line:
            self._lines.give_up(slot.number, child.line)

    def _is_over(self) -> bool:
        if self._over_at is not None and self._over_at <= REAL.monotonic():
            return True
        if any(slot.child is not None for slot in self._slots):
            return False
        if any(slot.death is not None for slot in self._slots):
            if self.switch.is_ending and self._over_at is None:
                self._over_at = REAL.monotonic() + BURY_S
            return False
        return self.switch.is_ending or all(slot.is_over for slot in self._slots)

    # Beginning and end

    @property
    def _children(self) -> list[Process]:
        return [slot.child for slot in self._slots if slot.child is not None]

    def _open(self) -> None:
        name = self.name
        names = holders(name, self.concurrency)
        self._slots = [Slot(number, each) for number, each in enumerate(names)]
        self._over_at = None
        self._ears.open()
        is_fresh = self.plan.jobs_per_child == 1
        self._lines = Lines(self.client.twin(), self.concurrency) if is_fresh else None
        model = Child(self.client.twin(), self.plan, self._slots, self._lines)
        # One more than may work at once, as one is made while others take their turns.
        store = self.concurrency + 1 if is_fresh else 0
        self._births = Births(model, self._ears, store)
        self._burials = Burials(self.client, self._ears.wake)
        if self._lines is not None:
            self._lines.open()
        rehearse(self.client)
        gc.freeze()
        queues = ", ".join(map(repr, self.plan.queues))
        titles.show(f"{name} looks after {self.concurrency} of its kind")
        log.info("worker %s works %s in %d children", name, queues, self.concurrency)

    def _close(self) -> None:
        gc.unfreeze()
        self._births.close()
        if self._lines is not None:
            self._lines.close()
        self._ears.close()
        log.info("worker %s has stopped", self.name)

    def _await(self, children: list[Process]) -> None:
        """Wait until the last children have ended, and see to it that they do."""
        until = REAL.monotonic() + LEAVE_NOW_S
        while children and REAL.monotonic() < until:
            children = [child for child in children if code_of(child.pid) is None]
            if children:
                select([self._ears.fileno()], [], [], 0.05)
                self._ears.read()
        for child in children:
            self._signal(child, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(child.pid, 0)

    def _dismiss_spares(self) -> None:
        for child in self._births.dismiss():
            self._signal(child, signal.SIGTERM)
            self._let_leave(child)

    def _let_leave(self, child: Process) -> None:
        """Wait for a child that is through, but not for ever: it may hang as it flushes a log."""
        child.kill_at = REAL.monotonic() + max(LEAVE_S, self.plan.grace)
        self._leaving.append(child)

    def _send(self, number: signal.Signals) -> None:
        for child in self._children:
            self._signal(child, number)

    def _signal(self, child: Process, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(child.pid, number)
