"""What every page costs on a large data set, with one client and with many at once.

    .venv/bin/python -m benchmarks.pages [--scale 1] [--clients 1 8 64] [--seconds N] …

Builds the data set (see `benchmarks.dataset`) on a server of its own, or uses one that was built
before, runs one `qless-web` on it, and asks for every page in turn. With one client it prints, for
each page, what the server's statistics say it cost: how often it read from a connection
(`total_reads_processed`: each round trip, and once more for every 16 KB of commands), its CPU
(`used_cpu`), each the least that was seen, as the console does things of its own meanwhile; and
the bytes of the answer, compressed. With more clients, how long answers took. The index is
complete by then, and every page was asked for once.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import http.client
import json
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlsplit

from benchmarks.dataset import build
from qless_core import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Iterator

clock = Clock()

#: Requests of each page with one client.
ONCE_EACH = 15


class Cost(NamedTuple):
    """What one answer cost: seconds, reads and CPU of the server in seconds, bytes."""

    took: float
    reads: float
    cpu: float
    size: int


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="of the data set")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--seconds", type=float, default=30, help="for each number of clients")
    parser.add_argument("--redis-url", help="a server with the data set on it already")
    args = parser.parse_args()
    with _data(args) as redis_url, Client(redis_url) as client, console(redis_url) as port:
        pages = [*addresses(client)]
        _wait_for_index(port)
        for page in pages:
            _ask(port, page)
        for clients in args.clients:
            if clients == 1:
                _alone(client, port, pages)
            else:
                _together(port, pages, clients, args.seconds)


@contextlib.contextmanager
def _data(args: argparse.Namespace) -> Iterator[str]:
    """Give the address of a server with the data set."""
    if args.redis_url:
        yield args.redis_url
        return
    with EmbeddedServer() as server:
        with Client(server.url) as client:
            print(build(client, args.scale, 1).counts, flush=True)
        yield server.url


@contextlib.contextmanager
def console(redis_url: str) -> Iterator[int]:
    """Run a console; gives its port."""
    command = [sys.executable, "-m", "qless_web", "-F", "--port", "0", "--redis-url", redis_url]
    with subprocess.Popen(  # noqa: S603 - our own command
        command, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            words = (word for line in process.stdout or () for word in line.split())
            yield urlsplit(next(word for word in words if word.startswith("http"))).port or 0
        finally:
            process.send_signal(signal.SIGTERM)


def _wait_for_index(port: int) -> None:
    """Wait until the index knows all jobs; filling it is measured by `benchmarks.index`."""
    began = clock.monotonic()
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", "/api/v1/index")
        told = json.load(connection.getresponse())
        connection.close()
        if told["complete"]:
            took = clock.monotonic() - began
            print(f"the index of {told['jobs']:,} jobs was complete after {took:.0f} s")
            return
        threading.Event().wait(1)


def addresses(client: Client) -> Iterator[str]:
    """Give a page of every kind, of what is there."""
    yield from ("/", "/queues", "/queues?page=5", "/failed", "/track", "/tags", "/completed")
    yield from ("/workers", "/config", "/about", "/recurring", "/scheduled", "/trouble")
    yield from (
        "/operations",
        "/audit",
        "/trash",
        "/alerts",
        "/search?q=",
        "/search?q=state:failed",
    )
    queue = max(client.queues.counts, key=lambda counts: counts.waiting).name
    yield f"/queues/{quote(queue)}"
    for tab in ("running", "waiting", "scheduled", "stalled", "depends", "recurring"):
        yield f"/queues/{quote(queue)}/{tab}"
    groups = client.failures.groups
    group = max(groups, key=groups.__getitem__)
    yield f"/failed/{quote(group)}"
    yield f"/failed/{quote(group)}?page={max(1, groups[group] // 50)}"
    yield f"/failed/{quote(group)}/timeline"
    job = client.failures.jobs(group, 0, 1).jobs[0].jid
    yield f"/jobs/{quote(job)}"
    yield f"/jobs/{quote(job)}/graph"
    yield f"/workers/{quote(client.workers.counts[0].name)}"
    for tag in client.tags()[:1]:
        yield f"/tag/{quote(tag)}"


def _alone(client: Client, port: int, pages: list[str]) -> None:
    """Print what each page costs one client."""
    head = ("p50 ms", "p95", "reads", "cpu ms", "KB")
    print(f"{'one client':44}" + "".join(f"{name:>9}" for name in head))
    for page in pages:
        costs = [_cost(client, port, page) for _ in range(ONCE_EACH)]
        took = sorted(cost.took * 1000 for cost in costs)
        reads, cpu, size = map(min, list(zip(*costs, strict=True))[1:])
        figures = (f"{_at(took, 0.5):.1f}", f"{_at(took, 0.95):.1f}", f"{reads:.0f}")
        line = (*figures, f"{cpu * 1000:.2f}", f"{size / 1024:.1f}")
        print(f"{page[:43]:44}" + "".join(f"{value:>9}" for value in line), flush=True)


def _cost(client: Client, port: int, page: str) -> Cost:
    before = _statistics(client)
    began = clock.monotonic()
    size = _ask(port, page)
    took = clock.monotonic() - began
    after = _statistics(client)
    # What asked for the statistics was one round trip, too.
    return Cost(took, after[0] - before[0] - 1, after[1] - before[1], size)


def _statistics(client: Client) -> tuple[float, float]:
    info: Any = client.redis.info("everything")
    return info["total_reads_processed"], info["used_cpu_user"] + info["used_cpu_sys"]


def _together(port: int, pages: list[str], clients: int, seconds: float) -> None:
    """Print how long answers take many clients that ask for one page after another."""
    took: dict[str, list[float]] = {page: [] for page in pages}
    until = clock.monotonic() + seconds

    def browse(first: int) -> None:
        at = first
        while clock.monotonic() < until:
            page = pages[at % len(pages)]
            began = clock.monotonic()
            _ask(port, page)
            took[page].append((clock.monotonic() - began) * 1000)
            at += 1

    threads = [threading.Thread(target=browse, args=(at * 7,)) for at in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = sum(map(len, took.values()))
    print(
        f"{f'{clients} clients: {total / seconds:.0f} pages/s':44}{'p50 ms':>9}{'p95':>9}{'p99':>9}"
    )
    for page, times in took.items():
        times.sort()
        line = (f"{_at(times, share):.0f}" for share in (0.5, 0.95, 0.99))
        print(f"{page[:43]:44}" + "".join(f"{value:>9}" for value in line), flush=True)


def _ask(port: int, page: str) -> int:
    """Ask for a page; gives the bytes of the answer as it travelled."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", page, headers={"Accept-Encoding": "gzip"})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    if answer.status >= http.HTTPStatus.BAD_REQUEST:
        print(f"{page}: {answer.status}", file=sys.stderr)
    is_packed = answer.headers.get("Content-Encoding") == "gzip"
    return len(body) if is_packed else len(gzip.compress(body))


def _at(values: list[float], share: float) -> float:
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


if __name__ == "__main__":
    main()
