"""The lives of several jobs at once: those of a group of failures, or of a chain. Three batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from qless_core.options import as_number
from qless_core.reads.plan import Read, Scope, call, read
from qless_web.triage.leaves import parsed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Jobs that are shown at once, those one step away in a chain on each side, and items of a history.
MOST: Final = 40
_NEAR: Final = 12
_ITEMS: Final = 60


class Item(NamedTuple):
    """An item of a history: when, epoch seconds, what, and the queue, worker or group it names."""

    when: float
    what: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OneLife:
    """A job and what happened to it; `step` is how far it is in a chain: before 0, the job, after.

    ``cut`` says that items before the first may be missing.
    """

    jid: str
    klass: str
    state: str
    queue: str
    step: int
    items: tuple[Item, ...]
    cut: bool


@read
def of_jobs(scope: Scope, jids: Sequence[str]) -> Read[tuple[OneLife, ...]]:
    """Read the lives of jobs, in one batch; those that are gone are left out."""
    return (yield from _lives(scope, dict.fromkeys(jids[:MOST], 0)))


@read
def of_group(scope: Scope, group: str) -> Read[tuple[OneLife, ...]]:
    """Read the lives of the newest jobs of a group, in two batches."""
    (jids,) = yield [call("lrange", scope.keys.failed(group), 0, MOST - 1)]
    return (yield from _lives(scope, dict.fromkeys(jids or (), 0)))


@read
def of_chain(scope: Scope, jid: str) -> Read[tuple[OneLife, ...]]:
    """Read the lives of a job, of those it waits or waited for, and of those after it.

    Two steps each way, in three batches. A job that has run no longer says what it waited for.
    """
    steps = {jid: 0}
    for step in (1, 2):
        edge = [each for each, at in steps.items() if abs(at) == step - 1]
        before = [each for each in edge if steps[each] <= 0]
        after = [each for each in edge if steps[each] >= 0]
        replies = yield [
            *(call("smembers", scope.keys.dependencies(each)) for each in before),
            *(call("smembers", scope.keys.dependents(each)) for each in after),
        ]
        for place, members in enumerate(replies):
            at = -step if place < len(before) else step
            for member in sorted(members or ())[:_NEAR]:
                if len(steps) < MOST:
                    steps.setdefault(member, at)
    return (yield from _lives(scope, steps))


def _lives(scope: Scope, steps: dict[str, int]) -> Read[tuple[OneLife, ...]]:
    keys = scope.keys
    replies = yield [
        each
        for jid in steps
        for each in (
            call("hmget", keys.job(jid), ["klass", "state", "queue"]),
            call("lrange", keys.history(jid), -_ITEMS, -1),
        )
    ]
    found = zip(steps.items(), replies[::2], replies[1::2], strict=True)
    return tuple(
        OneLife(
            jid=jid,
            klass=fields[0],
            state=fields[1] or "",
            queue=fields[2] or "",
            step=step,
            items=tuple(_items(history or ())),
            cut=len(history or ()) >= _ITEMS,
        )
        for (jid, step), fields, history in found
        if fields and fields[0] is not None
    )


def _items(history: Iterable[str]) -> Iterable[Item]:
    for text in history:
        item: Any = parsed(text)
        if not isinstance(item, list) or len(item) < 2:  # noqa: PLR2004 - when and what
            continue
        when = as_number(item[0])
        more = item[2] if len(item) > 2 and isinstance(item[2], dict) else {}  # noqa: PLR2004 - and more
        if when is not None:
            name = more.get("worker") or more.get("q") or more.get("group") or ""
            yield Item(when, str(item[1]), str(name))
