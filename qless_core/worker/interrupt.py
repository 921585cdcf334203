"""Stopping a job that runs, by an exception that is raised in it from outside.

The exception arrives as soon as the thread of the job runs Python again. Where that is the main
thread, a signal (`SIGURG`, which nobody uses and which does nothing by default) ends whatever it
waits for. There is nothing of the kind for other threads: a call into C, a read of a socket say,
must return first.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import threading
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from qless_core.job import Job

    Throw = Callable[["Interruption", Callable[[], bool]], object]

log = logging.getLogger("qless.worker")

#: What tells the main thread; 0 on a system without it.
_SIGNAL: Final[int] = getattr(signal, "SIGURG", 0)

#: Seconds until it is told again.
_AGAIN_S: Final = 0.02


class Interruption(BaseException):
    """Raised in a job to stop it; no `except Exception` of the job swallows it.

    Args:
        why: what to say about it.

    """

    def __init__(self, why: str = "") -> None:
        # Python makes another one of its own, without arguments, in the thread of the job.
        why = why or _arrives_here(type(self))
        super().__init__(*([why] if why else []))
        #: What was said about it.
        self.why = why
        #: Whether the job had begun.
        self.has_begun = True


class WorkerStopping(Interruption):
    """Raised in a job whose worker was told to stop at once: the job goes back to its queue."""


class JobTaken(Interruption):
    """Raised in a job that is no longer ours: its lock is lost, or it was canceled."""


class Grip:
    """What a running job is held by, so that others can stop it.

    It counts until `close`; what is told before `open` is raised there, what is told later comes
    too late. Only the thread that runs the job opens and closes it.

    Args:
        job: the job.
        throw: raises an exception where the job runs, unless it is done by then, as what it is
            given beside the exception says: for greenlets. By default the job runs in the thread
            that made this.

    """

    def __init__(self, job: Job, throw: Throw | None = None) -> None:
        self.job = job
        #: What the job was told last; None as long as nobody did.
        self.told: Interruption | None = None
        #: That by which it is stopped for its worker's sake, once the job has heard of it: what the
        #: job makes of that, or what goes around it, does not count.
        self.stopped: Interruption | None = None
        self._throw = throw
        self._thread = threading.get_ident()
        if not _is_installed:
            _install()
        self._is_open = False
        self._is_closed = False
        self._helper: threading.Thread | None = None
        #: Taken for good by the thread of the job when it is done, and for a moment to tell it.
        self._door = threading.RLock()
        _grips[id(self)] = self

    def __repr__(self) -> str:
        return f"<Grip of {self.job!r}>"

    @property
    def is_told_to_stop(self) -> bool:
        """Whether the job was told to stop for its worker's sake: then no more need be said."""
        return isinstance(self.told, WorkerStopping | JobTaken)

    @property
    def is_here(self) -> bool:
        """Whether the thread that asks is the one that runs the job."""
        return self._thread == threading.get_ident()

    def interrupt(self, error: Interruption) -> bool:
        """Stop the job; any thread may, and a handler of signals.

        Returns:
            Whether it comes in time: nothing more is raised in a job that is done.

        """
        if not self._door.acquire(blocking=False):
            return False  # it is done, or told by another at this very moment
        try:
            if self._is_closed:
                return False
            self.told = error
            if self._is_open:
                self._raise(error)
        finally:
            self._door.release()
        return True

    def hears(self) -> None:
        """Note that what the job was told has arrived in it."""
        if self.is_told_to_stop:
            self.stopped = self.told

    def clean(self) -> None:
        """Have what the job left for when it is stopped done, before the thread goes on."""
        run_cleanups(self.job)
        if self._helper is not None:
            self._helper.join()

    def open(self) -> None:
        """Begin: from now on the thread may be interrupted.

        Raises:
            Interruption: the job was told to stop before it began.

        """
        self._is_open = True
        if self.told is not None:
            self.told.has_begun = False
            self.hears()
            raise self.told

    def close(self) -> None:
        """End: from now on nothing is raised. What was on its way is dropped, the job is done.

        It is to be called once more where it was itself interrupted.
        """
        while not self._is_closed:
            before = self.stopped
            try:
                # For good. Once more does no harm: who is interrupted does not know if it has it.
                self._door.acquire()
                if self.told is not None and self._throw is None:
                    _raise_in(self._thread, None)
                _grips.pop(id(self), None)
                self._is_closed = True
            except Interruption as error:
                log.debug("%r came when job %r was done", error, self.job.jid)
                self.stopped = before

    def in_full(self, error: BaseException) -> BaseException:
        """Give what the job was told for what arrived of it: Python raises a bare class."""
        if self.told is None or error is self.told or type(error) is not type(self.told):
            return error
        return self.told.with_traceback(error.__traceback__)

    def _raise(self, error: Interruption) -> None:
        if self._throw is not None:
            self._throw(error, self._is_wanted)
        else:
            _raise_in(self._thread, type(error))
        if not self.is_here:
            # After that, as what the job waits for may end now, and it must not go on then.
            self._helper = threading.Thread(
                target=self._end_waiting, name="qless-interrupt", daemon=True
            )
            self._helper.start()

    def _is_wanted(self) -> bool:
        """Whether the job runs, to which it is raised now."""
        if not self._is_closed:
            self.hears()
        return not self._is_closed

    def _end_waiting(self) -> None:
        """End what the job waits for, by a signal where it heeds one, and by what it left."""
        if self._throw is None and _hears(self._thread):
            # Of its own, as a cleanup may take its time.
            threading.Thread(target=self._signal, name="qless-signal", daemon=True).start()
        run_cleanups(self.job)

    def _signal(self) -> None:
        """Tell the main thread until it has heard: a signal just before it waits is not noticed."""
        pause, before = threading.Event(), _heard
        while _heard == before and not self._is_closed:
            signal.pthread_kill(self._thread, _SIGNAL)
            pause.wait(_AGAIN_S)


#: Jobs that run in this process, by the identity of the grip.
_grips: dict[int, Grip] = {}
#: How often the main thread has heard the signal.
_heard = 0
#: Whether the main thread was made to.
_is_installed = False


def _arrives_here(kind: type[Interruption]) -> str:
    """Note that the job of this thread hears of an interruption; answers what it was told."""
    for grip in reversed(running()):
        if grip.is_here and grip.told is not None and type(grip.told) is kind:
            grip.hears()
            return grip.told.why
    return ""


def running() -> list[Grip]:
    """List the jobs that run in this process."""
    return list(_grips.values())


def grip_of(job: Job) -> Grip | None:
    """Find what a job that runs in this process is held by."""
    return next((grip for grip in running() if grip.job is job), None)


def interrupt(error: Interruption, jid: str | None = None, worker: str | None = None) -> int:
    """Stop jobs that run in this process, all of them or those that are meant.

    Args:
        error: what to raise in them.
        jid: the job.
        worker: who holds it.

    Returns:
        How many were told in time.

    """
    meant = [
        grip
        for grip in running()
        if (jid is None or jid == grip.job.jid) and (worker is None or worker == grip.job.holder)
    ]
    # Our own comes last: where this is a handler of signals, it ends here.
    meant.sort(key=lambda grip: grip.is_here)
    return sum(grip.interrupt(error) for grip in meant)


def run_cleanups(job: Job) -> None:
    """Call what a job left for when it is stopped, the last first, each once."""
    while (cleanup := job.next_cleanup()) is not None:
        try:
            cleanup()
        except Exception:
            log.exception("job %r: a cleanup failed", job.jid)


def _install() -> None:
    """Have the main thread heed the signal, unless the program has use for it itself."""
    global _is_installed  # noqa: PLW0603 - it is about the process
    if threading.get_ident() != threading.main_thread().ident:
        return
    if _SIGNAL and signal.getsignal(_SIGNAL) in (signal.SIG_DFL, signal.SIG_IGN):
        signal.signal(_SIGNAL, _hear)
    _is_installed = True


def _hears(thread: int) -> bool:
    """Whether a thread heeds the signal."""
    if not _SIGNAL or thread != threading.main_thread().ident:
        return False
    return signal.getsignal(_SIGNAL) is _hear


def _hear(_: int, __: FrameType | None) -> None:
    """Run some Python, in which what was raised arrives."""
    global _heard  # noqa: PLW0603 - there is one main thread
    _heard += 1


def _raise_in(thread: int, kind: type[BaseException] | None) -> None:
    """Raise an exception in a thread as soon as it runs Python; None takes back what waits."""
    wanted = None if kind is None else ctypes.py_object(kind)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), wanted)


def _forget() -> None:
    """Hold nothing in a forked child: the threads that ran the jobs are not there."""
    _grips.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
