"""What every page costs on a large data set, with one client and with many at once.

    .venv/bin/python -m benchmarks.pages [--scale 1] [--clients 1 8 64] [--seconds N] …

Builds the data set (see `benchmarks.dataset`) on a server of its own, or uses one that was built
before, runs one `qless-web` on it, and asks for every page in turn: those that list and show, those
that ask before something is done, and those of the API. With one client it prints, for each page,
what the server's statistics say it cost: its round trips (how often the server read from a
connection, `total_reads_processed`, but for once more for every 16 KB of commands), its CPU
(`used_cpu`, less what a look at the statistics takes) and that of the console, each the least that
was seen, as the console does things of its own meanwhile; and the bytes of the answer, compressed.
With more clients, how long answers took. The index is complete by then, and every page was asked
for once.

With `--beside` there is a second data set, say of a tenth, and a second console: each page is asked
for here and there in turns, and more columns say how many times as much it costs here; of what is
too little to be compared, once. At the end of each line is which goals the page misses: 3 round
trips, 10 ms of Redis, 100 ms at the 95th percentile with one client (50 for the overview), 300
with 8, half as much again as on the other data set; and at the very end, how many pages meet each.
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
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlsplit

from benchmarks.dataset import build
from qless_core import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer
from tests.support.proc import family, worked

if TYPE_CHECKING:
    from collections.abc import Iterator

clock = Clock()

#: Requests of each page with one client.
ONCE_EACH = 15


#: What is asked for in the API, and what can be done, of which pages ask first.
API = ("overview", "queues", "failures", "workers", "tags", "tracked", "completed", "recurring",
       "scheduled", "index", "server", "search?q=state:failed", "stats/throughput")  # fmt: skip
WHOLE = ("/", "/queues", "/queues?page=5", "/queues?sort=oldest", "/failed", "/failed?sort=first",
         "/failed?sort=rate", "/failed?sort=hosts", "/failed?new=1d", "/track", "/tags",
         "/completed", "/completed?page=100", "/workers", "/workers?page=3", "/config", "/about",
         "/recurring", "/scheduled", "/scheduled?page=100", "/trouble", "/operations", "/audit",
         "/trash", "/alerts", "/views", "/preferences", "/patterns", "/deploys", "/help/keys",
         "/compare", "/unfail", "/metrics", "/healthz", "/readyz", "/search?q=",
         "/search?q=state:failed", "/search?q=data.user_id:4711", "/search?q=cannot+lock+session",
         "/search/complete?q=klass:shop", "/palette?q=mail")  # fmt: skip
OF_JOB = ("", "/graph", "/timeline", "/data", "/failure", "/retry", "/move", "/cancel", "/priority",
          "/tag", "/edit", "/duplicate", "/track")  # fmt: skip
OF_GROUP = ("", "/compare", "/timeline", "/retry", "/move", "/cancel", "/acknowledge", "/mute",
            "/note", "/assign")  # fmt: skip

#: The goals: milliseconds of Redis for a page, round trips, how many times as much on ten times the
#: data, and milliseconds of the 95th percentile, by how many clients there are.
REDIS_MS, TRIPS, TIMES = 10.0, 3, 1.5
SLOW_MS = {1: 100.0, 8: 300.0}
OVERVIEW_MS = 50.0
#: Bytes of commands that the server reads at once.
READ_AT_ONCE = 16_384
#: Looks at the statistics of which the least tells what one takes.
LOOKS = 20
#: Milliseconds of work that are too little to be compared.
LITTLE_MS = 2.0
#: A console rests when it takes less than this part of a processor for so many seconds; and how
#: often that is looked for.
RESTING, REST_S, RESTS = 0.12, 3.0, 200


class Cost(NamedTuple):
    """What one answer cost: seconds, round trips, CPU of the server in seconds, bytes, our CPU."""

    took: float
    trips: float
    cpu: float
    size: int
    web: float = 0.0


class Tally:
    """Which goals there are, and how many pages were held to each and missed it."""

    def __init__(self) -> None:
        self._met: Counter[str] = Counter()
        self._missed: Counter[str] = Counter()

    def judge(self, goals: dict[str, tuple[float, float]]) -> str:
        """Take in a page, by goal what it took and what it may take; give what it misses."""
        missed = {goal for goal, (took, most) in goals.items() if took > most}
        self._met.update(goals.keys() - missed)
        self._missed.update(missed)
        return "".join(f"  !{goal}" for goal in goals if goal in missed) or "  ok"

    def tell(self) -> None:
        """Print how many pages meet each goal, and how many miss it."""
        for goal in {**self._met, **self._missed}:
            print(f"{goal}: {self._met[goal]} pages meet it, {self._missed[goal]} miss it")


class Site(NamedTuple):
    """A console of a data set: a client of that, the port, the process, and the pages."""

    client: Client
    port: int
    pid: int
    pages: list[str]


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=1.0, help="of the data set")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--seconds", type=float, default=30, help="for each number of clients")
    parser.add_argument("--redis-url", help="a server with the data set on it already")
    parser.add_argument("--beside", metavar="URL", help="another one, with a smaller data set")
    parser.add_argument("--state-dir", help="where the consoles keep their indexes")
    parser.add_argument("--rounds", type=int, default=ONCE_EACH, help="asks of one client, each")
    args = parser.parse_args()
    with contextlib.ExitStack() as stack:
        sites = [
            _site(stack, url, args.state_dir)
            for url in (stack.enter_context(_data(args)), args.beside)
            if url
        ]
        for site in sites:
            _rest(site)
        tally = Tally()
        for clients in args.clients:
            if clients == 1:
                _alone(sites, args.rounds, tally)
            else:
                _together(sites[0].port, sites[0].pages, clients, args.seconds, tally)
        tally.tell()


def _site(stack: contextlib.ExitStack, redis_url: str, state_dir: str | None) -> Site:
    """Run a console, and ask it for every page once, so that nothing is the first time."""
    client = stack.enter_context(Client(redis_url))
    more = ("--state-dir", state_dir) if state_dir else ()
    pid, port = stack.enter_context(running(redis_url, *more))
    site = Site(client, port, pid, [*addresses(client)])
    wait_for_index(port)
    for page in site.pages:
        _ask(port, page)
    return site


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
    with running(redis_url) as (_, port):
        yield port


@contextlib.contextmanager
def running(redis_url: str, *more: str) -> Iterator[tuple[int, int]]:
    """Run a console; gives its process and its port."""
    command = [sys.executable, "-m", "qless_web", "-F", "--port", "0", "--redis-url", redis_url]
    with subprocess.Popen(  # noqa: S603 - our own command
        [*command, *more], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            words = (word for line in process.stdout or () for word in line.split())
            port = urlsplit(next(word for word in words if word.startswith("http"))).port or 0
            yield process.pid, port
        finally:
            process.send_signal(signal.SIGTERM)


def wait_for_index(port: int) -> None:
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


def _rest(site: Site) -> None:
    """Wait until a console does little by itself: it walks through the index that was there."""
    for _ in range(RESTS):
        before = sum(map(worked, family(site.pid)))
        threading.Event().wait(REST_S)
        if sum(map(worked, family(site.pid))) - before < RESTING * REST_S:
            return


def addresses(client: Client) -> Iterator[str]:
    """Give a page of every kind, of what is there."""
    yield from WHOLE
    queue = max(client.queues.counts, key=lambda counts: counts.waiting).name
    yield f"/queues/{quote(queue)}"
    for tab in ("running", "waiting", "scheduled", "stalled", "depends", "recurring"):
        yield f"/queues/{quote(queue)}/{tab}"
    yield f"/queues/{quote(queue)}/waiting?page=10"
    yield f"/queues/{quote(queue)}/put"
    yield f"/queues/{quote(queue)}/pause"
    groups = client.failures.groups
    group = max(groups, key=groups.__getitem__)
    for more in OF_GROUP:
        yield f"/failed/{quote(group)}{more}"
    yield f"/failed/{quote(group)}?page={max(1, groups[group] // 50)}"
    yield f"/operations/new?action=retry&group={quote(group)}"
    job, other = (each.jid for each in client.failures.jobs(group, 0, 2).jobs)
    for more in OF_JOB:
        yield f"/jobs/{quote(job)}{more}"
    yield f"/compare?a={quote(job)}&b={quote(other)}"
    worker = quote(client.workers.counts[0].name)
    yield from (f"/workers/{worker}", f"/workers/{worker}/stop")
    for tag in client.tags()[:1]:
        yield from (f"/tag/{quote(tag)}", f"/tag/{quote(tag)}?page=100")
    for name in API:
        yield f"/api/v1/{name}"
    yield f"/api/v1/failures/clusters?group={quote(group)}"
    yield f"/api/v1/failures/{quote(group)}/jobs"
    yield f"/api/v1/queues/{quote(queue)}/jobs?state=waiting"
    yield f"/api/v1/jobs/{quote(job)}"


def _alone(sites: list[Site], rounds: int, tally: Tally) -> None:
    """Print what each page costs one client, here and, in turns, in the other data set."""
    head = ["p50 ms", "p95", "trips", "redis ms", "web ms", "KB"]
    head += ["p50", "redis", "web"] if len(sites) > 1 else []
    print(f"{'one client':44}" + "".join(f"{name:>9}" for name in head))
    looks = [_look(site.client) for site in sites]
    for number, page in enumerate(sites[0].pages):
        costs: list[list[Cost]] = [[] for _ in sites]
        for _ in range(rounds):
            for site, found in zip(sites, costs, strict=True):
                found.append(_cost(site, site.pages[number]))
        print(f"{page[:43]:44}" + _line(page, costs, looks, tally), flush=True)


def _look(client: Client) -> float:
    """Give the seconds of CPU that the server takes to tell its statistics."""
    looks = [_statistics(client) for _ in range(LOOKS)]
    return min(after[1] - before[1] for before, after in pairwise(looks))


def _line(page: str, costs: list[list[Cost]], looks: list[float], tally: Tally) -> str:
    """Draw up a line: what it costs here, how many times as much as there, and what it misses."""
    here, *others = [_least(*each) for each in zip(costs, looks, strict=True)]
    took = sorted(cost.took * 1000 for cost in costs[0])
    slow = _at(took, 0.95)
    figures = [f"{_at(took, 0.5):.1f}", f"{slow:.1f}", f"{here.trips:.0f}"]
    figures += [f"{here.cpu * 1000:.2f}", f"{here.web * 1000:.1f}", f"{here.size / 1024:.1f}"]
    goals = {
        "trips": (here.trips, TRIPS),
        "redis": (here.cpu * 1000, REDIS_MS),
        "p95": (slow, OVERVIEW_MS if page == "/" else SLOW_MS[1]),
    }
    for there in others:
        pairs = ((here.took, there.took), (here.cpu, there.cpu), (here.web, there.web))
        times = [_times(*pair) for pair in pairs]
        figures += [f"{each:.2f}" for each in times]
        goals["times"] = (max(times[1:]), TIMES)
    return "".join(f"{value:>9}" for value in figures) + tally.judge(goals)


def _least(costs: list[Cost], look: float) -> Cost:
    """Give the least of each, without what a look takes; of the time, what is in the middle."""
    took = sorted(cost.took for cost in costs)
    least = Cost(took[len(took) // 2], *map(min, list(zip(*costs, strict=True))[1:]))
    return least._replace(cpu=max(0.0, least.cpu - look))


def _times(here: float, there: float) -> float:
    """Say how many times as much that is; what is little is as much as anything that is little."""
    least = LITTLE_MS / 1000
    return max(here, least) / max(there, least)


def _cost(site: Site, page: str) -> Cost:
    before = sum(map(worked, family(site.pid)))
    found = cost(site.client, site.port, page)
    return found._replace(web=sum(map(worked, family(site.pid))) - before)


def cost(client: Client, port: int, page: str) -> Cost:
    """Ask for a page, and say what it cost."""
    before = _statistics(client)
    began = clock.monotonic()
    size = _ask(port, page)
    took = clock.monotonic() - began
    after = _statistics(client)
    # What asked for the statistics was one round trip, too.
    more = (after[2] - before[2]) // READ_AT_ONCE
    trips = max(0.0, after[0] - before[0] - 1 - more)
    return Cost(took, trips, after[1] - before[1], size)


def _statistics(client: Client) -> tuple[float, float, float]:
    """Give how often the server read, its seconds of CPU, and the bytes that it was sent."""
    info: Any = client.redis.info("everything")
    cpu = info["used_cpu_user"] + info["used_cpu_sys"]
    return info["total_reads_processed"], cpu, info["total_net_input_bytes"]


def _together(port: int, pages: list[str], clients: int, seconds: float, tally: Tally) -> None:
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
        line = "".join(f"{_at(times, share):>9.0f}" for share in (0.5, 0.95, 0.99))
        if clients in SLOW_MS:
            goals = {f"p95 of {clients} clients": (_at(times, 0.95), SLOW_MS[clients])}
            line += tally.judge(goals)
        print(f"{page[:43]:44}{line}", flush=True)


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
