"""What pages read: plain pipelined commands, never the script, and nothing is ever written.

They run for a user who may only read and on a replica, and block nobody. Each read is declared
with `@read` and run by `run()`, which gives any number of them in the round trips of the longest.
"""

from __future__ import annotations

from qless_core.reads.config import settings
from qless_core.reads.everywhere import Everywhere, recurring, scheduled
from qless_core.reads.failures import failure_counts, failure_groups, failure_jobs
from qless_core.reads.frame import frame
from qless_core.reads.gauges import gauges
from qless_core.reads.job import anything, data, failure_message, job, job_row
from qless_core.reads.kept import Keeping, Kept, Kind
from qless_core.reads.lists import completed, tagged, tags, tracked, tracked_states
from qless_core.reads.marks import (
    Mark,
    completed_mark,
    config_mark,
    failures_mark,
    group_mark,
    job_mark,
    queue_mark,
    queues_mark,
    rail_mark,
    tag_mark,
    tags_mark,
    tracked_mark,
    worker_mark,
    workers_mark,
)
from qless_core.reads.names import similar
from qless_core.reads.original import Original, original
from qless_core.reads.overview import overview
from qless_core.reads.plan import Plan, Read, Scope, Slice, read, run
from qless_core.reads.queues import queue, queue_counts, queue_jobs, queue_names
from qless_core.reads.relatives import relatives
from qless_core.reads.replication import Position, position
from qless_core.reads.rows import JobRow, Listing, RecurringRow
from qless_core.reads.runs import Run, runs
from qless_core.reads.server import ServerFacts, server
from qless_core.reads.workers import worker, workers

__all__ = [
    "Everywhere",
    "JobRow",
    "Keeping",
    "Kept",
    "Kind",
    "Listing",
    "Mark",
    "Original",
    "Plan",
    "Position",
    "Read",
    "RecurringRow",
    "Run",
    "Scope",
    "ServerFacts",
    "Slice",
    "anything",
    "completed",
    "completed_mark",
    "config_mark",
    "data",
    "failure_counts",
    "failure_groups",
    "failure_jobs",
    "failure_message",
    "failures_mark",
    "frame",
    "gauges",
    "group_mark",
    "job",
    "job_mark",
    "job_row",
    "original",
    "overview",
    "position",
    "queue",
    "queue_counts",
    "queue_jobs",
    "queue_mark",
    "queue_names",
    "queues_mark",
    "rail_mark",
    "read",
    "recurring",
    "relatives",
    "run",
    "runs",
    "scheduled",
    "server",
    "settings",
    "similar",
    "tag_mark",
    "tagged",
    "tags",
    "tags_mark",
    "tracked",
    "tracked_mark",
    "tracked_states",
    "worker",
    "worker_mark",
    "workers",
    "workers_mark",
]
