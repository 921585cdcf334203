"""What was counted of a group of failures, for as long as none of its jobs changes."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from qless_web.triage.schema import GROUP

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Hashable

T = TypeVar("T")

_CHANGES: Final = "SELECT count FROM affected WHERE grp = ? AND kind = ? AND name = ''"


class Counted(Generic[T]):
    """Keeps what was counted last.

    Args:
        most: answers that are kept.

    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._kept: OrderedDict[Hashable, T] = OrderedDict()

    def ask(
        self,
        connection: sqlite3.Connection,
        grp: int,
        *question: Hashable,
        count: Callable[[], T],
        holds: Callable[[T], bool] = lambda _: True,
    ) -> T:
        """Give what was counted, or count.

        Args:
            connection: as `Index.reading` lends it.
            grp: the number of the group.
            question: what else the answer depends on.
            count: counts.
            holds: whether an answer is still one, though nothing of the group has changed.

        """
        # Asked for before it is counted: what comes in between is found to be of another state.
        key = (*_state(connection, grp), *question)
        with self._lock:
            found = self._kept.get(key)
        if found is not None and holds(found):
            return found
        made = count()
        with self._lock:
            self._kept[key] = made
            self._kept.move_to_end(key)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made


def _state(connection: sqlite3.Connection, grp: int) -> tuple[str, int, int]:
    """Name the state of a group: the file, which no other takes the name of, and its changes."""
    _, _, file = connection.execute("PRAGMA database_list").fetchone()
    changes = connection.execute(_CHANGES, (grp, GROUP)).fetchone()
    return str(file), grp, changes[0] if changes else 0
