"""What a call of our script costs the server, beside the script of the original.

    pip download --no-deps qless-with-throttles
    python -m zipfile -e qless_with_throttles-*.whl original
    .venv/bin/python -m benchmarks.core original/qless/lua/qless.lua

Each script has a server of its own, with the same jobs waiting. They take turns within each
round, so that whatever else the machine does falls on both. The figures are microseconds of the
server for one call (INFO commandstats: FCALL for ours, EVALSHA for theirs), the median of the
rounds; the ratio is ours to theirs, and `depth` how ours has grown from the first depth. At the
end: jobs a second of one client of ours, one at a time.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redis import Redis

from qless_core import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer
from qless_core.script import Script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

#: What each call is measured with.
DATA = '{"to":"somebody@example.com","subject":"Hello","n":12345}'

#: Calls of each kind in a round; `pop 100` is called less.
CALLS = 200
POPS_OF_100 = 5


class Server:
    """A script on a server of its own, fed with moments that go on."""

    def __init__(self, redis: Redis, script: Script | str) -> None:
        self.redis = redis
        if isinstance(script, Script):
            redis.function_load(script.library)
            self._call = ("FCALL", script.name, 0)
        else:
            self._call = ("EVALSHA", redis.script_load(script), 0)
        self._now = 1_700_000_000.0
        self._number = 0

    def call(self, *args: str | float) -> Any:  # noqa: ANN401 - what the script answers
        """Call the script a millisecond later than before."""
        self._now += 0.001
        return self.redis.execute_command(*self._call, args[0], self._now, *args[1:])

    def put(self) -> None:
        """Put a new job."""
        self._number += 1
        self.call("put", "bench", "q", f"job-{self._number:09}", "Job", DATA, 0)

    def fill(self, count: int) -> None:
        """Put so many new jobs, a thousand in a round trip."""
        redis = self.redis
        for start in range(0, count, 1000):
            with redis.pipeline(transaction=False) as self.redis:  # type: ignore[assignment]  # it is called alike
                for _ in range(min(1000, count - start)):
                    self.put()
                self.redis.execute()  # type: ignore[attr-defined]  # as above
        self.redis = redis

    def pop(self, count: int) -> list[str]:
        """Take jobs; answers their jids."""
        return [job["jid"] for job in json.loads(self.call("pop", "q", "w", count))]

    def cost(self, calls: Iterable[Callable[[], object]]) -> float:
        """Make calls; answers the microseconds of each, in the mean."""
        self.redis.config_resetstat()
        for call in calls:
            call()
        stats = self.redis.info("commandstats")
        return float(stats[f"cmdstat_{self._call[0].lower()}"]["usec_per_call"])


def costs(server: Server) -> dict[str, float]:
    """Measure a round; afterwards as many jobs wait as before."""
    call, cost = server.call, server.cost
    found = {"put": cost([server.put] * (2 * CALLS + 100 * POPS_OF_100))}
    jids: list[str] = []
    found["pop 1"] = cost([lambda: jids.extend(server.pop(1))] * (2 * CALLS))
    found["heartbeat"] = cost([partial(call, "heartbeat", jid, "w") for jid in jids])
    found["complete"] = cost(
        [partial(call, "complete", jid, "w", "q", DATA) for jid in jids[:CALLS]]
    )
    found["fail"] = cost(
        [partial(call, "fail", jid, "w", "group", "a message") for jid in jids[CALLS:]]
    )
    many: list[str] = []
    found["pop 100"] = cost([lambda: many.extend(server.pop(100))] * POPS_OF_100)
    for jid in many:
        call("complete", jid, "w", "q", DATA)
    return found


def compare(ours: Server, theirs: Server, rounds: int) -> dict[str, tuple[float, float]]:
    """Measure both in turns; answers the medians."""
    measured: list[tuple[dict[str, float], dict[str, float]]] = []
    for number in range(rounds):
        both = (costs(ours), costs(theirs)) if number % 2 else (costs(theirs), costs(ours))[::-1]
        measured.append(both)
    return {
        name: (
            statistics.median(each[0][name] for each in measured),
            statistics.median(each[1][name] for each in measured),
        )
        for name in measured[0][0]
    }


def throughput(binary: str | None, jobs: int = 3000) -> None:
    """Print how many jobs a second one client puts, and takes and completes."""
    clock = Clock()
    with EmbeddedServer(binary=binary) as server, Client(server.url) as client:
        queue = client.queues["q"]
        begun = clock.monotonic()
        for _ in range(jobs):
            queue.put("Job", {"to": "somebody@example.com"})
        put = clock.monotonic()
        while job := queue.pop():
            job.complete()
        done = clock.monotonic()
    print(f"client: {jobs / (put - begun):.0f} puts a second,", end=" ")
    print(f"{jobs / (done - put):.0f} jobs popped and completed a second")


def main() -> None:
    """Read the arguments, start the servers, compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("original", type=Path, help="the script of the original, a .lua file")
    parser.add_argument(
        "--depths", type=int, nargs="+", default=[1_000, 100_000], help="jobs that wait meanwhile"
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--server", default=shutil.which("redis-server"), help="a redis-server")
    options = parser.parse_args()
    with ExitStack() as stack:
        ours, theirs = (
            Server(stack.enter_context(_connection(options.server)), text)
            for text in (Script(), options.original.read_text("utf-8"))
        )
        filled, first = 0, {}
        for depth in options.depths:
            for server in (ours, theirs):
                server.fill(depth - filled)
            filled = depth
            found = compare(ours, theirs, options.rounds)
            first = first or found
            print(f"{depth:<12}{'ours':>9}{'theirs':>9}{'ratio':>7}{'depth':>7}")
            for name, (mine, other) in found.items():
                grown = mine / first[name][0]
                print(f"{name:12}{mine:9.1f}{other:9.1f}{mine / other:7.2f}{grown:7.2f}")
    throughput(options.server)


@contextmanager
def _connection(binary: str | None) -> Iterator[Redis]:
    """Run a server of its own for as long as the block lasts."""
    with (
        EmbeddedServer(binary=binary) as server,
        Redis.from_url(server.url, decode_responses=True) as redis,
    ):
        yield redis


if __name__ == "__main__":
    main()
