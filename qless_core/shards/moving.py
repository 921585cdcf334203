"""Moves jobs between shards, each in a journey that goes on where somebody died in the middle."""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote

from qless_core.walk import queue_jids

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_core.client import Client

log = logging.getLogger("qless.shards")

#: Journeys of those who died that are read at a time.
PAGE: Final = 100
#: The states in which a job can go; who holds it, and who waits or is waited for, stays.
_FREE: Final = ("waiting", "scheduled", "throttled", "failed", "depends", "recurring")
_RUNS: Final = ("running", "stalled")
#: What is said of a job that is there.
_THERE: Final = frozenset({"arrived", "known"})


@dataclass
class Moved:
    """What a move did.

    Attributes:
        done: how many jobs went.
        left: the others by jid, each with the reason: the state that it is in, `dependents` when
            others wait for it, `exists` when the other shard has a job of that jid.

    """

    done: int = 0
    left: dict[str, str] = field(default_factory=dict)

    def add(self, other: Moved) -> None:
        """Add what another move did."""
        self.done += other.done
        self.left |= other.left


class Mover:
    """Moves jobs from one shard to others.

    Args:
        shards: the clients of all shards, by name.
        source: the name of the one that they leave.

    """

    def __init__(self, shards: Mapping[str, Client], source: str) -> None:
        self._shards = shards
        self._source = shards[source]
        self.moved = Moved()

    def queue(self, queue: str, target: str) -> None:
        """Move the jobs of a queue, while others put and take them.

        Each is on one of the two shards, or on its way: no worker sees it twice.

        Raises:
            RedisUnavailable: one of the servers is gone; done again, it goes on.

        """
        for jid in queue_jids(self._source, queue, _FREE):
            self._take(jid, target)
        for jid in queue_jids(self._source, queue, _RUNS):
            self.moved.left.setdefault(jid, "running")

    def resume(self) -> None:
        """Let those arrive that left, and whose mover died."""
        met: set[str] = set()
        while fresh := [
            row for row in self._source.commands.shard_leaving(PAGE) if row[1] not in met
        ]:
            for journey, jid, luggage in fresh:
                met.add(jid)
                target = unquote(journey.partition("@")[2])
                if target in self._shards:
                    self._arrive(journey, jid, luggage, target)
                else:
                    self.moved.left[jid] = "on its way"
                    log.error("job %s is on its way to %r, which is not here", jid, target)

    def _take(self, jid: str, target: str) -> None:
        journey = f"{uuid.uuid4().hex}@{quote(target, safe='')}"
        went = self._source.commands.shard_leave(journey, jid)
        if not went.stays:
            self._arrive(journey, jid, went.luggage, target)
        elif went.stays != "gone":
            self.moved.left[jid] = went.stays

    def _arrive(self, journey: str, jid: str, luggage: str, target: str) -> None:
        """Let a job that left arrive; where it cannot, it goes back."""
        there, here = self._shards[target].commands, self._source.commands
        why = there.shard_arrive(journey, jid, luggage)
        if why in _THERE:
            here.shard_settle(journey, jid)
            there.shard_settle(journey, jid)
            self.moved.done += 1
            return
        self.moved.left[jid] = why
        back = here.shard_arrive(journey, jid, luggage)
        if back not in _THERE:
            log.error("job %s is on no shard, but kept where it left: %s, and %s", jid, why, back)
