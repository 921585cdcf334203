"""Huey, with one thread."""

from __future__ import annotations

import os

from huey import RedisHuey

from benchmarks.others.marks import mark

huey = RedisHuey("bench", url=os.environ["REDIS_URL"])


@huey.task()
def job() -> None:
    """Do nothing."""
    mark()


def put() -> None:
    """Put a job."""
    job()
