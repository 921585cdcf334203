"""How soon workers and console are back after a primary of a cluster is replaced, under load.

    .venv/bin/python -m benchmarks.comeback [--rounds 5]

A cluster of three primaries, each with a replica, has four shards. Jobs are put on all of them by
threads and worked by `ShardedWorker`, and a console of each shard is looked at all the time. A
primary is killed, or cut off (it falls silent, and its connections stay). From the moment when the
others agree on its replacement it is counted until the workers complete jobs of its shard again,
and until its console shows a page. At the end every acknowledged job is looked for.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

from qless_core import Client, ShardedClient, reads
from qless_core.clock import REAL
from qless_core.errors import RedisUnavailable
from qless_web import create_app
from tests.support.load import Load
from tests.support.nodes import cluster
from tests.support.polling import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flask.testing import FlaskClient

    from tests.support.nodes import Cluster

#: Their namespaces; the first is on the primary that goes.
NAMES = ("{a}:", "{b}:", "{c}:", "{d}:")
QUEUES = tuple(f"load-{number}" for number in range(16))
JOB = "tests.shards.shard_program.nothing"
ROOT = Path(__file__).parents[1]
#: Seconds between two looks.
LOOK_S = 0.02


def main() -> None:
    """Measure and print a line for each way to go."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    told = parser.parse_args()
    logging.getLogger("qless").setLevel(logging.CRITICAL)
    for way in ("killed", "cut off"):
        found = [one_round(way) for _ in range(told.rounds)]
        workers, pages = (sorted(each[place] for each in found) for place in (0, 1))
        jobs, lost = (sum(each[place] for each in found) for place in (2, 3))
        print(
            f"{way}: after the replacement workers are back in {_shown(workers)}, "
            f"pages in {_shown(pages)}; {jobs:,.0f} acknowledged jobs, {lost:.0f} lost",
            flush=True,
        )


def _shown(seconds: list[float]) -> str:
    return f"{seconds[len(seconds) // 2]:.1f} s (at most {seconds[-1]:.1f})"


def one_round(way: str) -> tuple[float, float, float, float]:
    """Let a primary go once.

    Returns:
        Seconds until workers and pages are back; jobs that were acknowledged, and lost.

    """
    with tempfile.TemporaryDirectory(prefix="comeback-") as folder, cluster(Path(folder)) as nodes:
        url = nodes.url.partition("?")[0]

        def connect(name: str) -> ShardedClient:
            return ShardedClient([Client(url, namespace=each) for each in NAMES], worker_name=name)

        with working(url), connect("counter") as counter, Client(url, namespace=NAMES[0]) as shard:
            load = Load(
                connect,
                putters=2,
                workers=0,
                pause_s=0.004,
                queues=QUEUES,
                elsewhere=(JOB, lambda: sum(map(complete, counter.shards.values()))),
            )
            with load:
                workers, pages = _watched(nodes, way, shard)
                found = load.finish()
    return workers, pages, found.acked, len(found.lost)


def _watched(nodes: Cluster, way: str, shard: Client) -> tuple[float, float]:
    """Let the primary of a shard go, and see how soon all is back."""
    gone = nodes.primary(NAMES[0])
    nodes.replica_of(gone)
    over, page = Event(), create_app(shard).test_client()
    completed: list[float] = []
    shown: list[float] = []
    watchers = [
        Thread(target=_watch, args=(over, completed, lambda: complete(shard))),
        Thread(target=_watch, args=(over, shown, lambda: _pages(page, shown))),
    ]
    for watcher in watchers:
        watcher.start()
    page.get("/nowhere/at/all")  # templates are compiled once
    eventually(lambda: len(completed) > 1 and len(shown) > 1)
    (gone.kill if way == "killed" else gone.pause)()
    eventually(lambda: nodes.primary(NAMES[0]) is not gone)
    replaced = REAL.monotonic()
    moments = (completed, shown)
    back = [eventually(partial(_first_after, replaced, each)) for each in moments]
    over.set()
    for watcher in watchers:
        watcher.join()
    if way != "killed":
        gone.resume()
        eventually(nodes.is_whole)
    return back[0] - replaced, back[1] - replaced


def _first_after(moment: float, moments: list[float]) -> float:
    return next((each for each in moments if each > moment), 0.0)


def _watch(over: Event, moments: list[float], count: Callable[[], int]) -> None:
    """Note the moments at which a number has grown."""
    last = 0
    while not over.wait(LOOK_S):
        try:
            found = count()
        except RedisUnavailable:
            continue
        if found > last:
            last = found
            moments.append(REAL.monotonic())


def _pages(page: FlaskClient, shown: list[float]) -> int:
    """Count the pages that were shown."""
    return len(shown) + (page.get("/queues").status_code == HTTPStatus.OK)


def complete(shard: Client) -> int:
    """Count the completed jobs of a shard."""
    _, (counts,) = reads.run(shard.redis, shard.keys, (reads.frame(probe=False),))
    return int(counts.completed)


@contextmanager
def working(url: str) -> Iterator[None]:
    """Work all shards, in processes."""
    command = [sys.executable, "-m", "tests.shards.shard_program", url, *NAMES, "forking"]
    with subprocess.Popen(  # noqa: S603 - our own
        command, cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True
    ) as process:
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
