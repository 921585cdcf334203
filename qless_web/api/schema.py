"""From the dataclasses that the API answers with to JSON Schema, so that the two never differ."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from qless_web.api.text import Raw

if TYPE_CHECKING:
    from collections.abc import Mapping

Schema = dict[str, Any]

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
    Any: {},
    Raw: {},
}


def name_of(kind: Any) -> str:  # noqa: ANN401 - a class, or a generic one with its argument
    """Name a schema: the class, or for `Page[Queue]` `QueuePage`."""
    origin = get_origin(kind)
    if origin is None:
        return str(kind.__name__)
    return "".join(name_of(each) for each in get_args(kind)) + str(origin.__name__)


def described(kind: Any, found: dict[str, Schema]) -> Schema:  # noqa: ANN401 - as above
    """Refer to the schema of a dataclass, and add it, with all it needs, to those that were found.

    Raises:
        TypeError: a field is of a type that this does not know.

    """
    name = name_of(kind)
    if name not in found:
        found[name] = {}  # a class may hold others of itself
        found[name] = _object(kind, found)
    return {"$ref": f"#/components/schemas/{name}"}


def _object(kind: Any, found: dict[str, Schema]) -> Schema:  # noqa: ANN401 - as above
    origin = get_origin(kind) or kind
    meant = _arguments(kind)
    hints = get_type_hints(origin, include_extras=True)
    properties = {each.name: _value(hints[each.name], meant, found) for each in fields(origin)}
    return {
        "type": "object",
        "description": (origin.__doc__ or "").split("\n", 1)[0],
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _arguments(kind: Any) -> dict[Any, Any]:  # noqa: ANN401 - as above
    """Say what stands for each type variable of a class, or of the one it is made from."""
    origin = get_origin(kind)
    if origin is None:
        bases = getattr(kind, "__orig_bases__", ())
        return {name: meant for base in bases for name, meant in _arguments(base).items()}
    return dict(zip(getattr(origin, "__parameters__", ()), get_args(kind), strict=False))


def _value(hint: Any, meant: Mapping[Any, Any], found: dict[str, Schema]) -> Schema:  # noqa: ANN401 - a type
    hint = meant.get(hint, hint) if isinstance(hint, TypeVar) else hint
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    origin = get_origin(hint)
    if is_dataclass(origin) or is_dataclass(hint):
        return described(hint, found)
    if origin is Literal:
        return {"type": "string", "enum": list(get_args(hint))}
    inner = [_value(each, meant, found) for each in get_args(hint) if not _is_word(each)]
    if origin is Annotated:
        return _worded(inner[0], get_args(hint)[1])
    return _joined(origin, inner)


def _is_word(argument: Any) -> bool:  # noqa: ANN401 - a type, or what `Annotated` says of one
    return isinstance(argument, str) or argument is ...


def _joined(origin: Any, inner: list[Schema]) -> Schema:  # noqa: ANN401 - a type
    if origin in {UnionType, Union}:
        return _either(inner)
    if origin is tuple:
        return {"type": "array", "items": inner[0]}
    if origin is dict:
        return {"type": "object", "additionalProperties": inner[1]}
    message = f"no JSON Schema is known for {origin!r}"
    raise TypeError(message)


def _worded(schema: Schema, words: str) -> Schema:
    if "$ref" in schema:
        return {"allOf": [schema], "description": words}
    return {**schema, "description": words}


def _either(choices: list[Schema]) -> Schema:
    """Join types; a list of plain ones reads better."""
    if any(not choice for choice in choices):
        return {}
    if all(list(choice) == ["type"] for choice in choices):
        return {"type": [choice["type"] for choice in choices]}
    return {"anyOf": choices}
