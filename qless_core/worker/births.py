"""How a parent makes its children, and has some in store where they are short-lived."""

from __future__ import annotations

import logging
import os
import warnings
from typing import TYPE_CHECKING, Final

from qless_core.backoff import Backoff
from qless_core.clock import REAL
from qless_core.worker.burials import code_of
from qless_core.worker.child import LAST, Child, fork, live
from qless_core.worker.slots import Process

if TYPE_CHECKING:
    from qless_core.worker.signals import Ears

log = logging.getLogger("qless.worker")

#: The first wait, after a child that died before its turn, or that could not be made.
FIRST_WAIT_S: Final = 0.5


class Births:
    """Makes children, and hears the last that they tell.

    Args:
        model: what each child is. It is made before, as to make it costs as much as a short job.
        ears: by which the parent hears; those of a child are made of them.
        store: how many are kept ready, connected and waiting for their turn.

    """

    def __init__(self, model: Child, ears: Ears, store: int) -> None:
        self._model = model
        self._ears = ears
        self._store = store
        #: Children that wait for their turn, connected.
        self.spares: list[Process] = []
        self._leash, self._leash_end = os.pipe()
        self._last, self._last_end = os.pipe()
        #: When a spare may be made again, after one that died, and a child at all, after the
        #: system would make none.
        self._spares_at = self._forks_at = 0.0
        self._spares_backoff = Backoff(first=FIRST_WAIT_S)
        self._forks_backoff = Backoff(first=FIRST_WAIT_S)

    def __repr__(self) -> str:
        return f"<Births with {len(self.spares)} of {self._store} in store>"

    def fileno(self) -> int:
        """Give what to wait for with `select`: somebody tells his last."""
        return self._last

    def next(self) -> Process | None:
        """Give a child, waiting for its turn; None where none can be had now."""
        if self.spares:
            return self.spares.pop(0)
        return self._attempt() if self._forks_at <= REAL.monotonic() else None

    def stock(self) -> None:
        """Make one for the store, where one is missing and may be made now."""
        if self.is_short and self.stock_at <= REAL.monotonic():
            child = self._attempt()
            if child is not None:
                self.spares.append(child)

    @property
    def is_short(self) -> bool:
        """Whether there are fewer in store than there should be."""
        return len(self.spares) < self._store

    @property
    def stock_at(self) -> float:
        """When one may be made for the store, seconds of the monotonic clock."""
        return max(self._spares_at, self._forks_at)

    @property
    def at(self) -> float:
        """When one may be made at all, seconds of the monotonic clock."""
        return self._forks_at

    def hear(self) -> list[tuple[int, int, bool, bool]]:
        """Hear the last of those who end, as `LAST` has it."""
        raw = os.read(self._last, LAST.size * 1024)
        found = [*LAST.iter_unpack(raw)]
        if found:
            self._spares_backoff.reset()
        return found

    def reap(self) -> None:
        """See which of those in store are dead."""
        for child in [child for child in self.spares if code_of(child.pid) is not None]:
            log.warning("process %d died before its turn", child.pid)
            self.spares.remove(child)
            os.close(child.go)
            self._spares_at = REAL.monotonic() + self._spares_backoff.next()

    def dismiss(self) -> list[Process]:
        """Keep none in store; answers those that were, who end when they are told to."""
        found = [*self.spares]
        for child in found:
            os.close(child.go)
        self.spares.clear()
        return found

    def close(self) -> None:
        """Let all that there are know that there is no parent any more."""
        for end in (self._leash, self._leash_end, self._last, self._last_end):
            os.close(end)

    def _attempt(self) -> Process | None:
        try:
            child = self._fork()
        except OSError as trouble:
            wait = self._forks_backoff.next()
            self._forks_at = REAL.monotonic() + wait
            log.warning("no child can be made, again in %.1f s: %s", wait, trouble)
            return None
        self._forks_backoff.reset()
        return child

    def _fork(self) -> Process:
        reads, writes = os.pipe()

        def be() -> None:
            self._let_go(writes)
            live(self._model, self._ears, reads, self._last_end, self._leash)

        with warnings.catch_warnings():
            # Python warns of threads; ours hold no lock that a child needs.
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                pid = fork(be)
            except OSError:
                os.close(writes)
                raise
            finally:
                os.close(reads)
        return Process(pid, writes)

    def _let_go(self, writes: int) -> None:
        """Drop, in a child, what is the parent's."""
        for end in (writes, self._leash_end, self._last):
            os.close(end)
        for child in self.spares:
            os.close(child.go)
