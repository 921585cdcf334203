"""Where pages read: at a replica while that is known to be good enough, else at the primary.

Once a second both are asked how far they are, by the process and not by its pages. What this
process changes is read at the primary until the replica has it.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Final

from qless_core import reads
from qless_core.client import Client
from qless_core.clock import SERVER, Clock
from qless_core.errors import BadArgument, QlessError
from qless_core.reads import Kept, position, read
from qless_web.formatting import duration
from qless_web.freshness import Freshness
from qless_web.settings import SettingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_core.reads import Plan, Read, Scope

log = logging.getLogger("qless.web")

#: Seconds that a replica may be behind, as far as is known, and still be read.
LONGEST_LAG_S: Final = 5.0
#: Seconds between two looks at how far both are.
EVERY_S: Final = 1.0
#: Seconds that a replica which failed a page is left alone.
REST_S: Final = 2.0
#: Seconds that a replica has to answer: the primary is there as well.
_ANSWERS_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Standing:
    """How things stand with the replica."""

    #: Its address without secrets; "" where there is none.
    where: str = ""
    #: Whether it is read.
    is_read: bool = False
    #: Why it is not; "" where it is, or will be in a moment.
    why_not: str = ""
    #: Seconds that it may be behind, at most.
    lag_s: float = 0.0


class _Doubted(Exception):  # noqa: N818 - no error: the primary is read
    """Raised when what a replica says of itself makes what it says of jobs unreliable."""


class Reading:
    """Reads for one process. Threads share it.

    Args:
        primary: where jobs are changed, and read when in doubt.
        replica: where they are read otherwise; None for nowhere else.

    """

    def __init__(self, primary: Client, replica: Client | None = None) -> None:
        self._primary = primary
        self._replica = replica
        #: What pages ask of many queues, as it is at the primary, and at the replica.
        self._kept = Kept(primary.redis, primary.keys)
        self._kept_there = Kept(replica.redis, replica.keys) if replica is not None else None
        # Not the client's clock: in tests that one stands still, and here seconds must pass.
        self._clock = Clock()
        self._known = Freshness()
        self._changed_at = -math.inf
        #: Why the replica gave no answer, and until when it is left alone for that.
        self._failure = ""
        self._rests_until = -math.inf
        #: Seconds by which the primary's clock is ahead of monotonic time here.
        self._ahead_s = 0.0
        self._told = ""
        self._starting = Lock()
        self._end = Event()
        self._thread: Thread | None = None

    @classmethod
    def of(cls, primary: Client, url: str) -> Reading:
        """Read at the replica of an address; "" for none.

        Raises:
            SettingError: it cannot be one, as it has another database or namespace.

        """
        if not url:
            return cls(primary)
        try:
            replica = Client(url, namespace=primary.namespace)
        except BadArgument as error:
            raise SettingError(str(error)) from None
        ours, theirs = (_settings(each) for each in (primary, replica))
        wanted, given = ours.get("db") or 0, theirs.get("db") or 0
        if wanted != given:
            message = f"read_url leads to database {given}, but the jobs are in database {wanted}"
            raise SettingError(message)
        for name in ("socket_timeout", "socket_connect_timeout"):
            theirs[name] = min(theirs.get(name) or _ANSWERS_S, _ANSWERS_S)
        return cls(primary, replica)

    def run(
        self, plans: Sequence[Plan[Any]], *, at_primary: bool = False
    ) -> tuple[bool, list[Any]]:
        """Run reads side by side, at the replica where that will do.

        Args:
            plans: the reads.
            at_primary: whether nothing else will do.

        Returns:
            Whether it was the replica, and what each read found, in order.

        Raises:
            QlessError: the primary could not be asked, or one of the reads makes no sense.

        """
        if self._replica is not None:
            self._start()
        replica = None if at_primary else self.place()
        if replica is not None:
            try:
                return True, self._at(replica, plans)
            except BadArgument:
                raise
            except (QlessError, _Doubted) as error:
                self._fails(str(error), REST_S)
        client, stamp = self._primary, self._primary.clock.stamp()
        now = None if stamp == SERVER else float(stamp)
        return False, reads.run(client.redis, client.keys, plans, now=now, kept=self._kept)[1]

    def place(self) -> Client | None:
        """Give the replica where it may be read now; None for the primary."""
        return self._replica if self.standing().is_read else None

    def changed(self) -> None:
        """Note that this process has just changed something."""
        self._changed_at = self._clock.monotonic()
        self._kept.doubt()

    def standing(self) -> Standing:
        """Say how things stand."""
        if self._replica is None:
            return Standing()
        where, until = self._replica.safe_url, self._known.has_all_until
        lag = self._clock.monotonic() - until
        why_not = self._failure or self._known.why_not
        if not why_not and LONGEST_LAG_S < lag < math.inf:
            why_not = f"it may be {duration(lag)} behind"
        is_read = not why_not and lag <= LONGEST_LAG_S and until > self._changed_at
        return Standing(where, is_read, why_not, lag)

    def look(self) -> None:
        """Ask both how far they are.

        Raises:
            QlessError: the primary could not be asked.

        """
        primary, replica = self._primary, self._replica
        if replica is None:
            return
        began = self._clock.monotonic()
        scope, (ours,) = reads.run(primary.redis, primary.keys, (position(),))
        self._ahead_s = scope.now - (began + self._clock.monotonic()) / 2
        try:
            _, (theirs,) = reads.run(replica.redis, replica.keys, (position(),), now=0.0)
        except QlessError as error:
            self._fails(str(error))
        else:
            if self._kept_there is not None and self._known.has_all_until <= self._changed_at:
                # It may have what was changed here by now, and have yet to tell of it.
                self._kept_there.doubt()
            self._known.told(began, ours, theirs)
            if began >= self._rests_until:
                self._failure = ""
        self._tell(replica)

    def close(self) -> None:
        """Look no more; safe in a signal handler."""
        self._end.set()

    def _at(self, replica: Client, plans: Sequence[Plan[Any]]) -> list[Any]:
        stamp = self._primary.clock.stamp()
        now = self._clock.monotonic() + self._ahead_s if stamp == SERVER else float(stamp)
        whole = (_sure(self._known), *plans)
        kept = self._kept_there
        return reads.run(replica.redis, replica.keys, whole, now=now, kept=kept)[1][1:]

    def _fails(self, why: str, rest_s: float = 0.0) -> None:
        self._failure = why
        self._rests_until = max(self._rests_until, self._clock.monotonic() + rest_s)

    def _tell(self, replica: Client) -> None:
        """Log when the replica is read no more, or again."""
        why = self.standing().why_not
        if why and not self._told:
            log.warning("pages are not read at the replica %s: %s", replica.safe_url, why)
        elif self._told and not why:
            log.warning("pages are read at the replica %s again", replica.safe_url)
        self._told = why

    def _start(self) -> None:
        # After a fork the thread is the parent's, and not alive here.
        if self._thread is not None and self._thread.is_alive():
            return
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._thread = Thread(target=self._run, name="qless-replica", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        pause, fails = 0.0, False
        while not self._clock.wait(pause, self._end):
            pause = EVERY_S
            try:
                self.look()
            except Exception as error:  # noqa: BLE001 - it must outlive whatever Redis answers
                if not fails:
                    log.warning("it is not known how far the replica is: %s", error)
                fails = True
            else:
                fails = False


@read
def _sure(scope: Scope, known: Freshness) -> Read[None]:
    """Make sure, in the same round trip, that a replica is still what it was at the last look."""
    found = yield from position()(scope)
    if why := known.doubt(found):
        raise _Doubted(why)


def _settings(client: Client) -> dict[str, Any]:
    settings: dict[str, Any] = client.redis.connection_pool.connection_kwargs
    return settings
