"""What is counted of failed jobs while they are taken in, so that no page has to count them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from qless_web.triage.schema import GROUP, KLASS, QUEUE, WORKER, host_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

HOUR_MS: Final = 3_600_000

#: Neither the first nor the last of anything.
_NEVER: Final = 2**60

_HOURS: Final = """
INSERT INTO hours (grp, hour, count, first, last) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (grp, hour) DO UPDATE SET count = count + excluded.count,
  first = min(first, excluded.first), last = max(last, excluded.last)
"""
_AFFECTED: Final = """
INSERT INTO affected (grp, kind, name, count) VALUES (?, ?, CAST(? AS TEXT), ?)
ON CONFLICT (grp, kind, name) DO UPDATE SET count = count + excluded.count
"""


class Tallies:
    """Counts of a batch of changes, written with it."""

    def __init__(self) -> None:
        self._hours: dict[tuple[int, int], list[int]] = {}
        self._affected: Counter[tuple[int, int, str]] = Counter()

    def note(self, grp: int, since: int, affected: Mapping[int, str], step: int) -> None:
        """Count a job that failed, or one that has no longer.

        Args:
            grp: the number of its group.
            since: when it failed, epoch milliseconds.
            affected: its class, queue and worker, by kind of name.
            step: 1, or -1.

        """
        hour = self._hours.setdefault((grp, since // HOUR_MS), [0, _NEVER, -_NEVER])
        hour[0] += step
        if step > 0:
            hour[1], hour[2] = min(hour[1], since), max(hour[2], since)
        # The changes of the group so far, under its own kind and no name: see `counted`.
        self._affected[grp, GROUP, ""] += 1
        for kind, name in affected.items():
            self._affected[grp, kind, host_of(name) if kind == WORKER else name] += step

    def write(self, connection: sqlite3.Connection) -> None:
        """Add what was counted to what is there, and begin anew."""
        hours, self._hours = self._hours, {}
        affected, self._affected = self._affected, Counter()
        connection.executemany(_HOURS, [(*key, *each) for key, each in hours.items()])
        connection.executemany(
            _AFFECTED,
            [
                (grp, kind, name.encode(errors="surrogateescape"), count)
                for (grp, kind, name), count in affected.items()
                if count
            ],
        )
        for grp in {grp for (grp, _), each in hours.items() if each[0] < 1}:
            connection.execute("DELETE FROM hours WHERE grp = ? AND count < 1", (grp,))
            connection.execute("DELETE FROM affected WHERE grp = ? AND count < 1", (grp,))


#: The kinds of names that are counted.
COUNTED: Final = (KLASS, QUEUE, WORKER)
