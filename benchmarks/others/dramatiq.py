"""dramatiq, one process with its 8 threads."""

from __future__ import annotations

import os

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from benchmarks.others.marks import mark

dramatiq.set_broker(RedisBroker(url=os.environ["REDIS_URL"]))


@dramatiq.actor
def job() -> None:
    """Do nothing."""
    mark()


def put() -> None:
    """Put a job."""
    job.send()
