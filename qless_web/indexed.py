"""What the index knows, for a page: nothing, where there is none or it cannot be read just now."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from qless_web.console import current
from qless_web.triage.index import NoIndex

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

T = TypeVar("T")


def ask(question: Callable[[sqlite3.Connection], T]) -> T | None:
    """Ask the index something; None where it cannot be asked, or is not complete yet."""
    try:
        with current().index.reading() as connection:
            return question(connection) if _is_complete(connection) else None
    except NoIndex:
        return None


def _is_complete(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT value FROM meta WHERE name = 'complete'").fetchone()
    return bool(found and found[0])
