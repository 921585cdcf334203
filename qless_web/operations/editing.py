"""New data for jobs: all of it, or some fields, with every other byte as it was."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from qless_core import wire
from qless_web.operations import operation as store
from qless_web.sending import call, send

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.client import Client

_BLANK: Final = re.compile(r"[ \t\n\r]*")
_DECODER: Final = json.JSONDecoder(strict=False, parse_float=str, parse_int=str)


def with_fields(text: str, fields: Iterable[tuple[str, str]]) -> str:
    r"""Give the text of a JSON object with other values for some of its fields.

    >>> with_fields('{"a": 1.10, "b": [] }', [("b", '"x"'), ("c", "2")])
    '{"a": 1.10, "b": "x","c":2 }'

    Args:
        text: the object, as it is stored.
        fields: names, each with its value as JSON; one that is not there yet is added.

    Raises:
        ValueError: the text is no JSON object.

    """
    for name, value in fields:
        text = _with(text, name, value)
    return text


def _with(text: str, name: str, value: str) -> str:
    spans = _spans(text)
    if name in spans:
        start, end = spans[name]
        return text[:start] + value + text[end:]
    end = max((end for _, end in spans.values()), default=text.index("{") + 1)
    comma = "," if spans else ""
    return f"{text[:end]}{comma}{wire.dumps(name)}:{value}{text[end:]}"


def _spans(text: str) -> dict[str, tuple[int, int]]:
    """Find where the value of each field of an object stands; of two of a name the last counts."""
    at = _skip(text, 0)
    if text[at : at + 1] != "{":
        message = "it is no JSON object"
        raise ValueError(message)
    wire.loads(text)  # complains of what follows the object, too
    found: dict[str, tuple[int, int]] = {}
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, at = _value(text, at)
        start = _skip(text, _skip(text, at) + 1)
        _, end = _value(text, start)
        found[str(name)] = (start, end)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return found


def _value(text: str, at: int) -> tuple[object, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except RecursionError:
        message = "it is nested too deeply to be changed by field"
        raise ValueError(message) from None


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


class Edits:
    """The new data of the jobs of an edit.

    Args:
        client: whose jobs.
        operation: the edit.

    """

    def __init__(self, client: Client, operation: str) -> None:
        self._client = client
        self._keys = client.keys
        self._id = operation
        key = store.hash_key(client.keys, operation)
        (told,) = send(client, call("hmget", key, "set", "data", "form"))
        self._fields = [(name, value) for name, value in store.read_list(told[0])]
        self._whole = told[1] or ""
        self._is_group = told[2] == "group"

    def __call__(self, at: int, count: int) -> list[tuple[str, str]]:
        """Give the data of some jobs from one on, as it is and as it is to be.

        Both are "" for one that is gone, or whose data takes no fields.
        """
        key = store.list_key(self._keys, self._id)
        (entries,) = send(self._client, call("lrange", key, -(at + count), -(at + 1)))
        jids = [entry if self._is_group else entry[1:] for entry in reversed(entries)]
        if not jids:
            return []
        found = send(self._client, *(call("hget", self._keys.job(jid), "data") for jid in jids))
        return [self._edited(text) for text in found]

    def unfit(self, at: int, count: int) -> list[int]:
        """Give the places of those of some jobs from one on that are left as they are."""
        if self._whole:
            return []
        return [at + place for place, pair in enumerate(self(at, count)) if pair == ("", "")]

    def _edited(self, text: str | None) -> tuple[str, str]:
        if text is None:
            return "", ""
        if self._whole:
            return text, self._whole
        try:
            return text, with_fields(text, self._fields)
        except ValueError:
            return "", ""
