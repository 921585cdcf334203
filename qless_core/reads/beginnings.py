"""Jobs by the beginning of their jid, among those that pages show first. Bounded: no scan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core.reads.plan import Call, Read, Scope, call, read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.keys import Keys

#: Characters that a beginning has at least; a list shows eight.
SHORTEST = 4

#: Queues, and groups of failures, whose lists are looked at.
_PLACES = 50

#: Jobs of each list that are looked at: its first pages.
_EACH = 100

#: Jobs that are given at most.
_MOST = 20


@read
def beginning(scope: Scope, text: str) -> Read[tuple[tuple[str, str], ...]]:
    """Find jobs whose jid begins so, each with its class; two or three batches.

    Those that are tracked, the newest that completed, and the heads of the lists of each queue and
    of each group of failures are looked at.
    """
    if len(text) < SHORTEST:
        return ()
    jids = _fitting(text, (yield from listed_first(scope)))
    classes = yield [call("hget", scope.keys.job(jid), "klass") for jid in jids]
    return tuple((jid, klass) for jid, klass in zip(jids, classes, strict=True) if klass)


def listed_first(scope: Scope) -> Read[list[list[str] | None]]:
    """Give the jids at the heads of all lists, list by list; two batches."""
    keys = scope.keys
    tracked, completed, queues, groups = yield [
        call("zrevrange", keys.tracked, 0, _EACH - 1),
        call("zrevrange", keys.completed, 0, _EACH - 1),
        call("zrevrange", keys.queues, 0, _PLACES - 1),
        call("sscan", keys.failures, 0, None, _PLACES),
    ]
    lists = yield [
        *(each for queue in queues or () for each in _of_queue(keys, queue)),
        *(
            call("lrange", keys.failed(group), 0, _EACH - 1)
            for group in ((groups or [0, []])[1])[:_PLACES]
        ),
    ]
    return [tracked, completed, *lists]


def _of_queue(keys: Keys, queue: str) -> Iterable[Call]:
    yield call("zrange", keys.locks(queue), 0, _EACH - 1)
    yield call("zrevrange", keys.work(queue), 0, _EACH - 1)
    yield call("zrange", keys.scheduled(queue), 0, _EACH - 1)
    yield call("zrange", keys.depends(queue), 0, _EACH - 1)
    yield call("zrange", keys.recur(queue), 0, _EACH - 1)


def _fitting(text: str, lists: Iterable[list[str] | None]) -> list[str]:
    found = {jid for jids in lists for jid in jids or () if jid.startswith(text)}
    return sorted(found)[:_MOST]
