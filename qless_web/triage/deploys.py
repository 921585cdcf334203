"""Markers of deploys: from when on a failure is new. The newest ones are kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from qless_core.options import as_number
from qless_core.reads.plan import Read, Scope, read
from qless_web.sending import call, send

if TYPE_CHECKING:
    from qless_core.client import Client
    from qless_core.keys import Keys

#: Markers that are kept, and characters of a name.
MOST: Final = 100
LONGEST_NAME: Final = 200


class Deploy(NamedTuple):
    """A deploy; `at` in epoch seconds, `by` who told of it."""

    name: str
    at: float
    by: str = ""


def key(keys: Keys) -> str:
    """Name the list."""
    return keys.web("triage:deploys")


@read
def deploys(scope: Scope) -> Read[tuple[Deploy, ...]]:
    """Read the markers, the latest first, in one batch."""
    (found,) = yield [call("lrange", key(scope.keys), 0, MOST - 1)]
    read_in = [deploy for text in found or () if (deploy := _parsed(text)) is not None]
    return tuple(sorted(dict.fromkeys(read_in), key=lambda each: -each.at))


def mark(client: Client, deploy: Deploy) -> None:
    """Keep a marker.

    Raises:
        QlessError: Redis cannot be reached, or refused.

    """
    where = key(client.keys)
    text = json.dumps(deploy._asdict(), separators=(",", ":"))
    send(client, call("lpush", where, text), call("ltrim", where, 0, MOST - 1))


def _parsed(text: str) -> Deploy | None:
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    at = as_number(found.get("at"))
    name, by = found.get("name"), found.get("by")
    if at is None or not isinstance(name, str):
        return None
    return Deploy(name, at, by if isinstance(by, str) else "")
