"""taskiq with its broker of a Redis list, up to 100 jobs at once as it does by itself."""

from __future__ import annotations

import os

from taskiq_redis import ListQueueBroker

from benchmarks.others.marks import mark

broker = ListQueueBroker(os.environ["REDIS_URL"])


@broker.task
async def job() -> None:
    """Do nothing."""
    mark()


async def put() -> None:
    """Put a job."""
    await job.kiq()
