"""One query out of another: with one value more, or without it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_web.triage.query import Field, Or, conjuncts, parse, quoted

if TYPE_CHECKING:
    from qless_web.triage.query import Node


def narrowed(query: str, field: str, value: str) -> str:
    """Give the query for those that have a value besides.

    >>> narrowed("reset or timeout", "klass", "shop.Charge")
    '(reset or timeout) klass:shop.Charge'
    """
    before = query.strip()
    if isinstance(parse(before), Or):
        before = f"({before})"
    return f"{before} {field}:{quoted(value)}".strip()


def chosen(query: str) -> dict[tuple[str, str], str]:
    """Give the values that a query asks for, each with the query without it.

    >>> chosen("klass:shop.Charge reset")
    {('klass', 'shop.Charge'): 'reset'}
    """
    return {
        (node.name, node.text.plain): _without(query, node.span)
        for node in _fields(parse(query))
        if node.operator == "=" and node.text.is_plain
    }


def _fields(node: Node | None) -> list[Field]:
    return [each for each in conjuncts(node) if isinstance(each, Field)]


def _without(query: str, span: tuple[int, int]) -> str:
    start, end = span
    return f"{query[:start].strip()} {query[end:].strip()}".strip()
