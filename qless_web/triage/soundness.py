"""Whether the whole of a file can be read: looked at beside the writing, which waits for nothing.

Of a large file that takes many seconds. What is damaged is told, and the writer begins anew; until
then a search that meets the damage finds it first.
"""

from __future__ import annotations

import contextlib
import sqlite3
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from qless_web.triage.index import is_damage, read_only

if TYPE_CHECKING:
    from qless_web.triage.index import Index

#: Tables that lie in the file themselves, with all their indexes.
_TABLES: Final = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
#: Steps of SQLite's machine between two looks whether it is still wanted.
_STEPS: Final = 100_000


class Soundness:
    """Looks through one file of an index, once, on a thread of its own.

    Args:
        index: that it belongs to; told where the file is damaged.
        name: of the file.

    """

    def __init__(self, index: Index, name: str) -> None:
        self._index = index
        self._name = name
        self._end = Event()
        self._thread = Thread(target=self._run, name="qless-index-check", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Look no further, and let the file go."""
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            with contextlib.closing(read_only(self._index.folder / self._name)) as connection:
                connection.set_progress_handler(self._end.is_set, _STEPS)
                is_sound = all(
                    _is_sound(connection, table)
                    for (table,) in connection.execute(_TABLES).fetchall()
                )
        except sqlite3.Error as error:
            is_sound = not is_damage(error)
        if not is_sound:
            self._index.tell_damaged(self._name)


def _is_sound(connection: sqlite3.Connection, table: str) -> bool:
    """Look through a table by itself: meanwhile what is written cannot be put into the file."""
    (found,) = connection.execute(f"PRAGMA quick_check('{table}')").fetchone()
    return bool(found == "ok")
