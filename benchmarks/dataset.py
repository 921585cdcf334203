"""Data set L: what a large deployment has after a bad night, built in minutes.

    .venv/bin/python -m benchmarks.dataset --redis-url redis://localhost:6379/9 --scale 0.1

At scale 1: 1,000 queues, 1,000,000 jobs waiting, 1,000,000 failed in 300 groups with 40 patterns of
messages each, 100,000 scheduled, 5,000 recurring, 5,000 workers, 20,000 running, 2,000 tracked,
50,000 completed, with tags. Everything is written as the script would write it, but in pipelines;
only how long jobs waited and ran is not counted. Same seed, same jobs; their times lie before now.

Three incidents are in it, for those who practise: one host on which everything of a group fails,
one customer whose orders cannot be charged, one version after which a class fails.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from qless_core.client import Client
from qless_core.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: How many there are at scale 1.
QUEUES, WAITING, FAILED, SCHEDULED = 1_000, 1_000_000, 1_000_000, 100_000
RECURRING, WORKERS, RUNNING, TRACKED, COMPLETED = 5_000, 5_000, 20_000, 2_000, 50_000
#: Groups at any scale, and patterns in each.
GROUPS, PATTERNS = 300, 40

#: Seconds back to the first failure, and to when the jobs were put.
_NIGHT_S = 7 * 86_400.0
_DAY_S = 86_400

_AREAS = ("orders", "mail", "billing", "search", "images", "exports", "hooks", "stock")
_CLASSES = ("Charge", "Letter", "Index", "Export", "Sync")
_ERRORS = ("Timeout", "ConnectionError", "ValueError", "NotFound", "Refused", "Conflict")
_VERBS = ("open", "read", "write", "parse", "lock", "send", "find", "merge")
_THINGS = ("record", "stream", "invoice", "session", "basket")
_REASONS = (
    "no answer within {n} s",
    "got {n} bytes",
    "row {n} is gone",
    "'{h}' is taken",
    "status {n}",
)
_TAGS = ("vip", "eu", "us", "retry", "bulk", "gift", "order", "nightly")
_REGIONS = ("eu", "us", "ap")

#: The incidents: a group and a host, a group and a customer, a class and a version.
BAD_HOST = ("billing-ConnectionError-1", "w-7")
BAD_CUSTOMER = ("orders-ValueError-0", 4711)
BAD_DEPLOY = ("exports-Conflict-2", "2026.11.3")


def main() -> None:
    """Build it, and say what there is."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--redis-url", required=True, help="an empty database of a Redis")
    parser.add_argument("--namespace", default="ql:", help="what its keys begin with")
    parser.add_argument("--scale", type=float, default=1.0, help="from 0.001 to 1 and beyond")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with Client(args.redis_url, namespace=args.namespace) as client:
        if client.redis.dbsize():
            parser.error("the database is not empty")
        began = Clock().monotonic()
        told = build(client, args.scale, args.seed)
        print(f"{told} in {Clock().monotonic() - began:.0f} s")


@dataclass
class Dataset:
    """What was built: how many of each, and the patterns of each group by example."""

    counts: Counter[str] = field(default_factory=Counter)
    groups: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        return ", ".join(f"{count:,} {what}" for what, count in self.counts.items())


def build(client: Client, scale: float = 1.0, seed: int = 1) -> Dataset:
    """Build the data set in an empty database.

    Args:
        client: of it.
        scale: how much of it, 1 for all.
        seed: of the dice.

    """
    seconds, micros = client.redis.time()
    builder = _Builder(client, Random(seed), int(seconds) + int(micros) / 1e6, scale)  # noqa: S311 - no secret
    builder.run()
    return builder.built


class _Pipe:
    """Commands on their way: packed by hand, since that is most of the work."""

    def __init__(self, client: Client) -> None:
        self._pool = client.redis.connection_pool
        self._connection = self._pool.get_connection()
        self._packed: list[bytes] = []

    def send(self, *words: str | float) -> None:
        parts = [b"*%d\r\n" % len(words)]
        for word in words:
            raw = word.encode() if isinstance(word, str) else repr(word).encode()
            parts.append(b"$%d\r\n%b\r\n" % (len(raw), raw))
        self._packed.append(b"".join(parts))
        if len(self._packed) >= 2_000:  # noqa: PLR2004 - a batch
            self.flush()

    def flush(self) -> None:
        self._connection.send_packed_command([b"".join(self._packed)])
        for _ in self._packed:
            self._connection.read_response()
        self._packed.clear()

    def close(self) -> None:
        self.flush()
        self._pool.release(self._connection)


class _Builder:
    def __init__(self, client: Client, dice: Random, now: float, scale: float) -> None:
        self._keys = client.keys
        self._pipe = _Pipe(client)
        self._dice = dice
        self._now = now
        self._scale = scale
        self.built = Dataset()
        self._queues = [
            f"{_AREAS[at % len(_AREAS)]}-{at:03}" for at in range(max(8, self._of(QUEUES)))
        ]
        self._classes = [f"shop.{area}.{name}" for area in _AREAS for name in _CLASSES]
        hosts = [f"w-{at}" for at in range(100)]
        self._workers = [
            f"{hosts[at % 100]}-{4000 + at // 100}" for at in range(max(100, self._of(WORKERS)))
        ]
        self._tags: Counter[str] = Counter()
        self._jid = 0

    def _of(self, number: int) -> int:
        return max(1, round(number * self._scale))

    def run(self) -> None:
        """Write everything."""
        keys = self._keys
        self._many("zadd", keys.queues, ((name, self._now - _NIGHT_S) for name in self._queues))
        self._waiting()
        self._scheduled()
        self._running()
        self._completed()
        self._failed()
        self._recurring()
        self._many("zadd", keys.tags, self._tags.items())
        self._pipe.close()
        self.built.counts["queues"] = len(self._queues)
        self.built.counts["workers"] = len(self._workers)

    # One job

    def _next(self) -> str:
        self._jid += 1
        return f"{self._dice.getrandbits(128):032x}"

    def _data(self, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
        dice = self._dice
        return {
            "user_id": dice.randrange(100_000),
            "region": dice.choice(_REGIONS),
            "amount": dice.randrange(1, 500),
            "version": dice.choice(("2026.11.1", "2026.11.2")),
            **more,
        }

    def _job(self, jid: str, put: float, history: Iterable[str], **fields: str) -> None:
        """Write the hash and the history of a job, and its tags."""
        dice = self._dice
        queue = fields.pop("put_into")
        tags = dice.sample(_TAGS, dice.choice((0, 0, 1, 1, 2)))
        klass = fields.pop("klass", "") or dice.choice(self._classes)
        data = fields.pop("data", "") or json.dumps(self._data(), separators=(",", ":"))
        plain = {
            "worker": "", "expires": "0", "queue": queue, "remaining": "5", "time": _text(put),
            "jid": jid, "klass": klass, "data": data, "priority": "0", "retries": "5",
            "tags": json.dumps(tags, separators=(",", ":")),
        }  # fmt: skip
        pairs = [word for pair in {**plain, **fields}.items() for word in pair]
        self._pipe.send("HSET", self._keys.job(jid), *pairs)
        first = f'[{int(put)},"put",{{"q":"{queue}"}}]'
        self._pipe.send("RPUSH", self._keys.history(jid), first, *history)
        for tag in tags:
            self._tags[tag] += 1
            self._pipe.send("ZADD", self._keys.tag(tag), put, jid)

    def _many(self, command: str, key: str, pairs: Iterable[tuple[str, float]]) -> None:
        """Add members with their scores, so many in one command."""
        for some in _chunks(pairs, 500):
            self._pipe.send(
                command.upper(), key, *(word for name, at in some for word in (at, name))
            )

    # States

    def _waiting(self) -> None:
        dice, tracked = self._dice, []
        for queue, number in self._shared(self._of(WAITING)):
            scores = []
            for _ in range(number):
                jid, put = self._next(), self._now - dice.random() * _DAY_S
                priority = dice.choice((0, 0, 0, 0, 5, 10))
                self._job(jid, put, (), state="waiting", priority=str(priority), put_into=queue)
                scores.append((jid, priority - put / 1e10))
                if dice.random() < TRACKED / WAITING:
                    tracked.append((jid, self._now - dice.random() * 3600))
            self._many("zadd", self._keys.work(queue), scores)
            self.built.counts["waiting"] += number
        self._many("zadd", self._keys.tracked, tracked)
        self.built.counts["tracked"] = len(tracked)

    def _scheduled(self) -> None:
        for queue, number in self._shared(self._of(SCHEDULED)):
            due = []
            for _ in range(number):
                jid, put = self._next(), self._now - self._dice.random() * _DAY_S
                self._job(jid, put, (), state="scheduled", put_into=queue)
                due.append((jid, self._now + 600 + self._dice.random() * _DAY_S))
            self._many("zadd", self._keys.scheduled(queue), due)
            self.built.counts["scheduled"] += number

    def _running(self) -> None:
        dice = self._dice
        locks, held = defaultdict(list), defaultdict(list)
        number = self._of(RUNNING)
        for _ in range(number):
            jid, queue, worker = self._next(), dice.choice(self._queues), dice.choice(self._workers)
            popped, end = self._now - dice.random() * 50, self._now + 3600 + dice.random() * 600
            history = [f'[{int(popped)},"popped",{{"worker":"{worker}"}}]']
            self._job(
                jid, popped, history, state="running", worker=worker, expires=f"{end:.7f}",
                put_into=queue,
            )  # fmt: skip
            locks[queue].append((jid, round(end, 6)))
            held[worker].append((jid, round(end, 6)))
        for queue, pairs in locks.items():
            self._many("zadd", self._keys.locks(queue), pairs)
        for worker, pairs in held.items():
            self._many("zadd", self._keys.worker_jobs(worker), pairs)
        self._many("zadd", self._keys.workers, ((each, self._now) for each in self._workers))
        self.built.counts["running"] = number

    def _completed(self) -> None:
        done = []
        for _ in range(self._of(COMPLETED)):
            jid, at = self._next(), self._now - self._dice.random() * _DAY_S
            worker = self._dice.choice(self._workers)
            history = [f'[{int(at)},"popped",{{"worker":"{worker}"}}]', f'[{int(at)},"done"]']
            self._job(
                jid, at, history, state="complete", queue="", failure="{}",
                put_into=self._dice.choice(self._queues),
            )  # fmt: skip
            done.append((jid, at))
        self._many("zadd", self._keys.completed, done)
        self.built.counts["completed"] = len(done)

    def _failed(self) -> None:
        stats: Counter[tuple[int, str]] = Counter()
        groups = list(_groups())
        weights = [6 if at % 10 == 0 else 1 for at in range(GROUPS)]
        total = self._of(FAILED)
        for at, (group, klass) in enumerate(groups):
            number = max(PATTERNS, round(total * weights[at] / sum(weights)))
            self._group(group, klass, at, number, stats)
        for (day, queue), number in stats.items():
            key = self._keys.stats(day, queue)
            self._pipe.send("HSET", key, "failures", number, "failed", number)
        self.built.counts["failed"] = self.built.groups.total()

    def _group(
        self, group: str, klass: str, at: int, number: int, stats: Counter[tuple[int, str]]
    ) -> None:
        dice, jids = self._dice, []
        since = 3 * 3600.0 if group in {BAD_HOST[0], BAD_CUSTOMER[0], BAD_DEPLOY[0]} else _NIGHT_S
        whens = sorted(int(self._now - dice.random() * since) for _ in range(number))
        for one, when in enumerate(whens):
            jid = self._next()
            queue = self._queues[(at * 7 + dice.randrange(4)) % len(self._queues)]
            worker = dice.choice(self._workers)
            data = self._data()
            is_of_it = dice.random() < 0.97  # noqa: PLR2004 - nearly all, as it is
            if group == BAD_HOST[0] and is_of_it:
                worker = f"{BAD_HOST[1]}-{4000 + dice.randrange(max(1, len(self._workers) // 100))}"
            elif group == BAD_CUSTOMER[0] and is_of_it:
                data["user_id"] = BAD_CUSTOMER[1]
            elif group == BAD_DEPLOY[0] and is_of_it:
                data["version"] = BAD_DEPLOY[1]
            failure = {
                "group": group,
                "message": self._message(at, one % PATTERNS),
                "when": when,
                "worker": worker,
            }
            history = [
                f'[{when - 30},"popped",{{"worker":"{worker}"}}]',
                f'[{when},"failed",{{"worker":"{worker}","group":"{group}"}}]',
            ]
            self._job(
                jid, when - 30.0, history, state="failed", expires="", klass=klass, put_into=queue,
                remaining=str(5 - dice.choice((0, 0, 0, 1, 2, 4))),
                failure=json.dumps(failure, separators=(",", ":")),
                data=json.dumps(data, separators=(",", ":")),
            )  # fmt: skip
            jids.append(jid)
            stats[when // _DAY_S * _DAY_S, queue] += 1
        for some in _chunks(jids, 1_000):
            self._pipe.send("LPUSH", self._keys.failed(group), *some)
        self._pipe.send("SADD", self._keys.failures, group)
        self.built.groups[group] = number

    def _message(self, group: int, pattern: int) -> str:
        """Write a message: its words tell the pattern, all else varies."""
        dice = self._dice
        verb, thing = _VERBS[pattern % 8], _THINGS[pattern // 8]
        reason = _REASONS[(group + pattern) % len(_REASONS)]
        filled = reason.format(n=dice.randrange(1, 10_000), h=f"{dice.getrandbits(40):010x}")
        where = f"{_AREAS[group % 8]}.example:{dice.randrange(1_024, 65_536)}"
        return f"cannot {verb} {thing} {dice.randrange(10**6)} at {where}: {filled}"

    def _recurring(self) -> None:
        number = self._of(RECURRING)
        for at in range(number):
            queue, jid = self._dice.choice(self._queues), f"every-{at}"
            first = self._now + 600 + self._dice.random() * _DAY_S
            fields = {
                "jid": jid, "klass": self._dice.choice(self._classes), "data": "{}",
                "priority": "0", "tags": "[]", "state": "recur", "queue": queue,
                "type": "interval", "count": "0", "interval": "86400", "retries": "5",
                "backlog": "0",
            }  # fmt: skip
            pairs = [word for pair in fields.items() for word in pair]
            self._pipe.send("HSET", self._keys.recurring(jid), *pairs)
            self._pipe.send("ZADD", self._keys.recur(queue), first, jid)
        self.built.counts["recurring"] = number

    def _shared(self, number: int) -> Iterator[tuple[str, int]]:
        """Share jobs out to the queues."""
        each, more = divmod(number, len(self._queues))
        for at, queue in enumerate(self._queues):
            if share := each + (at < more):
                yield queue, share


def _groups() -> Iterator[tuple[str, str]]:
    """Name the groups, each with the class that fails so."""
    for at in range(GROUPS):
        area, error = _AREAS[at % 8], _ERRORS[at // 8 % 6]
        yield f"{area}-{error}-{at // 48}", f"shop.{area}.{_CLASSES[at // 8 % 5]}"


def _text(time: float) -> str:
    return f"{time:.20f}"


def _chunks(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    some: list[Any] = []
    for item in items:
        some.append(item)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some


if __name__ == "__main__":
    main()
