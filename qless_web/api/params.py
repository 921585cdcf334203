"""What a request may ask for behind the question mark: declared, checked, never guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from flask import request

from qless_core.reads import Slice
from qless_web.api import cursor
from qless_web.presenters.queue_stats import day_of
from qless_web.problem import ApiProblem

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Items of a part of a list: at most, and where nothing is said.
MOST, USUAL = 500, 50

#: Characters of a text that is looked for.
_LONGEST = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Param:
    """One value of the query.

    Attributes:
        name: how it is called.
        help: what it does, in a sentence.
        kind: what it must be.
        choices: of a choice, those there are.
        most: of a whole number, the greatest.
        pattern: of a text, what all of it must be; anything, where that is empty.
        default: what counts where it is left out.
        required: whether it must be there.
        example: one that makes sense.

    """

    name: str
    help: str
    kind: Literal["text", "whole", "choice", "day", "cursor"] = "text"
    choices: tuple[str, ...] = ()
    most: int = MOST
    pattern: str = ""
    default: str | int | None = None
    required: bool = False
    example: str | int | None = None

    @property
    def schema(self) -> dict[str, Any]:
        """What it must be, as JSON Schema."""
        default = {} if self.default in (None, "") else {"default": self.default}
        match self.kind:
            case "whole":
                return {"type": "integer", "minimum": 1, "maximum": self.most, **default}
            case "choice":
                return {"type": "string", "enum": list(self.choices), **default}
            case "day":
                return {"type": "string", "format": "date"}
            case "cursor":
                return {"type": "string", "pattern": "^[A-Za-z0-9_-]{20}$"}
            case "text":
                pattern = {"pattern": f"^{self.pattern}$"} if self.pattern else {}
                return {"type": "string", "maxLength": _LONGEST, **pattern, **default}

    def read(self, text: str) -> str | int:
        """Read a value.

        Raises:
            ValueError: it is none; the message says what it must be.

        """
        value = self._value(text)
        if value is None:
            raise ValueError(self._wanted)
        return value

    def _value(self, text: str) -> str | int | None:
        match self.kind:
            case "whole":
                fits = re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) and 1 <= int(text) <= self.most
                return int(text) if fits else None
            case "choice":
                return text if text in self.choices else None
            case "day":
                return day_of(text)
            case "text" | "cursor":
                return text if len(text) <= _LONGEST and self._is_as_told(text) else None

    def _is_as_told(self, text: str) -> bool:
        return not self.pattern or bool(re.fullmatch(self.pattern, text, re.ASCII))

    @property
    def _wanted(self) -> str:
        match self.kind:
            case "whole":
                return f"must be a whole number from 1 to {self.most}"
            case "choice":
                return f"must be one of {', '.join(self.choices)}"
            case "day":
                return "must be a day, as 2026-12-31"
            case "text" if self.pattern:
                return f"must be as {self.example}"
            case "text" | "cursor":
                return f"must have at most {_LONGEST:,} characters"


LIMIT = Param(
    name="limit", kind="whole", default=USUAL, help="How many items to give at most.", example=100
)
CURSOR = Param(
    name="cursor", kind="cursor", help="Where to go on: `next` of the part before this one."
)


def asked(params: Iterable[Param]) -> dict[str, Any]:
    """Read the query: a value for each parameter, its default where it was left out.

    Raises:
        ApiProblem: there is one that is not known, twice there, missing or senseless.

    """
    known = {param.name: param for param in params}
    values: dict[str, Any] = {}
    for name, given in request.args.lists():
        param = known.get(name)
        if param is None:
            raise _unknown(name, known)
        if len(given) > 1:
            raise _refused(name, "must be there once")
        try:
            values[name] = param.read(given[0])
        except ValueError as error:
            raise _refused(name, str(error)) from None
    for name, param in known.items():
        if name not in values and param.required:
            raise _refused(name, f"is missing: {param.help}")
        values.setdefault(name, param.default)
    return values


def part(values: dict[str, Any]) -> tuple[Slice, dict[str, Any]]:
    """Take the part of a list out of what was asked: which it is, and the rest.

    Raises:
        ApiProblem: the cursor is none of this list.

    """
    rest = {name: value for name, value in values.items() if name not in {"limit", "cursor"}}
    text = values["cursor"]
    offset = 0 if text is None else cursor.read(text, request.path, rest)
    return Slice(offset, values["limit"]), rest


def next_part(shown: Slice, total: int, rest: Mapping[str, object]) -> str | None:
    """Give the cursor of the part that follows; None after the last one."""
    end = shown.offset + shown.count
    return cursor.write(end, request.path, rest) if end < total else None


def _refused(name: str, problem: str) -> ApiProblem:
    return ApiProblem(400, "bad-parameter", f"The parameter “{name}” {problem}.", parameter=name)


def _unknown(name: str, known: Mapping[str, Param]) -> ApiProblem:
    shown = name[:100]
    those = f"but {', '.join(sorted(known))}" if known else "and none at all"
    detail = f"There is no parameter “{shown}” here, {those}."
    return ApiProblem(400, "unknown-parameter", detail, parameter=shown)
