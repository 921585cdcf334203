"""What the index costs, and how quick searches are: fill rate, load on Redis, bytes, latencies.

    .venv/bin/python -m benchmarks.dataset --redis-url redis://localhost:6379/9
    .venv/bin/python -m benchmarks.index --redis-url redis://localhost:6379/9

Fills an index from empty, for a while at the default rate and once without a bound, and tells
beside it how long one core worked for that: on a machine that does other things, too, that is what
counts. Meanwhile a job fails every few seconds: how long until a search finds it? Then it compares
the clusters of each group with those that the data set has, asks the queries of
benchmarks/queries.txt, several times each, as a page does, and asks for the inbox.

The goals are those on data set L; each is told with whether it holds. What is measured in seconds
of the clock holds on a quiet machine alone.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple

from werkzeug.test import Client as Browser

from benchmarks.dataset import PATTERNS
from qless_core.client import Client
from qless_core.clock import Clock
from qless_web import create_app
from qless_web.process.compiled import compile_first_page, keep_start
from qless_web.triage.index import Index, NoIndex
from qless_web.triage.query import parse
from qless_web.triage.searching import EXACT, Search
from qless_web.triage.writer import Keeping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_PATTERNS = """
SELECT n.name, count(*) FROM jobs j JOIN names n ON n.id = j.grp
WHERE j.grp IS NOT NULL GROUP BY j.grp, j.pattern
"""

QUERIES = Path(__file__).with_name("queries.txt")

#: The goals: jobs a second of one core, how busy Redis may be at the default rate, seconds until a
#: failure is found, bytes a job beside its texts, milliseconds of an answer and of the inbox.
RATE, BUSY, FOUND_S, BYTES, ANSWER_MS, INBOX_MS = 8_000, 0.25, 2.0, 600, 300, 100

#: Where jobs fail meanwhile, seconds between two of them, and between two looks for one.
NEW, FAIL_EACH_S, LOOK_EACH_S = "benchmark-new", 10.0, 0.1
#: How often the inbox is asked for, and the round trips that it may take.
INBOX_ASKED, TRIPS = 20, 3

#: Jobs a second of the default, and seconds for which that is watched.
DEFAULT_RATE, WATCHED_S = 4_000, 20.0


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--redis-url", required=True)
    parser.add_argument("--namespace", default="ql:")
    parser.add_argument(
        "--folder", type=Path, help="keep the index in this state folder; else it is thrown away"
    )
    parser.add_argument("--rounds", type=int, default=5, help="how often each query is asked")
    args = parser.parse_args()
    with (
        Client(args.redis_url, namespace=args.namespace) as client,
        tempfile.TemporaryDirectory(prefix="index-") as folder,
    ):
        kept = args.folder or Path(folder, "kept")
        watched = Index(Path(folder, "watched"))
        slow = filled(client, watched, DEFAULT_RATE, WATCHED_S)
        print(f"at the default rate: {slow}", flush=True)
        print(_goal(f"Redis under {BUSY:.0%} busy at the default rate", slow.busy < BUSY))
        index = Index.of(kept, client.safe_url, client.namespace)
        if index.path is None:
            with failing(client, index) as waited:
                quick = filled(client, index, 0)
            print(f"without a bound: {quick}", flush=True)
            print(_goal(f"{RATE:,} jobs a second of one core", quick.rate_of_core >= RATE))
            print(f"new failures were found after {_told(waited)}")
            print(
                _goal(
                    f"a new failure is found in {FOUND_S:.0f} s", max(waited, default=9) <= FOUND_S
                )
            )
        for line in (
            *size(index),
            *alike(index, client.failures.groups),
            *asked(index, args.rounds),
        ):
            print(line, flush=True)
        for line in inbox(client, kept):
            print(line, flush=True)


def _goal(text: str, holds: bool) -> str:  # noqa: FBT001 - said beside the text
    return f"    {'holds ' if holds else 'MISSED'}  {text}"


def _told(seconds: Sequence[float]) -> str:
    return ", ".join(f"{each:.1f} s" for each in seconds) or "no time: there were none"


class Filled(NamedTuple):
    """What it took to fill an index: jobs, seconds, seconds of work, and how busy Redis was."""

    jobs: int
    took: float
    worked: float
    busy: float

    @property
    def rate_of_core(self) -> float:
        """Jobs a second of one core."""
        return self.jobs / self.worked

    def __str__(self) -> str:
        return (
            f"{self.jobs:,} jobs in {self.took:.0f} s, {self.jobs / self.took:,.0f} a second; "
            f"{self.rate_of_core:,.0f} a second of one core; Redis {self.busy:.1%} busy"
        )


@contextmanager
def failing(client: Client, index: Index) -> Iterator[list[float]]:
    """Have a job fail every few seconds; gives after how many seconds each was found."""
    waited: list[float] = []
    end = Event()
    thread = Thread(target=_fail, args=(client, index, waited, end), daemon=True)
    thread.start()
    try:
        yield waited
    finally:
        end.set()
        thread.join()


def _fail(client: Client, index: Index, waited: list[float], end: Event) -> None:
    clock = Clock()
    commands = client.commands
    while not end.wait(FAIL_EACH_S):
        jid = client.queues[NEW].put("bench.New", {})
        commands.pop(NEW, NEW, 1)
        commands.fail(jid, NEW, NEW, "this failed just now")
        began = clock.monotonic()
        while not (is_there := _finds(index, jid)) and not end.wait(LOOK_EACH_S):
            pass
        if is_there:
            waited.append(clock.monotonic() - began)
        commands.cancel(jid)


def _finds(index: Index, jid: str) -> bool:
    try:
        with index.reading() as connection:
            wanted = parse(f'jid:{jid} state:failed "just now"')
            return Search(connection, wanted, Clock().now()).page(0, 1).total == 1
    except (NoIndex, sqlite3.Error):
        return False


def filled(client: Client, index: Index, rate: int, seconds: float = float("inf")) -> Filled:
    """Fill an index, for so long at most, and say what that took."""
    index.folder.mkdir(parents=True)
    connection, _ = index.open()
    keeping = Keeping(client, connection, rate)
    clock = Clock()
    began, worked, busy = clock.monotonic(), time.process_time(), _busy(client)
    keeping.run(lambda: keeping.is_up_to_date or clock.monotonic() - began > seconds, Event())
    took, worked, busy = (
        clock.monotonic() - began,
        time.process_time() - worked,
        _busy(client) - busy,
    )
    keeping.note()
    keeping.close()
    (jobs,) = connection.execute("SELECT count(*) FROM jobs").fetchone()
    connection.close()
    return Filled(jobs, took, worked, busy / took)


def _busy(client: Client) -> float:
    """Give the seconds for which the processor worked for Redis."""
    found: dict[str, Any] = client.redis.info("cpu")
    return float(found["used_cpu_sys"]) + float(found["used_cpu_user"])


def size(index: Index) -> list[str]:
    """Say how large the index is."""
    with index.reading() as connection:
        (jobs,) = connection.execute("SELECT count(*) FROM jobs").fetchone()
        (texts,) = connection.execute(
            "SELECT sum(length(CAST(message AS BLOB)) + length(CAST(data AS BLOB))) FROM texts"
        ).fetchone()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (page,) = connection.execute("PRAGMA page_size").fetchone()
    whole = pages * page
    beside = (whole - texts) / jobs
    return [
        f"{whole / jobs:,.0f} bytes a job, {beside:,.0f} beside the texts; {whole / 1e6:,.0f} MB",
        _goal(f"at most {BYTES} bytes a job beside its texts", beside <= BYTES),
    ]


def alike(index: Index, groups: Mapping[str, int]) -> list[str]:
    """Say whether the index has the groups, with the patterns and the counts that were made.

    Args:
        index: of data set L.
        groups: jobs of each group, as Redis counts them.

    """
    found: dict[str, list[int]] = {}
    with index.reading() as connection:
        for group, count in connection.execute(_PATTERNS):
            found.setdefault(group, []).append(count)
    right = sum(
        sorted(found.get(group, ()))
        == sorted(len(range(at, jobs, PATTERNS)) for at in range(PATTERNS))
        for group, jobs in groups.items()
    )
    return [
        f"{right} of {len(groups)} groups have their {PATTERNS} clusters, counts to the job",
        _goal("all groups have their clusters", right == len(groups)),
    ]


def asked(index: Index, rounds: int) -> list[str]:
    """Ask all queries, so many times, and say how long that took."""
    lines = QUERIES.read_text().splitlines()
    queries = [line for line in lines if line.strip() and not line.startswith("#")]
    took: list[tuple[float, float, str]] = []
    kinds: Counter[str] = Counter()
    uncounted: Counter[str] = Counter()
    clock = Clock()
    for _ in range(rounds):
        for query in queries:
            with index.reading() as connection:
                began, worked = clock.monotonic(), time.thread_time()
                found = Search(connection, parse(query), _as_of(connection)).page(0, 25)
                took.append((clock.monotonic() - began, time.thread_time() - worked, query))
            kinds["cut short" if not found.is_whole else found.certainty] += 1
            is_exact = found.certainty == "exact" and found.sampled == found.total
            uncounted[query] += found.total <= EXACT and not is_exact
    slowest = sorted(took, reverse=True)[:rounds]
    return [
        f"{len(queries)} queries, {rounds} times each: {_shares([each[0] for each in took])}",
        f"of one core: {_shares([each[1] for each in took])}",
        ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()),
        _goal(
            f"95 of 100 answers within {ANSWER_MS} ms",
            _share([each[0] for each in took], 95) * 1e3 < ANSWER_MS,
        ),
        _goal("the same of one core", _share([each[1] for each in took], 95) * 1e3 < ANSWER_MS),
        _goal(f"facets exact up to {EXACT:,} matches", not uncounted.total()),
        *(
            f"no time to count: {query}, {count} times"
            for query, count in uncounted.items()
            if count
        ),
        *(
            f"slow: {seconds * 1e3:.0f} ms ({work * 1e3:.0f}) {query}"
            for seconds, work, query in slowest
        ),
    ]


def _as_of(connection: Any) -> float:  # noqa: ANN401 - SQLite's
    (found,) = connection.execute("SELECT value FROM meta WHERE name = 'as_of'").fetchone()
    return float(found)


def _shares(seconds: Sequence[float]) -> str:
    return ", ".join(f"p{share} {_share(seconds, share) * 1e3:.0f} ms" for share in (50, 95, 99))


def _share(seconds: Sequence[float], share: int) -> float:
    """Give the seconds within which so many of a hundred are."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, len(ordered) * share // 100)]


def inbox(client: Client, state_dir: Path) -> list[str]:
    """Ask for the inbox, and say how long its first byte took, and how many round trips."""
    app = create_app(client, state_dir=str(state_dir), index_rate=0, allow_anonymous=True)
    # As it is served.
    compile_first_page(app)
    keep_start()
    web = Browser(app)
    clock = Clock()
    took: list[tuple[float, float]] = []
    with _counted(client) as trips:
        for _ in range(INBOX_ASKED + 1):
            trips.append(0)
            began, worked = clock.monotonic(), time.process_time()
            answer = web.get("/failed")
            next(iter(answer.response))
            took.append((clock.monotonic() - began, time.process_time() - worked))
            if answer.status_code != HTTPStatus.OK:
                return [f"the inbox answered {answer.status}"]
    # What the first one asks for once is no part of it.
    del took[0], trips[0]
    return [
        f"the inbox {INBOX_ASKED} times: {_shares([each[0] for each in took])}",
        f"of one core: {_shares([each[1] for each in took])}; {max(trips)} round trips",
        _goal(
            f"first byte within {INBOX_MS} ms",
            _share([each[0] for each in took], 95) * 1e3 < INBOX_MS,
        ),
        _goal("the same of one core", _share([each[1] for each in took], 95) * 1e3 < INBOX_MS),
        _goal("3 round trips", max(trips) <= TRIPS),
    ]


@contextmanager
def _counted(client: Client) -> Iterator[list[int]]:
    """Count round trips, into the last number of the list that is given."""
    trips: list[int] = []
    pipeline: Any = type(client.redis.pipeline())
    execute = pipeline.execute

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as redis-py has it
        trips[-1] += 1
        return execute(self, *args, **kwargs)

    pipeline.execute = counted
    try:
        yield trips
    finally:
        pipeline.execute = execute


if __name__ == "__main__":
    main()
