"""The language of searches: from what was typed to a tree, or to what is wrong with it, and where.

group:shop-Timeout klass:shop.* age:>1h -tag:vip (data.user_id:42 or "connection reset")
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable

#: Fields whose values are names, as they are called first of all.
NAMES: Final = ("group", "klass", "queue", "worker", "host", "tag", "pattern", "jid")
#: States that can be asked for, as pages call them.
STATES: Final = (
    "waiting",
    "running",
    "stalled",
    "scheduled",
    "depends",
    "throttled",
    "failed",
    "complete",
)
#: Fields with a number, and with a span of time up to now.
NUMBERS: Final = ("attempt", "priority")
SPANS: Final = ("age", "put")
#: Other words for fields.
ALSO: Final = {"class": "klass", "message": "text", "completed": "complete"}
#: What is offered where a field is being typed.
FIELDS: Final = (*NAMES, "state", *NUMBERS, *SPANS, "tracked", "message", "data.")

#: Characters of a query, its terms, and how deep parentheses may go.
LONGEST: Final = 4_000
_MOST_TERMS, _DEEPEST = 64, 20
#: Parts of a value with `*` between.
_MOST_PARTS = 8

_UNITS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_SPAN = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)([smhdw])")
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,9})?")
_FIELD = re.compile(r"(data\.[^\s:()\"]+|[a-z_]+):(?![:/])")
_OPERATOR = re.compile(r">=|<=|>|<|=")
_BARE = re.compile(r"[^\s()\"]+")
_YES: Final = ("yes", "no")


class BadQuery(ValueError):  # noqa: N818 - as in the reference
    """Raised where a query makes no sense.

    Attributes:
        problem: what is wrong, in a sentence.
        position: how many characters are before the place.

    """

    def __init__(self, problem: str, position: int) -> None:
        self.problem = problem
        self.position = position
        super().__init__(problem)


def _wrong(problem: str, position: int) -> NoReturn:
    raise BadQuery(problem, position)


class Text(NamedTuple):
    """A text that may have `*` for anything; `parts` is what lies between those."""

    parts: tuple[str, ...]

    @property
    def is_plain(self) -> bool:
        """Whether it has no `*`."""
        return len(self.parts) == 1

    @property
    def plain(self) -> str:
        """The text, where it has no `*`."""
        return self.parts[0]

    @property
    def is_anything(self) -> bool:
        """Whether it is nothing but `*`."""
        return not self.is_plain and not any(self.parts)

    def fits(self, text: str, *, anywhere: bool = False) -> bool:
        """Say whether a text is this one, whatever its case; `anywhere`: has it."""
        text = text.casefold()
        first, *others = (part.casefold() for part in self.parts)
        if not others:
            return first in text if anywhere else text == first
        last = others.pop()
        if not anywhere and not (text.startswith(first) and text.endswith(last)):
            return False
        parts = [first, *others, last] if anywhere else others
        at, end = (0, len(text)) if anywhere else (len(first), len(text) - len(last))
        for part in parts:
            at = text.find(part, at, end)
            if at < 0:
                return False
            at += len(part)
        return at <= end


#: `*` alone.
ANYTHING: Final = Text(("", ""))


@dataclass(frozen=True, slots=True)
class Word:
    """Text that a message, the data, class, group or tags have; `field` "text": the message."""

    text: Text
    field: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """A field, how it is compared (`=`, `<`, `<=`, `>`, `>=`), and with what.

    `span` is from where to where in the query it stands.
    """

    name: str
    operator: str
    text: Text
    #: The number, or the seconds; 0 where it is none.
    number: float
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Not:
    """All but."""

    node: Node


@dataclass(frozen=True, slots=True)
class And:
    """All of them."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """One of them at least."""

    nodes: tuple[Node, ...]


Node = Word | Field | Not | And | Or


def parse(query: str) -> Node | None:
    """Read a query; None for an empty one.

    Raises:
        BadQuery: it makes no sense.

    """
    if len(query) > LONGEST:
        _wrong(f"A search has at most {LONGEST:,} characters.", LONGEST)
    try:
        query.encode(errors="surrogateescape")
    except UnicodeEncodeError as error:
        _wrong("This is half a character.", error.start)
    reader = _Reader(query)
    return None if reader.is_over() else reader.all()


def conjuncts(node: Node | None) -> tuple[Node, ...]:
    """Give what must all be so."""
    if node is None:
        return ()
    return node.nodes if isinstance(node, And) else (node,)


def is_field(name: str) -> bool:
    """Say whether a name can be written as that of a field: a path of data may have blanks in it.

    >>> is_field("data.user.id"), is_field("data.first name"), is_field("")
    (True, False, False)
    """
    return _FIELD.fullmatch(f"{name}:") is not None


def quoted(value: str) -> str:
    r"""Write a value so that it is read as it is.

    >>> quoted("mail"), quoted('say "hi"'), quoted("a*")
    ('mail', '"say \\\\"hi\\\\""', '"a*"')
    """
    if re.fullmatch(r"[\w.:/@#+-]+", value) and value[0].isalnum():
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class _Reader:
    """Reads a query from left to right."""

    def __init__(self, query: str) -> None:
        self._query = query
        self._at = 0
        self._terms = 0
        self._depth = 0
        self._skip()

    def is_over(self) -> bool:
        return self._at >= len(self._query)

    def all(self) -> Node:
        node = self._either()
        if not self.is_over():
            _wrong("There is no “(” for this “)”.", self._at)
        return node

    def _skip(self) -> None:
        while not self.is_over() and self._query[self._at].isspace():
            self._at += 1

    def _word_ahead(self, *words: str) -> bool:
        """Say whether one of these words comes next, as a word of its own."""
        found = _BARE.match(self._query, self._at)
        return found is not None and found[0].lower() in words

    def _either(self) -> Node:
        nodes = [self._both()]
        while self._word_ahead("or"):
            at = self._at
            self._pass("or")
            if self.is_over() or self._query[self._at] == ")":
                _wrong("“or” wants something behind it.", at)
            nodes.append(self._both())
        return nodes[0] if len(nodes) == 1 else Or(tuple(nodes))

    def _both(self) -> Node:
        if self._word_ahead("or"):
            _wrong("“or” wants something before it.", self._at)
        nodes: list[Node] = []
        while not self.is_over() and self._query[self._at] != ")" and not self._word_ahead("or"):
            if self._word_ahead("and") and nodes:
                at = self._at
                self._pass("and")
                if self.is_over() or self._query[self._at] == ")":
                    _wrong("“and” wants something behind it.", at)
            nodes.append(self._one())
        if not nodes:
            place = min(self._at, len(self._query) - 1)
            _wrong("There is nothing here to look for.", place)
        return nodes[0] if len(nodes) == 1 else And(tuple(nodes))

    def _pass(self, text: str) -> None:
        self._at += len(text)
        self._skip()

    def _one(self) -> Node:
        start = self._at
        self._terms += 1
        if self._terms > _MOST_TERMS:
            _wrong(f"A search has at most {_MOST_TERMS} terms.", start)
        if self._word_ahead("not"):
            self._pass("not")
            return self._negated(start)
        if self._query[start] == "-" and self._query[start + 1 : start + 2].strip():
            self._at += 1
            return self._negated(start)
        return self._within() if self._query[start] == "(" else self._term()

    def _negated(self, start: int) -> Node:
        if self.is_over() or self._query[self._at] == ")":
            _wrong("“not” wants something behind it.", start)
        self._deeper(start)
        node = self._one()
        self._depth -= 1
        return node.node if isinstance(node, Not) else Not(node)

    def _deeper(self, start: int) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            _wrong(f"Parentheses go {_DEEPEST} deep at most.", start)

    def _within(self) -> Node:
        start = self._at
        self._deeper(start)
        self._pass("(")
        node = self._either()
        if self.is_over():
            _wrong("This “(” is never closed.", start)
        self._pass(")")
        self._depth -= 1
        return node

    def _term(self) -> Node:
        start = self._at
        found = _FIELD.match(self._query, start)
        if found is None:
            node: Node = Word(self._value())
        else:
            self._at = found.end()
            node = self._field(found[1], start)
        self._skip()
        return node

    def _value(self) -> Text:
        """Read a word, or what stands between quotes."""
        start = self._at
        if self._query[start] == '"':
            return Text((self._quoted(),))
        found = _BARE.match(self._query, start)
        text = found[0] if found else ""
        self._at += len(text)
        parts = re.split(r"\*+", text)
        if len(parts) > _MOST_PARTS:
            _wrong(f"A word has at most {_MOST_PARTS - 1} “*”.", start)
        return Text(tuple(parts))

    def _quoted(self) -> str:
        start = self._at
        found = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL).match(self._query, start)
        if found is None:
            _wrong("This quote is never closed.", start)
        self._at = found.end()
        return re.sub(r"\\(.)", r"\1", found[1], flags=re.DOTALL)

    def _field(self, given: str, start: int) -> Node:
        name = ALSO.get(given, given)
        check = _check_of(name)
        if check is None:
            _wrong(_unknown(given), start)
        found = _OPERATOR.match(self._query, self._at)
        operator = found[0] if found else "="
        self._at += len(found[0]) if found else 0
        place = self._at
        if self.is_over() or self._query[place].isspace() or self._query[place] in "()":
            _wrong(f"“{given}:” wants a value right behind it.", place)
        text = self._value()
        if name == "text":
            return Word(text, "text")
        try:
            number = check(name, operator, text)
        except ValueError as error:
            problem = f"“{given}:” {error}."
            raise BadQuery(problem, place) from None
        return Field(name, operator, text, number, (start, self._at))


# -- Checks: ValueError says what the value must be ----------------------------------------------


def _check_of(name: str) -> Callable[[str, str, Text], float] | None:
    if name in NUMBERS:
        return _number
    if name in SPANS:
        return _span
    if name.startswith("data."):
        return _datum
    return {"state": _choice, "tracked": _choice}.get(
        name, _name if name in {*NAMES, "text"} else None
    )


def _number(_name: str, _operator: str, text: Text) -> float:
    if not text.is_plain or not _NUMBER.fullmatch(text.plain):
        message = "wants a number, as 3 or >=3"
        raise ValueError(message)
    return float(text.plain)


def _span(_name: str, operator: str, text: Text) -> float:
    found = _SPAN.fullmatch(text.plain) if text.is_plain else None
    if found is None or operator == "=":
        message = "wants a span of time, as >90s, >5m, <1h, >2d or <1w"
        raise ValueError(message)
    return float(found[1]) * _UNITS[found[2]]


def _choice(name: str, operator: str, text: Text) -> float:
    words = STATES if name == "state" else _YES
    word = ALSO.get(text.plain, text.plain) if text.is_plain else ""
    if operator != "=" or word not in words:
        message = f"is one of {', '.join(words)}"
        raise ValueError(message)
    return float(words.index(word))


def _name(_name: str, operator: str, _text: Text) -> float:
    if operator != "=":
        message = "has names, which are neither greater nor less"
        raise ValueError(message)
    return 0.0


def _datum(_name: str, operator: str, text: Text) -> float:
    if operator == "=":
        return 0.0
    return _number(_name, operator, text)


def _unknown(given: str) -> str:
    names = [*FIELDS, *ALSO]
    near = difflib.get_close_matches(given, names, n=1, cutoff=0.6)
    meant = (
        f"; did you mean “{near[0].rstrip('.')}”?" if near else f": there are {', '.join(FIELDS)}."
    )
    return f"There is no field “{given}”{meant} Quote it to look for the text."
