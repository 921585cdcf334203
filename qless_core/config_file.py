"""The stored options as a file: written, compared, and stored again, all of it or nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from qless_core import reads
from qless_core.errors import BadArgument
from qless_core.options import as_number, option_of, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_core.client import Client
    from qless_core.config import Value


def stored(client: Client) -> dict[str, Value]:
    """Read what is stored, by name: numbers where they count something, text otherwise.

    Raises:
        RedisUnavailable: Redis cannot be asked.

    """
    _, (found,) = reads.run(client.redis, client.keys, (reads.settings(),), now=0.0)
    return {name: _value(name, text) for name, text in sorted(found.items())}


def _value(name: str, text: str) -> Value:
    option = option_of(name)
    number = as_number(text) if option and option.is_number else None
    return text if number is None else number


def written(options: Mapping[str, Value]) -> str:
    """Write options as a file."""
    return json.dumps(dict(options), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def read(text: str, *, force: bool = False) -> dict[str, Value]:
    """Read a file: a JSON object of options, each checked as the client does.

    Args:
        text: what is in the file.
        force: whether names that mean nothing to qless are taken, too.

    Raises:
        BadArgument: it is no such object, or a name or a value makes no sense; every one that does
            not is named.

    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = f"it is not JSON: {error}"
        raise BadArgument(problem) from None
    if not isinstance(found, dict):
        problem = "it must be a JSON object that gives each option its value"
        raise BadArgument(problem)
    complaints = [
        said for name, value in found.items() if (said := _complaint(name, value, force=force))
    ]
    if complaints:
        raise BadArgument("; ".join(complaints))
    return found


def _complaint(name: str, value: Any, *, force: bool) -> str:  # noqa: ANN401 - any JSON
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return f"{name} must be a text or a number, got {json.dumps(value)[:80]}"
    option = option_of(name)
    if option is None:
        return "" if force else f"{unknown(name)}; --force stores it all the same"
    said = option.complaint(value)
    return said.replace(option.name, name, 1) if said else ""


def changes(
    before: Mapping[str, Value], after: Mapping[str, Value], *, clear: bool
) -> dict[str, tuple[Value | None, Value | None]]:
    """Compare: what each option that differs is, and is to be; None for not set.

    Args:
        before: what is stored.
        after: what the file says.
        clear: whether what the file does not name is to be unset.

    """
    names = {*after, *(before if clear else ())}
    return {
        name: (before.get(name), after.get(name))
        for name in sorted(names)
        if _told(before.get(name)) != _told(after.get(name))
    }


def _told(value: Value | None) -> str | float | None:
    """Give what is compared: 60, 60.0 and "60" are stored as the same."""
    number = as_number(value)
    return value if number is None else number


def store(client: Client, differing: Mapping[str, tuple[Value | None, Value | None]]) -> None:
    """Store what differs, as `changes` gave it.

    Raises:
        RedisUnavailable: Redis cannot be asked; some may be stored by then.

    """
    for name, (_, value) in differing.items():
        if value is None:
            del client.config[name]
        else:
            client.config.set(name, value, force=True)  # what may not be has been refused
