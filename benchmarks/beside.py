"""Our pages beside those of rq-dashboard, on as many jobs, in one run.

    .venv/bin/python -m benchmarks.beside --venv FOLDER [--jobs 100000] [--rounds 7] [--first]

Two servers hold as many jobs each that wait in one queue, and as many that have failed in it. Both
consoles are asked in turns for what shows the same rows: the queue and its failures, 25 and 100 at
a time, the first page and one in the middle, all queues, and one job. A page is what a browser
loads: ours in one answer, theirs the page and then its rows as JSON. Rows are what a program asks
for, of the first page: JSON of the APIs of both. Printed are the milliseconds that were in the
middle of the rounds, those of CPU that console and server took together, and how many times as much
theirs are. Deep pages are asked for twice only.

rq-dashboard is installed into an environment of its own below `FOLDER`, and started by its own
command.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from redis import Redis

from benchmarks.others.environments import environments
from benchmarks.pages import running, wait_for_index
from qless_core import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer
from tests.support.ports import free_port
from tests.support.proc import family, worked

if TYPE_CHECKING:
    from collections.abc import Iterator

clock = Clock()

#: Seconds that a page may take, and that a console may take to come up.
PATIENCE_S = 300.0
#: Our jobs: as those of `benchmarks.others.rqdashboard`.
MESSAGE = "cannot lock session 4711 at orders.example:3812: no answer within 30 s"
#: Lists: the word for it, what theirs is called, our page, and our API.
LISTS = (
    ("queue", "queued", "/queues/bench/waiting", "/api/v1/queues/bench/jobs?state=waiting&"),
    ("failures", "failed", "/failed/shop-Timeout", "/api/v1/failures/shop-Timeout/jobs?"),
)
#: Jobs that are popped at once.
AT_ONCE = 500


class Side(NamedTuple):
    """A console: its port, its process, and the server behind it."""

    port: int
    pid: int
    redis: Redis


class Pair(NamedTuple):
    """The same here and there, each in one or several answers; `deep` for what takes long."""

    what: str
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    deep: bool = False


class Cost(NamedTuple):
    """What an answer took: seconds by the clock, and of CPU of console and server."""

    took: float
    worked: float


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--venv", required=True, help="where rq-dashboard is installed")
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--first", action="store_true", help="no deep pages, which take minutes")
    args = parser.parse_args()
    home = environments(Path(args.venv).absolute())["rqdashboard"]
    if problem := home.make():
        sys.exit(f"rq-dashboard cannot be installed: {problem}")
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(EmbeddedServer()) for _ in "ab"]
        ours = _ours(stack, servers[0].url, args.jobs)
        theirs, job = _theirs(stack, servers[1].url, home.python, args.jobs)
        print(f"{'':40}{'ours ms':>10}{'CPU':>8}{'theirs ms':>12}{'CPU':>8}{'times':>9}{'CPU':>9}")
        for pair in pairs(ours.redis, job, args.jobs):
            if pair.deep and args.first:
                continue
            print(compared(pair, ours, theirs, 2 if pair.deep else args.rounds), flush=True)


def pairs(redis: Redis, their_job: str, jobs: int) -> Iterator[Pair]:
    """Give what is compared; `their_job` is a failed one of theirs."""
    queues = "/0/data/queues.json"
    yield Pair("all queues, page", ("/queues",), ("/", queues))
    yield Pair("all queues, rows", ("/api/v1/queues",), (queues,))
    for size in (25, 100):
        for where, page in (("first", 1), ("in the middle", jobs // size // 2)):
            for what, kind, path, api in LISTS:
                place = f"bench/{kind}/{size}/asc/{page}"
                rows = f"/0/data/jobs/{place}.json"
                ours = f"{path}?size={size}&page={page}"
                deep = page > 1
                name = f"{what}, {size}, {where}"
                yield Pair(f"{name}, page", (ours,), (f"/0/view/jobs/{place}", rows), deep)
                if not deep:
                    yield Pair(f"{name}, rows", (f"{api}limit={size}",), (rows,))
    found: Any = redis.lindex("ql:f:shop-Timeout", 0)
    ours, theirs = f"/jobs/{found.decode()}", f"/0/data/job/{their_job}.json"
    yield Pair("a failed job, page", (ours,), (f"/0/view/job/{their_job}", theirs))
    yield Pair("a failed job, rows", (f"/api/v1{ours}",), (theirs,))


def compared(pair: Pair, ours: Side, theirs: Side, rounds: int) -> str:
    """Ask both in turns; gives the line."""
    costs: tuple[list[Cost], list[Cost]] = ([], [])
    for _ in range(rounds):
        costs[0].append(_all(ours, pair.ours))
        costs[1].append(_all(theirs, pair.theirs))
    here, there = (
        Cost(median(each.took for each in some), median(each.worked for each in some))
        for some in costs
    )
    figures = f"{here.took * 1e3:>10.0f}{here.worked * 1e3:>8.0f}"
    figures += f"{there.took * 1e3:>12.0f}{there.worked * 1e3:>8.0f}"
    return (
        f"{pair.what:40}{figures}{there.took / here.took:>9.1f}{there.worked / here.worked:>9.1f}"
    )


def _all(side: Side, paths: tuple[str, ...]) -> Cost:
    """Ask for one after another; gives what they cost together."""
    costs = [_ask(side, path) for path in paths]
    return Cost(sum(each.took for each in costs), sum(each.worked for each in costs))


def _ask(side: Side, path: str) -> Cost:
    before, began = _worked(side), clock.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", side.port, timeout=PATIENCE_S)
    with contextlib.closing(connection):
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        answer.read()
    if answer.status != http.HTTPStatus.OK:
        print(f"{path}: {answer.status}", file=sys.stderr)
    return Cost(clock.monotonic() - began, _worked(side) - before)


def _worked(side: Side) -> float:
    info: Any = side.redis.info("cpu")
    server = float(info["used_cpu_user"]) + float(info["used_cpu_sys"])
    return server + sum(map(worked, family(side.pid)))


def _ours(stack: contextlib.ExitStack, url: str, jobs: int) -> Side:
    """Fill a server of ours, and run a console on it that knows all of it."""
    with Client(url) as client:
        for name in ("failing", "bench"):
            client.queues[name].put_many(
                {
                    "klass": "shop.Charge",
                    "data": {
                        "user_id": each,
                        "region": "eu",
                        "amount": each % 500,
                        "version": "2026.11.2",
                    },
                }
                for each in range(jobs)
            )
        while some := client.queues["failing"].pop(AT_ONCE):
            for job in some:
                job.fail("shop-Timeout", MESSAGE)
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="beside-"))
    pid, port = stack.enter_context(running(url, "--state-dir", folder, "--index-rate", "0"))
    wait_for_index(port)
    return Side(port, pid, stack.enter_context(Redis.from_url(url)))


def _theirs(stack: contextlib.ExitStack, url: str, python: Path, jobs: int) -> tuple[Side, str]:
    """Fill a server of RQ, and run its dashboard; gives that, and the id of a failed job."""
    fill = [str(python), "-m", "benchmarks.others.rqdashboard", url, str(jobs)]
    filled = subprocess.run(fill, check=True, capture_output=True, text=True)  # noqa: S603 - our own
    port = free_port()
    command = [str(python), "-m", "rq_dashboard", "-b", "127.0.0.1", "-p", str(port), "-u", url]
    process = subprocess.Popen(  # noqa: S603 - as above
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    stack.callback(process.wait)
    stack.callback(process.terminate)
    side = Side(port, process.pid, stack.enter_context(Redis.from_url(url)))
    deadline = clock.monotonic() + PATIENCE_S
    while clock.monotonic() < deadline:
        with contextlib.suppress(OSError):
            _ask(side, "/0/data/queues.json")
            break
        threading.Event().wait(0.2)
    return side, filled.stdout.strip()


if __name__ == "__main__":
    main()
