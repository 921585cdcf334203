"""What is kept of jobs that were cancelled or changed: for how long, how much, and what is there.

Of each hundred jobs of an operation a hash keeps what they were; it expires by itself. Where all
of it together becomes too much, the oldest goes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from qless_core import wire
from qless_core.errors import BadArgument
from qless_core.reads.plan import Read, Scope, attempt, read
from qless_web.operations import operation as store
from qless_web.sending import call, send

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_core.client import Client
    from qless_core.keys import Keys
    from qless_web.operations.operation import Operation

#: Jobs of which one hash keeps what they were.
BLOCK: Final = 100
#: Entries of a list that one round trip looks at.
_LOOKED_AT: Final = 5_000
#: Hashes that one round trip removes.
_AT_ONCE: Final = 20


def index_key(keys: Keys) -> str:
    """Name the sorted set of the operations of which something is kept, by when it began."""
    return keys.web("trash")


def kept_key(keys: Keys, operation: str, index: int) -> str:
    """Name the hash that keeps what the job at a place of an operation's list was."""
    return keys.web(f"kept:{operation}:{index // BLOCK}")


def shrink(client: Client, most: int) -> None:
    """Forget the oldest of what is kept, until no more than so many bytes are left.

    Raises:
        QlessError: Redis refused.

    """
    (names,) = send(client, call("zrange", index_key(client.keys), 0, -1))
    if not names:
        return
    keys = [store.hash_key(client.keys, name) for name in names]
    found = send(client, *(call("hmget", key, "kept", "at", "kept_from") for key in keys))
    sizes = {name: [int(each or 0) for each in row] for name, row in zip(names, found, strict=True)}
    total = sum(size for size, _, _ in sizes.values())
    gone = [name for name, (size, _, _) in sizes.items() if not size]
    if gone:
        send(client, call("zrem", index_key(client.keys), *gone))
    for name, (size, at, start) in sizes.items():
        if total <= most:
            return
        total -= _forget(client, name, size, at, start, total - most)


def _forget(client: Client, name: str, size: int, at: int, start: int, bytes_: int) -> int:
    """Forget the oldest of one operation, until so many bytes are gone; answers how many are."""
    blocks = max(1, -(-at // BLOCK) - start)
    each = max(1, size // blocks)
    going = min(blocks, -(-bytes_ // each))
    for first in range(start, start + going, _AT_ONCE):
        last = min(first + _AT_ONCE, start + going)
        keys = [kept_key(client.keys, name, number * BLOCK) for number in range(first, last)]
        send(client, *(call("unlink", key) for key in keys))
    left = 0 if going == blocks else size - going * each
    store.change(client, name, kept=left, kept_from=start + going)
    if not left:
        send(client, call("zrem", index_key(client.keys), name))
    return size - left


@dataclass(frozen=True, slots=True, kw_only=True)
class Resting:
    """Jobs of one operation that rest in the trash.

    Attributes:
        operation: which cancelled them.
        size: bytes that are kept of them, about.
        restored: how many came back.
        until: when they go for good, epoch seconds; 0 where nothing is left.

    """

    operation: Operation
    size: int
    restored: int
    until: float

    @property
    def count(self) -> int:
        """How many rest there still, about."""
        return max(0, self.operation.done - self.restored)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestingJob:
    """A job in the trash, as much of it as a list shows; `state` is that in which it was."""

    index: int
    jid: str
    klass: str
    queue: str
    state: str


@read
def resting(scope: Scope, keep_s: int) -> Read[list[Resting]]:
    """Read what rests in the trash, the newest first: of the last hundred cancelling operations."""
    (names,) = yield [call("zrevrange", index_key(scope.keys), 0, 199)]
    found = yield [call("hgetall", store.hash_key(scope.keys, name)) for name in names or ()]
    rows = []
    for name, fields in zip(names or (), found, strict=True):
        made = store.from_hash(name, fields or {})
        if made is None or made.action != "cancel":
            continue
        size, restored = (int(fields.get(each) or 0) for each in ("kept", "restored"))
        until = (made.ended or made.began) + keep_s
        row = Resting(operation=made, size=size, restored=restored, until=until)
        if row.count and size and until > scope.now:
            rows.append(row)
    return rows


@read
def jobs_of(scope: Scope, operation: str, offset: int, count: int) -> Read[list[RestingJob]]:
    """Read a part of the jobs of an operation that are kept; those that are not are passed over."""
    if not store.is_id(operation):
        yield []
        return []
    key = store.list_key(scope.keys, operation)
    entries, form = yield [
        call("lrange", key, -(offset + count), -(offset + 1)),
        call("hget", store.hash_key(scope.keys, operation), "form"),
    ]
    jids = [entry if form == "group" else entry[1:] for entry in reversed(entries or ())]
    heads = yield [
        attempt("hget", kept_key(scope.keys, operation, offset + at), jid)
        for at, jid in enumerate(jids)
    ]
    return [
        RestingJob(index=offset + at, jid=jid, **_head(head))
        for at, (jid, head) in enumerate(zip(jids, heads, strict=True))
        if isinstance(head, str)
    ]


def places(client: Client, operation: Operation, jids: Sequence[str]) -> list[tuple[str, int]]:
    """Find where jobs stand in the list of the operation that cancelled them.

    Raises:
        BadArgument: it has not come to one of them.
        QlessError: Redis could not be asked.

    """
    open_, found, come_to = set(jids), {}, operation.at
    key = store.list_key(client.keys, operation.id)
    (form,) = send(client, call("hget", store.hash_key(client.keys, operation.id), "form"))
    for start in range(0, come_to, _LOOKED_AT):
        last = min(start + _LOOKED_AT, come_to)
        (entries,) = send(client, call("lrange", key, -last, -(start + 1)))
        for at, entry in enumerate(reversed(entries), start):
            jid = entry if form == "group" else entry[1:]
            if jid in open_:
                open_.remove(jid)
                found[jid] = at
        if not open_ or not entries:
            break
    if open_:
        problem = f"The operation {operation.id} cancelled no job “{min(open_)[:100]}”."
        raise BadArgument(problem)
    return [(jid, found[jid]) for jid in jids]


def _head(text: str) -> dict[str, str]:
    try:
        found = wire.loads(text.partition("\n")[0])
    except ValueError:
        found = {}
    told = found if isinstance(found, dict) else {}
    return {name: str(told.get(name, "")) for name in ("klass", "queue", "state")}
