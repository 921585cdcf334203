"""A search where there is no index: the lists of Redis are walked, some thousand jobs at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from qless_core import reads
from qless_core.clock import REAL
from qless_web.triage import places
from qless_web.triage.checking import fits, plain_names
from qless_web.triage.entry import entries

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qless_core.client import Client
    from qless_web.triage.entry import Entry, Shown
    from qless_web.triage.places import Place
    from qless_web.triage.query import Node

#: Jobs that one step looks at, at most; jobs of one read; and seconds of a step.
STEP: Final = 5_000
_AT_ONCE: Final = 500
_BUDGET_S: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """What a step found.

    Attributes:
        jids: the matches, at most as many as were asked for.
        covered: how many jobs have been looked at by now, from the beginning.
        of: how many there are.

    """

    jids: tuple[str, ...]
    covered: int
    of: int

    @property
    def is_over(self) -> bool:
        """Whether there is no further step."""
        return self.covered >= self.of


def scan(
    client: Client,
    node: Node | None,
    *,
    now: float,
    start: int,
    count: int,
    shown: Shown | None = None,
) -> Scanned:
    """Look at the next jobs.

    Args:
        client: whose jobs they are.
        node: what is looked for.
        now: epoch seconds.
        start: how many jobs were covered before.
        count: matches that are wanted at most.
        shown: gives data as it may be shown; None where all of it may.

    Raises:
        QlessError: Redis could not be asked.

    """
    until = REAL.monotonic() + _BUDGET_S
    some, sizes = _places(client, node)
    total = sum(sizes)
    found: list[str] = []
    at = start
    while at < min(total, start + STEP) and len(found) < count and REAL.monotonic() < until:
        jids = _read(client, [places.part(*each) for each in _parts(some, sizes, at)])
        (read,) = _read(client, [entries([jid for part in jids for jid in part], shown)])
        taken, hits = _hits(read, node, now, count - len(found))
        found += hits
        # What has left its list meanwhile counts as looked at.
        at += taken if taken < len(read) else min(_AT_ONCE, total - at)
    return Scanned(jids=tuple(dict.fromkeys(found)), covered=min(at, total), of=total)


def _hits(
    read: Sequence[Entry | None], node: Node | None, now: float, most: int
) -> tuple[int, list[str]]:
    """Choose those that match; answers how many were looked at until there were enough."""
    hits: list[str] = []
    for at, entry in enumerate(read):
        if entry is not None and fits(node, entry, now * 1000):
            hits.append(entry.jid)
            if len(hits) == most:
                return at + 1, hits
    return len(read), hits


def _places(client: Client, node: Node | None) -> tuple[list[Place], list[int]]:
    """List the places in which matches may lie, and their lengths."""
    (found,) = _read(client, [places.places()])
    groups, queues = plain_names(node, "group"), plain_names(node, "queue")
    states = plain_names(node, "state")
    some = [
        place
        for place in found
        if (groups is None or (place.kind == "failed" and place.name.casefold() in groups))
        and (queues is None or place.kind == "failed" or place.name.casefold() in queues)
        and (states is None or states & _shown(place))
    ]
    (sizes,) = _read(client, [places.sizes(some)])
    return some, sizes


def _shown(place: Place) -> set[str]:
    """Give the states that jobs of a place may show."""
    more = {"locks": {"stalled"}, "scheduled": {"waiting"}}.get(place.kind, set())
    return {*place.states, *more}


def _parts(
    some: Sequence[Place], sizes: Sequence[int], start: int
) -> Iterator[tuple[Place, int, int]]:
    """Give the parts of places that the next jobs lie in."""
    left = _AT_ONCE
    for place, size in zip(some, sizes, strict=True):
        if start < size and left:
            count = min(left, size - start)
            yield place, start, count
            left -= count
        start = max(0, start - size)


def _read(client: Client, plans: Sequence[reads.Plan[object]]) -> list:  # type: ignore[type-arg]  # of what was asked
    return reads.run(client.redis, client.keys, plans, now=0.0)[1]
