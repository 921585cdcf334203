"""A job's data and traces as a template can print them: exact digits, folded, bounded. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass

#: Children shown of one object or list; the rest is a number.
MOST_CHILDREN = 100

#: Levels drawn as folds; what is deeper is shown as text.
DEEPEST = 12


class _Exact(str):
    """The digits of a number as they were written: 12345678901234567890, 1.10."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One value of the data: a leaf with its text, or a fold with children.

    ``kind`` is object, array, string, number, boolean, null or text; ``key`` its name or index.
    """

    kind: str
    text: str
    key: str | None = None
    is_index: bool = False
    children: tuple[Node, ...] = ()
    more: int = 0
    open: bool = False


def tree(text: str, *, open_levels: int = 2) -> Node:
    """Return JSON text as a tree that keeps each digit; text that is no JSON stays text."""
    try:
        value = json.loads(text, parse_int=_Exact, parse_float=_Exact, parse_constant=_Exact)
    except (ValueError, RecursionError):
        return Node(kind="text", text=text)
    return _node(value, None, open_levels, DEEPEST)


def _node(value: object, key: str | int | None, open_levels: int, levels: int) -> Node:
    name = None if key is None else str(key)
    kind, text = _leaf(value)
    if not isinstance(value, dict | list) or not value:
        return Node(kind=kind, text=text, key=name, is_index=isinstance(key, int))
    if levels == 0:
        text = json.dumps(value, ensure_ascii=False)
        return Node(kind="text", text=text, key=name, is_index=isinstance(key, int))
    pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
    children = tuple(
        _node(each, name_, open_levels - 1, levels - 1) for name_, each in pairs[:MOST_CHILDREN]
    )
    return Node(
        kind=kind,
        text=text,
        key=name,
        is_index=isinstance(key, int),
        children=children,
        more=max(0, len(pairs) - MOST_CHILDREN),
        open=open_levels > 0,
    )


def _leaf(value: object) -> tuple[str, str]:
    match value:
        case dict():
            kind, text = "object", _many(len(value), "key") if value else "{}"
        case list():
            kind, text = "array", _many(len(value), "item") if value else "[]"
        case _Exact():
            kind, text = "number", str(value)
        case str():
            kind, text = "string", json.dumps(value, ensure_ascii=False)
        case bool():
            kind, text = "boolean", "true" if value else "false"
        case _:
            kind, text = "null", "null"
    return kind, text


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One line of a trace; ``kind`` is frame, library, code, error or plain."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Trace:
    """A failure's message: ``last`` is the line that says most, ``lines`` all of them."""

    text: str
    last: str
    lines: tuple[TraceLine, ...]


def trace(text: str) -> Trace:
    """Return a failure's message line by line, the frames of libraries told from the others."""
    lines = []
    kind = "plain"
    for line in text.rstrip().splitlines() or [""]:
        kind = _line_kind(line, kind)
        lines.append(TraceLine(line, kind))
    python = text.lstrip().startswith("Traceback (most recent call last)")
    said = [line for line in lines if line.text.strip()] or lines
    last = said[-1] if python else said[0]
    marked = tuple(TraceLine(line.text, "error") if line is last else line for line in lines)
    return Trace(text, last.text.strip(), marked)


def _line_kind(line: str, before: str) -> str:
    if line.lstrip().startswith('File "'):
        return "library" if "site-packages" in line or "/lib/python" in line else "frame"
    if line.startswith("    ") and before in {"frame", "library", "code"}:
        return "library" if before == "library" else "code"
    return "plain"
