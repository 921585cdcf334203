"""Topics: the names of what a page shows, from events and for the tick.

A topic is a word (`queues`) or a kind and a name (`queue:mail`). Names may hold anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core import events, reads
from qless_web.alerts import keeping as alerts
from qless_web.operations import marks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from qless_core.reads import Mark, Plan

#: What the tick reads for a topic that is one word; `turn` counts the ticks.
_WORDS: dict[str, Callable[[int], Plan[Mark]]] = {
    "queues": reads.queues_mark,
    "failures": reads.failures_mark,
    "workers": reads.workers_mark,
    "tracked": lambda _turn: reads.tracked_mark(),
    "tags": lambda _turn: reads.tags_mark(),
    "completed": lambda _turn: reads.completed_mark(),
    "config": lambda _turn: reads.config_mark(),
    "rail": lambda _turn: reads.rail_mark(),
    "operations": lambda _turn: marks.all_of_them(),
    "alerts": lambda _turn: alerts.mark(),
}

#: What the tick reads for a topic of a kind and a name.
_KINDS: dict[str, Callable[[str], Plan[Mark]]] = {
    "queue": reads.queue_mark,
    "failed": reads.group_mark,
    "job": reads.job_mark,
    "worker": reads.worker_mark,
    "tag": reads.tag_mark,
    "operation": marks.one,
}

#: What a browser hears that names no topic: all words but `rail`, whose counts are theirs.
EVERYTHING = frozenset(_WORDS) - {"rail"}

#: The words that an event touches, and the kinds, with the field that holds the name of each.
_TOUCHED: dict[type[events.Event], tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = {
    events.Put: (("queues",), (("queue", "queue"), ("job", "jid"))),
    events.Completed: (("queues", "completed"), (("queue", "queue"), ("job", "jid"))),
    events.Advanced: (("queues",), (("queue", "queue"), ("queue", "to"), ("job", "jid"))),
    events.Failed: (
        ("queues", "failures", "workers"),
        (("failed", "group"), ("job", "jid"), ("worker", "worker")),
    ),
    events.Canceled: (("queues",), (("queue", "queue"), ("job", "jid"), ("worker", "worker"))),
    events.LockLost: (("queues", "workers"), (("job", "jid"), ("worker", "worker"))),
    events.Tracked: (("tracked",), (("job", "jid"),)),
    events.ConfigSet: (("config",), ()),
    events.ConfigUnset: (("config",), ()),
}


def known(topics: Iterable[str]) -> frozenset[str]:
    """Leave out what is no topic."""
    return frozenset(topic for topic in topics if _is_topic(topic))


def unspeakable(topic: str) -> bool:
    """Say whether a topic holds half a character, which stands for no bytes in Redis."""
    try:
        topic.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return True
    return False


def _is_topic(topic: str) -> bool:
    kind, colon, name = topic.partition(":")
    return kind in _KINDS and bool(name) if colon else topic in _WORDS


def mark_of(topic: str, turn: int) -> Plan[Mark]:
    """Give the read that tells whether a topic changed.

    Args:
        topic: one that is `known`.
        turn: how many ticks there were; long lists are looked at by parts.

    """
    if topic in _WORDS:
        return _WORDS[topic](turn)
    kind, _, name = topic.partition(":")
    return _KINDS[kind](name)


def topics_of(event: events.Event) -> frozenset[str]:
    """Say which topics an event touches, as far as it tells; the tick finds the rest."""
    words, kinds = _TOUCHED.get(type(event), ((), ()))
    named = ((kind, getattr(event, field)) for kind, field in kinds)
    return frozenset(words).union(f"{kind}:{name}" for kind, name in named if name)
