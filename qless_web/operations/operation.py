"""An operation as Redis knows it: what it does, to how many, how far it is, who asked for it."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from qless_core import wire
from qless_core.reads.plan import Read, Scope, read
from qless_web.operations.verbs import Verb, verb
from qless_web.sending import call, send

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from qless_core.client import Client
    from qless_core.keys import Keys

State = Literal["draft", "queued", "running", "paused", "stopped", "done"]

#: Seconds that a draft waits to be started; days that an operation that ended is remembered.
DRAFT_S: Final = 3_600
KEPT_S: Final = 7 * 86_400
#: Jobs of one that are looked at to say how they fare.
_WATCHED: Final = 500
#: Operations that are listed, the newest.
MOST: Final = 1_000

_ID: Final = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing done to many jobs.

    Attributes:
        id: what it is called.
        action: what it does, as `VERBS` names it, or `undo`.
        state: `draft` until somebody starts it.
        run: which run of it counts; a resumed one is another.
        total: how many jobs its list has.
        excluded: how many of them were left out when it was looked at, by reason.
        at: how many are behind it.
        done: how many of these it was done to.
        skipped: how many were left alone.
        restored: of how many of these it was undone.
        left: how many were left alone, by reason.
        told: its options in words.
        selection: which jobs were meant, in words by kind: `group`, `q` or `jids`; of one that
            undoes another, `operation` is that one and `undoes` what it did, too.
        classes: how many of them there were of each class, when it was looked at.
        queues: the same by queue.
        sample: jids of a few that it acts on.
        odd: jids of a few that it leaves out, each with the reason.
        who: who asked for it.
        address: where they asked from.
        note: what they said about it.
        created: when, epoch seconds.
        began: when it was started; 0 for not yet.
        ended: when it ended; 0 for not yet.
        why: why it paused or stopped by itself: `canary`, `failing`, `lost`; "" where it did not.
        rate: jobs a second at most; 0 for no limit.
        stop_percent: how many of those that ended may have failed again; 0 for any number.
        failed_again: how many have failed again, as far as was looked.
        ended_again: how many have ended, as far as was looked.
        of: the operation that this one undoes; "" for none.
        undone_by: the operation that undoes this one; "" for none.
        new_queue: the queue that it puts jobs into, where there was none of that name; else "".
        reach: patterns of the queues whose jobs it may touch; none: all.

    """

    id: str
    action: str
    state: State
    run: int = 0
    total: int = 0
    excluded: Mapping[str, int] = field(default_factory=dict)
    at: int = 0
    done: int = 0
    skipped: int = 0
    restored: int = 0
    left: Mapping[str, int] = field(default_factory=dict)
    told: Mapping[str, str] = field(default_factory=dict)
    selection: Mapping[str, Any] = field(default_factory=dict)
    classes: Mapping[str, int] = field(default_factory=dict)
    queues: Mapping[str, int] = field(default_factory=dict)
    sample: tuple[str, ...] = ()
    odd: tuple[tuple[str, str], ...] = ()
    who: str = ""
    address: str = ""
    note: str = ""
    created: float = 0
    began: float = 0
    ended: float = 0
    why: str = ""
    rate: float = 0
    stop_percent: float = 0
    failed_again: int = 0
    ended_again: int = 0
    of: str = ""
    undone_by: str = ""
    new_queue: str = ""
    reach: tuple[str, ...] = ()

    @property
    def verb(self) -> Verb:
        """What it does."""
        return verb(self.action)

    @property
    def fits(self) -> int:
        """How many jobs it would act on, when it was looked at."""
        return self.total - sum(self.excluded.values())

    @property
    def on(self) -> dict[str, str]:
        """What it is about, as the audit tells it."""
        chosen = {
            "of" if name == "operation" else name: str(value)
            for name, value in self.selection.items()
        }
        return {"operation": self.id, "action": self.action, **chosen, **self.told}

    @property
    def is_open(self) -> bool:
        """Whether it may still do something."""
        return self.state in ("queued", "running", "paused", "stopped") and self.at < self.total

    def is_within(self, patterns: Collection[str]) -> bool:
        """Say whether it may touch no jobs but those of queues that patterns mean."""
        return bool(self.reach) and set(self.reach) <= set(patterns)

    @property
    def can_undo(self) -> bool:
        """Whether it can be undone, as far as it got."""
        rests = self.state in ("done", "stopped", "paused")
        return rests and self.done > self.restored and self.verb.is_undoable and not self.undone_by


def new_id() -> str:
    """Make a name for an operation."""
    return secrets.token_hex(8)


def is_id(text: str) -> bool:
    """Say whether an operation can be called so."""
    return _ID.fullmatch(text) is not None


def hash_key(keys: Keys, operation: str) -> str:
    """Name the hash of an operation."""
    return keys.web(f"operation:{operation}")


def list_key(keys: Keys, operation: str) -> str:
    """Name the list of its jobs."""
    return keys.web(f"operation:{operation}:list")


def report_key(keys: Keys, operation: str) -> str:
    """Name the list of what became of each chunk."""
    return keys.web(f"operation:{operation}:report")


#: Names of all that is stored of an operation, but for what its jobs were.
PARTS: Final = (hash_key, list_key, report_key)


def index_key(keys: Keys) -> str:
    """Name the sorted set of all operations, by when they were made."""
    return keys.web("operations")


#: What is counted in the hash of an operation.
_COUNTS = ("run", "total", "at", "done", "skipped", "restored", "failed_again", "ended_again")


def from_hash(operation: str, found: Mapping[str, str]) -> Operation | None:
    """Make an operation of its hash; None where there is none."""
    if "action" not in found:
        return None

    def number(name: str) -> float:
        try:
            return float(found.get(name) or 0)
        except ValueError:
            return 0

    told = ("who", "address", "note", "why", "of", "new_queue")
    texts = {name: found.get(name, "") for name in told}
    counts = {name: int(number(name)) for name in _COUNTS}
    moments = {name: number(name) for name in ("created", "began", "ended", "rate", "stop_percent")}
    made = {
        name: _object(found.get(name))
        for name in ("excluded", "told", "selection", "classes", "queues")
    }
    return Operation(
        id=operation,
        action=found["action"],
        state=found.get("state", "draft"),  # type: ignore[arg-type]  # what we wrote
        left={
            name.removeprefix("left:"): int(number(name))
            for name in sorted(found)
            if name.startswith("left:")
        },
        sample=tuple(read_list(found.get("sample"))),
        odd=tuple((jid, why) for jid, why in read_list(found.get("odd"))),
        undone_by=found.get("undone_by", ""),
        reach=tuple(map(str, read_list(found.get("patterns")))),
        **texts,  # type: ignore[arg-type]  # each of the type that its name says
        **counts,  # type: ignore[arg-type]  # as above
        **moments,  # type: ignore[arg-type]  # as above
        **made,  # type: ignore[arg-type]  # as above
    )


def _object(text: str | None) -> dict[str, Any]:
    found = wire.loads(text) if text else {}
    return found if isinstance(found, dict) else {}


def read_list(text: str | None) -> list[Any]:
    """Read a stored list."""
    found = wire.loads(text) if text else []
    return found if isinstance(found, list) else []


def dumps(value: object) -> str:
    """Write what `from_hash` reads, also of names that are no text."""
    return json.dumps(value, ensure_ascii=True)


def load(client: Client, operation: str) -> Operation | None:
    """Read an operation; None where there is none.

    Raises:
        QlessError: Redis could not be asked.

    """
    if not is_id(operation):
        return None
    (found,) = send(client, call("hgetall", hash_key(client.keys, operation)))
    return from_hash(operation, found or {})


def watched(client: Client, operation: Operation) -> Operation:
    """Give an operation with how the first jobs fare that it put to work, where nobody noted that.

    Raises:
        QlessError: Redis could not be asked.

    """
    puts = operation.action in ("retry", "move") and operation.done
    if not puts or operation.ended_again:
        return operation
    found = client.commands.operation_fare(operation.id, 0, _WATCHED)
    return replace(operation, failed_again=found.failed, ended_again=found.ended)


def change(client: Client, operation: str, **fields: object) -> None:
    """Write fields of an operation.

    Raises:
        QlessError: Redis refused.

    """
    told = {name: str(value) for name, value in fields.items()}
    send(client, call("hset", hash_key(client.keys, operation), mapping=told))


@read
def one(scope: Scope, operation: str) -> Read[Operation | None]:
    """Read an operation for a page."""
    if not is_id(operation):
        yield []
        return None
    (found,) = yield [call("hgetall", hash_key(scope.keys, operation))]
    return from_hash(operation, found or {})


@read
def newest(scope: Scope, offset: int, count: int) -> Read[tuple[int, list[Operation]]]:
    """Read a part of the operations, the newest first, and how many there are; no drafts."""
    total, ids = yield [
        call("zcard", index_key(scope.keys)),
        call("zrevrange", index_key(scope.keys), offset, offset + count - 1),
    ]
    found = yield [call("hgetall", hash_key(scope.keys, each)) for each in ids]
    made = [from_hash(name, each or {}) for name, each in zip(ids, found, strict=True)]
    return int(total), [each for each in made if each is not None]
