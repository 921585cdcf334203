"""What it takes to retry, move and cancel a whole group of failures, and how long a call takes.

    .venv/bin/python -m benchmarks.groups [--sizes 10000 100000] [--server redis-server]

Each line is one way of work on one size of group: seconds in all, jobs a second, and the longest
that any call of the script took inside the server (SLOWLOG). The figures of the sizes side by side
show whether the cost of a job grows with the group.
"""

from __future__ import annotations

import argparse
import shutil
from typing import TYPE_CHECKING

from qless_core import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Callable

#: Jobs put and taken at once while a group is made.
STEP = 5000


def fail_all(client: Client, count: int) -> None:
    """Make a group of so many failures, in one queue, of one worker."""
    queue = client.queues["mail"]
    for start in range(0, count, STEP):
        queue.put_many([{"klass": "Job", "data": {"n": start + n}} for n in range(STEP)])
        jobs = queue.pop(STEP)
        for job in jobs:
            job.fail("timeout", "connection timed out")


def measured(client: Client, act: Callable[[Client], object]) -> tuple[float, float]:
    """Do it; answers seconds, and the milliseconds of the longest call of the script."""
    clock = Clock()
    client.redis.slowlog_reset()
    begun = clock.monotonic()
    act(client)
    took = clock.monotonic() - begun
    slow = client.redis.slowlog_get(128)
    calls = [
        entry["duration"] for entry in slow if entry["command"][:5].lower() in (b"fcall", b"evals")
    ]
    return took, max(calls, default=0) / 1000


def exhaust(reports: object) -> None:
    """Work on the whole group, chunk after chunk."""
    for _ in reports:  # type: ignore[attr-defined]  # an iterator of reports
        pass


def block(client: Client) -> None:
    """Let a job wait for the oldest failure, so that this one may not be canceled."""
    oldest = client.commands.failed_group("timeout", 0, 1_000_000).jids[-1]
    client.queues["other"].put("Job", {}, depends=[oldest])


WAYS: dict[str, Callable[[Client], object]] = {
    "retry, each into its queue": lambda client: exhaust(client.failures.retry("timeout")),
    "move to another queue": lambda client: exhaust(client.failures.retry("timeout", "other")),
    "unfail": lambda client: client.unfail("timeout", "mail", 10_000_000),
    "cancel": lambda client: exhaust(client.failures.cancel("timeout")),
    "cancel, one is waited for": lambda client: exhaust(client.failures.cancel("timeout")),
}


def main() -> None:
    """Read the arguments, and measure each way on each size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--server", default=shutil.which("redis-server"), help="a redis-server")
    options = parser.parse_args()
    print(f"{'':28}{'jobs':>9}{'seconds':>9}{'jobs/s':>9}{'longest call, ms':>18}")
    for way, act in WAYS.items():
        for size in options.sizes:
            with EmbeddedServer(binary=options.server) as server, Client(server.url) as client:
                client.redis.config_set("slowlog-log-slower-than", 1000)
                fail_all(client, size)
                if "waited" in way:
                    block(client)
                took, longest = measured(client, act)
            print(f"{way:28}{size:>9}{took:>9.2f}{size / took:>9.0f}{longest:>18.1f}", flush=True)


if __name__ == "__main__":
    main()
