"""BullMQ for Python, up to so many jobs at once as told."""

from __future__ import annotations

import asyncio
import os

from bullmq import Queue, Worker

from benchmarks.others.marks import mark

URL = os.environ["REDIS_URL"]


class Puts:
    """The queue to put jobs into, once there is one."""

    queue: Queue | None = None


async def job(_job: object, _token: str) -> None:
    """Do nothing."""
    mark()


async def put() -> None:
    """Put a job."""
    if Puts.queue is None:
        Puts.queue = Queue("bench", {"connection": URL})
    await Puts.queue.add("job", {}, {})


def work(concurrency: str) -> None:
    """Work for ever."""
    asyncio.run(_work(int(concurrency)))


async def _work(concurrency: int) -> None:
    worker = Worker("bench", job, {"connection": URL, "concurrency": concurrency})
    try:
        await asyncio.Event().wait()
    finally:
        await worker.close()
