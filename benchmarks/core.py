"""What a call of our script costs the server, beside the script of the original.

    pip download --no-deps qless-with-throttles
    python -m zipfile -e qless_with_throttles-*.whl original
    .venv/bin/python -m benchmarks.core original/qless/lua/qless.lua

Each script has a server of its own, with the same jobs waiting. They take turns within each
round, so that whatever else the machine does falls on both. The figures are microseconds of the
server for one call (INFO commandstats: FCALL for ours, EVALSHA for theirs), the median of the
rounds; the ratio is ours to theirs, and `depth` how ours has grown from the first depth. With
`--together 50` so many calls come in one round trip: then the server does not wait in between,
while its caches fill with what the client does. At the end: jobs a second of one client of ours,
one at a time.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redis import Redis

from qless_core import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer
from qless_core.script import Script

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    #: The name of a command and its arguments.
    _Arguments = tuple[str | float, ...]

#: What each call is measured with.
DATA = '{"to":"somebody@example.com","subject":"Hello","n":12345}'

#: Calls of each kind in a round; `pop 100` is called less.
CALLS = 200
POPS_OF_100 = 5


class Server:
    """A script on a server of its own, fed with moments that go on."""

    def __init__(self, redis: Redis, script: Script | str, together: int) -> None:
        self.redis = redis
        self._together = together
        if isinstance(script, Script):
            redis.function_load(script.library)
            self._call = ("FCALL", script.name, 0)
        else:
            self._call = ("EVALSHA", redis.script_load(script), 0)
        self._now = 1_700_000_000.0
        self._number = 0

    def call(self, calls: Sequence[_Arguments], together: int) -> list[Any]:
        """Call the script, each time a millisecond later, so many times in a round trip."""
        answers: list[Any] = []
        for start in range(0, len(calls), together):
            with self.redis.pipeline(transaction=False) as pipeline:
                for name, *args in calls[start : start + together]:
                    self._now += 0.001
                    pipeline.execute_command(  # type: ignore[no-untyped-call]  # redis-py's
                        *self._call, name, self._now, *args
                    )
                answers += pipeline.execute()
        return answers

    def puts(self, count: int) -> list[_Arguments]:
        """Make up the calls that put so many new jobs."""
        first, self._number = self._number + 1, self._number + count
        return [
            ("put", "bench", "q", f"job-{number:09}", "Job", DATA, 0)
            for number in range(first, self._number + 1)
        ]

    def fill(self, count: int) -> None:
        """Put so many new jobs."""
        self.call(self.puts(count), 1000)

    def cost(self, calls: Sequence[_Arguments]) -> tuple[float, list[Any]]:
        """Make calls; answers the microseconds of each, in the mean, and what they answered."""
        self.redis.config_resetstat()
        answers = self.call(calls, self._together)
        stats = self.redis.info("commandstats")
        return float(stats[f"cmdstat_{self._call[0].lower()}"]["usec_per_call"]), answers


def costs(server: Server) -> dict[str, float]:
    """Measure a round; afterwards as many jobs wait as before."""
    found: dict[str, float] = {}

    def measure(name: str, calls: Sequence[_Arguments]) -> list[str]:
        found[name], answers = server.cost(calls)
        if not name.startswith("pop"):
            return []
        return [job["jid"] for answer in answers for job in json.loads(answer)]

    measure("put", server.puts(2 * CALLS + 100 * POPS_OF_100))
    jids = measure("pop 1", [("pop", "q", "w", 1)] * (2 * CALLS))
    measure("heartbeat", [("heartbeat", jid, "w") for jid in jids])
    measure("complete", [("complete", jid, "w", "q", DATA) for jid in jids[:CALLS]])
    measure("fail", [("fail", jid, "w", "group", "a message") for jid in jids[CALLS:]])
    many = measure("pop 100", [("pop", "q", "w", 100)] * POPS_OF_100)
    server.call([("complete", jid, "w", "q", DATA) for jid in many], 100)
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
    parser.add_argument("--together", type=int, default=1, help="calls in a round trip")
    parser.add_argument("--server", default=shutil.which("redis-server"), help="a redis-server")
    options = parser.parse_args()
    with ExitStack() as stack:
        ours, theirs = (
            Server(stack.enter_context(_connection(options.server)), text, options.together)
            for text in (Script(), options.original.read_text("utf-8"))
        )
        filled = 0
        first: dict[str, tuple[float, float]] = {}
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
