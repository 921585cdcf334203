"""Values within the data of a job, each by the path to it: `customer.id` is `42`.

What is indexed of a value is a word made of its path and itself, so that a value is found at once
whatever its kind, and only where it belongs.
"""

from __future__ import annotations

import json
from functools import lru_cache
from hashlib import blake2b
from itertools import repeat
from typing import Any, Final

from qless_web.triage.schema import DATA_KEPT

#: Values of one job that are indexed, how deep they may lie, and characters of one.
MOST: Final = 64
_DEEPEST: Final = 8
_LONGEST: Final = 200


def parsed(data: str) -> Any:  # noqa: ANN401 - whatever JSON says
    """Read data, whole numbers to the last digit; None for what is no JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def leaves(value: Any) -> list[tuple[str, Any]]:  # noqa: ANN401 - whatever JSON says
    """List the values, each with its path; items of a list have the path of the list.

    >>> leaves({"a": {"b": 1}, "c": ["x", None]})
    [('a.b', 1), ('c', 'x'), ('c', None)]
    """
    found: list[tuple[str, Any]] = []
    _walk(value, "", 0, found)
    return found[:MOST]


def _walk(value: Any, path: str, depth: int, found: list[tuple[str, Any]]) -> None:  # noqa: ANN401 - as above
    """Add the values within a value, and stop where there are enough."""
    is_named = isinstance(value, dict)
    if not is_named and not isinstance(value, list):
        if path:
            found.append((path, value))
        return
    if depth >= _DEEPEST:
        return
    for key, each in value.items() if is_named else zip(repeat(path), value):
        if len(found) >= MOST:
            return
        name = key if not (is_named and path) else f"{path}.{key}"
        if isinstance(each, dict | list):
            _walk(each, name, depth + 1, found)
        elif name:
            found.append((name, each))


def told(value: Any) -> str:  # noqa: ANN401 - as above
    """Write a value as one types it in a search, whatever its case.

    >>> told(True), told(None), told(42.0), told("EU")
    ('true', 'null', '42', 'eu')
    """
    if type(value) is int:
        return str(value)
    if isinstance(value, str):
        return value[:_LONGEST].casefold()
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def word_of(path: str, value: str) -> str:
    """Give the word for a value at a path; `value` is as `told`."""
    return _word(f"{path.casefold()}={value}", "v")


def path_word(path: str) -> str:
    """Give the word for there being anything at a path."""
    return _word(path.casefold(), "p")


@lru_cache(maxsize=8_192)
def _word(text: str, kind: str) -> str:
    return kind + blake2b(text.encode(errors="replace"), digest_size=5).hexdigest()


def words(data: str) -> str:
    """Give the words for all values of data that is kept, with blanks between."""
    found: set[str] = set()
    for path, value in leaves(parsed(data)):
        start, there = _of_path(path)
        found.add(there)
        found.add(_word(f"{start}{told(value)}", "v"))
    return " ".join(sorted(found))


@lru_cache(maxsize=10_000)
def _of_path(path: str) -> tuple[str, str]:
    """Give what the word for a value at a path is made of, and the word for the path."""
    return f"{path.casefold()}=", path_word(path)


def kept(data: str) -> str:
    """Give what is kept of data: all of it, or its first values, so that it stays JSON."""
    if len(data) <= DATA_KEPT:
        return data
    value = parsed(data)
    if value is None:
        return data[:DATA_KEPT]
    found: dict[str, list[Any]] = {}
    room = DATA_KEPT - 2
    for path, each in leaves(value):
        item = each[:_LONGEST] if isinstance(each, str) else each
        size = len(json.dumps([path, item])) + 2
        if size <= room:
            room -= size
            found.setdefault(path, []).append(item)
    return json.dumps(found)
