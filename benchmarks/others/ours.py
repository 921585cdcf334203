"""Ours, in each of its ways to run jobs."""

from __future__ import annotations

import os

from benchmarks.others.marks import mark
from qless_core import Client
from qless_core.job_class import find

#: Jobs taken ahead.
PREFETCH = 100

client = Client(os.environ["REDIS_URL"])


class Job:
    """Does nothing."""

    @staticmethod
    def process(_: object) -> None:
        """Do nothing."""
        mark()


def put() -> None:
    """Put a job."""
    client.queues["bench"].put("benchmarks.others.ours.Job", {})


#: What each way is called, and how it is made; each only when it is asked for.
WAYS: dict[str, tuple[str, dict[str, int]]] = {
    "serial": ("serial.SerialWorker", {}),
    "prefetch": ("serial.SerialWorker", {"prefetch": PREFETCH}),
    "forking": ("forking.ForkingWorker", {}),
    "fresh": ("forking.ForkingWorker", {"jobs_per_child": 1}),
    "threads": ("threads.ThreadWorker", {"concurrency": 8}),
}


def work(how: str) -> None:
    """Work until told to stop."""
    kind, options = WAYS[how]
    find(f"qless_core.worker.{kind}")(client, "bench", **options).run()
