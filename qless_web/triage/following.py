"""What tells that the index is behind: events, at once, and counts that differ, a little later.

Nobody tells of a pop, a retry or a tag. So the lengths of the lists are compared with what is
known of them, some at each look; where they differ, the list is walked.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING, Any, Final

from qless_core import events
from qless_core.clock import REAL
from qless_core.errors import QlessError
from qless_web.triage import places
from qless_web.triage.places import Place

if TYPE_CHECKING:
    from qless_core.client import Client
    from qless_core.subscription import Subscription
    from qless_web.triage.source import Source
    from qless_web.triage.store import Store

#: Events that are remembered; of more, lists that differ tell.
MOST: Final = 200_000
#: Events that are heard before something else is done.
_AT_ONCE: Final = 2_000
#: Seconds for which a job may rest before it is read: most of those put at once are popped at once.
#: What failed stays as it is, and people wait for it.
_REST_S: Final = 0.3
#: Seconds until one listens again who could not.
_DEAF_S: Final = 2.0
#: Lists whose lengths are compared at one look, beside the failures and completed ones.
_LOOKED_AT: Final = 1_000
#: Jobs of a list for each of which it is walked a second later again at the soonest.
_WALKED_EACH_S: Final = 2_000


class Hints:
    """Jobs that something happened to, the failed ones first, each with when it was heard of."""

    def __init__(self, client: Client) -> None:
        self._subscription: Subscription = client.events.subscribe("log")
        self._urgent: dict[str, float] = {}
        self._others: dict[str, float] = {}
        self._listen_at = 0.0
        #: Whether events may have been missed since it was asked last.
        self._missed = True

    def close(self) -> None:
        """Listen no more."""
        self._subscription.close()

    def listen(self, patience: float) -> bool:
        """Hear what there is, waiting for the first; answers whether it can hear."""
        if REAL.monotonic() < self._listen_at:
            return False
        try:
            event = self._subscription.get(patience)
            for _ in range(_AT_ONCE):
                if event is None:
                    break
                self._hear(event)
                event = self._subscription.get(0)
        except QlessError:
            self._listen_at = REAL.monotonic() + _DEAF_S
            self._missed = True
            return False
        return True

    def _hear(self, event: events.Event) -> None:
        if not isinstance(event, events.JobEvent) or not _can_be(event.jid):
            return
        urgent = isinstance(event, events.Failed | events.Canceled)
        some = self._urgent if urgent else self._others
        if event.jid in some:
            return
        if len(some) >= MOST:
            self._missed = True
            return
        some[event.jid] = REAL.monotonic()

    def take(self, most: int) -> list[str]:
        """Take jobs out that may be read by now: those that failed first, then the oldest."""
        taken: list[str] = []
        rested = REAL.monotonic() - _REST_S
        for some, upto in ((self._urgent, math.inf), (self._others, rested)):
            while some and len(taken) < most:
                jid, heard = next(iter(some.items()))
                if heard > upto:
                    break
                del some[jid]
                taken.append(jid)
        return taken

    def give_back(self, jids: list[str]) -> None:
        """Put back what was taken and could not be read."""
        now = REAL.monotonic()
        for jid in jids:
            self._urgent.setdefault(jid, now)

    def oldest(self) -> float | None:
        """Say when the oldest was heard of, on the monotonic clock; None where there is none."""
        first = [next(iter(some.values())) for some in (self._urgent, self._others) if some]
        return min(first, default=None)

    def missed(self) -> bool:
        """Say whether events may have been missed, once."""
        missed, self._missed = self._missed, False
        return missed


def _can_be(jid: str) -> bool:
    """Tell a jid from what JSON can spell and no key can hold: that would be asked for for ever."""
    try:
        jid.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


class Watch:
    """Compares the lengths of lists with what is known of them."""

    def __init__(self, source: Source, store: Store) -> None:
        self._source = source
        self._store = store
        self._turn = 0
        #: By how much the length of a list differs from what is known, after it was walked: it may
        #: name jobs that are no more.
        self._settled: dict[Place, int] = {}
        #: When each list was walked last, on the monotonic clock.
        self._walked: dict[Place, float] = {}
        self._tracked: Any = None
        #: Lists to be walked, in order, each once.
        self.due: deque[Place] = deque()
        #: Jobs in all lists at the last look at all of them.
        self.total = 0

    def everything(self) -> None:
        """Have all lists be walked.

        Raises:
            QlessError: Redis could not be asked.

        """
        _, found = self._source.read(places.places())
        _, counts = self._source.read(places.sizes(found))
        self.total = sum(counts)
        known = [place for place, count in zip(found, counts, strict=True) if count]
        others = [place for place in found if place not in set(known) and self._store.size(place)]
        self.due = deque([*known, *others])

    def look(self) -> float:
        """Look at some lists, and at what is tracked; answers the time, epoch seconds.

        Raises:
            QlessError: Redis could not be asked.

        """
        _, found = self._source.read(places.places())
        few = [place for place in found if place.kind in {"failed", "locks", "completed"}]
        many = [place for place in found if place.kind not in {"failed", "locks", "completed"}]
        self._turn += 1
        now = 0.0
        for some in (self._turned(few), self._turned(many)):
            now, counts = self._source.read(places.sizes(some))
            for place, count in zip(some, counts, strict=True):
                self._compare(place, count)
        self._look_for_lost(found)
        self._look_at_tracked()
        return now

    def time(self) -> float:
        """Ask what time it is, epoch seconds.

        Raises:
            QlessError: Redis could not be asked.

        """
        return self._source.read(places.sizes([]))[0]

    def next(self, *, is_sure: bool) -> Place | None:
        """Take the next list that is to be walked; one that differs no more is passed over.

        Args:
            is_sure: whether all are walked, whatever their length.

        Raises:
            QlessError: Redis could not be asked.

        """
        place = self.due.popleft()
        if is_sure:
            return place
        _, (count,) = self._source.read(places.sizes([place]))
        differs = count - self._store.size(place)
        return None if differs == self._settled.get(place, 0) else place

    def settle(self, place: Place) -> None:
        """Note how a list that was walked differs all the same.

        Raises:
            QlessError: Redis could not be asked.

        """
        _, (count,) = self._source.read(places.sizes([place]))
        self._settled[place] = count - self._store.size(place)
        self._walked[place] = REAL.monotonic()

    def _turned(self, some: list[Place]) -> list[Place]:
        rounds = max(1, -(-len(some) // _LOOKED_AT))
        start = self._turn % rounds * _LOOKED_AT
        return some[start : start + _LOOKED_AT]

    def _compare(self, place: Place, count: int) -> None:
        differs = count - self._store.size(place)
        if differs == self._settled.get(place, 0) or place in self.due:
            return
        walked = self._walked.get(place)
        if walked is None or REAL.monotonic() - walked > count / _WALKED_EACH_S:
            self.due.append(place)

    def _look_for_lost(self, found: list[Place]) -> None:
        """Have groups be walked whose last failure is gone: Redis names them no more."""
        named = {place.name for place in found if place.kind == "failed"}
        for group in self._store.groups():
            if group not in named:
                self._compare(Place("failed", group), 0)

    def _look_at_tracked(self) -> None:
        _, mark = self._source.read(places.tracked_mark())
        if mark != self._tracked:
            _, jids = self._source.read(places.tracked())
            self._store.mark_tracked(jids)
            self._tracked = mark
