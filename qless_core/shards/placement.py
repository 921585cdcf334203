"""Which shard a queue is placed on: the same in every process, and known to nobody but the name."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from qless_core.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Placement:
    """Places queues on shards by rendezvous hashing: the shard with the highest weight has it.

    A shard that is added takes its share of the queues from the others, and no queue goes from one
    of those to another; the same holds the other way around where one is taken away.

    Args:
        shards: what they are called.
        pins: queues that are placed by hand, with their shard.

    Raises:
        BadArgument: a queue is pinned to a shard that there is not.

    """

    def __init__(self, shards: Iterable[str], pins: Mapping[str, str] | None = None) -> None:
        self.shards = tuple(shards)
        self.pins = dict(pins or {})
        for queue, shard in self.pins.items():
            if shard not in self.shards:
                known = ", ".join(map(repr, self.shards))
                problem = f"the queue {queue!r} is pinned to {shard!r}; there are {known}"
                raise BadArgument(problem)

    def of(self, queue: str) -> str:
        """Name the shard of a queue."""
        return self.pins.get(queue) or max(self.shards, key=lambda shard: _weight(shard, queue))


def _weight(shard: str, queue: str) -> bytes:
    """Weigh a shard for a queue; lengths come first, so that no two pairs are one text."""
    name, other = (part.encode("utf-8", "surrogateescape") for part in (shard, queue))
    return hashlib.blake2b(b"%d:%b%b" % (len(name), name, other), digest_size=8).digest()
