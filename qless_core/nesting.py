"""JSON that is nested deeper than Python's recursion goes, read and written with a stack.

The script takes 1,000 levels, the json module here and there fewer; `wire.py` comes here when it
gave up. Slower than the json module, and never the first choice.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_BLANK = re.compile(r"[ \t\n\r]*")

#: What may come next, for the message when something else does.
_NOTHING, _COMMA, _COLON, _NAME = "the end", "',' or the end of it", "':'", "a name in quotes"


def write(value: Any, scalar: Callable[[Any], str]) -> str:  # noqa: ANN401 - any JSON
    """Write a value as JSON.

    Args:
        value: what to write; it must not hold itself.
        scalar: writes what is no list and no object, and objects with one plain entry.

    """
    out: list[str] = []
    todo: list[tuple[bool, Any]] = [(False, value)]
    while todo:
        is_text, item = todo.pop()
        if is_text:
            out.append(item)
        elif isinstance(item, dict):
            todo += _opened("{", "}", [(scalar({key: 0})[1:-2], item[key]) for key in item])
        elif isinstance(item, list | tuple):
            todo += _opened("[", "]", [("", entry) for entry in item])
        else:
            out.append(scalar(item))
    return "".join(out)


def _opened(start: str, end: str, entries: list[tuple[str, Any]]) -> list[tuple[bool, Any]]:
    """Spell a container as what is still to be written, last thing first."""
    parts: list[tuple[bool, Any]] = [(True, start)]
    for position, (prefix, entry) in enumerate(entries):
        parts.append((True, f",{prefix}" if position else prefix))
        parts.append((False, entry))
    parts.append((True, end))
    return parts[::-1]


def read(text: str) -> Any:  # noqa: ANN401 - any JSON
    """Read JSON.

    Raises:
        ValueError: the text is not JSON.

    """
    return _Reader(text).read()


class _Reader:
    """One text being read: where we are, and the containers that are open."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.open: list[list[Any] | dict[str, Any]] = []
        self.keys: list[str] = []
        self.scalar = json.JSONDecoder().raw_decode

    def read(self) -> Any:  # noqa: ANN401 - any JSON
        """Read one value and nothing behind it."""
        while True:
            value, is_open = self._value()
            if is_open:
                continue
            value = self._close(value)
            if self.open:
                continue
            if self._peek():
                raise self._wanted(_NOTHING)
            return value

    def _value(self) -> tuple[Any, bool]:
        """Take the next value; True beside a container that has entries to come."""
        start = self._peek()
        if start not in ("[", "{"):
            value, self.position = self.scalar(self.text, self.position)
            return value, False
        self.position += 1
        container: list[Any] | dict[str, Any] = [] if start == "[" else {}
        if self._peek() == _end_of(container):
            self.position += 1
            return container, False
        self.open.append(container)
        self._key(container)
        return container, True

    def _close(self, value: Any) -> Any:  # noqa: ANN401 - any JSON
        """Put a finished value into its container, and close those that end here."""
        while self.open:
            container = self.open[-1]
            if isinstance(container, dict):
                container[self.keys.pop()] = value
            else:
                container.append(value)
            mark = self._peek()
            self.position += 1
            if mark == ",":
                self._key(container)
                return value
            if mark != _end_of(container):
                raise self._wanted(_COMMA)
            value = self.open.pop()
        return value

    def _key(self, container: list[Any] | dict[str, Any]) -> None:
        """Take the name of the next entry, in an object."""
        if not isinstance(container, dict):
            return
        if self._peek() != '"':
            raise self._wanted(_NAME)
        key, self.position = self.scalar(self.text, self.position)
        if self._peek() != ":":
            raise self._wanted(_COLON)
        self.position += 1
        self.keys.append(key)

    def _peek(self) -> str:
        """Skip blanks and show the next character, "" at the end."""
        blank = _BLANK.match(self.text, self.position)
        self.position = blank.end() if blank else self.position
        return self.text[self.position : self.position + 1]

    def _wanted(self, what: str) -> ValueError:
        return json.JSONDecodeError(f"Expecting {what}", self.text, self.position)


def _end_of(container: list[Any] | dict[str, Any]) -> str:
    return "}" if isinstance(container, dict) else "]"
