"""Whether the whole of a file can be read: looked at beside the writing, which waits for nothing.

Of a large file that takes many seconds. What is damaged is told, and the writer begins anew; until
then a search that meets the damage finds it first.
"""

from __future__ import annotations

import contextlib
import sqlite3
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Final

from qless_web.triage.index import is_damage, read_only

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_web.triage.index import Index

#: Tables that lie in the file themselves, with all their indexes.
_TABLES: Final = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
#: Seconds until what is still at it is broken off once more.
_AGAIN_S: Final = 0.05


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
        #: What can be broken off, and who may touch it.
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._thread = Thread(target=self._run, name="qless-index-check", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Look no further, amid a table too, and let the file go."""
        self._end.set()
        while self._thread.is_alive():
            # Only what has begun is broken off: a table that begins just now, the next time.
            with self._lock:
                if self._connection is not None:
                    self._connection.interrupt()
            self._thread.join(_AGAIN_S)

    def _run(self) -> None:
        try:
            with self._opened() as connection:
                is_sound = all(
                    self._end.is_set() or _is_sound(connection, table)
                    for (table,) in connection.execute(_TABLES).fetchall()
                )
        except sqlite3.Error as error:
            is_sound = not is_damage(error)
        # What was broken off tells nothing.
        if not is_sound and not self._end.is_set():
            self._index.tell_damaged(self._name)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(read_only(self._index.folder / self._name)) as connection:
            with self._lock:
                self._connection = connection
            try:
                yield connection
            finally:
                with self._lock:
                    self._connection = None


def _is_sound(connection: sqlite3.Connection, table: str) -> bool:
    """Look through a table by itself: meanwhile what is written cannot be put into the file."""
    (found,) = connection.execute(f"PRAGMA quick_check('{table}')").fetchone()
    return bool(found == "ok")
