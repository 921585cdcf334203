"""Where a job is: the shards are asked once, then it is remembered."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from qless_core.client import Client

#: How many jobs are remembered: some megabytes.
REMEMBERED: Final = 50_000


class Whereabouts:
    """Knows on which shard jobs are. Threads may share it.

    Args:
        clients: of the shards, by name.

    """

    def __init__(self, clients: Mapping[str, Client]) -> None:
        self._clients = clients
        self._known: OrderedDict[str, str] = OrderedDict()
        self._lock = Lock()

    def note(self, shard: str, jids: Iterable[str]) -> None:
        """Remember that jobs are on a shard."""
        with self._lock:
            for jid in jids:
                self._known[jid] = shard
                self._known.move_to_end(jid)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)

    def forget(self, jid: str) -> None:
        """Forget where a job was."""
        with self._lock:
            self._known.pop(jid, None)

    def clear(self) -> None:
        """Forget where all jobs were."""
        with self._lock:
            self._known.clear()

    def recall(self, jid: str) -> str | None:
        """Name the shard that a job was on when it was last seen; None when that is not known."""
        return self._known.get(jid)

    def find(self, jid: str) -> str | None:
        """Name the shard that has a job or recurring job; None where no shard has it."""
        return self.recall(jid) or self._ask(jid)

    def _ask(self, jid: str) -> str | None:
        for shard, client in self._clients.items():
            if client.commands.get(jid) or client.commands.recur_get(jid):
                self.note(shard, [jid])
                return shard
        return None

    def sort(self, jids: Iterable[str], *, surely: bool = False) -> dict[str, list[str]]:
        """Sort jids of jobs by shard, in their order; what no shard has counts to the first.

        However many are not remembered, each shard is asked once.

        Args:
            jids: of the jobs.
            surely: whether to ask also of those that are remembered, as another process may have
                moved them.

        """
        places = {jid: self.recall(jid) for jid in jids}
        if surely:
            places |= self._confirmed(places)
        for shard, client in self._clients.items():
            unknown = [jid for jid, place in places.items() if place is None]
            found = [job.jid for job in client.commands.multiget(*unknown)]
            self.note(shard, found)
            places |= dict.fromkeys(found, shard)
        sorted_: dict[str, list[str]] = {}
        for jid, place in places.items():
            sorted_.setdefault(place or next(iter(self._clients)), []).append(jid)
        return sorted_

    def _confirmed(self, places: Mapping[str, str | None]) -> dict[str, str | None]:
        """Ask the shards for those that are remembered there, and forget who has left."""
        left: dict[str, str | None] = {}
        for shard, client in self._clients.items():
            there = [jid for jid, place in places.items() if place == shard]
            found = {job.jid for job in client.commands.multiget(*there)}
            left |= dict.fromkeys((jid for jid in there if jid not in found), None)
        for jid in left:
            self.forget(jid)
        return left
