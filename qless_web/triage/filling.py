"""Walks one list of Redis and brings the index in line with it, a step at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qless_web.triage import places

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from qless_web.triage.places import Place
    from qless_web.triage.source import Source
    from qless_web.triage.store import Store

#: Jobs of a step: few, so that what is new does not wait; more where the rate has no bound.
STEP: Final = 1_000
BIG_STEP: Final = 2_000


class Sweep:
    """One walk through one place.

    A job that is not known, or is thought to be elsewhere, is read. In the end those are read that
    were thought to be here and were not met.

    Args:
        source: where jobs are read.
        store: where they go.
        place: the list.
        since: jobs at the head of a failure group are read, known or not, for as long as they
            failed after that, in epoch milliseconds: they may have failed once more.

    """

    def __init__(
        self, source: Source, store: Store, place: Place, since: int | None = None
    ) -> None:
        self.place = place
        self._source = source
        self._store = store
        self._since = since if place.kind == "failed" else None
        self._at = 0
        self._met = bytearray(store.last_seq // 8 + 1)
        self._last = store.last_seq
        self._unmet: list[str] | None = None

    def step(self) -> bool:
        """Go on by a step; answers whether there is more to do.

        Raises:
            QlessError: Redis could not be asked.

        """
        if self._unmet is None:
            self._walk()
            return True
        size = self._size()
        some, self._unmet = self._unmet[:size], self._unmet[size:]
        read_in(self._source, self._store, some)
        return bool(self._unmet)

    def _size(self) -> int:
        return STEP if self._source.is_bounded else BIG_STEP

    def _walk(self) -> None:
        size = self._size()
        _, jids = self._source.read(places.part(self.place, self._at, size))
        self._at += len(jids)
        self._source.looked_at(len(jids))
        self._take(list(dict.fromkeys(jids)))
        if len(jids) < size:
            # What came in meanwhile was read just now.
            known = self._store.members(self.place, self._last)
            self._unmet = [jid for seq, jid in known if not self._is_met(seq)]

    def _take(self, jids: Sequence[str]) -> None:
        known = self._store.lying(jids)
        unsure = []
        for jid in jids:
            lying = known.get(jid)
            if lying is not None and lying.seq <= self._last:
                self._met[lying.seq >> 3] |= 1 << (lying.seq & 7)
            if self._since is not None or lying is None or not self._store.holds(self.place, lying):
                unsure.append(jid)
        new = {jid for jid in unsure if jid not in known}
        found = read_in(self._source, self._store, unsure, new)
        if self._since is not None and found and max(found) < self._since:
            self._since = None

    def _is_met(self, seq: int) -> bool:
        return bool(self._met[seq >> 3] & 1 << (seq & 7))


def read_in(
    source: Source, store: Store, jids: Iterable[str], new: Collection[str] = ()
) -> list[int]:
    """Read jobs and take them in as they are; answers since when each is as it is.

    Args:
        source: where they are read.
        store: where they go.
        jids: which.
        new: those that are not known, for certain.

    Raises:
        QlessError: Redis could not be asked.

    """
    read = source.entries(list(dict.fromkeys(jids)))
    if read:
        store.put(read, new)
    return [entry.since for _, entry in read if entry is not None]
