"""Who waits for whom among many jobs, so that each can be removed after those that wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from qless_core.reads.plan import attempt
from qless_web.operations.reach import reaches
from qless_web.sending import call, send

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qless_core.client import Client

#: Jobs that one round trip asks about.
_AT_ONCE: Final = 500


class Order(NamedTuple):
    """Jobs in the order in which they can be removed, and those that must stay."""

    doomed: list[str]
    needed: list[str]


def order(
    client: Client, jids: Sequence[str], *, dependents: bool, patterns: Sequence[str] = ()
) -> Order:
    """Put jobs in order: each after all that wait for it.

    Args:
        client: whose jobs.
        jids: the jobs.
        dependents: whether all that wait for them, through whomever, come along; without, a job
            that another one waits for must stay, and those that it waits for in turn.
        patterns: the queues whose jobs may be removed; none: all. Others stay, and so does what
            they wait for.

    Raises:
        QlessError: Redis could not be asked.

    """
    waiting = _waiting(client, jids, further=dependents)
    ordered = list(_after_others(jids, waiting))
    chosen = dict.fromkeys(ordered if dependents else jids)
    staying = _foreign(client, ordered, patterns) if patterns else set()
    needed = set()
    for jid in ordered:  # those that wait come first, so one look is enough
        if any(other not in chosen or other in staying for other in waiting.get(jid, ())):
            needed.add(jid)
            staying.add(jid)
    return Order(
        [jid for jid in ordered if jid in chosen and jid not in needed],
        [jid for jid in chosen if jid in needed],
    )


def _foreign(client: Client, jids: Sequence[str], patterns: Sequence[str]) -> set[str]:
    """Find the jobs that are in other queues than those that patterns mean."""
    found = set()
    for start in range(0, len(jids), _AT_ONCE):
        batch = jids[start : start + _AT_ONCE]
        queues = send(client, *(attempt("hget", client.keys.job(jid), "queue") for jid in batch))
        found |= {
            jid
            for jid, queue in zip(batch, queues, strict=True)
            if not isinstance(queue, str) or not reaches(patterns, queue)
        }
    return found


def _waiting(client: Client, jids: Sequence[str], *, further: bool) -> dict[str, list[str]]:
    """Find who waits for each of the jobs; with `further`, for those in turn, too."""
    found: dict[str, list[str]] = {}
    open_ = list(dict.fromkeys(jids))
    while open_:
        batch, open_ = open_[:_AT_ONCE], open_[_AT_ONCE:]
        replies = send(client, *(call("smembers", client.keys.dependents(jid)) for jid in batch))
        pairs = [
            (jid, other) for jid, reply in zip(batch, replies, strict=True) for other in reply or ()
        ]
        found.update((jid, []) for jid in batch)
        for jid, other in _still(client, pairs):
            found[jid].append(other)
            if further and other not in found:
                found[other] = []
                open_.append(other)
    return {jid: sorted(others) for jid, others in found.items() if others}


def _still(client: Client, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Leave out mentions of jobs that are gone, or wait no longer."""
    for start in range(0, len(pairs), _AT_ONCE):
        batch = pairs[start : start + _AT_ONCE]
        asked = [
            each
            for jid, other in batch
            for each in (
                call("sismember", client.keys.dependencies(other), jid),
                call("hexists", client.keys.job(other), "jid"),
            )
        ]
        replies = send(client, *asked)
        yield from (
            pair
            for pair, *both in zip(batch, replies[::2], replies[1::2], strict=True)
            if all(both)
        )


def _after_others(jids: Sequence[str], waiting: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Give each job after those that wait for it; without recursion, and a ring ends it too."""
    met: set[str] = set()
    for root in jids:
        stack = [(root, iter(waiting.get(root, ())))] if root not in met else []
        met.add(root)
        while stack:
            jid, others = stack[-1]
            other = next((each for each in others if each not in met), None)
            if other is None:
                stack.pop()
                yield jid
            else:
                met.add(other)
                stack.append((other, iter(waiting.get(other, ()))))
