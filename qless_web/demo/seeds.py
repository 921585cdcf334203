"""What the made-up shop looks like before its workers begin: two days of history, and a present.

History is made by giving the commands times of the past, so that waits, runs, retries and
statistics are those of a shop that was busy, and none of it takes longer than the calls.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any, Self, cast

from qless_core.client import Client
from qless_core.clock import Clock
from qless_web.demo.catalog import (
    BY_QUEUE,
    KINDS,
    STAGES,
    TROUBLES,
    delivery,
    letter,
    order,
    picture,
    product,
    report,
)
from qless_web.minutes import DAY, HOUR, HOUR_KEPT_S, Minute, hour_key, hour_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from qless_core.job import Job
    from qless_web.demo.catalog import Kind, Trouble

#: How far back history goes, in seconds.
PAST_S = 2 * 86_400.0
#: How many jobs have run well before the shop opens.
DONE = 90
#: How many have used up their retries.
EXHAUSTED = 5
#: What part of them carries a special tag, and what part of the good ones took two attempts.
SPECIAL, BUMPY = 0.2, 0.1
#: Options set so that hours of demo stay small and the config page has something to show.
OPTIONS = {
    "jobs-history-count": 2000,
    "exports-heartbeat": 3600,
    "grace-period": 15,
    "thumbnails-max-concurrency": 3,
}
#: Who worked at what; everything else was done by the shop's own workers.
_SHOP = ("shop-1-4101", "shop-2-4102", "shop-3-4103")
HANDS = {"exports": "reports-1-771", "thumbnails": "media-1-884", "video": "media-2-885"}


def plant(client: Client, *, seed: int = 5678) -> None:
    """Fill an empty Redis with the shop, as of the client's time.

    Raises:
        QlessError: Redis is gone, or refused.

    """
    chance = Random(seed)  # noqa: S311 - made-up data, no secret
    with Hands(client) as hands:
        for option, value in OPTIONS.items():
            hands.anyone.config[option] = value
        past = _Past(hands, chance)
        past.live()
        _note(client, past.done)
        hands.then.moment = hands.now
        _Present(hands, chance).arrange()


class Then(Clock):
    """A clock that says what it is set to: the time that commands of the past are given."""

    def __init__(self, moment: float) -> None:
        #: Epoch seconds.
        self.moment = moment

    def stamp(self) -> str:
        """Say the time set, in place of the server's."""
        return f"{self.moment:.3f}"

    def now(self) -> float:
        """Say the time set."""
        return self.moment


class Hands:
    """A client for each worker of the shop, and one for everybody else; all go by one clock."""

    def __init__(self, client: Client) -> None:
        self.now = client.now()
        self.then = Then(self.now)
        self._client = client
        self._clients: dict[str, Client] = {}
        self._stack = ExitStack()
        self.anyone = self._named("shop-web-1")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def pop(self, queue: str, worker: str | None = None) -> Job:
        """Pop the next job of a queue, in the name of one of its workers.

        Raises:
            LookupError: there is none.

        """
        name = worker or HANDS.get(queue) or _SHOP[len(queue) % len(_SHOP)]
        job = self._named(name).queues[queue].pop()
        if job is None:
            raise LookupError(queue)
        return job

    def _named(self, name: str) -> Client:
        if name not in self._clients:
            client = Client(
                redis=self._client.redis,
                namespace=self._client.namespace,
                clock=self.then,
                worker_name=name,
            )
            self._clients[name] = self._stack.enter_context(client)
        return self._clients[name]


class _Past:
    """Jobs that came, ran and ended before now."""

    def __init__(self, hands: Hands, chance: Random) -> None:
        self._hands = hands
        self._chance = chance
        #: What was done: when, in which queue, and whether it is a failure.
        self.done: list[tuple[float, str, bool]] = []

    def live(self) -> None:
        """Let it all happen, in the order of time, and some jobs use up their retries."""
        happens: list[Callable[[], None]] = [
            *[partial(self._succeed, self._chance.choice(KINDS)) for _ in range(DONE)],
            *[partial(self._fail, each) for each in TROUBLES for _ in range(each.count)],
            *[self._exhaust] * EXHAUSTED,
        ]
        events = [(self._moment(), event) for event in happens]
        for moment, event in sorted(events, key=lambda entry: entry[0]):
            self._hands.then.moment = moment
            event()

    def _moment(self) -> float:
        """Choose a time in the past; the nearer to now, the likelier."""
        return self._hands.now - 900 - self._chance.random() ** 2 * PAST_S

    def _pass(self, shortest: float, longest: float) -> None:
        self._hands.then.moment += self._chance.uniform(shortest, longest)

    def _take(self, kind: Kind, *, retries: int | None = None) -> Job:
        tags = [*kind.tags]
        if self._chance.random() < SPECIAL:
            tags.append(self._chance.choice(("vip", "gift", "50% off")))
        self._hands.anyone.queues[kind.queue].put(
            kind.klass,
            kind.data(self._chance),
            tags=tags,
            priority=kind.priority,
            retries=retries,
        )
        self._pass(0.2, 40)
        return self._hands.pop(kind.queue)

    def _succeed(self, kind: Kind) -> None:
        job = self._take(kind)
        if self._chance.random() < BUMPY:
            self._pass(*kind.takes_s)
            job.retry(5, f"{kind.queue}-ConnectionResetError", "the other side hung up")
            self._pass(6, 20)
            job = self._hands.pop(kind.queue)
        self._pass(*kind.takes_s)
        onward = STAGES.get(kind.queue) if job.klass_name == "shop.orders.Order" else None
        queue = kind.queue
        while onward:
            job.complete(onward)
            self._did(queue)
            queue = onward
            self._pass(0.2, 30)
            job = self._hands.pop(onward)
            self._pass(*kind.takes_s)
            onward = STAGES.get(onward)
        job.complete()
        self._did(queue)

    def _fail(self, trouble: Trouble) -> None:
        kind = BY_QUEUE[trouble.queue]
        if kind.klass != trouble.klass:  # an order that has come this far
            kind = replace(BY_QUEUE["checkout"], queue=trouble.queue)
        job = self._take(kind)
        for _ in range(self._chance.choice((0, 0, 0, 1, 2))):
            self._pass(*kind.takes_s)
            job.retry(10, trouble.group, trouble.tell(job.data, self._chance))
            self._pass(11, 60)
            job = self._hands.pop(trouble.queue)
        self._pass(*kind.takes_s)
        job.fail(trouble.group, trouble.tell(job.data, self._chance))
        self._did(trouble.queue, failed=True)

    def _exhaust(self) -> None:
        job = self._take(BY_QUEUE["webhooks"], retries=2)
        while job.retry(delay=0) >= 0:
            self._pass(30, 300)
            job = self._hands.pop("webhooks")
        self._did("webhooks", failed=True)

    def _did(self, queue: str, *, failed: bool = False) -> None:
        self.done.append((self._hands.then.moment, queue, failed))


def _note(client: Client, done: list[tuple[float, str, bool]]) -> None:
    """Write down what was done in each minute of the last day, as a console would have."""
    end = int(client.now()) // 60
    hours: dict[int, dict[str, list[Minute]]] = {
        hour: {} for hour in range((end - DAY) // HOUR, end // HOUR + 1)
    }
    for moment, queue, failed in done:
        hour, at = divmod(int(moment) // 60, HOUR)
        if hour in hours:
            row = hours[hour].setdefault(queue, [Minute(0, 0)] * HOUR)
            row[at] = Minute(row[at].completed + (not failed), row[at].failures + failed)
    with client.redis.pipeline() as pipeline:
        for hour, counts in hours.items():
            past = {queue: row[: max(0, end - hour * HOUR)] for queue, row in counts.items()}
            fields = hour_of(past, min(HOUR, end - hour * HOUR))
            key = hour_key(client.keys, hour)
            if fields:
                pipeline.hset(key, mapping=cast("dict[Any, Any]", fields))
                pipeline.expire(key, HOUR_KEPT_S)
        pipeline.execute()


class _Present:
    """Jobs that are somewhere on their way now."""

    def __init__(self, hands: Hands, chance: Random) -> None:
        self._hands = hands
        self._chance = chance
        self._queues = hands.anyone.queues

    def arrange(self) -> None:
        """Put one of everything in its place."""
        running = self._run()
        taken = self._abandon()
        self._schedule()
        self._wait()
        self._make_depend(running)
        self._recur()
        self._pause()
        self._track(running[0], taken)

    def _run(self) -> list[str]:
        """Leave exports running: their lock is long, and nobody hurries them."""
        self._hands.then.moment = self._hands.now - 480
        for _ in range(2):
            self._queues["exports"].put(
                "Shop::Accounting::Export", report(self._chance), tags=["accounting"], priority=9
            )
        jobs = []
        for age in (410, 95):
            self._hands.then.moment = self._hands.now - age
            job = self._hands.pop("exports")
            rows = self._chance.randint(1_000, 90_000)
            job.log("rows", {"written": rows})
            job.progress(rows, 100_000, "rows")
            jobs.append(job.jid)
        self._hands.then.moment = self._hands.now
        return jobs

    def _abandon(self) -> str:
        """Leave videos to a worker that went away, and one taken from it by hand."""
        queue = self._queues["video"]
        self._hands.then.moment = self._hands.now - 760
        for number in range(4):
            queue.put("shop.images.Transcode", {"video": 70 + number}, tags=["media"])
        self._hands.then.moment = self._hands.now - 700
        jobs = [self._hands.pop("video") for _ in range(3)]
        self._hands.then.moment = self._hands.now - 640
        jobs[0].timeout()
        self._hands.then.moment = self._hands.now
        return jobs[0].jid

    def _schedule(self) -> None:
        for number in range(12):
            self._queues["mail"].put(
                "shop.mail.Letter",
                letter(self._chance) | {"template": "review-request"},
                delay=600 + 3600 * number,
                tags=["mail", "later"],
            )

    def _wait(self) -> None:
        for number, partner in enumerate((3, 3, 7)):
            self._queues["webhooks"].put(
                "shop.hooks.Delivery",
                delivery(self._chance, partner),
                priority=number,
                tags=["partner", f"partner-{partner}"],
            )
        for _ in range(40):
            self._queues["search-index"].put(
                "shop.search.IndexProduct", product(self._chance), tags=["search"], priority=-1
            )
        for _ in range(6):
            self._queues["thumbnails"].put("shop.images.Thumbnails", picture(self._chance))
        for _ in range(3):
            self._queues["checkout"].put(
                "shop.orders.Order", order(self._chance), tags=["order", "vip"], priority=20
            )

    def _make_depend(self, running: list[str]) -> None:
        books = self._queues["nightly"].put(
            "shop.books.CloseMonth", {"month": "2026-10"}, depends=running, tags=["accounting"]
        )
        self._queues["mail"].put(
            "shop.mail.Letter",
            {"template": "month-closed", "to": "accounting@shop.example"},
            depends=[books],
            delay=300,
        )

    def _recur(self) -> None:
        plans = (
            ("search-index", "shop.search.RefreshTrending", 45, 2, "trending"),
            ("warehouse", "shop.stock.CheckLevels", 120, 30, "stock-levels"),
            ("eu/orders", "shop.orders.SyncMarketplaces", 300, 60, "marketplaces"),
            ("mail", "shop.mail.Digest", 3600, 900, "digest"),
            ("nightly", "shop.backup.Dump", 86_400, 34_000, "backup"),
        )
        for queue, klass, interval, offset, jid in plans:
            self._queues[queue].recur(
                klass,
                {},
                interval,
                offset=offset,
                jid=jid,
                tags=["recurring"],
                retries=3,
                backlog=3,
            )
        self._queues["nightly"].cron(
            "shop.books.CloseDay",
            {},
            "30 23 * * *",
            timezone="Europe/Berlin",
            jid="close-day",
            tags=["recurring"],
            retries=3,
            backlog=1,
        )

    def _pause(self) -> None:
        for name in ("ada", "emre", "grace", "inês"):
            self._queues["newsletter"].put(
                "shop.mail.Letter", {"template": "autumn", "to": f"{name}@customers.example"}
            )
        self._queues["newsletter"].pause()

    def _track(self, *jids: str) -> None:
        """Track a job in each of several states."""
        jobs = self._hands.anyone.jobs
        more = [
            *jobs.complete(0, 1),
            *[job.jid for job in jobs.failed("payments-CardDeclined", 0, 1).jobs],
            *self._queues["mail"].jobs.scheduled(0, 1),
            *self._queues["nightly"].jobs.depends(0, 1),
        ]
        for jid in (*jids, *more):
            self._hands.anyone.track(jid)
