"""What becomes of jobs when their server dies under load.

    .venv/bin/python -m benchmarks.server_death [--rounds 10] [--threads 4]

In each round jobs are put and worked by as many threads of each kind, each with a client of its
own; a server is killed with SIGKILL (or a failover is ordered), the load goes on, and at the end
every job that was acknowledged is looked for. Printed are the sums of all rounds: jobs put, those
of them lost, completions forgotten, jobs that ran without a record of it, jobs that ran twice,
calls whose outcome nobody knows, and the longest time in which no call succeeded.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from qless_core.client import Client
from tests.support.load import Load
from tests.support.nodes import Node, cluster, watched
from tests.support.polling import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from tests.support.load import Findings
    from tests.support.nodes import Cluster, Watched

    #: An address, and what lets the server behind it die.
    Scene = tuple[str, Callable[[], None]]


@contextmanager
def restart(folder: Path, fsync: str) -> Iterator[Scene]:
    """Kill a server alone, and start it again from its append-only file."""
    node = Node(folder / "node", {"appendonly": "yes", "appendfsync": fsync}).start()

    def die() -> None:
        node.kill()
        node.start()

    try:
        yield node.url, die
    finally:
        node.stop()


@contextmanager
def sentinels(folder: Path, options: str = "") -> Iterator[Scene]:
    """Kill the primary that Sentinels watch."""
    with watched(folder) as servers:
        yield servers.url + options, lambda: servers.primary().kill()


@contextmanager
def coordinated(folder: Path) -> Iterator[Scene]:
    """Have Sentinels change the primary, as before maintenance."""
    with watched(folder) as servers:
        yield servers.url, lambda: _coordinate(servers)


def _coordinate(servers: Watched) -> None:
    former = servers.primary()
    servers.sentinels[0].ask("SENTINEL", "FAILOVER", "main", "COORDINATED")
    eventually(lambda: servers.primary() is not former)


@contextmanager
def clustered(folder: Path, options: str = "") -> Iterator[Scene]:
    """Kill the primary of a cluster that holds the queue."""
    with cluster(folder) as nodes:
        yield nodes.url + options, lambda: _kill(nodes)


def _kill(nodes: Cluster) -> None:
    primary = nodes.primary()
    nodes.replica_of(primary)
    primary.kill()


SCENES: dict[str, Callable[[Path], AbstractContextManager[Scene]]] = {
    "killed, restarted, appendfsync always": lambda folder: restart(folder, "always"),
    "killed, restarted, appendfsync everysec": lambda folder: restart(folder, "everysec"),
    "Sentinels, primary killed": sentinels,
    "Sentinels, primary killed, replicas=0": lambda folder: sentinels(folder, "?replicas=0"),
    "Sentinels, FAILOVER COORDINATED": coordinated,
    "cluster, primary killed": clustered,
    "cluster, primary killed, replicas=0": lambda folder: clustered(folder, "&replicas=0"),
}


def one_round(scene: Callable[[Path], AbstractContextManager[Scene]], threads: int) -> Findings:
    """Let a server die once under load."""
    with (
        tempfile.TemporaryDirectory(prefix="server-death-") as folder,
        scene(Path(folder)) as (url, die),
    ):
        load = Load(
            lambda name: Client(url, worker_name=name),
            putters=threads,
            workers=threads,
            pause_s=0.002,
        )
        with load:
            die()
            load.goes_on()
            return load.finish()


def main() -> None:
    """Measure and print a line for each way to die."""
    parser = argparse.ArgumentParser(description="What becomes of jobs when their server dies.")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--only", default="", help="part of the names of those to measure")
    told = parser.parse_args()
    logging.getLogger("qless").setLevel(logging.ERROR)
    print(f"{'':42} {'put':>7} {'lost':>5} {'undone':>6} {'unseen':>6}", end="")
    print(f" {'twice':>5} {'unknown':>7} {'outage s':>8}")
    for name, scene in SCENES.items():
        if told.only not in name:
            continue
        found = [one_round(scene, told.threads) for _ in range(told.rounds)]
        print(
            f"{name:42} {sum(each.acked for each in found):7}"
            f" {sum(len(each.lost) for each in found):5}"
            f" {sum(len(each.undone) for each in found):6}"
            f" {sum(len(each.unrecorded) for each in found):6}"
            f" {sum(each.again for each in found):5}"
            f" {sum(each.unknown for each in found):7}"
            f" {max(each.outage_s for each in found):8.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
