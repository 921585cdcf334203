"""What another server said: kept for a while, and longer while it says nothing that can be used."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from qless_core.clock import REAL
from qless_web.accounts import fetching
from qless_web.accounts.fetching import Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

log = logging.getLogger("qless.web.accounts")

T = TypeVar("T")

#: Seconds for which a server that did not answer is not asked again.
_AWAY_S: Final = 3.0


class Desk:
    """How many may wait for another server at once: the other threads go on serving pages.

    Args:
        most: so many.

    """

    def __init__(self, most: int) -> None:
        self._free = BoundedSemaphore(most)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Take a place while the server is asked.

        Raises:
            Unreachable: all are taken.

        """
        if not self._free.acquire(blocking=False):
            problem = "as many as may wait for it do"
            raise Unreachable(problem)
        try:
            yield
        finally:
            self._free.release()


class Kept(Generic[T]):
    """One thing that is asked of another server now and then.

    Args:
        desk: where those wait who ask.
        made: makes it of the object that is answered. What it makes Unreachable of, as it cannot
            be used, is not kept.

    """

    def __init__(self, desk: Desk, made: Callable[[dict[str, Any]], T]) -> None:
        self._desk, self._made = desk, made
        self._found: T | None = None
        self._at = self._failed_at = float("-inf")
        self._asking = Lock()

    def ask(self, url: str, kept_s: float, believed_s: float) -> T:
        """Give it; where it comes to nothing to ask anew, or somebody does already, the old one.

        Args:
            url: where it is asked for.
            kept_s: seconds after which it is asked for anew.
            believed_s: seconds for which it is good where nothing better comes.

        Raises:
            Unreachable: there is none that is good.

        """
        if (fresh := self._within(kept_s)) is not None:
            return fresh
        old = self._within(believed_s)
        try:
            with self._desk.place(), self._turn(waits=old is None):
                return self._anew(url, kept_s)
        except Unreachable:
            if old is None:
                raise
            return old

    def _within(self, age_s: float) -> T | None:
        return self._found if REAL.monotonic() - self._at < age_s else None

    @contextmanager
    def _turn(self, *, waits: bool) -> Iterator[None]:
        if not self._asking.acquire(blocking=waits):
            problem = "somebody asks it already"
            raise Unreachable(problem)
        try:
            yield
        finally:
            self._asking.release()

    def _anew(self, url: str, kept_s: float) -> T:
        if (fresh := self._within(kept_s)) is not None:
            return fresh  # whoever asked before asked for all who waited
        if REAL.monotonic() - self._failed_at < _AWAY_S:
            problem = "it did not answer a moment ago"
            raise Unreachable(problem)
        try:
            found = self._made(fetching.get(url))
        except Unreachable as error:
            self._failed_at = REAL.monotonic()
            log.warning("nothing of use came from %s: %s", url, error)
            raise
        self._found, self._at = found, REAL.monotonic()
        return found
