"""What the tick remembers: the last mark of each topic, and whose turn it is to be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_web.live.topics import mark_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.reads import Mark, Plan

#: Topics that one tick looks at, at most; more take turns.
AT_ONCE = 96


class Watch:
    """Marks of topics, and the order in which they are taken. Used by one thread."""

    def __init__(self) -> None:
        self._marks: dict[str, Mark] = {}
        self._turn = 0

    def knows(self, topics: Iterable[str]) -> bool:
        """Say whether each of the topics has been looked at."""
        return self._marks.keys() >= set(topics)

    def due(self, topics: Iterable[str]) -> list[str]:
        """Choose what this tick looks at: what is new, then the others in turn. Forget the rest."""
        self._turn += 1
        topics = set(topics)
        self._marks = {topic: mark for topic, mark in self._marks.items() if topic in topics}
        new = sorted(topics - self._marks.keys())
        old = sorted(topics & self._marks.keys())
        room = max(0, AT_ONCE - len(new))
        if len(old) > room:
            start = self._turn * max(1, room) % len(old)
            old = (old[start:] + old[:start])[:room]
        return (new + old)[:AT_ONCE]

    def plans(self, topics: Iterable[str]) -> list[Plan[Mark]]:
        """Give the reads of the topics for this turn."""
        return [mark_of(topic, self._turn) for topic in topics]

    def changed(self, topics: Iterable[str], marks: Iterable[Mark]) -> set[str]:
        """Take in what was read; say what differs from the time before."""
        return {topic for topic, mark in zip(topics, marks, strict=True) if self._take(topic, mark)}

    def _take(self, topic: str, mark: Mark) -> bool:
        before = self._marks.setdefault(topic, {})
        # A part seen for the first time is no change: long lists come a few at a time.
        differs = any(name in before and before[name] != part for name, part in mark.items())
        before.update(mark)
        return differs
