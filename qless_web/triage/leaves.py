"""Values within the data of a job, each by the path to it: `customer.id` is `42`.

What is indexed of a value is a word made of its path and itself, so that a value is found at once
whatever its kind, and only where it belongs.
"""

from __future__ import annotations

import json
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from qless_web.triage.schema import DATA_KEPT

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    for leaf in _walk(value, "", 0):
        found.append(leaf)
        if len(found) == MOST:
            break
    return found


def _walk(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - as above
    if isinstance(value, dict):
        if depth < _DEEPEST:
            for key, each in value.items():
                yield from _walk(each, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, list):
        if depth < _DEEPEST:
            for each in value:
                yield from _walk(each, path, depth + 1)
    elif path:
        yield path, value


def told(value: Any) -> str:  # noqa: ANN401 - as above
    """Write a value as one types it in a search, whatever its case.

    >>> told(True), told(None), told(42.0), told("EU")
    ('true', 'null', '42', 'eu')
    """
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


@lru_cache(maxsize=50_000)
def _word(text: str, kind: str) -> str:
    return kind + blake2b(text.encode(errors="replace"), digest_size=5).hexdigest()


def words(data: str) -> str:
    """Give the words for all values of data that is kept, with blanks between."""
    found = leaves(parsed(data))
    values = {word_of(path, told(value)) for path, value in found}
    return " ".join(sorted(values | {path_word(path) for path, _ in found}))


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
