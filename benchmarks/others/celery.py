"""Celery, with one child or in the one process, and no results kept."""

from __future__ import annotations

import os

from celery import Celery

from benchmarks.others.marks import mark

app = Celery("bench", broker=os.environ["REDIS_URL"])


@app.task
def job() -> None:
    """Do nothing."""
    mark()


def put() -> None:
    """Put a job."""
    job.delay()
