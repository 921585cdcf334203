"""The demo at full speed, for long: whether anything grows that should not.

    .venv/bin/python -m benchmarks.soak [--minutes 60] [--pace 30] [--every 5]

The made-up shop works `--pace` times as fast as in the demo, beside real workers, before a console
with open pages that is asked for one page after another. Looked at every few seconds: the memory
that console, workers and server have, their file descriptors, the connections to the server, and
its keys that are no jobs, by kind, with how much is in each.

Completed jobs are kept for a minute, so that all is as full as it becomes before the first look
that counts. Printed is for each figure what it was in the beginning and in the end (medians of a
fifth of the run), its slope by the hour (the median of the slopes between all looks), the same of
the second half, and whether it is flat: it grew by no more than a twentieth, or than chance does.
Exits with 1 where one is not.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import multiprocessing
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import median
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from qless_core.client import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer
from qless_core.errors import QlessError
from qless_web.demo.workers import Crew
from tests.support.proc import family, files, resident

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qless_core.job import Job

clock = Clock()

#: Part of the run at its beginning that counts for nothing, and that the medians are of.
WARMING: Final = 0.3
FIFTH: Final = 0.2

#: What may grow by so much all the same: as much as chance does, in megabytes or in numbers.
SLACK: Final = {"MB": 3.0, "files": 4.0, "connections": 4.0, "keys": 12.0, "entries": 250.0}
TWENTIETH: Final = 0.05

#: Kinds of keys with a bound of their own: an hour has its fields for each queue, of sixty places
#: with a comma between, and is kept for a day; what was completed in the last minute, and its tags,
#: are as many as the machine was quick.
BOUNDED: Final = ("web:minutes:<hour>", "completed", "t:<name>")

#: Pages that somebody asks for, and streams that are open.
PAGES: Final = ("/", "/queues", "/failed", "/workers", "/trouble", "/search?q=state:failed",
                "/completed", "/recurring", "/tags", "/about")  # fmt: skip
STREAMS: Final = 8

#: The real workers: how each runs its jobs.
WORKERS: Final = {"forking": (), "threads": ("--kind", "thread", "--concurrency", "4")}

#: Jobs a second for them, how many of those fail, and how long a completed one is kept.
SOAKED: Final = 40
FAILING: Final = 0.02
KEPT_S: Final = 60


class Soaked:
    """The job of the real workers: some fail, all leave some garbage behind."""

    @staticmethod
    def process(job: Job) -> None:
        """Do a little, and fail once in fifty; the shop's people deal with that."""
        number = job.data["number"]
        json.dumps([{"number": number, "text": "x" * 100}] * 50)
        if Random().random() < FAILING:  # noqa: S311 - no secret
            message = f"row {number} is gone"
            raise LookupError(message)


class Figure(NamedTuple):
    """What is watched: of what, in which unit."""

    name: str
    unit: str


@dataclass
class Watched:
    """All looks: when each was, on the monotonic clock, and what was seen."""

    times: list[float] = field(default_factory=list)
    seen: dict[Figure, list[float]] = field(default_factory=dict)

    def note(self, now: float, found: dict[Figure, float]) -> None:
        """Take in one look; what was not there before was 0."""
        self.times.append(now)
        for figure in {*self.seen, *found}:
            values = self.seen.setdefault(figure, [0.0] * (len(self.times) - 1))
            values.append(found.get(figure, 0.0))


class Verdict(NamedTuple):
    """What became of a figure; slopes are by the hour, of all looks and of the second half."""

    figure: Figure
    begin: float
    end: float
    slope: float
    late_slope: float

    @property
    def is_bounded(self) -> bool:
        """Whether it grows by itself, up to a bound."""
        return any(kind in self.figure.name for kind in BOUNDED)

    @property
    def is_flat(self) -> bool:
        """Whether it did not grow, but for what chance does."""
        most = max(SLACK[self.figure.unit], TWENTIETH * self.begin)
        return self.is_bounded or self.end - self.begin <= most


def main() -> None:
    """Run it, print what was seen, and exit with 1 where something grew."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--pace", type=float, default=30, help="times the speed of the demo")
    parser.add_argument("--every", type=float, default=5, help="seconds between two looks")
    args = parser.parse_args()
    watched = soak(args.minutes * 60, args.pace, args.every)
    verdicts = judged(watched)
    print("\n".join(table(verdicts)))
    grown = [each.figure.name for each in verdicts if not each.is_flat]
    print(f"grew: {', '.join(grown)}" if grown else "nothing grew")
    sys.exit(1 if grown else 0)


def judged(watched: Watched) -> list[Verdict]:
    """Judge each figure, by what was seen after the beginning that counts for nothing."""
    start = int(len(watched.times) * WARMING)
    times = watched.times[start:]
    return [
        _judge(figure, times, values[start:])
        for figure, values in sorted(watched.seen.items())
        if any(values[start:])
    ]


def _judge(figure: Figure, times: Sequence[float], values: Sequence[float]) -> Verdict:
    some = max(1, int(len(values) * FIFTH))
    half = len(values) // 2
    return Verdict(
        figure,
        median(values[:some]),
        median(values[-some:]),
        _slope(times, values),
        _slope(times[half:], values[half:]),
    )


def _slope(times: Sequence[float], values: Sequence[float]) -> float:
    # Of many looks some: the slopes of all pairs are too many for an hour.
    step = max(1, len(values) // 200)
    points = list(zip(times[::step], values[::step], strict=True))
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(points, 2) if b[0] > a[0]]
    return median(slopes) * 3_600 if slopes else 0.0


def table(verdicts: Sequence[Verdict]) -> list[str]:
    """Draw up what is printed."""
    lines = [f"{'':44}{'begin':>10}{'end':>10}{'an hour':>12}{'late':>10}"]
    for each in verdicts:
        word = "bounded" if each.is_bounded else "" if each.is_flat else "GREW"
        name = f"{each.figure.name}, {each.figure.unit}"
        figures = f"{each.begin:>10.1f}{each.end:>10.1f}{each.slope:>+12.1f}"
        figures += f"{each.late_slope:>+10.1f}"
        lines.append(f"{name:44}{figures}  {word}".rstrip())
    return lines


# -- What runs


def soak(seconds: float, pace: float, every: float) -> Watched:
    """Run everything for so long, and look at it; paces and seconds as in the help."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-")))
        server = stack.enter_context(EmbeddedServer())
        client = stack.enter_context(Client(server.url))
        client.config["jobs-history"] = KEPT_S
        client.config["jobs-history-count"] = 5_000
        web, port = stack.enter_context(_console(server.url, folder))
        watched = {"console": web}
        for kind, options in WORKERS.items():
            watched[f"worker, {kind}"] = stack.enter_context(_worker(server.url, kind, options))
        watched["server"] = int(str(client.redis.info("server")["process_id"]))
        stack.enter_context(_crew(server.url, pace))
        over = threading.Event()
        stack.enter_context(_thread(over, _put, server.url))
        stack.enter_context(_thread(over, _browse, port))
        for _ in range(STREAMS):
            stack.enter_context(_thread(over, _listen, port))
        return _watch(client, watched, seconds, every)


@contextlib.contextmanager
def _running(command: Sequence[str], **more: Any) -> Iterator[subprocess.Popen[str]]:  # noqa: ANN401 - as for Popen
    with subprocess.Popen(command, text=True, **more) as process:  # noqa: S603 - our own commands
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)


@contextlib.contextmanager
def _console(redis_url: str, folder: Path) -> Iterator[tuple[int, int]]:
    """Run a console; gives its process and its port."""
    command = [sys.executable, "-m", "qless_web", "-F", "--port", "0", "--redis-url", redis_url]
    command += ["--state-dir", str(folder)]
    with _running(command, stdout=subprocess.PIPE) as process:
        words = (word for line in process.stdout or () for word in line.split())
        port = urlsplit(next(word for word in words if word.startswith("http"))).port
        yield process.pid, port or 0


@contextlib.contextmanager
def _worker(redis_url: str, kind: str, options: Sequence[str]) -> Iterator[int]:
    """Run a worker; gives its process."""
    command = [sys.executable, "-m", "qless_core.worker_command", "--redis-url", redis_url]
    command += ["-q", f"soak-{kind}", "--name", kind, *options]
    with _running(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        yield process.pid


@contextlib.contextmanager
def _crew(redis_url: str, pace: float) -> Iterator[None]:
    """Let the shop's people work, in a process of their own."""
    spawning = multiprocessing.get_context("spawn")
    over = spawning.Event()
    crew = spawning.Process(target=work, args=(redis_url, pace, over), daemon=True)
    crew.start()
    try:
        yield
    finally:
        over.set()
        crew.join()


def work(redis_url: str, pace: float, over: Any) -> None:  # noqa: ANN401 - an event of processes
    """Furnish the shop, and work in it until it is over."""
    crew = Crew(redis_url, pace=pace)
    crew.furnish()
    crew.start()
    over.wait()
    crew.stop()


@contextlib.contextmanager
def _thread(over: threading.Event, act: Any, *told: Any) -> Iterator[None]:  # noqa: ANN401 - any function and what it takes
    """Do something again and again until it is over; what is gone comes back."""

    def run() -> None:
        while not over.is_set():
            with contextlib.suppress(QlessError, OSError, http.client.HTTPException):
                act(over, *told)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(5)


def _put(over: threading.Event, redis_url: str) -> None:
    """Give the real workers their jobs."""
    with Client(redis_url) as client:
        number = 0
        while not over.wait(1 / SOAKED):
            number += 1
            queue = client.queues[f"soak-{[*WORKERS][number % len(WORKERS)]}"]
            if number % SOAKED or len(queue) < 10 * SOAKED:
                queue.put("benchmarks.soak.Soaked", {"number": number}, retries=0)


def _browse(over: threading.Event, port: int) -> None:
    """Ask for one page after another."""
    for page in PAGES:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", page, headers={"Accept-Encoding": "gzip"})
        connection.getresponse().read()
        connection.close()
        over.wait(0.2)


def _listen(over: threading.Event, port: int) -> None:
    """Hold a live stream open for a hundred lines, then come again."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", "/events?topics=queues")
        answer = connection.getresponse()
        for _ in range(100):
            if over.is_set() or not answer.readline():
                break


# -- What is seen


def _watch(client: Client, watched: dict[str, int], seconds: float, every: float) -> Watched:
    """Look at everything, again and again."""
    looks, began = Watched(), clock.monotonic()
    while (now := clock.monotonic() - began) < seconds:
        found: dict[Figure, float] = {}
        for name, pid in watched.items():
            tree = family(pid)
            found[Figure(name, "MB")] = sum(map(resident, tree)) / 1e6
            if name != "server":
                found[Figure(name, "files")] = sum(map(files, tree))
        info: Any = client.redis.info("everything")
        found[Figure("server", "connections")] = info["connected_clients"]
        for kind, (keys, entries) in kinds_of(client).items():
            found[Figure(kind, "keys")] = keys
            found[Figure(kind, "entries")] = entries
        looks.note(now, found)
        if len(looks.times) % 12 == 1:
            done = info["total_commands_processed"]
            print(f"{now / 60:.1f} min: {done:,} commands in all", flush=True)
        clock.wait(max(0.0, every - (clock.monotonic() - began - now)))
    return looks


#: What stands for the names in a key, so that those of a kind are one.
_NAMES: Final = (
    (r"^j:.*?(-history|-dependencies|-dependents)?$", r"j:<jid>\1"),
    (r"^(r|cron|cron-runs|once|f|t|starts):.*$", r"\1:<name>"),
    (r"^q:.*-([a-z]+)$", r"q:<queue>-\1"),
    (r"^th:.*?(-locks|-pending)?$", r"th:<id>\1"),
    (r"^w:.*:(jobs|info|asked)$", r"w:<worker>:\1"),
    (r"^s:(stats|wait|run):.*$", r"s:\1:<day>:<queue>"),
    (r"^(nudge|lookout):.*$", r"\1:<name>"),
    (r"^host:.*:(workers|failures)$", r"host:<host>:\1"),
    (r"^web:minutes:(turn:)?\d+$", r"web:minutes:\1<hour>"),
    (r"^web:ops:.*$", r"web:ops"),
)  # fmt: skip

#: What says how much is in a key, by its type.
_SIZES: Final = {"hash": "HLEN", "list": "LLEN", "set": "SCARD", "zset": "ZCARD", "stream": "XLEN",
                 "string": "EXISTS"}  # fmt: skip


def kind_of(key: str, namespace: str) -> str:
    """Give the kind of a key.

    >>> kind_of("ql:q:mail-work", "ql:"), kind_of("ql:j:a1-history", "ql:"), kind_of("x", "ql:")
    ('q:<queue>-work', 'j:<jid>-history', 'x')
    """
    rest = key.removeprefix(namespace)
    for pattern, kind in _NAMES:
        if re.match(pattern, rest):
            return re.sub(pattern, kind, rest)
    return rest


def kinds_of(client: Client) -> dict[str, tuple[int, int]]:
    """Count keys of each kind, and what is in them; jobs are left out."""
    keys = [str(key) for key in client.redis.scan_iter(count=2_000)]
    keys = [key for key in keys if not kind_of(key, client.namespace).startswith(("j:", "once:"))]
    with client.redis.pipeline(transaction=False) as pipe:
        for key in keys:
            pipe.type(key)
        types = pipe.execute()
    there = [(key, kind) for key, kind in zip(keys, types, strict=True) if kind in _SIZES]
    with client.redis.pipeline(transaction=False) as pipe:
        for key, kind in there:
            pipe.execute_command(_SIZES[kind], key)  # type: ignore[no-untyped-call] # redis-py's own
        sizes = pipe.execute(raise_on_error=False)
    found: Counter[str] = Counter()
    entries: Counter[str] = Counter()
    for (key, _), size in zip(there, sizes, strict=True):
        kind = kind_of(key, client.namespace)
        found[kind] += 1
        entries[kind] += size if isinstance(size, int) else 0
    return {kind: (number, entries[kind]) for kind, number in found.items()}


if __name__ == "__main__":
    main()
