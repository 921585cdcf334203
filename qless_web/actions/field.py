"""What an action takes beside the names in its address, said once for programs and documents."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

#: A text that says something. Python takes some control characters for blanks, JSON Schema not.
NOT_BLANK = r"[^\s\x00-\x1f\x85\xa0]"

#: Dates that every month has, with a time or none.
DATE = (
    r"(?:19[7-9][0-9]|[2-4][0-9]{3})-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|"
    r"(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r"(?:T(?:[01][0-9]|2[0-3]):[0-5][0-9](?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])?)?"
)

#: The latest moment that makes sense, epoch seconds: the year 5138.
LATEST = 1e11

#: Jobs that one request may name.
MOST_NAMED = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One value that comes along.

    Attributes:
        name: how programs call it.
        help: what it is, in a sentence.
        kind: a text, a whole number, a list of texts, or a moment: epoch seconds, or a text.
        form: how the console's forms call it; as programs do, unless given.
        required: whether the action needs it.
        default: what is sent where a program leaves it out.
        lowest: the smallest number; the fewest texts of a list.
        highest: the greatest number; the most texts of a list.
        pattern: of a text, what programs are told to send; forms may say the same in other ways.
        longest: the most characters of a text.
        choices: of a text, those there are, where it is one of a few.
        example: one that makes sense.

    """

    name: str
    help: str
    kind: Literal["text", "whole", "texts", "moment"] = "text"
    form: str = ""
    required: bool = True
    default: int | str | None = None
    lowest: int = 1
    highest: int = MOST_NAMED
    pattern: str = NOT_BLANK
    longest: int | None = None
    choices: tuple[str, ...] = ()
    example: Any = None

    @property
    def sent_as(self) -> str:
        """How the console's forms call it."""
        return self.form or self.name

    @property
    def schema(self) -> dict[str, Any]:
        """What values it may have, as JSON Schema."""
        text = self._text_schema
        match self.kind:
            case "text":
                found: dict[str, Any] = text
            case "whole":
                found = {"type": "integer", "minimum": self.lowest, "maximum": self.highest}
            case "moment":
                found = {"anyOf": [{"type": "number", "minimum": 0, "maximum": LATEST}, text]}
            case "texts":
                found = {"type": "array", "items": text, "minItems": self.lowest}
                found["maxItems"] = self.highest
        default = {} if self.default is None else {"default": self.default}
        return {**found, "description": self.help, **default}

    @property
    def _text_schema(self) -> dict[str, Any]:
        if self.choices:
            return {"type": "string", "enum": list(self.choices)}
        longest = {} if self.longest is None else {"maxLength": self.longest}
        return {"type": "string", "pattern": self.pattern, **longest}

    def allows(self, given: object) -> bool:
        """Say whether the schema allows a value that `values` takes: forms may send more."""
        texts = given if isinstance(given, list) else [given]
        return all(re.search(self.pattern, text) for text in texts if isinstance(text, str))

    def values(self, given: object) -> list[str]:
        """Write a value as the console's forms send it.

        Raises:
            ValueError: it is no such value; the message says what it must be.

        """
        match self.kind, given:
            case "text", str(text):
                return [self._fitting(_said(text))]
            case "texts", list(texts) if self.lowest <= len(texts) <= self.highest:
                return list(dict.fromkeys(_said(each) for each in texts))
            case "whole", int() | float() if self._fits(given):
                return [str(int(given))]
            case "moment", int() | float() if _is_moment(given):
                return [repr(given)]
            case "moment", str(text):
                return [_said(text)]
        raise ValueError(self._wanted)

    def _fitting(self, text: str) -> str:
        """Give a text that is one of the choices, and not too long.

        Raises:
            ValueError: it is not.

        """
        if self.choices and text not in self.choices:
            message = f"must be one of {', '.join(self.choices)}"
            raise ValueError(message)
        if self.longest is not None and len(text) > self.longest:
            message = f"must have at most {self.longest:,} characters"
            raise ValueError(message)
        return text

    def _fits(self, given: float) -> bool:
        whole = not isinstance(given, bool) and given == given // 1
        return whole and self.lowest <= given <= self.highest

    @property
    def _wanted(self) -> str:
        match self.kind:
            case "text":
                return _TEXT
            case "moment":
                return "must be a moment: epoch seconds, or a date and time"
            case "texts":
                return f"must be a list of {self.lowest} to {self.highest:,} texts"
            case "whole":
                return f"must be a whole number from {self.lowest:,} to {self.highest:,}"


_TEXT = "must be text that is not blank"


def _is_moment(given: float) -> bool:
    return not isinstance(given, bool) and 0 <= given <= LATEST


def _said(given: object) -> str:
    """Give a text that says something, and that Redis can hold.

    Raises:
        ValueError: it is none, or holds half a character.

    """
    if not isinstance(given, str) or not re.search(NOT_BLANK, given):
        raise ValueError(_TEXT)
    try:
        given.encode()
    except UnicodeEncodeError:
        message = "must be text without half characters"
        raise ValueError(message) from None
    return given
