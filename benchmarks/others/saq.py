"""SAQ, up to 10 jobs at once as it does by itself."""

from __future__ import annotations

import os

from saq import Queue

from benchmarks.others.marks import mark

queue = Queue.from_url(os.environ["REDIS_URL"], name="bench")


async def job(_: object) -> None:
    """Do nothing."""
    mark()


settings = {"queue": queue, "functions": [job]}


async def put() -> None:
    """Put a job."""
    await queue.enqueue("job")
