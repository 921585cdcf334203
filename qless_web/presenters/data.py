"""A job's data as a template can print it: exact digits, every key, folded, bounded. Pure.

It is read from the stored text without a JSON parser's rounding, and without recursion, so that
numbers keep their digits and no depth is too deep.
"""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Children shown of one object or list; the rest is a number.
MOST_CHILDREN = 100

#: Values shown of the whole; what comes after them is shown as text.
MOST_NODES = 2_000

#: Levels drawn as folds; what is deeper is shown as text.
DEEPEST = 12

#: Characters shown of what an item of a list holds while it is folded.
HINT = 60

#: Characters shown of what is shown as text because it is too deep or too much.
TEXT_HEAD = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One value of the data: a leaf with its text, or a fold with children.

    ``kind`` is object, array, string, number, boolean, null or text; ``key`` its name or index.
    ``at`` is the JSON Pointer of what is folded or not here whole; ``cut`` says the latter.
    ``hint`` is the beginning of what an item of a list holds.
    """

    kind: str
    text: str
    key: str | None = None
    is_index: bool = False
    children: tuple[Node, ...] = ()
    more: int = 0
    open: bool = False
    at: str = ""
    cut: bool = False
    hint: str = ""


def tree(text: str, *, open_levels: int = 2, at: str = "", most: int = MOST_NODES) -> Node:
    """Return JSON text as a tree that keeps each digit; text that is no JSON stays text.

    Args:
        text: as stored.
        open_levels: how many levels are unfolded.
        at: the JSON Pointer of the value in what it is a part of.
        most: how many values to show.

    """
    value = _Reader(text).read()
    if value is None:
        return Node(kind="text", text=text)
    return _Drawing(text, open_levels, most).node(value, None, 0, at)


@dataclass(slots=True)
class _Value:
    """One value as it stands in the text, from `start` to `end`."""

    kind: str
    start: int
    end: int = 0
    keys: list[str] = field(default_factory=list)
    items: list[_Value] = field(default_factory=list)


#: A string, a number, a word or a mark. Besides JSON's words the ones that Lua and Python write.
_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
        (?P<string>"[^"\\]*(?:\\.[^"\\]*)*")
      | (?P<number>-?(?:0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?))
      | (?P<boolean>true|false)
      | (?P<null>null)
      | (?P<odd>[+-]?(?:[iI]nf(?:inity)?|[nN]a[nN]))
      | (?P<mark>[\[\]{},:])
    )""",
    re.VERBOSE | re.DOTALL,
)

_AFTER_VALUE = {"object": frozenset(",}"), "array": frozenset(",]")}
_END = frozenset({"end"})
_VALUE = frozenset({"value"})
_KEY = frozenset({"key"})


class _Reader:
    """Reads text token by token; containers that are open are a stack, not a recursion."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: list[_Value] = []
        self._root: _Value | None = None
        self._wants: frozenset[str] = _VALUE

    def read(self) -> _Value | None:
        """Return the value of the text, or None where it is no JSON."""
        scanner = _TOKEN.scanner(self._text)  # type: ignore[attr-defined]  # known to CPython alone
        end = 0
        while found := scanner.match():
            if not self._take(found):
                return None
            end = found.end()
        done = self._wants is _END and not self._text[end:].strip(" \t\r\n")
        return self._root if done else None

    def _take(self, found: re.Match[str]) -> bool:
        kind = str(found.lastgroup)
        token = found[kind]
        start = found.start(kind)
        if kind == "mark":
            return self._mark(token, start)
        if kind == "string" and "key" in self._wants:
            self._open[-1].keys.append(decoded(token))
            self._wants = frozenset(":")
            return True
        if "value" not in self._wants:
            return False
        self._add(_Value("number" if kind == "odd" else kind, start, found.end()))
        return True

    def _mark(self, mark: str, start: int) -> bool:
        opens = {"{": "object", "[": "array"}.get(mark)
        if ("value" if opens else mark) not in self._wants:
            return False
        if opens:
            value = _Value(opens, start)
            self._add(value)
            self._open.append(value)
            self._wants = _KEY | {"}"} if opens == "object" else _VALUE | {"]"}
        elif mark in "}]":
            self._open.pop().end = start + 1
            self._after_value()
        elif mark == ":":
            self._wants = _VALUE
        else:
            self._wants = _KEY if self._open[-1].kind == "object" else _VALUE
        return True

    def _add(self, value: _Value) -> None:
        if self._open:
            self._open[-1].items.append(value)
        else:
            self._root = value
        self._after_value()

    def _after_value(self) -> None:
        self._wants = _AFTER_VALUE[self._open[-1].kind] if self._open else _END


def decoded(token: str) -> str:
    """Read a JSON string; one with half a surrogate pair stays as it is written."""
    try:
        text = str(json.loads(token, strict=False))
        text.encode(errors="surrogateescape")
    except ValueError:
        return token
    return text


class _Drawing:
    """Makes nodes of values until there are enough of them."""

    def __init__(self, text: str, open_levels: int, most: int) -> None:
        self._text = text
        self._open_levels = open_levels
        self._left = most

    @property
    def used_up(self) -> bool:
        """Whether there are enough."""
        return self._left <= 0

    def node(self, value: _Value, key: str | int | None, level: int, at: str) -> Node:
        self._left -= 1
        named = None if key is None else str(key)
        is_index = isinstance(key, int)
        kind = value.kind
        cut = False
        if kind not in _AFTER_VALUE or not value.items:
            text = self._leaf(value)
        elif level >= DEEPEST or self.used_up:
            kind, text = "text", self._head(value)
            cut = value.end - value.start > TEXT_HEAD
        else:
            children = tuple(self._children(value, level + 1, at))
            return Node(
                kind=kind,
                text=_many(len(value.items), "key" if kind == "object" else "item"),
                key=named,
                is_index=is_index,
                children=children,
                more=len(value.items) - len(children),
                open=level < self._open_levels,
                at=at,
                hint=_hint(children) if is_index else "",
            )
        return Node(kind=kind, text=text, key=named, is_index=is_index, at=at, cut=cut)

    def _children(self, value: _Value, level: int, at: str) -> Iterator[Node]:
        for index, item in enumerate(value.items[:MOST_CHILDREN]):
            if self.used_up:
                return
            key = value.keys[index] if value.keys else index
            yield self.node(item, key, level, f"{at}/{step(key)}")

    def _leaf(self, value: _Value) -> str:
        written = self._text[value.start : value.end]
        if value.kind == "string":
            read = decoded(written)
            return written if read == written else json.dumps(read, ensure_ascii=False)
        return {"object": "{}", "array": "[]"}.get(value.kind, written)

    def _head(self, value: _Value) -> str:
        end = min(value.end, value.start + TEXT_HEAD)
        return self._text[value.start : end] + ("…" if end < value.end else "")


def _hint(children: tuple[Node, ...]) -> str:
    """Tell items of a list apart by the first that they hold."""
    said = (
        f"{each.key}: {each.text}" if not each.is_index else each.text
        for each in children
        if not each.children and each.kind != "text"
    )
    text = ", ".join(itertools.islice(said, 4))
    return text if len(text) <= HINT else f"{text[: HINT - 1]}…"


def step(key: str | int) -> str:
    """Write one step of a JSON Pointer.

    >>> step("a/b~c"), step(3)
    ('a~1b~0c', '3')
    """
    return str(key).replace("~", "~0").replace("/", "~1")


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
