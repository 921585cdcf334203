"""How many jobs a second are put one by one, pipelined and in bulk, and how long one call takes.

    .venv/bin/python -m benchmarks.bulk [--jobs 20000]

Runs on an embedded server of its own. The longest call is what everybody else waits for.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

from qless_core import Client
from qless_core.embedded import EmbeddedServer
from qless_core.new_job import NewJob

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: Data of a job, some 100 bytes of JSON.
DATA = {"to": "ada@example.org", "subject": "Your order has left our house", "order": 1234567}
#: Jobs in a call, tried one after another.
SIZES = (1, 10, 50, 100, 250, 500, 1000)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=20_000, help="how many (%(default)s)")
    count = parser.parse_args().jobs
    with EmbeddedServer() as server, Client(server.url, worker_name="bench") as client:
        print(f"{'how':28}{'jobs/s':>10}{'longest call, ms':>20}")
        for options in ({}, {"tags": ["a", "b"], "priority": 5}):
            rows = [NewJob("app.Mail", DATA, **options).ready().row() for _ in range(count)]
            what = "with tags" if options else "plain"
            report(client, f"one by one, {what}", rows, 1, singly(client))
            report(client, f"100 pipelined, {what}", rows, 100, pipelined(client))
            for size in SIZES:
                report(client, f"{size} a call, {what}", rows, size, in_bulk(client))
        for size in SIZES:
            finish(client, size, count)


def report(
    client: Client,
    what: str,
    rows: Sequence[list[str | float]],
    size: int,
    put: Callable[[Sequence[list[str | float]]], object],
) -> None:
    """Put jobs, so many at a time, and print how it went."""
    client.redis.flushdb()
    client.queues["q"].put("app.Mail", DATA)
    longest = 0.0
    begin = time.perf_counter()
    for start in range(0, len(rows), size):
        before = time.perf_counter()
        put(rows[start : start + size])
        longest = max(longest, time.perf_counter() - before)
    took = time.perf_counter() - begin
    print(f"{what:28}{len(rows) / took:>10.0f}{longest * 1000:>20.1f}")


def singly(client: Client) -> Callable[[Sequence[list[str | float]]], object]:
    """Put each job with a call of its own."""

    def put(rows: Sequence[list[str | float]]) -> None:
        for row in rows:
            client.commands._call("put", "bench", "q", *row)  # noqa: SLF001 - as `put` does

    return put


def pipelined(client: Client) -> Callable[[Sequence[list[str | float]]], object]:
    """Put each job with a call of its own, many calls in one round trip."""
    runner = client._runner  # noqa: SLF001 - nobody else pipelines
    sha = client.redis.script_load(runner.script.source)

    def put(rows: Sequence[list[str | float]]) -> None:
        with client.redis.pipeline(transaction=False) as pipe:
            for row in rows:
                pipe.evalsha(sha, 0, "put", "auto", "bench", "q", *row)
            pipe.execute()

    return put


def in_bulk(client: Client) -> Callable[[Sequence[list[str | float]]], object]:
    """Put all jobs with one call."""
    return lambda rows: client.commands.bulk_put("bench", "q", 0, rows)


def finish(client: Client, size: int, count: int) -> None:
    """Pop and finish jobs, so many at a time, and print how it went."""
    client.redis.flushdb()
    queue = client.queues["q"]
    queue.put_many(("app.Mail", DATA) for _ in range(count))
    jobs = [job for _ in range(0, count, size) for job in queue.pop(size)]
    longest = 0.0
    begin = time.perf_counter()
    for start in range(0, count, size):
        triples = [(job.jid, "q", job.raw_data) for job in jobs[start : start + size]]
        before = time.perf_counter()
        client.commands.bulk_complete("bench", triples)
        longest = max(longest, time.perf_counter() - before)
    took = time.perf_counter() - begin
    print(f"{f'complete, {size} a call':28}{count / took:>10.0f}{longest * 1000:>20.1f}")


if __name__ == "__main__":
    main()
