"""RQ: its default worker forks for each job, its SimpleWorker does not."""

from __future__ import annotations

import os

from redis import Redis
from rq import Queue

from benchmarks.others.marks import mark

queue = Queue("bench", connection=Redis.from_url(os.environ["REDIS_URL"]))


def job() -> None:
    """Do nothing."""
    mark()


def put() -> None:
    """Put a job."""
    queue.enqueue(job)
