"""The lists of Redis in which jobs lie, and what is read of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from qless_core.options import as_number
from qless_core.reads.plan import Call, Read, Scope, call, read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_core.keys import Keys

#: The sets of a queue, and the stored states of the jobs in each.
QUEUE_SETS: Final = {
    "locks": ("running",),
    "scheduled": ("scheduled",),
    "depends": ("depends",),
    "throttled": ("throttled",),
    "work": ("waiting", "stalled"),
}


class Place(NamedTuple):
    """A list of jobs: `failed` with a group, a set of a queue with its name, or `completed`."""

    kind: str
    name: str = ""

    def key(self, keys: Keys) -> str:
        """Give its key."""
        if self.kind == "completed":
            return keys.completed
        key: str = getattr(keys, self.kind)(self.name)
        return key

    @property
    def states(self) -> tuple[str, ...]:
        """The stored states of the jobs in it."""
        if self.kind == "failed":
            return ("failed",)
        return ("complete",) if self.kind == "completed" else QUEUE_SETS[self.kind]


@read
def places(scope: Scope) -> Read[list[Place]]:
    """List all places, those first whose jobs are looked for first."""
    groups, queues = yield [
        call("smembers", scope.keys.failures),
        call("zrange", scope.keys.queues, 0, -1),
    ]
    return [
        *(Place("failed", group) for group in sorted(groups or ())),
        *(Place(kind, queue) for kind in QUEUE_SETS for queue in queues or ()),
        Place("completed"),
    ]


@read
def sizes(scope: Scope, some: Sequence[Place]) -> Read[list[int]]:
    """Count the jobs of places."""
    replies = yield [
        call("llen" if place.kind == "failed" else "zcard", place.key(scope.keys)) for place in some
    ]
    return [count or 0 for count in replies]


@read
def part(scope: Scope, place: Place, start: int, count: int) -> Read[list[str]]:
    """Read jids of a place; a failure group begins with the newest, as sets of a queue do."""
    (found,) = yield [_range(place, place.key(scope.keys), start, start + count - 1)]
    return found or []


@read
def scored(
    scope: Scope, place: Place, start: int, count: int
) -> Read[list[tuple[str, float | None]]]:
    """Read jids of a place as `part` does, each with its score; None in a failure group."""
    key = place.key(scope.keys)
    if place.kind == "failed":
        (found,) = yield [_range(place, key, start, start + count - 1)]
        return [(jid, None) for jid in found or ()]
    (pairs,) = yield [call("zrevrange", key, start, start + count - 1, withscores=True)]
    return [(jid, as_number(score)) for jid, score in pairs or ()]


@read
def parts(scope: Scope, some: Sequence[Place], count: int) -> Read[list[list[str]]]:
    """Read the first jids of places."""
    found = yield [_range(place, place.key(scope.keys), 0, count - 1) for place in some]
    return [each or [] for each in found]


def _range(place: Place, key: str, start: int, last: int) -> Call:
    return call("lrange" if place.kind == "failed" else "zrevrange", key, start, last)


@read
def tracked(scope: Scope) -> Read[set[str]]:
    """Read the tracked jids."""
    (found,) = yield [call("zrange", scope.keys.tracked, 0, -1)]
    return set(found or ())


@read
def tracked_mark(scope: Scope) -> Read[Any]:
    """Read what differs once other jobs are tracked."""
    return (
        yield [
            call("zcard", scope.keys.tracked),
            call("zrevrange", scope.keys.tracked, 0, 0, withscores=True),
        ]
    )
