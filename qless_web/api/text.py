"""JSON as the API sends it: exact, never NaN, and job data byte for byte."""

from __future__ import annotations

import json
import math
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Final, NoReturn

from qless_core import nesting, wire
from qless_core.errors import BadArgument

#: Stands for stored JSON until all around it is written; nobody can guess it, and so put it there.
_MARK: Final = f"{secrets.token_hex(16)}:"
_MARKED: Final = re.compile(f'"{_MARK}([0-9]+)"')


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
    raws: list[str] = []

    def plain(item: Any) -> Any:  # noqa: ANN401 - as the json module wants it
        if isinstance(item, Raw):
            raws.append(item.text)
            return f"{_MARK}{len(raws) - 1}"
        if is_dataclass(item) and not isinstance(item, type):
            return {name: getattr(item, name) for name in _names(type(item))}
        if isinstance(item, Mapping):
            return dict(item)
        message = f"{item!r} is no answer"
        raise TypeError(message)

    try:
        text = json.dumps(value, separators=(",", ":"), allow_nan=False, default=plain)
    except (ValueError, RecursionError):  # no finite number, or too deep: written part by part
        text = _written(value)
    else:
        text = _MARKED.sub(lambda found: raws[int(found[1])], text)
    return text.encode()


@cache
def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


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
