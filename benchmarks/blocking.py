"""How soon a job starts for which an idle worker waits, and what idle workers cost the server.

    .venv/bin/python -m benchmarks.blocking [--samples N] [--waiters N] [--seconds N] …

First, put to start over 20 queues, beside a loop of BRPOP over as many lists in the same run: the
one that waits is in a process of its own, they take turns sample by sample, so that whatever else
the machine does falls on both. A job counts as started when `pop` has returned it. Then: how late
a scheduled job starts. Then many idle waiters, with a connection each, and the share of a core
that the server uses meanwhile (`used_cpu` of INFO).
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import shutil
import threading
from typing import TYPE_CHECKING

import redis as redis_py

from qless_core import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection

QUEUES = [f"queue-{number}" for number in range(20)]
#: Seconds between two samples, so that the waiter is idle again.
PAUSE_S = 0.01
#: Samples that do not count.
WARM_UP = 20
#: Seconds for which waiters are idle before they are watched.
SETTLE_S = 20
#: How far ahead jobs are scheduled, in seconds.
DELAY_S = 0.05

clock = Clock()


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1000, help="of each kind")
    parser.add_argument("--waiters", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20, help="that idle waiters are watched")
    parser.add_argument("--server", help="the server program to run")
    args = parser.parse_args()
    binary = shutil.which(args.server) if args.server else None
    with EmbeddedServer(binary=binary) as server:
        print(f"{'put to start, ms':28}{'p50':>8}{'p90':>8}{'p99':>8}{'max':>8}")
        plain, ours = latencies(server.url, args.samples)
        report("BRPOP", plain)
        report("pop(timeout=None)", ours)
        print(f"{'ratio':28}{ratio(ours, plain, 0.5):>8.2f}{'':8}{ratio(ours, plain, 0.99):>8.2f}")
        report("late, when scheduled", delays(server.url, args.samples // 5))
    for what, groups in (("all for the same 20 queues", 1), ("each for its own", args.waiters)):
        with EmbeddedServer(binary=binary) as server:
            share = idle(server.url, args.waiters, groups, args.seconds)
            print(f"{args.waiters} idle waiters, {what}: {share * 100:.2f} % of a core")


def latencies(url: str, samples: int) -> tuple[list[float], list[float]]:
    """Measure seconds from put to start: of a loop of BRPOP, and of ours."""
    redis = redis_py.Redis.from_url(url, decode_responses=True)
    with Client(url, worker_name="producer") as client:
        queues = [client.queues[name] for name in QUEUES]

        def push(number: int) -> None:
            redis.lpush(f"plain-{number % len(QUEUES)}", repr(clock.monotonic()))

        def put(number: int) -> None:
            queues[number % len(queues)].put("Job", clock.monotonic())

        plain, ours = Waiter(brpop, url), Waiter(pop, url)
        found: tuple[list[float], list[float]] = ([], [])
        for number in range(-WARM_UP, samples):
            for waiter, act, into in ((plain, push, found[0]), (ours, put, found[1])):
                clock.wait(PAUSE_S)
                act(number)
                took = waiter.took()
                if number >= 0:  # the first ones find everything cold
                    into.append(took)
        plain.end()
        ours.end()
    return found


def delays(url: str, samples: int) -> list[float]:
    """Measure by how many seconds scheduled jobs start late, while a waiter is idle."""
    with Client(url, worker_name="producer") as client:
        waiter = Waiter(pop, url)
        found = []
        for number in range(samples):
            clock.wait(PAUSE_S)
            due = clock.monotonic() + DELAY_S
            client.queues[QUEUES[number % len(QUEUES)]].put("Job", due, delay=DELAY_S)
            found.append(waiter.took())
        waiter.end()
    return found


def idle(url: str, waiters: int, groups: int, seconds: float) -> float:
    """Measure the share of a core that a server uses for idle waiters."""
    process = multiprocessing.Process(target=wait_idly, args=(url, waiters, groups), daemon=True)
    process.start()
    with redis_py.Redis.from_url(url) as redis:
        while redis.info("clients")["blocked_clients"] < waiters:
            clock.wait(0.2)
        clock.wait(SETTLE_S)
        before, begin = used(redis), clock.monotonic()
        clock.wait(seconds)
        share = (used(redis) - before) / (clock.monotonic() - begin)
    process.kill()
    process.join()
    return share


def used(redis: redis_py.Redis) -> float:
    """Read the seconds of processor that the server has used."""
    told = redis.info("cpu")
    return float(told["used_cpu_user"]) + float(told["used_cpu_sys"])


def wait_idly(url: str, waiters: int, groups: int) -> None:
    """Wait for ever, in many threads, each with a connection of its own."""
    threading.stack_size(256 * 1024)
    # So many at once find no room in the backlog of the socket, and try again.
    logging.getLogger("qless").setLevel(logging.ERROR)
    client = Client(f"{url}{'&' if '?' in url else '?'}max_connections={3 * waiters}")
    for number in range(waiters):
        names = QUEUES if groups == 1 else [f"queue-{number % groups}"]
        waiting = client.reserver(names)
        threading.Thread(target=waiting.pop, kwargs={"timeout": None}, daemon=True).start()
    threading.Event().wait()


class Waiter:
    """A process that waits, and tells how long after its moment each thing came."""

    def __init__(self, wait: Callable[[str, Connection], None], url: str) -> None:
        self._told, theirs = multiprocessing.Pipe(duplex=False)
        self._process = multiprocessing.Process(target=wait, args=(url, theirs), daemon=True)
        self._process.start()
        self._told.recv()

    def took(self) -> float:
        """Give the seconds of the next thing that comes."""
        return float(self._told.recv())

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()


def brpop(url: str, told: Connection) -> None:
    """Wait as one does with a plain list."""
    redis = redis_py.Redis.from_url(url, decode_responses=True)
    names = [f"plain-{number}" for number in range(len(QUEUES))]
    redis.ping()
    told.send(None)
    while True:
        found = redis.brpop(names, timeout=0)
        told.send(clock.monotonic() - float(found[1]))


def pop(url: str, told: Connection) -> None:
    """Wait as a worker does, and finish each job at once."""
    with Client(url, worker_name="waiter") as client:
        waiting = client.reserver(QUEUES)
        waiting.pop()
        told.send(None)
        for job in waiting:
            took = clock.monotonic() - job.data
            job.complete()
            told.send(took)


def at(found: Sequence[float], part: float) -> float:
    """Give the value below which such a part of all lies."""
    ordered = sorted(found)
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


def ratio(ours: Sequence[float], plain: Sequence[float], part: float) -> float:
    """Compare the two at such a part."""
    return at(ours, part) / at(plain, part)


def report(what: str, found: Sequence[float]) -> None:
    """Print a line of the table."""
    figures = "".join(f"{at(found, part) * 1000:>8.2f}" for part in (0.5, 0.9, 0.99, 1))
    print(f"{what:28}{figures}")


if __name__ == "__main__":
    main()
