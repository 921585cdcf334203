"""JSON as the API sends it: exact, never NaN, and job data byte for byte."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NoReturn

from qless_core import nesting, wire
from qless_core.errors import BadArgument


@dataclass(frozen=True, slots=True)
class Raw:
    """JSON that is sent as it is stored, with all its digits and blanks."""

    text: str


def raw(text: str | None) -> Raw | None:
    """Give stored text as JSON; None for what is none, as NaN, or bytes that are not UTF-8."""
    return Raw(text) if text is not None and is_json(text) else None


def is_json(text: str) -> bool:
    """Tell JSON, as strictly as RFC 8259, from what only Python and Lua take for it.

    >>> is_json('{"a": 1e999}'), is_json("[NaN]"), is_json("{'a': 1}"), is_json("")
    (True, False, False, False)
    """
    try:
        text.encode()
        json.loads(text, parse_constant=_refused, parse_int=str, parse_float=str)
    except RecursionError:
        return _is_deep_json(text)
    except ValueError:
        return False
    return True


def _is_deep_json(text: str) -> bool:
    try:
        wire.dumps(nesting.read(text))
    except (ValueError, BadArgument):
        return False
    return True


def _refused(word: str) -> NoReturn:
    message = f"{word} is not JSON"
    raise ValueError(message)


def dumps(value: Any) -> bytes:  # noqa: ANN401 - any answer
    """Write an answer: dataclasses as objects, what is no finite number as null.

    >>> dumps({"a": (1, float("nan"), Raw("1.10"))})
    b'{"a":[1,null,1.10]}'
    """
    return _written(value).encode()


def _written(value: Any) -> str:  # noqa: ANN401 - any answer
    return nesting.write(_plain(value), _scalar)


def _plain(value: Any) -> Any:  # noqa: ANN401 - any answer
    if is_dataclass(value) and not isinstance(value, Raw | type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    return value


def _scalar(value: Any) -> str:  # noqa: ANN401 - any answer
    if isinstance(value, Raw):
        return value.text
    if is_dataclass(value):
        return _written(value)
    if isinstance(value, Mapping) and not isinstance(value, dict):
        return _written(dict(value))
    if isinstance(value, float) and not math.isfinite(value):
        return "null"
    return json.dumps(value, separators=(",", ":"))
