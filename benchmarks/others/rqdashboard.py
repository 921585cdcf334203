"""RQ with jobs for its dashboard to show: as many that wait as have failed, in one queue.

python -m benchmarks.others.rqdashboard URL JOBS    fills it, and prints the id of a failed job
"""

from __future__ import annotations

import sys

from redis import Redis
from rq import Queue
from rq.job import Job, JobStatus
from rq.registry import FailedJobRegistry

#: Jobs of a pipeline.
AT_ONCE = 1_000

MESSAGE = "cannot lock session 4711 at orders.example:3812: no answer within 30 s"


def arguments(number: int) -> dict[str, object]:
    """Give what a job is called with: as much as a job of ours has as its data."""
    return {"user_id": number, "region": "eu", "amount": number % 500, "version": "2026.11.2"}


def fill(url: str, jobs: int) -> str:
    """Put so many jobs that wait, and so many that have failed; gives one of those."""
    connection = Redis.from_url(url)
    queue = Queue("bench", connection=connection)
    failed = FailedJobRegistry("bench", connection=connection)
    last = ""
    for start in range(0, jobs, AT_ONCE):
        numbers = range(start, min(jobs, start + AT_ONCE))
        queue.enqueue_many(
            [Queue.prepare_data("shop.Charge", kwargs=arguments(each)) for each in numbers]
        )
        with connection.pipeline() as pipe:
            for each in numbers:
                job = Job.create(
                    "shop.Charge",
                    kwargs=arguments(each),
                    connection=connection,
                    origin="bench",
                    status=JobStatus.FAILED,
                )
                job.save(pipeline=pipe)
                failed.add(job, ttl=-1, exc_string=MESSAGE, pipeline=pipe)
                last = job.id
            pipe.execute()
    return last


if __name__ == "__main__":
    print(fill(sys.argv[1], int(sys.argv[2])))
