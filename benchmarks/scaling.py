"""How many servers a load needs: measured costs of a job, a calculator, and a simulation of shards.

    .venv/bin/python -m benchmarks.scaling [--jobs-a-second N] [--payload BYTES] [--keep-hours H] …

First the costs are measured on this machine: the CPU that a server uses for a job from put to
complete, and the memory of one that waits or is complete, for the payload. From them the calculator
says how many shards and how much memory a load needs. Then so many shards are simulated, each a
server that does one thing at a time in the measured times, with queues of unequal load placed by
`Placement`, workers (more where there is more to do) that ask and tell in one call, and jobs that
take a while; it prints how busy the busiest server is, and how long calls waited for it.

    .venv/bin/python -m benchmarks.scaling --cluster [--payload BYTES]

measures, on a cluster of three primaries with a replica each, jobs through one shard and through
four. A server runs the rules on one core, so what it can do is one second divided by the CPU that a
job costs it: that is reckoned from the CPU of each primary, without what it uses while nothing is
done, as one machine has no core for each.
"""

from __future__ import annotations

import argparse
import heapq
import math
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Event
from typing import TYPE_CHECKING, Any

from qless_core import Client
from qless_core.clock import REAL
from qless_core.embedded import EmbeddedServer
from qless_core.shards import Placement, ShardedClient
from tests.support.nodes import cluster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_core.shards.queue import ShardedQueue
    from tests.support.nodes import Cluster, Node

#: Jobs that are put and worked to measure what one costs.
MEASURED = 5_000
#: How busy a server may be on average, so that it catches up after a burst.
BUSY = 0.6
#: Jobs that a client puts, and a worker takes and tells, in one round trip.
AT_ONCE = 50
#: Seconds in which is measured what a server uses that does nothing.
IDLE_S = 3.0
#: Of the shards of a cluster: two of them are on one of its three primaries.
TAGS = ("{a}", "{b}", "{c}", "{d}")
#: Seconds that are simulated, and those before that do not count.
SIMULATED_S, WARM_UP_S = 20.0, 4.0


@dataclass(frozen=True)
class Costs:
    """What a job costs a server: seconds of CPU to be put, and worked; bytes in each state."""

    put_s: float
    work_s: float
    single_s: float
    waiting: float
    complete: float


def main() -> None:
    """Measure, reckon, simulate, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs-a-second", type=float, default=25_000)
    parser.add_argument("--payload", type=int, default=500, help="bytes of data of a job")
    parser.add_argument("--keep-hours", type=float, default=1, help="that completed jobs are kept")
    parser.add_argument(
        "--backlog-minutes", type=float, default=10, help="of jobs waiting, at worst"
    )
    parser.add_argument("--job-ms", type=float, default=20, help="that a job runs")
    parser.add_argument("--shards", type=int, help="simulated; as many as are needed, else")
    parser.add_argument("--workers", type=int, default=1_000)
    parser.add_argument("--queues", type=int, default=1_000)
    parser.add_argument("--cluster", action="store_true", help="measure shards on a cluster")
    args = parser.parse_args()
    if args.cluster:
        for line in clustered(args.payload):
            print(line)
        return
    costs = measured(args.payload)
    print(f"a job costs {costs.put_s * 1e6:.0f} us to be put and {costs.work_s * 1e6:.0f} us to be")
    print(
        f"taken and completed, {AT_ONCE} at once; {costs.single_s * 1e6:.0f} us one by one, in all;"
    )
    print(f"{costs.waiting:.0f} bytes while it waits, {costs.complete:.0f} once complete")
    shards = args.shards or needed(costs, args)
    for line in simulated(costs, args, shards):
        print(line)


def measured(payload: int) -> Costs:
    """Measure on a server of its own."""
    data = {"text": "x" * max(0, payload - 12)}
    with EmbeddedServer() as server, Client(server.url) as client:
        queue = client.queues["q"]
        empty = _memory(client)
        put = _cpu_of(client, lambda: queue.put_many([("Job", data)] * MEASURED)) / MEASURED
        waiting = (_memory(client) - empty) / MEASURED
        work = _cpu_of(client, lambda: _work(client)) / MEASURED
        complete = (_memory(client) - empty) / MEASURED
        single = _cpu_of(client, lambda: _one_by_one(client, data)) / (MEASURED // 10)
    return Costs(put, work, single, waiting, complete)


def _work(client: Client) -> None:
    while jobs := client.queues["q"].pop(AT_ONCE):
        client.bulk.complete(jobs)


def _one_by_one(client: Client, data: dict[str, Any]) -> None:
    queue = client.queues["single"]
    for _ in range(MEASURED // 10):
        queue.put("Job", data)
        job = queue.pop()
        if job is not None:
            job.complete()


def _cpu_of(client: Client, work: Any) -> float:  # noqa: ANN401 - something to call
    before: Any = client.redis.info("cpu")
    work()
    after: Any = client.redis.info("cpu")
    return float(sum(after[name] - before[name] for name in ("used_cpu_user", "used_cpu_sys")))


def _memory(client: Client) -> float:
    info: Any = client.redis.info("memory")
    return float(info["used_memory"])


def clustered(payload: int) -> list[str]:
    """Measure jobs through one shard of a cluster, and through four on its three primaries."""
    data = {"text": "x" * max(0, payload - 12)}
    with tempfile.TemporaryDirectory(prefix="scaling-") as folder, cluster(Path(folder)) as nodes:
        one = _through(nodes, TAGS[:1], data)
        four = _through(nodes, TAGS, data)
    (alone,) = one.values()
    single = 1 / alone.cpu_s
    busiest = max(each.cpu_s * each.jobs for each in four.values())
    jobs = sum(each.jobs for each in four.values())
    full, even = sum(1 / each.cpu_s for each in four.values()), jobs / busiest
    return [
        (
            f"one shard: {alone.cpu_s * 1e6:.0f} us of its primary's CPU a job, put, taken and "
            f"completed {AT_ONCE} at once: one core does {single:,.0f} jobs a second"
        ),
        *(
            f"four shards: {each.shards} on the primary at {port}: {each.jobs:,} jobs, "
            f"{each.cpu_s * 1e6:.0f} us a job"
            for port, each in four.items()
        ),
        (
            f"each primary at one core, all full: {full:,.0f} jobs a second (the sum of what each "
            f"can do), {full / single:.1f} times one shard"
        ),
        (
            f"the same load on each shard: {even:,.0f} (all jobs by the CPU of the busiest "
            f"primary), {even / single:.1f} times: two shards share it"
        ),
    ]


@dataclass(frozen=True)
class Primary:
    """What a primary did: for how many shards, how many jobs, and the CPU that each cost it."""

    shards: int
    jobs: int
    cpu_s: float


def _through(nodes: Cluster, tags: Sequence[str], data: dict[str, Any]) -> dict[int, Primary]:
    """Put and work jobs through shards, the same number on each; answers by the primary's port."""
    base = nodes.url.partition("?")[0]
    with ShardedClient({tag: f"{base}?namespace={tag}:" for tag in tags}) as client:
        queues: dict[str, ShardedQueue] = {}
        for number in range(1_000):
            queue = client.queues[f"q{number}"]
            queues.setdefault(queue.shard, queue)
        homes = {tag: nodes.primary(tag) for tag in tags}
        for queue in queues.values():  # connections, and the script
            queue.put_many([("Job", data)] * AT_ONCE)
        _work_all(client, [queue.name for queue in queues.values()])
        idle = _idle([*homes.values()])
        began = REAL.monotonic()
        before = {home.port: _cpu(home) for home in homes.values()}
        for _ in range(MEASURED // AT_ONCE):
            for queue in queues.values():
                queue.put_many([("Job", data)] * AT_ONCE)
        _work_all(client, [queue.name for queue in queues.values()])
        took = REAL.monotonic() - began
        used = {
            home.port: _cpu(home) - before[home.port] - idle[home.port] * took
            for home in homes.values()
        }
    shards = Counter(home.port for home in homes.values())
    return {
        port: Primary(count, count * MEASURED, used[port] / (count * MEASURED))
        for port, count in shards.items()
    }


def _idle(nodes: Sequence[Node]) -> dict[int, float]:
    """Measure what servers of a cluster use while nothing is done: they talk to one another."""
    before = {node.port: _cpu(node) for node in nodes}
    REAL.wait(IDLE_S, Event())
    return {node.port: (_cpu(node) - before[node.port]) / IDLE_S for node in nodes}


def _work_all(client: ShardedClient, queues: Sequence[str]) -> None:
    reserver = client.reserver(queues)
    while jobs := reserver.pop(AT_ONCE):
        client.bulk.complete(jobs)


def _cpu(node: Node) -> float:
    with node.redis() as redis:
        told: Any = redis.info("cpu")
    return float(sum(told[name] for name in ("used_cpu_user", "used_cpu_sys")))


def needed(costs: Costs, args: argparse.Namespace) -> int:
    """Say what a load needs; answers the number of shards."""
    rate = args.jobs_a_second
    cpu = rate * (costs.put_s + costs.work_s)
    shards: int = max(1, math.ceil(cpu / BUSY))
    backlog = rate * args.backlog_minutes * 60 * costs.waiting
    kept = rate * args.keep_hours * 3600 * costs.complete
    print(
        f"{rate:,.0f} jobs a second: {cpu:.1f} cores of Redis, so {shards} shards, {BUSY:.0%} busy;"
    )
    print(
        f"memory: {backlog / 2**30:.1f} GB for {args.backlog_minutes:g} minutes of jobs waiting, "
        f"{kept / 2**30:.1f} GB for {args.keep_hours:g} hours of completed ones, "
        f"{(backlog + kept) / shards / 2**30:.1f} GB a shard"
    )
    return shards


def simulated(costs: Costs, args: argparse.Namespace, shards: int) -> list[str]:
    """Simulate shards under the load, with queues of unequal size (the n-th has a share of 1/n)."""
    dice = Random(1)  # noqa: S311 - no secret
    names = [f"shard-{number}" for number in range(shards)]
    placement = Placement(names)
    weights = [1 / (rank + 1) for rank in range(args.queues)]
    load: Counter[str] = Counter()
    for rank, weight in enumerate(weights):
        load[placement.of(f"queue-{rank}")] += weight / sum(weights)  # type: ignore[assignment]  # shares
    busy, waits, late = [], [], 0
    for name in names:
        workers = max(1, round(args.workers * load[name]))
        shard = _Shard(costs, args.jobs_a_second * load[name], workers, args.job_ms / 1000, dice)
        shard.run()
        busy.append(shard.busy_s / SIMULATED_S)
        waits += shard.waits
        late += shard.left
    waits.sort()
    busy.sort()
    return [
        f"{shards} shards, {args.queues} queues of unequal load, {args.workers} workers:",
        f"  busy: {busy[len(busy) // 2]:.0%} in the middle, {busy[-1]:.0%} the busiest",
        f"  calls waited {_at(waits, 0.5) * 1e3:.2f} ms (p50), {_at(waits, 0.99) * 1e3:.2f} (p99)",
        f"  {late:,} jobs not taken in the end: {late / (args.jobs_a_second * SIMULATED_S):.1%}",
    ]


class _Shard:
    """One server that does one call at a time, and its workers."""

    def __init__(self, costs: Costs, rate: float, workers: int, job_s: float, dice: Random) -> None:
        self._costs = costs
        self._rate = rate
        self._job_s = job_s
        self._dice = dice
        self._waiting = 0
        self._idle = workers
        self._free_at = 0.0
        #: Moments at which something asks the server, and what: a put, or a worker's turn.
        self._asks: list[tuple[float, int, str]] = []
        self._number = 0
        self.busy_s = 0.0
        self.waits: list[float] = []

    @property
    def left(self) -> int:
        """How many jobs wait."""
        return self._waiting

    def run(self) -> None:
        """Simulate."""
        if self._rate <= 0:
            return
        self._ask(self._next_put(0.0), "put")
        while self._asks and self._asks[0][0] < SIMULATED_S:
            moment, _, what = heapq.heappop(self._asks)
            begins = max(moment, self._free_at)
            if moment > WARM_UP_S:
                self.waits.append(begins - moment)
            if what == "put":
                self._serve(begins, AT_ONCE * self._costs.put_s)
                self._waiting += AT_ONCE
                self._ask(self._next_put(moment), "put")
            else:
                self._idle += 1
            self._hand_out()

    def _hand_out(self) -> None:
        """Let idle workers take what waits: each call takes some, and tells the ones before."""
        while self._idle and self._waiting:
            taken = min(AT_ONCE, self._waiting)
            self._waiting -= taken
            self._idle -= 1
            ends = self._serve(self._free_at, taken * self._costs.work_s)
            self._ask(ends + sum(self._runs(taken)), "turn")

    def _runs(self, jobs: int) -> Sequence[float]:
        return [self._dice.expovariate(1 / self._job_s) for _ in range(jobs)]

    def _serve(self, begins: float, seconds: float) -> float:
        self._free_at = begins + seconds
        self.busy_s += seconds
        return self._free_at

    def _next_put(self, moment: float) -> float:
        return moment + self._dice.expovariate(self._rate / AT_ONCE)

    def _ask(self, moment: float, what: str) -> None:
        self._number += 1
        heapq.heappush(self._asks, (moment, self._number, what))


def _at(values: Sequence[float], share: float) -> float:
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


if __name__ == "__main__":
    main()
