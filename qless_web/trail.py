"""The audit in Redis: a stream of what was changed, capped by age and size; written, and read.

Whoever changes anything through the console or its API is noted here by `audit.py`; what ends in
the background is noted by the background.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from qless_core import wire
from qless_core.reads.plan import Read, Scope, read
from qless_web.sending import call, send

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_core.client import Client
    from qless_core.keys import Keys

#: Records that one request looks at, at most.
LOOKED_AT: Final = 2_000
#: Characters of each text of a record.
_LONGEST: Final = 4_000

_DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that was done, or tried.

    Attributes:
        id: where it stands in the stream: milliseconds since the epoch, and a number.
        action: what was done.
        who: who did it; "" where nobody knows.
        address: from where.
        on: what it was done to, by kind.
        outcome: `done`, `failed` or `refused`.
        counts: how many jobs, `done` and by reason.
        why: what a refusal or an error said.
        note: what they said about it.
        request: the name of the request, as in the log.

    """

    action: str
    id: str = ""
    who: str = ""
    address: str = ""
    on: Mapping[str, str] = field(default_factory=dict)
    outcome: str = "done"
    counts: Mapping[str, int] = field(default_factory=dict)
    why: str = ""
    note: str = ""
    request: str = ""

    @property
    def when(self) -> float:
        """When it was, epoch seconds."""
        return int(self.id.partition("-")[0] or 0) / 1000

    def has(self, text: str) -> bool:
        """Say whether a text is anywhere in it, in letters of any size."""
        whole = (self.action, self.who, self.address, self.outcome, self.why, self.note)
        parts = (*whole, *self.on, *map(str, self.on.values()))
        return text.casefold() in "\n".join(parts).casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which records are looked for; "" wants any."""

    text: str = ""
    who: str = ""
    action: str = ""
    outcome: str = ""

    def fits(self, entry: Entry) -> bool:
        """Say whether a record is one of them."""
        pairs = (
            (self.who, entry.who),
            (self.action, entry.action),
            (self.outcome, entry.outcome),
        )
        return all(not wanted or wanted == found for wanted, found in pairs) and (
            not self.text or entry.has(self.text)
        )

    @property
    def is_any(self) -> bool:
        """Whether every record is wanted."""
        return self == Wanted()


@dataclass(frozen=True, slots=True)
class Found:
    """A part of the records, the newest first.

    Attributes:
        entries: those that are wanted.
        total: how many records there are, wanted or not.
        next: the id of the last one that was looked at, to go on behind; "" at the end.
        looked: how many were looked at.

    """

    entries: tuple[Entry, ...]
    total: int
    next: str
    looked: int


def key(keys: Keys) -> str:
    """Name the stream."""
    return keys.web("audit")


def write(client: Client, entry: Entry, *, days: int, most: int) -> None:
    """Add a record, and forget those that are too old or too many.

    Raises:
        QlessError: Redis is away, or does not let this user write.

    """
    fields = {
        "action": entry.action,
        "who": entry.who,
        "from": entry.address,
        "on": json.dumps(dict(entry.on)),
        "outcome": entry.outcome,
        "counts": json.dumps(dict(entry.counts)),
        "why": entry.why[:_LONGEST],
        "note": entry.note[:_LONGEST],
        "request": entry.request,
    }
    told = {name: wire.clean(text) for name, text in fields.items() if text not in ("", "{}")}
    stream = key(client.keys)
    oldest = int(client.clock.now() * 1000) - days * _DAY_MS
    send(
        client,
        call("xadd", stream, told, maxlen=most, approximate=True),
        call("xtrim", stream, minid=max(0, oldest), approximate=True),
    )


@read
def newest(scope: Scope, wanted: Wanted, count: int, behind: str = "") -> Read[Found]:
    """Read a part of the records, the newest first.

    Args:
        scope: given by `run`.
        wanted: which.
        count: how many at most.
        behind: the `next` of the part before; "" for the newest.

    """
    most = count + 1 if wanted.is_any else LOOKED_AT
    rows, total = yield [
        call("xrevrange", key(scope.keys), max=f"({behind}" if behind else "+", count=most),
        call("xlen", key(scope.keys)),
    ]
    entries: list[Entry] = []
    last, looked = "", 0
    for name, fields in rows or ():
        if len(entries) == count:
            break
        looked += 1
        last = name
        entry = from_fields(name, fields or {})
        if wanted.fits(entry):
            entries.append(entry)
    is_more = looked < len(rows or ()) or len(rows or ()) == most
    return Found(tuple(entries), int(total or 0), last if is_more else "", looked)


def from_fields(name: str, fields: Mapping[str, str]) -> Entry:
    """Make a record of what the stream has."""
    texts = {each: fields.get(each, "") for each in ("outcome", "why", "note", "request", "who")}
    return Entry(
        id=name,
        action=fields.get("action", ""),
        address=fields.get("from", ""),
        on={name: str(value) for name, value in _object(fields.get("on")).items()},
        counts={
            name: value
            for name, value in _object(fields.get("counts")).items()
            if isinstance(value, int)
        },
        **texts,
    )


def _object(text: str | None) -> dict[str, Any]:
    try:
        found = wire.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
