"""What is to be called at some later moment, by one thread for all."""

from __future__ import annotations

import heapq
import itertools
import logging
import os
import threading
import weakref
from typing import TYPE_CHECKING, Final

from qless_core.clock import REAL

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger("qless.worker")

#: Entries that are no longer wanted before it is worth while to take them out.
FEW: Final = 64


class Entry:
    """Something to be called, until it is canceled.

    Attributes:
        call: what to call.
        due: when, by the monotonic clock.
        is_canceled: whether it is not wanted any more.

    """

    __slots__ = ("call", "due", "is_canceled")

    def __init__(self, call: Callable[[], object], due: float) -> None:
        self.call = call
        self.due = due
        self.is_canceled = False


class Timetable:
    """Calls what is due, in a thread that begins with the first entry.

    A call that takes long keeps the others waiting. A forked child begins with an empty one.

    Args:
        name: what its thread is called.

    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._changed = threading.Condition()
        #: A heap; the number decides between those of the same moment.
        self._entries: list[tuple[float, int, Entry]] = []
        self._numbers = itertools.count()
        self._canceled = 0
        self._thread: threading.Thread | None = None
        _all.add(self)

    def __repr__(self) -> str:
        return f"<Timetable {self._name!r} of {len(self._entries)}>"

    def after(self, seconds: float, call: Callable[[], object]) -> Entry:
        """Have something called so many seconds from now; what it raises is logged."""
        entry = Entry(call, REAL.monotonic() + seconds)
        with self._changed:
            heapq.heappush(self._entries, (entry.due, next(self._numbers), entry))
            if self._entries[0][2] is entry:
                self._changed.notify()
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
        return entry

    def cancel(self, entry: Entry) -> None:
        """Do not call it, unless that has begun."""
        with self._changed:
            if not entry.is_canceled:
                entry.is_canceled = True
                self._canceled += 1
            if self._canceled > max(FEW, len(self._entries) / 2):
                self._entries = [each for each in self._entries if not each[2].is_canceled]
                heapq.heapify(self._entries)
                self._canceled = 0

    def _run(self) -> None:
        while True:
            entry = self._next()
            try:
                entry.call()
            except Exception:
                log.exception("%s: what was due failed", self._name)

    def _next(self) -> Entry:
        """Wait until something is due, and take it."""
        with self._changed:
            while True:
                if not self._entries:
                    self._changed.wait()
                    continue
                due, _, entry = self._entries[0]
                left = due - REAL.monotonic()
                if left > 0 and not entry.is_canceled:
                    self._changed.wait(min(left, threading.TIMEOUT_MAX))
                    continue
                heapq.heappop(self._entries)
                if entry.is_canceled:
                    self._canceled -= 1
                    continue
                # From now on it is not among those that could be canceled.
                entry.is_canceled = True
                return entry

    def begin_anew(self) -> None:
        """Forget all, in a forked child: the thread is not there, the lock may be held."""
        self._changed = threading.Condition()
        self._entries = []
        self._canceled = 0
        self._thread = None


_all: weakref.WeakSet[Timetable] = weakref.WeakSet()


def _begin_anew() -> None:
    for timetable in list(_all):
        timetable.begin_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
