"""How what is being typed into a search may go on: fields, and values that there are."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from qless_web.triage import leaves
from qless_web.triage.query import ALSO, FIELDS, LONGEST, NUMBERS, SPANS, STATES, quoted
from qless_web.triage.schema import GROUP, KLASS, QUEUE, TAG, WORKER

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

#: Suggestions at most.
_MOST: Final = 12
#: Jobs whose data is looked at for paths and values: those that came last.
_LOOKED_AT: Final = 300

#: What is being typed, at the end of a query: a field with its value, or the beginning of either.
_LAST = re.compile(r'(?:^|(?<=[\s(]))(-?)(?:(data\.[^\s:()"]+|[a-z_]+):)?("[^"]*|[^\s()"]*)$')
_KINDS: Final = {"group": GROUP, "klass": KLASS, "queue": QUEUE, "worker": WORKER, "tag": TAG}
_FIXED: Final = {
    "state": STATES,
    "tracked": ("yes", "no"),
    "age": (">5m", "<5m", ">1h", "<1h", ">1d", "<1d"),
    "put": (">5m", "<5m", ">1h", "<1h", ">1d", "<1d"),
    "attempt": (">1", ">=3", "1"),
    "priority": (">0", "0", "<0"),
}


def complete(connection: sqlite3.Connection | None, query: str) -> list[str]:
    """Give whole queries that what was typed may become.

    Args:
        connection: of the index; None where there is none.
        query: what stands before the cursor.

    """
    if len(query) > LONGEST:
        return []
    found = _LAST.search(query)
    if found is None:
        return []
    head, given = query[: found.start()] + found[1], found[2]
    if given is None:
        return [head + each for each in _fields(connection, found[3])]
    values = _values(connection, ALSO.get(given, given), found[3].removeprefix('"'))
    return [f"{head}{given}:{each}" for each in values][:_MOST]


def _fields(connection: sqlite3.Connection | None, typed: str) -> list[str]:
    if typed.startswith("data.") and connection is not None:
        paths = Counter(path for path, _ in _recent(connection))
        return [f"data.{path}:" for path in _beginning(_frequent(paths), typed[5:])]
    names = [name if name.endswith(".") else f"{name}:" for name in FIELDS]
    return [name for name in names if name.startswith(typed)] if typed else []


def _values(connection: sqlite3.Connection | None, name: str, typed: str) -> Iterable[str]:
    if name in _FIXED:
        return [each for each in _FIXED[name] if each.startswith(typed)]
    if connection is None or name in {*NUMBERS, *SPANS}:
        return []
    return [quoted(each) for each in _names(connection, name, typed)[:_MOST]]


def _names(connection: sqlite3.Connection, name: str, typed: str) -> list[str]:
    if name in _KINDS:
        rows = connection.execute("SELECT name FROM names WHERE kind = ?", (_KINDS[name],))
    elif name == "host":
        rows = connection.execute("SELECT DISTINCT host FROM names WHERE kind = ?", (WORKER,))
    elif name.startswith("data."):
        path = name.removeprefix("data.").casefold()
        values = Counter(
            leaves.told(value) for at, value in _recent(connection) if at.casefold() == path
        )
        return _beginning(_frequent(values), typed)
    else:
        return []
    return _beginning(sorted(row[0] for row in rows), typed)


def _beginning(names: Iterable[str], typed: str) -> list[str]:
    """Give names that begin so, whatever their case, then those that have it elsewhere."""
    wanted = typed.casefold()
    fit = [name for name in names if name and wanted in name.casefold()]
    return sorted(fit, key=lambda name: not name.casefold().startswith(wanted))[:_MOST]


def _frequent(counts: Counter[str]) -> list[str]:
    return [each for each, _ in counts.most_common()]


def _recent(connection: sqlite3.Connection) -> Iterable[tuple[str, object]]:
    rows = connection.execute("SELECT data FROM texts ORDER BY id DESC LIMIT ?", (_LOOKED_AT,))
    for (data,) in rows:
        yield from leaves.leaves(leaves.parsed(data))
