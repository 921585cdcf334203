"""JSON both ways, as the script and the other clients write and read it.

Strict where we write: what JSON cannot say is refused before anything is sent. Tolerant where we
read: cjson knows no empty list, so `{}` stands for one in the fields that `LISTS` names.
"""

from __future__ import annotations

import json
import uuid
from decimal import Decimal
from typing import Any, Final

from qless_core import nesting
from qless_core.errors import BadArgument

#: Reply fields that are lists, whatever an empty one looks like.
LISTS = frozenset(
    {
        "dependencies",
        "dependents",
        "expired",
        "histogram",
        "history",
        "jobs",
        "stalled",
        "tags",
        "throttles",
    }
)


def dumps(value: Any, *, what: str = "data") -> str:  # noqa: ANN401 - job data is any JSON
    """Write a value as JSON.

    Raises:
        BadArgument: the value holds what JSON cannot say: NaN, infinities, lone surrogates, bytes,
            sets, objects, itself.

    """
    try:
        text = _strict(value)
        text.encode()
    except UnicodeEncodeError as error:
        found = f"{error.object[error.start]!r} at {error.start}"
        message = f"{what} holds a lone surrogate, {found}, which JSON text cannot hold"
    except (TypeError, ValueError) as error:
        message = f"{what} cannot be written as JSON: {error}"
    else:
        return text
    raise BadArgument(message)


def clean(text: str) -> str:
    """Replace what UTF-8 cannot hold, lone surrogates, by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def fingerprint(value: Any) -> str:  # noqa: ANN401 - job data is any JSON
    """Tell one value from another, as text; also for values that `dumps` refuses."""
    try:
        return _lenient(value)
    except RecursionError:
        return nesting.write(value, _lenient)
    except (TypeError, ValueError):
        return _shown(value)


def _shown(value: Any) -> str:  # noqa: ANN401 - anything a job left in its data
    """Give the `repr` of a value; another text each time where Python refuses it, too."""
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - of whatever class the value is
        return f"{error!r} {uuid.uuid4().hex}"


def loads(text: str) -> Any:  # noqa: ANN401 - job data is any JSON
    """Read JSON, however deeply nested; numbers as exactly as Python can.

    Raises:
        ValueError: the text is not JSON.

    """
    try:
        return _read(text)
    except RecursionError:
        return nesting.read(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        # Python refuses to convert integers of more than some thousand digits.
        return json.loads(text, parse_int=Decimal)


#: Reads the value that a text begins with, and says where that ends.
_read_first: Final = json.JSONDecoder().raw_decode


def _read(text: str) -> Any:  # noqa: ANN401 - job data is any JSON
    """Read JSON; what is nothing but that, as all that the script tells, in less time."""
    try:
        value, end = _read_first(text)
    except json.JSONDecodeError:
        return json.loads(text)
    return value if end == len(text) else json.loads(text)


#: Writes JSON; to make one for each text, as `json.dumps` does, takes longer than most texts.
_encode_strictly: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode


def _lenient(value: Any) -> str:  # noqa: ANN401 - job data is any JSON
    return json.dumps(value, default=repr)


def _strict(value: Any) -> str:  # noqa: ANN401 - job data is any JSON
    try:
        return _encode_strictly(value)
    except RecursionError:
        return nesting.write(value, _encode_strictly)


def as_list(value: Any) -> list[Any]:  # noqa: ANN401 - any part of a reply
    """Give a list where a list is meant: `{}` and nothing are the empty one."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return list(value.values())
    return []


def reply_list(text: str | None) -> list[Any]:
    """Read a reply that is a JSON list."""
    return [_mended(item) for item in as_list(loads(text))] if text else []


def reply_record(text: str | None) -> dict[str, Any]:
    """Read a reply that is a JSON object, its lists mended."""
    value = loads(text) if text else {}
    return _mended(value) if isinstance(value, dict) else {}


def _mended(value: Any) -> Any:  # noqa: ANN401 - any part of a reply
    """Restore the lists of an object, by field name."""
    if not isinstance(value, dict):
        return value
    return {
        name: as_list(field) if name in LISTS and not isinstance(field, int | float) else field
        for name, field in value.items()
    }
