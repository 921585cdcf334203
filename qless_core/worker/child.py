"""The child of a forking worker: it runs jobs in its own name, on a connection of its own.

It reserves for itself, so that nothing stands between it and Redis. When its parent is gone it
finishes the job at hand and ends.
"""

from __future__ import annotations

import logging
import os
import signal
import struct
import sys
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Final, NoReturn

from qless_core.errors import QlessError
from qless_core.worker import signals, titles
from qless_core.worker.base import InProcess
from qless_core.worker.interrupt import JobTaken, running
from qless_core.worker.loop import Loop
from qless_core.worker.rehearsal import rehearse
from qless_core.worker.signals import heed, log_stacks, unblock
from qless_core.worker.switch import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qless_core.client import Client
    from qless_core.worker.lines import Lines
    from qless_core.worker.plan import Plan
    from qless_core.worker.signals import Ears
    from qless_core.worker.slate import Slate
    from qless_core.worker.slots import Slot

log = logging.getLogger("qless.worker")

#: What tells a child its slot, and which connection it inherits.
GO: Final = struct.Struct("<II")
#: What a child tells last: its process, its slot, whether another one is to go on in its place, and
#: whether that one may have its connection.
LAST: Final = struct.Struct("<II??")
#: The exit code of a child that could not tell what became of its jobs.
UNTOLD: Final = 75


class Child(InProcess):
    """What works in a child.

    Args:
        client: its own.
        plan: what the worker was made to do.
        slots: in one of which it is to work.
        lines: connections that it may inherit; None where each makes its own.

    """

    kind = "child"

    def __init__(
        self, client: Client, plan: Plan, slots: Sequence[Slot], lines: Lines | None = None
    ) -> None:
        super().__init__(client, plan.queues)
        self.plan = plan
        self._slots = slots
        self._lines = lines
        #: A loop for each slot, made before the fork.
        self._ready = [
            Loop(client.named(slot.name), plan, self.switch, slot.name, slate=slot.slate)
            for slot in slots
        ]
        for loop in self._ready:
            loop.source.prepare()
        self._slate: Slate | None = None
        self._is_orphan = False

    @property
    def has_begun(self) -> bool:
        """Whether it works, or may; else it waits for its turn."""
        return self._slate is not None

    def act(self, number: signal.Signals) -> None:
        """Do what a signal asks for, most of them sent by the parent."""
        if number in (signal.SIGTERM, signal.SIGQUIT) and not self.has_begun:
            os._exit(0)
        if number == signal.SIGUSR1:
            self._stop_taken()
        elif number == signal.SIGUSR2:
            log_stacks()
        elif number == signal.SIGTERM:
            self.stop(now=True)
        elif number == signal.SIGQUIT:
            self.stop()

    def prepare(self) -> None:
        """Do ahead what the first job need not wait for: connect, or have its memory copied."""
        if self._lines is None:
            with suppress(QlessError):
                self.client.commands.length("-")
        else:
            rehearse(self.client, 1)

    def inherit(self, slot: int, number: int) -> None:
        """Use the connection that is meant, where it was there at the fork."""
        line = self._lines.inherited(slot, number) if self._lines is not None else None
        if line is not None:
            self.client.adopt(line)

    def work(self, slot: int) -> bool | None:
        """Work until it is told to end, or another one is to go on.

        Returns:
            Whether another one is to go on: not at the end of a burst. None where that is not to be
            before the parent has settled what could not be told.

        """
        name, loop = self._slots[slot].name, self._ready[slot]
        self.loops = (loop,)
        self._slate = self._slots[slot].slate
        titles.show(f"{name} works {', '.join(self.plan.queues)}")
        loop.run()
        self._ended.set()
        return not loop.is_exhausted if loop.is_settled else None

    def _stop_taken(self) -> None:
        """Interrupt the job that the parent says is no longer ours."""
        taken = self._slate.taken() if self._slate is not None else ()
        for grip in running():
            if not grip.is_told_to_stop and grip.job.jid in taken:
                grip.interrupt(JobTaken("the lock is lost"))

    def orphaned(self) -> None:
        """Finish the job at hand without the parent, and hear oneself when its lock is lost."""
        log.warning("the parent is gone: after this job it is over")
        self._is_orphan = True
        self.act(signal.SIGQUIT)
        Thread(target=self._watch_locks, name="qless-orphan", daemon=True).start()

    def _watch_locks(self) -> None:
        try:
            self._locks().start(look=True)
        except QlessError as trouble:
            log.warning("process %d hears of no lost lock: %s", os.getpid(), trouble)

    def _taken(self, worker: str, jid: str, why: str) -> None:
        """Stop a job that is no longer ours, as the parent did as long as it was there."""
        super()._taken(worker, jid, why)
        self._ended.wait(self.plan.grace)
        if any(grip.job.jid == jid for grip in running()):
            log.warning("job %r does not end, so its process does", jid)
            os._exit(1)

    def _abandon(self) -> None:
        """Leave what does not end to the parent; where there is none, give back what can be."""
        if self._ended.is_set():
            return
        if self._is_orphan:
            self._give_up(self._why_not_ended())
            os._exit(0)
        if self.switch.mode is Mode.FINISH:
            os._exit(UNTOLD)


def live(child: Child, ears: Ears, go: int, last: int, leash: int) -> None:
    """Be a child: wait for the turn, work, tell that it is over. The process ends with it.

    Args:
        child: what works.
        ears: by which the parent heard, which go on to hear here.
        go: where the slot is told.
        last: where to tell the last.
        leash: a pipe that ends when the parent is gone.

    """
    code = 1
    try:
        ears.inherit()
        heed(ears, child.act, leash, child.orphaned)
        unblock()
        for call in child.plan.on_fork:
            call()
        child.prepare()
        told = os.read(go, GO.size)
        if len(told) == GO.size:
            slot, number = GO.unpack(told)
            child.inherit(slot, number)
            goes_on = child.work(slot)
            if goes_on is None:
                code = UNTOLD
                return
            is_clean = child.client.let_go()
            with suppress(OSError):
                os.write(last, LAST.pack(os.getpid(), slot, goes_on, is_clean))
        code = 0
    except BaseException:
        log.exception("a child of worker %s broke", child.name)
    finally:
        with suppress(BaseException):
            logging.shutdown()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def fork(be: Callable[[], None]) -> int:
    """Fork; answers the child's pid.

    Args:
        be: what the child does. The child ends with it.

    Raises:
        OSError: the system makes no more processes, for the time being.

    """
    return signals.fork(partial(_be, be))


def _be(be: Callable[[], None]) -> NoReturn:
    """Be a child, and nothing more: what is called outside of it is the parent's business."""
    try:
        be()
    except BaseException:
        log.exception("process %d broke before it was a child", os.getpid())
    finally:
        os._exit(1)
