"""A plain loop of BRPOP: what no queue can beat by much, and what loses a job with its worker."""

from __future__ import annotations

import os

from redis import Redis

from benchmarks.others.marks import mark

redis = Redis.from_url(os.environ["REDIS_URL"], socket_timeout=None)


def put() -> None:
    """Put a job."""
    redis.lpush("plain", "job")


def work() -> None:
    """Work for ever."""
    while True:
        redis.brpop(["plain"], timeout=0)
        mark()
