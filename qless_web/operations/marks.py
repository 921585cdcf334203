"""What pages about operations show, boiled down to something small that differs once they would."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core.reads.plan import Read, Scope, call, read
from qless_web.operations import operation as store

if TYPE_CHECKING:
    from qless_core.reads import Mark

#: Operations at the head of the list that are looked at one by one.
_HEAD = 25
_FIELDS = ("state", "at", "skipped", "failed_again", "ended_again", "restored", "undone_by")


@read
def one(scope: Scope, operation: str) -> Read[Mark]:
    """Give the mark of one operation."""
    if not store.is_id(operation):
        yield []
        return {}
    (found,) = yield [call("hmget", store.hash_key(scope.keys, operation), *_FIELDS)]
    return {"operation": tuple(found)}


@read
def all_of_them(scope: Scope) -> Read[Mark]:
    """Give the mark of the list of operations: how many, and how far the newest are."""
    total, names = yield [
        call("zcard", store.index_key(scope.keys)),
        call("zrevrange", store.index_key(scope.keys), 0, _HEAD - 1),
    ]
    found = yield [call("hmget", store.hash_key(scope.keys, name), "state", "at") for name in names]
    return {
        "total": total,
        **{name: tuple(row) for name, row in zip(names, found, strict=True)},
    }
