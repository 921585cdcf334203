"""Whether a job is what a search is for, by the job alone: for searches without an index."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from qless_web.triage import leaves
from qless_web.triage.clauses import COMPARED, compares
from qless_web.triage.patterns import pattern_of
from qless_web.triage.query import And, Field, Node, Not, Or, Text, Word
from qless_web.triage.schema import DATA_KEPT, MESSAGE_KEPT, host_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from qless_web.triage.entry import Entry

_TOKEN = re.compile(r"[^\W_]+")
#: Where a span is compared, more seconds are an earlier instant.
_EARLIER: Final = {">": "<", ">=": "<=", "<": ">", "<=": ">="}


def state_of(entry: Entry, now: float) -> str:
    """Give the state of a job as pages call it; `now` in epoch milliseconds."""
    is_past = entry.until is not None and entry.until <= now
    if entry.state == "running":
        return "stalled" if is_past else "running"
    if entry.state == "stalled" or (entry.state == "scheduled" and is_past):
        return "waiting"
    return entry.state


def fits(node: Node | None, entry: Entry, now: float) -> bool:
    """Say whether a job is one that is looked for; `now` in epoch milliseconds."""
    if node is None:
        return True
    if isinstance(node, And):
        return all(fits(each, entry, now) for each in node.nodes)
    if isinstance(node, Or):
        return any(fits(each, entry, now) for each in node.nodes)
    if isinstance(node, Not):
        return not fits(node.node, entry, now)
    return _has(node, entry) if isinstance(node, Word) else _is(node, entry, now)


def _has(word: Word, entry: Entry) -> bool:
    texts = [entry.message[:MESSAGE_KEPT]]
    if word.field != "text":
        texts += [leaves.kept(entry.data), f"{entry.klass} {entry.group} {' '.join(entry.tags)}"]
    text = word.text
    goes_on = len(text.parts) == 2 and text.parts[1] == ""  # noqa: PLR2004 - before and after it
    wanted = _tokens(text.parts[0])
    if not wanted or not (text.is_plain or goes_on):
        return any(text.fits(each, anywhere=True) for each in texts[:2])
    return any(
        _may_have(wanted, each) and _follow(wanted, _tokens(each), goes_on=goes_on)
        for each in texts
    )


def _may_have(wanted: list[str], text: str) -> bool:
    """Tell most texts quickly that have not all of the words."""
    folded = text.casefold()
    return not folded.isascii() or all(each in folded for each in wanted)


def _tokens(text: str) -> list[str]:
    plain = text.casefold()
    if plain.isascii():
        return _TOKEN.findall(plain)
    plain = unicodedata.normalize("NFKD", plain)
    return _TOKEN.findall("".join(each for each in plain if not unicodedata.combining(each)))


def _follow(wanted: list[str], tokens: list[str], *, goes_on: bool) -> bool:
    """Say whether words follow one another somewhere; the last may go on."""
    *first, last = wanted
    for at in range(len(tokens) - len(first)):
        end = tokens[at + len(first)]
        if tokens[at : at + len(first)] == first and (
            end.startswith(last) if goes_on else end == last
        ):
            return True
    return False


def _is(field: Field, entry: Entry, now: float) -> bool:
    if field.name.startswith("data."):
        return _has_datum(field, entry)
    if field.name in _NAMES:
        names = _NAMES[field.name](entry)
        return any(field.text.fits(name) and (name or field.text.is_plain) for name in names)
    if field.name == "state":
        return state_of(entry, now) == field.text.plain
    instants = {"age": entry.since, "put": entry.put_at}
    if field.name in instants:
        instant = instants[field.name]
        compare = COMPARED[_EARLIER[field.operator]]
        return instant is not None and bool(compare(instant, now - field.number * 1000))
    number = entry.attempt if field.name == "attempt" else entry.priority
    return bool(COMPARED[field.operator](number, field.number))


#: The names that a job has for each field.
_NAMES: Final[dict[str, Callable[[Entry], tuple[str, ...]]]] = {
    "group": lambda entry: (entry.group,),
    "klass": lambda entry: (entry.klass,),
    "queue": lambda entry: (entry.queue,),
    "worker": lambda entry: (entry.worker,),
    "host": lambda entry: (host_of(entry.worker),) if entry.worker else (),
    "tag": lambda entry: entry.tags,
    "jid": lambda entry: (entry.jid,),
    "pattern": lambda entry: (
        (pattern_of(entry.message, group=entry.group, klass=entry.klass),) if entry.group else ()
    ),
}


def _has_datum(field: Field, entry: Entry) -> bool:
    path = field.name.removeprefix("data.").casefold()
    data = entry.data if len(entry.data) <= DATA_KEPT else leaves.kept(entry.data)
    wanted = "*".join(field.text.parts).casefold() if field.operator == "=" else field.number
    return any(
        compares(value, field.operator, wanted)
        for at, value in leaves.leaves(leaves.parsed(data))
        if at.casefold() == path
    )


def plain_names(node: Node | None, name: str) -> set[str] | None:
    """Give the values that a field must have by a query; None where it may have any."""
    nodes = node.nodes if isinstance(node, And) else (node,) if node is not None else ()
    wanted: list[Text] = [
        each.text for each in nodes if isinstance(each, Field) and each.name == name
    ]
    plain = [text.plain.casefold() for text in wanted if text.is_plain]
    return set(plain) if plain else None
