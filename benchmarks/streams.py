"""How late browsers hear of what happens, how many one process feeds, and what that costs.

    .venv/bin/python -m benchmarks.streams [--viewers N …] [--events N] [--seconds N] [--slow N]

For each number of viewers: one `qless-web`, on a server of its own;
viewers in another process, each with a stream that follows a queue; jobs put at a steady pace, each
of a queue's turn. A viewer's lag is the time from a put to the first message that names its queue
and was sent after it. Memory is what the process has grown by (its own pages, as /proc has them),
for each viewer. Meanwhile a browser asks for pages, one after another. Slow viewers read nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import bisect
import contextlib
import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from qless_core import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

#: Queues that jobs are put into, in turn, and that viewers follow.
QUEUES = [f"queue-{number}" for number in range(20)]
#: Pages that are asked for meanwhile.
PAGES = ("/", "/queues", "/queues/queue-1", "/failed", "/workers")
COLUMNS = (
    *("viewers", "streams", "lag p50", "p99", "max ms", "KB each", "page p50", "p99 ms", "CPU %"),
)
#: Seconds after the last stream began until the first job is put.
SETTLE_S = 5
#: Streams opened at once while they begin.
AT_ONCE = 100

clock = Clock()


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--viewers", type=int, nargs="+", default=[100, 1000, 2000])
    parser.add_argument("--events", type=float, default=100, help="jobs put a second")
    parser.add_argument("--seconds", type=float, default=20, help="that each number is watched")
    parser.add_argument("--slow", type=int, default=0, help="viewers more, who read nothing")
    args = parser.parse_args()
    _let_open(2 * max(args.viewers) + args.slow + 500)
    head = (
        "viewers",
        "streams",
        "lag p50",
        "p99",
        "max ms",
        "KB each",
        "page p50",
        "p99 ms",
        "CPU %",
    )
    print("".join(f"{name:>10}" for name in head))
    for viewers in args.viewers:
        print("".join(f"{value:>10}" for value in measured(viewers, args)), flush=True)


def measured(viewers: int, args: argparse.Namespace) -> list[str]:
    """Watch so many viewers; gives the columns."""
    with EmbeddedServer() as server, _console(server.url, viewers + args.slow) as (process, url):
        with Client(server.url) as client:
            for queue in QUEUES:
                client.queues[queue].put("bench.Job", {})
        for page in PAGES:
            _get(url + page)
        before = _memory(process)
        ours, theirs = multiprocessing.Pipe()
        crowd = multiprocessing.Process(target=_watch, args=(url, viewers, args.slow, theirs))
        crowd.start()
        opened = ours.recv()
        threading.Event().wait(SETTLE_S)
        grown = (_memory(process) - before) / max(opened, 1)
        used = _cpu(process)
        puts, pages = _busy(server.url, url, args)
        share = (_cpu(process) - used) / args.seconds * 100
        ours.send("stop")
        heard = ours.recv()
        crowd.join()
    lags = sorted(lag * 1000 for lag in _lags(puts, heard))
    pages.sort()
    return [
        *(str(viewers), str(opened)),
        *(f"{_at(lags, share):.0f}" for share in (0.5, 0.99, 1)),
        f"{grown / 1024:.1f}",
        *(f"{_at(pages, share) * 1000:.0f}" for share in (0.5, 0.99)),
        f"{share:.0f}",
    ]


@contextlib.contextmanager
def _console(redis_url: str, viewers: int) -> Any:  # noqa: ANN401 - a process and an address
    """Run a console with a thread for each viewer, and some for pages."""
    command = [sys.executable, "-m", "qless_web", "-F", "--port", "0", "--redis-url", redis_url]
    command += ["--live-max-streams", str(viewers)]
    with subprocess.Popen(  # noqa: S603 - our own command
        command, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            url = next(
                word.rstrip("/")
                for line in process.stdout or ()
                for word in line.split()
                if word.startswith("http")
            )
            yield _worker_of(process.pid), url
        finally:
            process.send_signal(signal.SIGTERM)


def _worker_of(arbiter: int) -> int:
    """Find the process that answers: the one child of the arbiter."""
    children = Path(f"/proc/{arbiter}/task/{arbiter}/children").read_text().split()
    return int(children[0])


def _busy(
    redis_url: str, url: str, args: argparse.Namespace
) -> tuple[dict[str, list[float]], list[float]]:
    """Put jobs at a steady pace while a browser asks for pages; gives when, and how long."""
    over, pages = threading.Event(), []

    def browse() -> None:
        while not over.is_set():
            for page in PAGES:
                began = clock.monotonic()
                _get(url + page)
                pages.append(clock.monotonic() - began)

    browser = threading.Thread(target=browse)
    browser.start()
    puts: dict[str, list[float]] = {queue: [] for queue in QUEUES}
    with Client(redis_url) as client:
        began, number = clock.monotonic(), 0
        while (now := clock.monotonic()) - began < args.seconds:
            queue = QUEUES[number % len(QUEUES)]
            puts[queue].append(clock.monotonic())
            client.queues[queue].put("bench.Job", {})
            number += 1
            over.wait(max(0.0, began + number / args.events - now))
    over.wait(2)  # the last ones are heard, too
    over.set()
    browser.join()
    return puts, pages


def _lags(puts: dict[str, list[float]], heard: dict[str, list[list[float]]]) -> list[float]:
    """Give, for each viewer and put, the time until it heard of that queue."""
    found = []
    for queue, viewers in heard.items():
        for times in viewers:
            for put in puts[queue]:
                at = bisect.bisect(times, put)
                if at < len(times):
                    found.append(times[at] - put)
    return found


# The viewers, in a process of their own


def _watch(url: str, viewers: int, slow: int, pipe: Connection) -> None:
    asyncio.run(_crowd(url, viewers, slow, pipe))


async def _crowd(url: str, viewers: int, slow: int, pipe: Connection) -> None:
    host, port = url.removeprefix("http://").split(":")
    heard: dict[str, list[list[float]]] = {queue: [] for queue in QUEUES}
    streams, writers = [], []
    for number in range(viewers + slow):
        queue = QUEUES[number % len(QUEUES)]
        reader, writer = await asyncio.open_connection(host, int(port), limit=2**16)
        writers.append(writer)  # one that nobody keeps is closed
        writer.write(
            f"GET /events?topics=queue:{queue} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()
        )
        if number < viewers:
            times: list[float] = []
            heard[queue].append(times)
            streams.append(asyncio.create_task(_listen(reader, times)))
        if number % AT_ONCE == 0:
            await asyncio.sleep(0.05)
    await asyncio.sleep(SETTLE_S)
    pipe.send(sum(not stream.done() for stream in streams))
    await asyncio.to_thread(pipe.recv)
    for stream in streams:
        stream.cancel()
    pipe.send(heard)


async def _listen(reader: asyncio.StreamReader, times: list[float]) -> None:
    """Note when a message says that something changed."""
    with contextlib.suppress(OSError):
        while line := await reader.readline():
            if line.startswith(b"data:") and b"queue:" in line and json.loads(line[5:]):
                times.append(clock.monotonic())


# What is measured


def _get(url: str) -> None:
    with urllib.request.urlopen(url) as answer:  # noqa: S310 - our own console
        answer.read()


def _memory(process: int) -> int:
    """Read the bytes that a process has for itself."""
    rollup = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    found = {line.split()[0]: int(line.split()[1]) for line in rollup[1:]}
    return (found["Private_Dirty:"] + found["Private_Clean:"]) * 1024


def _cpu(process: int) -> float:
    """Read the seconds of CPU that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _at(values: list[float], share: float) -> float:
    return values[min(len(values) - 1, int(len(values) * share))] if values else float("nan")


def _let_open(files: int) -> None:
    """Let this process and its children have so many connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(files, hard), hard))


if __name__ == "__main__":
    main()
