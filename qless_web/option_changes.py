"""Who changed which option, from what to what, and when: a short list kept in Redis.

What this console or its API changes is noted here; other programs change options without a note,
and are told of where what they stored is no longer what was noted.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from qless_core.options import as_number
from qless_core.reads.plan import Read, Scope, read
from qless_web.sending import call, send

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.client import Client
    from qless_core.keys import Keys

#: Changes that are kept; the older ones are forgotten.
KEPT = 200

#: Characters of a value that is kept: other programs store what they like beside the options.
LONGEST = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of an option.

    Attributes:
        at: when, epoch seconds.
        who: by whom; "" where nobody knows.
        address: the network address that it came from; "" where that is not known.
        option: which.
        was: what was stored before; None for nothing.
        now: what has been stored since; None for nothing.
        undoes: whether it took back the change before it.

    """

    at: float
    who: str
    address: str
    option: str
    was: str | None
    now: str | None
    undoes: bool = False


def key_of(keys: Keys) -> str:
    """Name the list: JSON, the newest first."""
    return keys.web("config:history")


def note(client: Client, change: Change) -> None:
    """Keep a change.

    Raises:
        QlessError: Redis cannot be reached, or refused.

    """
    key = key_of(client.keys)
    send(
        client,
        call("lpush", key, json.dumps(asdict(change))),
        call("ltrim", key, 0, KEPT - 1),
    )


@read
def changes(scope: Scope, count: int = KEPT) -> Read[tuple[Change, ...]]:
    """Read the newest changes, the newest first."""
    (items,) = yield [call("lrange", key_of(scope.keys), 0, count - 1)]
    return tuple(_read(items or ()))


def _read(items: Iterable[str]) -> Iterable[Change]:
    for item in items:
        try:
            found = json.loads(item)
        except ValueError:
            continue
        if isinstance(found, dict) and isinstance(found.get("option"), str):
            yield Change(
                at=float(as_number(found.get("at")) or 0),
                who=str(found.get("who") or ""),
                address=str(found.get("address") or ""),
                option=found["option"],
                was=_text(found.get("was")),
                now=_text(found.get("now")),
                undoes=found.get("undoes") is True,
            )


def _text(value: Any) -> str | None:  # noqa: ANN401 - whatever lies there
    return None if value is None else str(value)
