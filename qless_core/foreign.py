"""Finds the key that holds another kind of data than belongs there, once Redis has refused it.

Redis does not say which key it was. So the keys that a call may touch are asked for their type:
those of the names that it was called with, and of the names that these lead to.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from redis import Redis

    from qless_core.keys import Keys

#: Names that are looked at: of a call, and of those that they lead to.
_AT_MOST: Final = 200

_KINDS: Final = {
    "string": "a string",
    "hash": "a hash",
    "list": "a list",
    "set": "a set",
    "zset": "a sorted set",
    "stream": "a stream",
}

#: What belongs where: keys that are there once, and those of a job, queue, group, worker or tag.
_ONCE: Final[dict[Callable[[Keys], str], str]] = {
    lambda keys: keys.queues: "zset",
    lambda keys: keys.paused_queues: "set",
    lambda keys: keys.workers: "zset",
    lambda keys: keys.tracked: "zset",
    lambda keys: keys.failures: "set",
    lambda keys: keys.completed: "zset",
    lambda keys: keys.tags: "zset",
    lambda keys: keys.config: "hash",
    lambda keys: keys.crons: "zset",
}
_NAMED: Final[dict[Callable[[Keys, str], str], str]] = {
    lambda keys, name: keys.job(name): "hash",
    lambda keys, name: keys.history(name): "list",
    lambda keys, name: keys.dependencies(name): "set",
    lambda keys, name: keys.dependents(name): "set",
    lambda keys, name: keys.recurring(name): "hash",
    lambda keys, name: keys.work(name): "zset",
    lambda keys, name: keys.locks(name): "zset",
    lambda keys, name: keys.scheduled(name): "zset",
    lambda keys, name: keys.depends(name): "zset",
    lambda keys, name: keys.recur(name): "zset",
    lambda keys, name: keys.cron_job(name): "hash",
    lambda keys, name: keys.cron_runs(name): "zset",
    lambda keys, name: keys.cron(name): "zset",
    lambda keys, name: keys.worker_jobs(name): "zset",
    lambda keys, name: keys.worker_info(name): "string",
    lambda keys, name: keys.worker_asked(name): "string",
    lambda keys, name: keys.failed(name): "list",
    lambda keys, name: keys.tag(name): "zset",
}


class Foreign(NamedTuple):
    """A key, what it holds and what belongs there, as "a list"."""

    key: str
    holds: str
    belongs: str


def find(redis: Redis, keys: Keys, names: Iterable[str]) -> Foreign | None:
    """Find a key of another kind among those that a call with these names may touch.

    Args:
        redis: where to look.
        keys: the names of the keys.
        names: of jobs, queues, groups, workers and tags, whichever they are.

    Returns:
        The first that is found; None when none is.

    Raises:
        redis.exceptions.RedisError: Redis cannot be asked.

    """
    near = list(islice(dict.fromkeys(names), _AT_MOST))
    wanted = {key(keys): kind for key, kind in _ONCE.items()} | _of_names(keys, near)
    return _odd_one(redis, wanted) or _odd_one(redis, _of_names(keys, _beyond(redis, keys, near)))


def _of_names(keys: Keys, names: Iterable[str]) -> dict[str, str]:
    return {key(keys, name): kind for name in names for key, kind in _NAMED.items()}


def _odd_one(redis: Redis, wanted: dict[str, str]) -> Foreign | None:
    types = _ask(redis, [("type", key) for key in wanted])
    for (key, belongs), holds in zip(wanted.items(), types, strict=True):
        if isinstance(holds, str) and holds not in (belongs, "none"):
            return Foreign(key, _KINDS.get(holds, f"a {holds}"), _KINDS[belongs])
    return None


def _beyond(redis: Redis, keys: Keys, names: Iterable[str]) -> list[str]:
    """Give names that these lead to: queues and workers of jobs, their relatives, jobs of lists."""
    last = _AT_MOST - 1
    asked: list[tuple[Any, ...]] = [
        ("smembers", keys.failures),
        ("zrevrange", keys.workers, 0, last),
        ("zrevrange", keys.queues, 0, last),
    ]
    for name in names:
        asked += [
            ("hmget", keys.job(name), ["queue", "worker"]),
            ("smembers", keys.dependencies(name)),
            ("smembers", keys.dependents(name)),
            ("lrange", keys.failed(name), 0, last),
            ("zrange", keys.worker_jobs(name), 0, last),
        ]
    found = (
        name for reply in _ask(redis, asked) if not isinstance(reply, Exception) for name in reply
    )
    return list(islice(dict.fromkeys(name for name in found if name), 10 * _AT_MOST))


def _ask(redis: Redis, calls: Iterable[tuple[Any, ...]]) -> list[Any]:
    with redis.pipeline(transaction=False) as pipeline:
        for method, *args in calls:
            getattr(pipeline, method)(*args)
        replies: list[Any] = pipeline.execute(raise_on_error=False)
    return replies
