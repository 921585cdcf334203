r"""Data of any size, part by part: where a value stands, what it holds, where a word is. Pure.

The text is taken apart only where it is looked at, so that megabytes cost a fraction of a second
and no memory, and every digit stays as it is written. A place is a JSON Pointer (RFC 6901):
"" is everything, "/orders/3/id" an id.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from qless_web.presenters.data import decoded, step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Places of a word that are listed; further ones are counted.
MOST_HITS = 50

#: Characters of a value that a place shows.
HIT_HEAD = 160

#: Steps of a pointer; what lies deeper is there raw.
MOST_STEPS = 100

#: Letters of a word that is looked for.
LONGEST_WORD = 200

_BLANK = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_SCALAR = re.compile(r"[^ \t\r\n,\]}]+")
_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^ \t\r\n,:\[\]{}"]+', re.DOTALL)


class Part(NamedTuple):
    """A value inside an object or a list: its key or index, and where it stands in the text."""

    key: str | int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Hit:
    """Where a word is: the place of the value, of what holds it, and the value, shortened.

    ``nth`` counts the values of what holds it, from 0.
    """

    at: str
    inside: str
    nth: int
    path: str
    value: str
    is_key: bool


class NotJsonError(ValueError):
    """Raised when the text is no JSON: there are no parts to look at."""


def check(text: str) -> None:
    """Raise `NotJsonError` where a text is no JSON; how deep it is does not matter."""
    try:
        json.loads(text)
    except RecursionError:
        return
    except ValueError as error:
        raise NotJsonError(str(error)) from error


class Place(NamedTuple):
    """Where a value stands in the text, and the keys and indexes that lead to it."""

    start: int
    end: int
    keys: tuple[str | int, ...]


def place_of(text: str, at: str) -> Place | None:
    """Return where the value at a pointer begins and ends; None where there is none.

    Of a key that comes twice the last counts, as for those who read JSON.

    >>> text = '{"a": [1, {"b/c": 2.50}], "a ": 0}'
    >>> place_of(text, "/a/1/b~1c"), text[18:22]
    (Place(start=18, end=22, keys=('a', 1, 'b/c')), '2.50')
    >>> place_of(text, "/a/2"), place_of(text, "/a/0/x"), place_of(text, "a")
    (None, None, None)

    Raises:
        NotJsonError: the text breaks off, or is none.

    """
    names = at.split("/")
    if names.pop(0) or len(names) > MOST_STEPS:
        return None
    start = _blank(text, 0)
    end = _end(text, start)
    keys: tuple[str | int, ...] = ()
    for name in names:
        found = _named(text, start, name.replace("~1", "/").replace("~0", "~"))
        if found is None:
            return None
        start, end, keys = found.start, found.end, (*keys, found.key)
    return Place(start, end, keys)


def _named(text: str, start: int, name: str) -> Part | None:
    found = None
    for part in parts(text, start):
        if str(part.key) == name:
            found = part
            if isinstance(part.key, int):
                break
    return found


def parts(text: str, start: int) -> Iterator[Part]:
    """Walk through what an object or a list holds; any other value holds nothing.

    Raises:
        NotJsonError: the text breaks off, or is none.

    """
    opening = text[start : start + 1]
    if opening not in {"{", "["}:
        return
    at, index = _blank(text, start + 1), 0
    while at < len(text) and text[at] not in "]}":
        key: str | int = index
        if opening == "{":
            name = _STRING.match(text, at)
            if name is None:
                msg = f"there is no key at character {at:,}"
                raise NotJsonError(msg)
            key = decoded(name[0])
            # Behind the colon.
            at = _blank(text, _blank(text, name.end()) + 1)
        end = _end(text, at)
        yield Part(key, at, end)
        index += 1
        at = _blank(text, end)
        if text[at : at + 1] == ",":
            at = _blank(text, at + 1)


def _blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _end(text: str, start: int) -> int:
    """Find where the value ends that begins here."""
    first = text[start : start + 1]
    if first in {"{", "["}:
        return _closing(text, start)
    found = _STRING.match(text, start) if first == '"' else _SCALAR.match(text, start)
    if found is None:
        msg = f"there is no value at character {start:,}"
        raise NotJsonError(msg)
    return found.end()


def _closing(text: str, start: int) -> int:
    depth = 0
    for found in _BRACKET.finditer(text, start):
        mark = found[0]
        if mark in {"{", "["}:
            depth += 1
        elif mark in {"}", "]"}:
            depth -= 1
            if not depth:
                return found.end()
    msg = "a bracket is not closed"
    raise NotJsonError(msg)


def find(text: str, word: str) -> tuple[tuple[Hit, ...], int]:
    """Look for a word in keys and values, in any case: the first places, and how many there are."""
    looked_for = word[:LONGEST_WORD].lower()
    walk = _Search(looked_for)
    for mark, _ in marks(text):
        walk.take(mark)
    return tuple(walk.hits), walk.total


def marks(text: str) -> Iterator[tuple[str, int]]:
    """Give the strings, numbers, words and marks of a text, each with where it begins."""
    for found in _TOKEN.finditer(text):
        yield found[0], found.start()


class _Search:
    """Walks through the tokens of a text, and knows where it is."""

    def __init__(self, word: str) -> None:
        self.hits: list[Hit] = []
        self.total = 0
        self._word = word
        self._keys: list[str | int] = []
        self._is_object: list[bool] = []
        self._nth: list[int] = []
        self._wants_key = False

    def take(self, mark: str) -> None:
        """Go on to the next mark or word."""
        if mark in {"{", "["}:
            self._is_object.append(mark == "{")
            self._keys.append("" if mark == "{" else 0)
            self._nth.append(0)
            self._wants_key = mark == "{"
        elif mark in {"}", "]"}:
            if self._is_object:
                self._is_object.pop()
                self._keys.pop()
                self._nth.pop()
            self._wants_key = False
        elif mark == ",":
            self._next()
        elif mark != ":":
            self._word_at(mark)

    def _next(self) -> None:
        if not self._is_object:
            return
        self._wants_key = self._is_object[-1]
        self._nth[-1] += 1
        if not self._wants_key:
            self._keys[-1] = self._nth[-1]

    def _word_at(self, token: str) -> None:
        if self._wants_key:
            self._keys[-1] = decoded(token)
            self._wants_key = False
            if self._word in str(self._keys[-1]).lower():
                self._hit(token, is_key=True)
        elif self._word in (decoded(token) if "\\" in token else token).lower():
            self._hit(token, is_key=False)

    def _hit(self, token: str, *, is_key: bool) -> None:
        self.total += 1
        if len(self.hits) < MOST_HITS:
            value = token if len(token) <= HIT_HEAD else f"{token[:HIT_HEAD]}…"
            at, inside = pointer(self._keys), pointer(self._keys[:-1])
            nth = self._nth[-1] if self._nth else 0
            self.hits.append(Hit(at, inside, nth, path(self._keys), value, is_key))


def pointer(keys: Iterable[str | int]) -> str:
    """Write a place.

    >>> pointer(["orders", 3, "a/b~"]), pointer([])
    ('/orders/3/a~1b~0', '')
    """
    return "".join(f"/{step(key)}" for key in keys)


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def path(keys: Iterable[str | int]) -> str:
    """Write a place as people do.

    >>> path(["orders", 3, "id"]), path([0, "odd key"]), path([])
    ('orders[3].id', '[0]["odd key"]', '')
    """
    text = ""
    for key in keys:
        if isinstance(key, int):
            text += f"[{key}]"
        elif _PLAIN.fullmatch(key):
            text += f".{key}" if text else key
        else:
            text += f"[{json.dumps(key, ensure_ascii=False)}]"
    return text
