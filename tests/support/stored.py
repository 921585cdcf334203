"""The whole database, to compare with what it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from redis import Redis


def everything(redis: Redis) -> dict[str, Any]:
    """Give type and content of every key.

    Hashes are read field by field: the server may dump the same one in another order.
    """
    kinds = {key: redis.type(key) for key in sorted(redis.scan_iter(count=1000))}
    return {
        key: (kind, redis.hgetall(key) if kind == "hash" else redis.dump(key))
        for key, kind in kinds.items()
    }
