"""What people type into larger fields: JSON, and names one in each line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from qless_core import nesting
from qless_core.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_web.actions.form import Form

#: What programs are told of JSON in a text: small examples, as no pattern tells all of it.
JSON = r'^(?:\{(?:"[a-z]{1,9}": ?(?:-?[1-9][0-9]{0,8}|"[a-z]{0,9}"))?\}|\[(?:"[a-z]{0,9}")?\])$'

#: Characters shown behind the place of a mistake.
_AFTER = 20


def one_ending(text: str) -> str:
    r"""Write each end of a line as LF: browsers send every one as CR LF.

    >>> one_ending("a\r\nb\rc")
    'a\nb\nc'
    """
    return text.replace("\r\n", "\n").replace("\r", "\n")


def checked_json(text: str) -> str:
    r"""Give JSON as it is written, when it is JSON.

    >>> checked_json('{"n": 1.10}')
    '{"n": 1.10}'

    Raises:
        BadArgument: it is none; the message names line and column, and what follows.

    """
    try:
        json.loads(text, parse_constant=_no_word, parse_int=str, parse_float=str)
        text.encode()
    except RecursionError:
        return _deep(text)
    except json.JSONDecodeError as error:
        rest = text[error.pos : error.pos + _AFTER].rstrip()
        place = f"before “{rest}”" if rest else "at the end"
        where = f"line {error.lineno}, column {error.colno}"
        what = error.msg[0].lower() + error.msg[1:]
        problem = f"The data is no JSON: {where}: {what}, {place}."
        raise BadArgument(problem) from None
    except ValueError as error:
        problem = f"The data is no JSON: {error}."
        raise BadArgument(problem) from None
    return text


def _deep(text: str) -> str:
    try:
        nesting.read(text)
    except ValueError as error:
        problem = f"The data is no JSON: {error}."
        raise BadArgument(problem) from None
    return text


def _no_word(word: str) -> None:
    message = f"{word} is no number there"
    raise ValueError(message)


def lines(form: Form, name: str, was: Sequence[str] = ()) -> tuple[str, ...]:
    """Give the names of a field, one in each line; of a program each as it is.

    Args:
        form: what came along.
        name: the field.
        was: what the field was filled with: taken as it is where nobody changed it, also names
            that no line can hold, and where the field did not come along.

    """
    if not form.has(name):
        return tuple(was)
    if not form.guarded:
        return form.all(name)
    text = one_ending(form.get(name))
    if text == one_ending("\n".join(was)):
        return tuple(was)
    return tuple(dict.fromkeys(line.strip() for line in text.split("\n") if line.strip()))


def whole(form: Form, name: str, what: str, highest: int) -> int | None:
    """Give a whole number from 0 up; None where the field is empty.

    Raises:
        BadArgument: it is none.

    """
    if not form.get(name).strip():
        return None
    found = form.whole(name)
    if found is None or not 0 <= found <= highest:
        problem = f"“{form.get(name)[:40]}” is no {what}: it must be a whole number from 0 up."
        raise BadArgument(problem)
    return found
