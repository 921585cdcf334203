"""ARQ, up to 10 jobs at once as it does by itself."""

from __future__ import annotations

import os
from typing import ClassVar

from arq import create_pool
from arq.connections import ArqRedis, RedisSettings

from benchmarks.others.marks import mark

settings = RedisSettings.from_dsn(os.environ["REDIS_URL"])


async def job(_: object) -> None:
    """Do nothing."""
    mark()


class WorkerSettings:
    """What its command wants to know."""

    functions: ClassVar = [job]
    redis_settings = settings


class Pool:
    """The connection to put jobs with, once there is one."""

    pool: ArqRedis | None = None


async def put() -> None:
    """Put a job."""
    if Pool.pool is None:
        Pool.pool = await create_pool(settings)
    await Pool.pool.enqueue_job("job")
