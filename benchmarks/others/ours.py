"""Ours, in each of its ways to run jobs."""

from __future__ import annotations

import os

from benchmarks.others.marks import mark
from qless_core import Client
from qless_core.worker.serial import SerialWorker

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


def work(how: str) -> None:
    """Work until told to stop."""
    {"serial": lambda: SerialWorker(client, "bench", interval=0.01)}[how]().run()
