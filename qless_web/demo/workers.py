"""The made-up shop's people: customers, workers and someone who tidies up.

Runs in a process of its own, `python -m qless_web.demo.workers URL NAMESPACE`, until its standard
input ends, as it does when the console that started it is gone.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING

from qless_core.client import Client
from qless_core.errors import QlessError
from qless_core.records import WorkerInfo
from qless_core.version import __version__
from qless_core.worker.control import Control
from qless_web.demo import desk
from qless_web.demo.catalog import BY_QUEUE, KINDS, STAGES, TROUBLES
from qless_web.demo.seeds import EXHAUSTED, plant
from qless_web.demo.shop import OPEN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qless_core.job import Job
    from qless_web.demo.catalog import Kind

#: Each worker and the queues it looks into, in order. Nobody looks into `video`.
CREW = {
    "shop-1-4101": ("checkout", "payments", "eu/orders"),
    "shop-2-4102": ("payments", "checkout"),
    "shop-3-4103": ("warehouse", "nightly", "mail"),
    "shop-4-4104": ("mail", "webhooks", "newsletter"),
    "media-1-884": ("thumbnails", "search-index"),
    "reports-1-771": ("exports",),
}
#: Nothing is put into a queue that holds this many jobs: someone paused it, or it is slow.
FULL = 120
#: A group of failures is brought back to about as many as the shop began with; one that the shop
#: does not know, to this many.
MOST_FAILURES = 60
USUAL = {
    **{trouble.group: trouble.count for trouble in TROUBLES},
    "failed-retries-webhooks": EXHAUSTED,
}
#: What part of the failed jobs that are dealt with is given up; the others are tried again.
GIVEN_UP = 0.3
#: Of a hundred runs, how many fail and how many are retried.
FAILING, RETRYING = 3, 5
#: How often a whole catalogue is imported at once, and which part of the letters is for later.
IMPORTING, POSTPONING = 0.02, 0.5
#: Seconds between two looks of the one who tidies up.
TIDY_S = 20.0
#: Seconds between the heartbeats of a long job, and the rows that it writes meanwhile.
BEAT_S, ROWS = 10.0, 40_000
#: Seconds that someone who meets trouble stays away, and one who was asked to stop.
REST_S, AWAY_S = 2.0, 30.0


class Crew:
    """Everybody at work, each on a thread, until `stop`.

    Args:
        url: of the Redis.
        namespace: where the shop is in it.
        pace: how many of the shop's seconds pass in one.

    """

    def __init__(self, url: str, namespace: str = "ql:", pace: float = 1.0) -> None:
        self._url = url
        self._namespace = namespace
        self._shift = _Shift(pace)
        self._threads: list[threading.Thread] = []

    def furnish(self) -> None:
        """Put the shop's past and present where no queue is.

        Raises:
            QlessError: Redis is gone, or refused.

        """
        with self._client("shop-web-1") as client:
            if not client.queues.counts:
                plant(client)
                desk.work(client)

    def start(self) -> None:
        """Let everybody begin."""
        for name, queues in CREW.items():
            worker = _Worker(self._client(name), queues, self._shift)
            self._employ(name, worker.turn, worker.end)
        self._employ("customers", _Customers(self._client("shop-web-1"), self._shift).turn)
        self._employ("tidy", _Tidy(self._client("shop-cron-1"), self._shift).turn)

    def stop(self) -> None:
        """Let everybody finish what they hold, at once."""
        self._shift.end()
        for thread in self._threads:
            thread.join()

    def _client(self, name: str) -> Client:
        return Client(self._url, namespace=self._namespace, worker_name=name)

    def _employ(
        self, name: str, turn: Callable[[], None], end: Callable[[], None] | None = None
    ) -> None:
        thread = threading.Thread(target=self._work, args=(turn, end), name=name)
        self._threads.append(thread)
        thread.start()

    def _work(self, turn: Callable[[], None], end: Callable[[], None] | None) -> None:
        """Take turns; what an operator cancelled or moved meanwhile is no reason to stop."""
        while not self._shift.is_over:
            try:
                turn()
            except QlessError:
                self._shift.wait(REST_S)
        if end is not None:
            with suppress(QlessError):
                end()


class _Shift:
    """The time that everybody works, at the shop's pace."""

    def __init__(self, pace: float) -> None:
        self._pace = pace
        self._over = threading.Event()

    @property
    def is_over(self) -> bool:
        """Say whether everybody should go home."""
        return self._over.is_set()

    def end(self) -> None:
        """Send everybody home."""
        self._over.set()

    def wait(self, seconds: float) -> bool:
        """Let so many of the shop's seconds pass; say whether it is over meanwhile."""
        return self._over.wait(seconds / self._pace)

    def later(self, seconds: int) -> int:
        """Give the delay of a job that shall wait for so many of the shop's seconds."""
        return round(seconds / self._pace)


class _Worker:
    """Looks into its queues and runs what it finds; tells of itself, and hears what it is asked.

    One that is asked to stop does so, and is back after a while, as if something had started it
    again.
    """

    def __init__(self, client: Client, queues: Sequence[str], shift: _Shift) -> None:
        self._client = client
        self._queues = queues
        self._shift = shift
        self._chance = Random()  # noqa: S311 - made-up data, no secret
        self._state = "running"
        self._started = 0.0
        self._control: Control | None = None

    def turn(self) -> None:
        """Run one job, or wait a little."""
        if self._control is None:
            self._begin()
        if self._state == "stopping":
            self.end()
            self._shift.wait(AWAY_S)
        elif self._state == "paused" or not self._run_next():
            self._shift.wait(self._chance.uniform(0.4, 0.9))

    def end(self) -> None:
        """Go, and be on the list of workers no longer."""
        if self._control is not None:
            self._control.end()
            self._control.join(REST_S)
            self._control = None
            self._client.workers.deregister(self._client.worker_name)

    def _begin(self) -> None:
        """Come, and say so every few seconds."""
        self._state, self._started = "running", self._client.now()
        self._control = Control(self._client, self._tell, self._obey)
        self._control.start()

    def _tell(self) -> WorkerInfo:
        host, _, pid = self._client.worker_name.rpartition("-")
        return WorkerInfo(
            host=host,
            pid=int(pid),
            kind="serial",
            version=__version__,
            queues=tuple(self._queues),
            started=self._started,
            state=self._state,
        )

    def _obey(self, asked: str) -> None:
        if self._state != "stopping":
            self._state = {"stop": "stopping", "pause": "paused"}.get(asked, "running")

    def _run_next(self) -> bool:
        """Run a job of the first queue that has one; say whether there was any."""
        for name in self._queues:
            job = self._client.queues[name].pop()
            if job is not None:
                self._run(job)
                return True
        return False

    def _run(self, job: Job) -> None:
        kind = BY_QUEUE.get(job.queue_name)
        shortest, longest = kind.takes_s if kind else (0.5, 2.0)
        takes = left = self._chance.uniform(shortest, longest)
        while left > 0 and not self._shift.wait(min(left, BEAT_S)):
            left -= BEAT_S
            if left > 0:
                job.heartbeat()
                job.progress(round(ROWS * (1 - left / takes)), ROWS, "rows")
        self._settle(job)

    def _settle(self, job: Job) -> None:
        throw = self._chance.uniform(0, 100)
        troubles = [
            trouble
            for trouble in TROUBLES
            if (trouble.queue, trouble.klass) == (job.queue_name, job.klass_name)
        ]
        if troubles and throw < FAILING + RETRYING:
            trouble = self._chance.choice(troubles)
            message = trouble.tell(job.data, self._chance)
            if throw < FAILING:
                job.fail(trouble.group, message)
            else:
                job.retry(
                    self._shift.later(self._chance.choice((0, 5, 15))), trouble.group, message
                )
        elif job.klass_name == "shop.orders.Order":
            job.complete(STAGES.get(job.queue_name))
        else:
            job.complete()


class _Customers:
    """Bring the shop something to do, as long as it keeps up."""

    def __init__(self, client: Client, shift: _Shift) -> None:
        self._client = client
        self._shift = shift
        self._chance = Random()  # noqa: S311 - made-up data, no secret

    def turn(self) -> None:
        """Put a job, now and then many at once, and wait for the next idea."""
        kind = self._chance.choices(KINDS, (8, 3, 1, 3, 2, 4, 4, 0.5, 1))[0]
        self._bring(kind)
        if self._chance.random() < IMPORTING:
            for _ in range(40):
                self._bring(BY_QUEUE["search-index"])
        self._shift.wait(self._chance.uniform(0.4, 2.0))

    def _bring(self, kind: Kind) -> None:
        queue = self._client.queues[kind.queue]
        if len(queue) >= FULL:
            return
        later = kind.queue == "mail" and self._chance.random() < POSTPONING
        jid = queue.put(
            kind.klass,
            kind.data(self._chance),
            tags=[*kind.tags, *self._chance.choice(((), (), (), ("vip",), ("gift",)))],
            priority=kind.priority,
            delay=self._shift.later(self._chance.randint(30, 900)) if later else 0,
        )
        if kind.queue == "exports":
            books = self._client.queues["nightly"]
            books.put("shop.books.CloseMonth", {}, depends=[jid], tags=list(kind.tags))


class _Tidy:
    """Deals with failed jobs, so that their number hovers: most are tried again, some given up."""

    def __init__(self, client: Client, shift: _Shift) -> None:
        self._client = client
        self._shift = shift
        self._chance = Random()  # noqa: S311 - made-up data, no secret

    def turn(self) -> None:
        """Look at each group, then wait."""
        for group, count in self._client.failures.groups.items():
            usual = USUAL.get(group, MOST_FAILURES)
            if count > usual:
                self._deal_with(group, max(0, usual - self._chance.randint(0, 2)))
        self._shift.wait(TIDY_S)

    def _deal_with(self, group: str, kept: int) -> None:
        """Leave this many of a group, the newest."""
        for job in self._client.failures.jobs(group, kept, MOST_FAILURES).jobs:
            if job.dependents or self._chance.random() > GIVEN_UP:
                job.move(job.queue_name)
            else:
                job.cancel()


def _tell(text: str) -> None:
    """Tell the console that waits for it, if it still does."""
    with suppress(BrokenPipeError):
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


def main() -> None:
    """Furnish the shop where it is empty, say that it is open, and work until the input ends."""
    url, namespace = sys.argv[1:]
    crew = Crew(url, namespace)
    try:
        crew.furnish()
    except QlessError as error:
        _tell(str(error))
        sys.exit(1)
    _tell(OPEN)
    crew.start()
    sys.stdin.buffer.read()
    crew.stop()


if __name__ == "__main__":
    main()
