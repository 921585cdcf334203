"""From the tree of a search to SQL. Whatever was typed goes in as a parameter."""

from __future__ import annotations

import json
import operator
from typing import TYPE_CHECKING, Any, ClassVar, Final

from qless_web.triage import leaves
from qless_web.triage.index import bound, decoded
from qless_web.triage.query import ALSO, And, Field, Node, Not, Or, Text, Word
from qless_web.triage.schema import GROUP, KLASS, QUEUE, STATE, TAG, WORKER

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

_KINDS: Final = {
    "group": ("grp", GROUP),
    "klass": ("klass", KLASS),
    "queue": ("queue", QUEUE),
    "worker": ("worker", WORKER),
}
#: The state of a job as pages call it, at the time `:now`, from what is stored.
SHOWN: Final = (
    f"CASE WHEN state = {STATE['running']} AND until <= :now THEN {STATE['stalled']} "
    f"WHEN state = {STATE['scheduled']} AND until <= :now THEN {STATE['waiting']} "
    f"WHEN state = {STATE['stalled']} THEN {STATE['waiting']} ELSE state END"
)
_STATES: Final = {
    # Not one or the other: so its jobs are told by one walk through the index by state.
    "waiting": (
        f"(state IN ({STATE['waiting']}, {STATE['stalled']}, {STATE['scheduled']}) "
        f"AND (state <> {STATE['scheduled']} OR until <= :now))"
    ),
    "running": f"(state = {STATE['running']} AND (until IS NULL OR until > :now))",
    "stalled": f"(state = {STATE['running']} AND until <= :now)",
    "scheduled": f"(state = {STATE['scheduled']} AND (until IS NULL OR until > :now))",
}
#: Said of every job, so that the index by state and first put is of use for any.
_OF_ANY_STATE: Final = f"state IN ({', '.join(map(str, STATE.values()))})"
#: Where a span is compared, more seconds are an earlier instant.
_EARLIER: Final = {">": "<", ">=": "<=", "<": ">", "<=": ">="}
#: What each operator does.
COMPARED: Final = {
    "=": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
#: Parts of `words` that a word without a field is looked for in.
_ANYWHERE: Final = "{message names data}"
_WITHIN: Final = (
    "EXISTS (SELECT 1 FROM texts t WHERE t.id = (jobs.id & 4294967295) AND {condition})"
)
#: Jobs whose words match, among those of `:low` to `:high`.
MATCHING: Final = (
    "SELECT rowid FROM words WHERE words MATCH {match} AND rowid BETWEEN :low AND :high"
)


class Clauses:
    """Writes conditions on `jobs`, and collects their parameters.

    Args:
        connection: of the index: names are looked up.
        now: epoch milliseconds.

    """

    def __init__(self, connection: sqlite3.Connection, now: int) -> None:
        self._db = connection
        self._now = now
        self.params: dict[str, Any] = {"now": now, "low": 0, "high": 2**62}

    def bind(self, value: Any) -> str:  # noqa: ANN401 - what SQLite takes
        """Give the place of a parameter."""
        name = f"p{len(self.params)}"
        self.params[name] = value
        return f":{name}"

    def condition(self, node: Node) -> str:
        """Write a condition."""
        match = matching(node)
        if match is not None:
            some = MATCHING.format(match=self.bind(match))
            return f"jobs.id IN ({some})"
        if isinstance(node, Or) and (named := self._named_alike(node)):
            return named
        if isinstance(node, And | Or):
            between = " AND " if isinstance(node, And) else " OR "
            return f"({between.join(map(self.condition, node.nodes))})"
        if isinstance(node, Not):
            return f"NOT coalesce({self.condition(node.node)}, 0)"
        return self._within(node) if isinstance(node, Word) else self._field(node)

    def _within(self, word: Word) -> str:
        """Look through the texts themselves, for what the list of words cannot tell."""
        parts = self.bind("*".join(word.text.parts).casefold())
        condition = f"spans(t.message, {parts})"
        if word.field != "text":
            condition = f"({condition} OR spans(t.data, {parts}))"
        return _WITHIN.format(condition=condition)

    def _field(self, field: Field) -> str:
        if field.name.startswith("data."):
            return self._datum(field)
        write = self._WRITERS.get(field.name)
        return write(self, field) if write else self._named(field)

    def _state(self, field: Field) -> str:
        word = field.text.plain
        return _STATES.get(word) or f"state = {STATE[ALSO.get(word, word)]}"

    def _tracked(self, field: Field) -> str:
        return f"tracked = {self.bind(int(field.text.plain == 'yes'))}"

    def _number(self, field: Field) -> str:
        return f"{field.name} {field.operator} {self.bind(field.number)}"

    def _span(self, field: Field) -> str:
        column = "since" if field.name == "age" else "put_at"
        instant = self._now - int(field.number * 1000)
        span = f"{column} {_EARLIER[field.operator]} {self.bind(instant)}"
        return span if field.name == "age" else f"({_OF_ANY_STATE} AND {span})"

    def _jid(self, field: Field) -> str:
        text = field.text
        if text.is_plain:
            return f"jid = CAST({self.bind(bound(text.plain))} AS TEXT)"
        # As bytes: what is no UTF-8 no function can be given as text.
        return f"spans(CAST(jid AS BLOB), {self.bind('*'.join(text.parts).casefold())}, 1)"

    # Names

    def _named(self, field: Field) -> str:
        column, kind = _KINDS[field.name]
        return f"{column} {self._among(self.numbers(kind, field.text))}"

    def _named_alike(self, either: Or) -> str | None:
        """Write several names of one kind as one condition, which an index can answer."""
        fields = [node for node in either.nodes if isinstance(node, Field)]
        names = {field.name for field in fields}
        if len(fields) < len(either.nodes) or len(names) > 1 or not names <= _KINDS.keys():
            return None
        column, kind = _KINDS[names.pop()]
        return (
            f"{column} {self._among([each for f in fields for each in self.numbers(kind, f.text)])}"
        )

    def _tag(self, field: Field) -> str:
        tags = self._among(self.numbers(TAG, field.text))
        return f"tagset IN (SELECT tagset FROM tagged WHERE tag {tags})"  # noqa: S608 - of ours

    def _host(self, field: Field) -> str:
        found = self._fitting(
            "SELECT id, host FROM names WHERE kind = ? AND host <> ''", (WORKER,), field.text
        )
        return f"worker {self._among(found)}"

    def _pattern(self, field: Field) -> str:
        found = self._fitting("SELECT id, pattern FROM patterns", (), field.text)
        return f"pattern {self._among(found)}"

    def numbers(self, kind: int, text: Text) -> list[int]:
        """Give the numbers of names of a kind; where one is exactly that, its alone."""
        if text.is_plain:
            exact = self._db.execute(
                "SELECT id FROM names WHERE kind = ? AND name = CAST(? AS TEXT)",
                (kind, bound(text.plain)),
            ).fetchone()
            if exact:
                return [exact[0]]
        return self._fitting("SELECT id, name FROM names WHERE kind = ?", (kind,), text)

    def _fitting(self, rows: str, params: tuple[int, ...], text: Text) -> list[int]:
        # No name at all is none that `*` stands for.
        return [
            number
            for number, name in self._db.execute(rows, params)
            if text.fits(name) and (name or text.is_plain)
        ]

    def _among(self, numbers: list[int]) -> str:
        if len(numbers) == 1:
            return f"= {self.bind(numbers[0])}"
        several = self.bind(json.dumps(numbers))
        return f"IN (SELECT value FROM json_each({several}))"  # noqa: S608 - of ours

    # Data

    def _datum(self, field: Field) -> str:
        """Compare a value: those jobs are looked at that have one at this path."""
        path = leaves.path_word(field.name.removeprefix("data."))
        some = MATCHING.format(match=self.bind(f"leaves : {path}"))
        return f"(jobs.id IN ({some}) AND {self.comparison(field)})"

    def comparison(self, field: Field) -> str:
        """Compare a value of data, of jobs that have one at this path."""
        path = self.bind(field.name.removeprefix("data.").casefold())
        how = self.bind(field.operator)
        text = "*".join(field.text.parts).casefold()
        wanted = self.bind(text if field.operator == "=" else field.number)
        return _WITHIN.format(condition=f"datum(t.data, {path}, {how}, {wanted})")

    _WRITERS: ClassVar[dict[str, Callable[[Clauses, Field], str]]] = {
        "state": _state,
        "tracked": _tracked,
        "attempt": _number,
        "priority": _number,
        "age": _span,
        "put": _span,
        "host": _host,
        "tag": _tag,
        "pattern": _pattern,
        "jid": _jid,
    }


def matching(node: Node) -> str | None:
    """Write what the list of words is asked for; None where it cannot tell alone."""
    match node:
        case Word(text, field):
            return _word(text, "message" if field == "text" else _ANYWHERE)
        case Field(name, "=", text) if name.startswith("data."):
            return _leaf(name.removeprefix("data."), text)
        case Or(nodes):
            parts = [matching(each) for each in nodes]
            return None if None in parts else f"({' OR '.join(filter(None, parts))})"
        case And(nodes):
            return _all(nodes)
    return None


def _all(nodes: tuple[Node, ...]) -> str | None:
    there = [matching(each) for each in nodes if not isinstance(each, Not)]
    absent = [matching(each.node) for each in nodes if isinstance(each, Not)]
    if not there or None in there or None in absent:
        return None
    text = " AND ".join(filter(None, there))
    for each in filter(None, absent):
        text = f"({text}) NOT {each}"
    return f"({text})"


def _word(text: Text, where: str) -> str | None:
    """Look for words in their order; the last one may go on where a `*` is behind it."""
    goes_on = len(text.parts) == 2 and text.parts[1] == ""  # noqa: PLR2004 - before and after it
    first = text.parts[0]
    if not (text.is_plain or goes_on) or not any(map(str.isalnum, first)):
        return None
    if goes_on and not first[-1].isalnum():
        return None
    escaped = first.replace('"', " ").replace("\0", " ")
    return f'({where} : "{escaped}"{" *" if goes_on else ""})'


def _leaf(path: str, text: Text) -> str | None:
    if text.is_anything:
        return f"(leaves : {leaves.path_word(path)})"
    if not text.is_plain:
        return None
    return f"(leaves : {leaves.word_of(path, leaves.told(text.plain))})"


# -- What SQL calls ------------------------------------------------------------------------------


def install(connection: sqlite3.Connection) -> None:
    """Let a connection call what the conditions need."""
    connection.create_function("spans", 2, _spans, deterministic=True)
    connection.create_function("spans", 3, _spans, deterministic=True)
    connection.create_function("datum", 4, _has_datum, deterministic=True)


def _spans(text: str | bytes | None, parts: str, whole: int = 0) -> bool:
    """Say whether a text has these parts, in their order."""
    told = decoded(text) if isinstance(text, bytes) else text or ""
    return Text(tuple(parts.split("*"))).fits(told, anywhere=not whole)


def _has_datum(data: str | None, path: str, how: str, wanted: str | float) -> bool:
    """Say whether data has a value at a path that compares so."""
    values = [
        value for at, value in leaves.leaves(leaves.parsed(data or "")) if at.casefold() == path
    ]
    return any(compares(value, how, wanted) for value in values)


def compares(value: Any, how: str, wanted: str | float) -> bool:  # noqa: ANN401 - any JSON
    """Compare a value: as text by `*`, or as a number."""
    if isinstance(wanted, str):
        return Text(tuple(wanted.split("*"))).fits(leaves.told(value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return bool(COMPARED[how](value, wanted))
