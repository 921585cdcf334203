"""What the index costs, and how quick searches are: fill rate, load on Redis, bytes, latencies.

    .venv/bin/python -m benchmarks.dataset --redis-url redis://localhost:6379/9
    .venv/bin/python -m benchmarks.index --redis-url redis://localhost:6379/9

Fills an index from empty, for a while at the default rate and once without a bound, and tells
beside it how long one core worked for that: on a machine that does other things, too, that is what
counts. Then it compares the clusters of each group with those that the data set has, and asks the
queries of benchmarks/queries.txt, several times each, as a page does.

The goals on data set L: 8,000 jobs a second of one core, Redis under 25 % busy at the default rate,
600 bytes of index a job beside its texts, and 300 ms for 95 of 100 answers.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from benchmarks.dataset import PATTERNS
from qless_core.client import Client
from qless_core.clock import Clock
from qless_web.triage.index import Index
from qless_web.triage.query import parse
from qless_web.triage.searching import Search
from qless_web.triage.writer import Keeping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PATTERNS = """
SELECT n.name, count(*) FROM jobs j JOIN names n ON n.id = j.grp
WHERE j.grp IS NOT NULL GROUP BY j.grp, j.pattern
"""

QUERIES = Path(__file__).with_name("queries.txt")

#: Jobs a second of the default, and seconds for which that is watched.
DEFAULT_RATE, WATCHED_S = 4_000, 20.0


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--redis-url", required=True)
    parser.add_argument("--namespace", default="ql:")
    parser.add_argument("--folder", type=Path, help="keep the index here; else it is thrown away")
    parser.add_argument("--rounds", type=int, default=5, help="how often each query is asked")
    args = parser.parse_args()
    with (
        Client(args.redis_url, namespace=args.namespace) as client,
        tempfile.TemporaryDirectory(prefix="index-") as folder,
    ):
        watched = Index(Path(folder, "watched"))
        print(
            f"at the default rate: {filled(client, watched, DEFAULT_RATE, WATCHED_S)}", flush=True
        )
        index = Index(args.folder or Path(folder, "filled"))
        if index.path is None:
            print(f"without a bound: {filled(client, index, 0)}", flush=True)
        print(size(index), flush=True)
        print(alike(index, client.failures.groups), flush=True)
        print("\n".join(asked(index, args.rounds)))


def filled(client: Client, index: Index, rate: int, seconds: float = float("inf")) -> str:
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
    return (
        f"{jobs:,} jobs in {took:.0f} s, {jobs / took:,.0f} a second; {jobs / worked:,.0f} "
        f"a second of one core; Redis {busy / took:.1%} busy"
    )


def _busy(client: Client) -> float:
    """Give the seconds for which the processor worked for Redis."""
    found: dict[str, Any] = client.redis.info("cpu")
    return float(found["used_cpu_sys"]) + float(found["used_cpu_user"])


def size(index: Index) -> str:
    """Say how large the index is."""
    with index.reading() as connection:
        (jobs,) = connection.execute("SELECT count(*) FROM jobs").fetchone()
        (texts,) = connection.execute(
            "SELECT sum(length(CAST(message AS BLOB)) + length(CAST(data AS BLOB))) FROM texts"
        ).fetchone()
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        (page,) = connection.execute("PRAGMA page_size").fetchone()
    whole = pages * page
    return (
        f"{whole / jobs:,.0f} bytes a job, {(whole - texts) / jobs:,.0f} beside the texts; "
        f"{whole / 1e6:,.0f} MB"
    )


def alike(index: Index, groups: Mapping[str, int]) -> str:
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
    return f"{right} of {len(groups)} groups have their {PATTERNS} clusters, counts to the job"


def asked(index: Index, rounds: int) -> list[str]:
    """Ask all queries, so many times, and say how long that took."""
    lines = QUERIES.read_text().splitlines()
    queries = [line for line in lines if line.strip() and not line.startswith("#")]
    took: list[tuple[float, float, str]] = []
    kinds: Counter[str] = Counter()
    clock = Clock()
    for _ in range(rounds):
        for query in queries:
            with index.reading() as connection:
                began, worked = clock.monotonic(), time.thread_time()
                found = Search(connection, parse(query), _as_of(connection)).page(0, 25)
                took.append((clock.monotonic() - began, time.thread_time() - worked, query))
            kinds["cut short" if not found.is_whole else found.certainty] += 1
    slowest = sorted(took, reverse=True)[:rounds]
    return [
        f"{len(queries)} queries, {rounds} times each: {_shares([each[0] for each in took])}",
        f"of one core: {_shares([each[1] for each in took])}",
        ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()),
        *(
            f"slow: {seconds * 1e3:.0f} ms ({work * 1e3:.0f}) {query}"
            for seconds, work, query in slowest
        ),
    ]


def _as_of(connection: Any) -> float:  # noqa: ANN401 - SQLite's
    (found,) = connection.execute("SELECT value FROM meta WHERE name = 'as_of'").fetchone()
    return float(found)


def _shares(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    return ", ".join(
        f"p{share} {ordered[min(len(ordered) - 1, len(ordered) * share // 100)] * 1e3:.0f} ms"
        for share in (50, 95, 99)
    )


if __name__ == "__main__":
    main()
