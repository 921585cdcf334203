"""How signals reach a worker, which may be in the middle of anything when they come.

The handlers do nothing: what Python calls in between two lines of a job may take no lock and start
no thread. The number of the signal goes into a pipe instead, and a thread acts on it, also while
the job is in a long call of something written in C, as long as that lets other threads run.
"""

from __future__ import annotations

import _thread
import importlib
import logging
import os
import signal
import sys
import threading
import traceback
from contextlib import contextmanager, suppress
from functools import partial
from select import select
from typing import TYPE_CHECKING, Final, NoReturn

from qless_core.worker.early import leave, let_come

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import FrameType

    Handler = Callable[[int, FrameType | None], object] | int | signal.Handlers | None

log = logging.getLogger("qless.worker")

#: What a worker acts on. Each is left alone where the program itself handles or ignores it.
SIGNALS: Final = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGCONT,
)

#: What is done with a signal of which the program itself said nothing.
_BY_DEFAULT: Final = (signal.SIG_DFL, signal.default_int_handler, leave)


#: What the module `signal` calls itself: to make enums of the answers, as it does, takes longer
#: than many a job.
_plain: Final = importlib.import_module("_signal")
#: What handles a signal.
_handler_of: Final[Callable[[int], object]] = getattr(_plain, "getsignal", signal.getsignal)
#: Blocks signals, or lets them come; answers those that were blocked.
_mask: Final[Callable[[int, Iterable[int]], set[int]]] = getattr(
    _plain, "pthread_sigmask", signal.pthread_sigmask
)
#: All that may be blocked.
_ALL: Final = frozenset(map(int, signal.valid_signals()))

#: What hears signals in this process: one, where a worker runs.
_open: list[Ears] = []


class Ears:
    """Hears signals by a pipe; on the main thread only.

    Args:
        numbers: which; each is left alone where the program itself handles or ignores it, but for
            CHLD, which nobody means to ignore.

    """

    def __init__(self, numbers: Iterable[signal.Signals] = SIGNALS) -> None:
        self._numbers = tuple(numbers)
        self._before: dict[signal.Signals, Handler] = {}
        self._fd_before = -1
        self._reads = self._writes = -1

    def fileno(self) -> int:
        """Give what to wait for with `select`."""
        return self._reads

    def open(self) -> None:
        """Begin to hear."""
        self._fd_before = self._open_pipe()
        for number in self._numbers:
            before = signal.getsignal(number)
            # Where it is ignored, as some programs hand it down, the dead are not told of.
            is_deaf = number == signal.SIGCHLD and before == signal.SIG_IGN
            if before in _BY_DEFAULT or is_deaf:
                self._before[number] = before
                signal.signal(number, _heard)
        _open.append(self)
        let_come()

    def _open_pipe(self) -> int:
        """Hear by a new pipe; answers what was told of signals before."""
        self._reads, self._writes = os.pipe()  # pipe2 is not on every system
        for end in (self._reads, self._writes):
            os.set_blocking(end, False)
        return signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)

    def inherit(self) -> None:
        """Hear by a pipe of its own, in a child that was forked `handing_down` these.

        It has no children to hear of, and is told to end by its parent, not by Ctrl-C.
        """
        for end in (self._reads, self._writes):
            os.close(end)
        self._open_pipe()
        if (before := self._before.pop(signal.SIGCHLD, None)) is not None:
            signal.signal(signal.SIGCHLD, before)
        self._before.pop(signal.SIGINT, None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def renew(self) -> None:
        """Hear again what a job has made it deaf to: asyncio, for one, takes the pipe away."""
        signal.set_wakeup_fd(self._writes, warn_on_full_buffer=False)
        for number in self._before:
            if _handler_of(number) is not _heard:
                signal.signal(number, _heard)
        _mask(signal.SIG_UNBLOCK, self._before)

    def forget(self) -> None:
        """Be deaf in a process that a job has forked: what it is told is not for the worker."""
        signal.set_wakeup_fd(-1)
        for number, before in self._before.items():
            signal.signal(number, signal.SIG_DFL if before is leave else before)

    def read(self) -> list[signal.Signals]:
        """Give the signals that came since the last time, without waiting."""
        try:
            raw = os.read(self._reads, 4096)
        except (BlockingIOError, OSError):
            return []
        return [signal.Signals(number) for number in raw if number in self._before]

    def wake(self) -> None:
        """Let whoever waits go on, though no signal came."""
        with suppress(OSError):
            os.write(self._writes, b"\0")

    def close(self) -> None:
        """Hear no more; signals are handled as they were before."""
        _open.remove(self)
        for number, before in self._before.items():
            signal.signal(number, before)
        self._before.clear()
        signal.set_wakeup_fd(self._fd_before)
        for end in (self._reads, self._writes):
            os.close(end)


def _heard(_: int, __: FrameType | None) -> None:
    """Do nothing: the pipe has it already."""


def is_ended_by_keys() -> bool:
    """Whether Ctrl-C may raise `KeyboardInterrupt` in this thread, as the program has it."""
    if threading.current_thread() is not threading.main_thread():
        return False
    return signal.getsignal(signal.SIGINT) not in (signal.SIG_IGN, signal.SIG_DFL, _heard, leave)


def renew() -> None:
    """Hear signals again, whatever the last job has done to them; on the main thread only."""
    if _open and threading.current_thread() is threading.main_thread():
        for ears in _open:
            ears.renew()


#: Whether the process that is forked now goes on to hear what its parent heard.
_is_handed_down = False


def fork(be: Callable[[], NoReturn]) -> int:
    """Fork a child that goes on to hear; answers its pid. Nothing reaches it before it can heed it.

    Args:
        be: what the child does, with all signals blocked.

    Raises:
        OSError: the system makes no more processes, for the time being.

    """
    global _is_handed_down  # noqa: PLW0603 - it is about the process
    before = _mask(signal.SIG_BLOCK, _ALL)
    _is_handed_down = True
    try:
        pid = os.fork()
        _is_handed_down = False
        if pid == 0:
            be()
    finally:
        _is_handed_down = False
        _mask(signal.SIG_SETMASK, before)
    return pid


def unblock() -> None:
    """Let all signals come, in a child that heeds them now."""
    _mask(signal.SIG_SETMASK, ())


def _forget() -> None:
    if not _is_handed_down:
        for ears in _open:
            ears.forget()


os.register_at_fork(after_in_child=_forget)


@contextmanager
def heeding(act: Callable[[signal.Signals], None]) -> Iterator[None]:
    """Let a thread act on signals meanwhile.

    Does nothing on another thread than the main one, which alone may handle signals, and leaves
    alone what the program itself has decided to handle or to ignore.

    Args:
        act: called, in that thread, with each signal.

    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ears = Ears()
    ears.open()
    over = threading.Event()
    args = (ears, act, over, -1, _stay)
    thread = threading.Thread(target=_heed, args=args, name="qless-signals", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        ears.wake()
        thread.join()
        ears.close()


def _stay() -> None:
    """Do nothing at the end of a parent that there is none of."""


def heed(
    ears: Ears, act: Callable[[signal.Signals], None], leash: int, left_alone: Callable[[], None]
) -> None:
    """Let a thread act on signals for as long as the process lives.

    Args:
        ears: what hears them.
        act: called, in that thread, with each signal.
        leash: a pipe that ends when the parent is gone.
        left_alone: called then, in that thread.

    """
    # Not by `threading`, which waits until it runs.
    _thread.start_new_thread(_heed, (ears, act, threading.Event(), leash, left_alone))


def _heed(
    ears: Ears,
    act: Callable[[signal.Signals], None],
    over: threading.Event,
    leash: int,
    left_alone: Callable[[], None],
) -> None:
    waits: list[int] = [ears.fileno(), *([leash] if leash >= 0 else [])]
    while not over.is_set():
        ready, _, _ = select(waits, [], [])
        calls: list[tuple[str, Callable[[], None]]]
        calls = [(number.name, partial(act, number)) for number in ears.read()]
        if leash in ready:
            waits.remove(leash)
            calls.append(("the end of the parent", left_alone))
        for what, call in calls:
            try:
                call()
            except Exception:
                log.exception("what %s asks for failed", what)


def log_stacks() -> None:
    """Log what each thread of this process is doing."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    parts = [f"stacks of process {os.getpid()}:"]
    for ident, frame in sys._current_frames().items():  # noqa: SLF001 - the documented way
        parts.append(f"thread {names.get(ident, ident)}:")
        parts.append("".join(traceback.format_stack(frame)).rstrip())
    log.warning("%s", "\n".join(parts))
