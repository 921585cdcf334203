"""qless for Python: a job queue whose rules run inside Redis."""

from __future__ import annotations

from qless_core.client import Client, connect
from qless_core.clock import Clock
from qless_core.errors import (
    AcrossShards,
    ArchiveMoved,
    BadArgument,
    ClusterNeedsTag,
    ForeignData,
    HasDependents,
    JobError,
    JobNotFound,
    JobNotRunning,
    LockLost,
    MalformedData,
    MissingDependencies,
    NotPermitted,
    NotWaitingOnDependencies,
    OutcomeUnknown,
    PrimaryMoved,
    QlessError,
    RecurringJobNotFound,
    RedisBusy,
    RedisFull,
    RedisLoading,
    RedisReadOnly,
    RedisUnavailable,
    ScriptFault,
    UnknownCommand,
    WorkerNotFound,
    WritesRefused,
)
from qless_core.job import Job, State
from qless_core.job_class import CannotPerform
from qless_core.queue import Queue
from qless_core.recurring import RecurringJob
from qless_core.shards import ShardedClient
from qless_core.version import __version__
from qless_core.worker.forking import ForkingWorker
from qless_core.worker.greenlets import GreenletWorker
from qless_core.worker.serial import SerialWorker
from qless_core.worker.sharded import ShardedWorker
from qless_core.worker.threads import ThreadWorker

__all__ = [  # noqa: RUF022 - grouped by what they are for
    # Talking to a queue
    "connect",
    "Client",
    "ShardedClient",
    "Clock",
    "Queue",
    "Job",
    "RecurringJob",
    "State",
    # Working
    "ForkingWorker",
    "GreenletWorker",
    "SerialWorker",
    "ShardedWorker",
    "ThreadWorker",
    # What can go wrong
    "QlessError",
    "AcrossShards",
    "ArchiveMoved",
    "BadArgument",
    "CannotPerform",
    "ForeignData",
    "HasDependents",
    "JobError",
    "JobNotFound",
    "JobNotRunning",
    "LockLost",
    "MalformedData",
    "MissingDependencies",
    "NotWaitingOnDependencies",
    "RecurringJobNotFound",
    "WorkerNotFound",
    "RedisUnavailable",
    "OutcomeUnknown",
    "ClusterNeedsTag",
    "NotPermitted",
    "PrimaryMoved",
    "RedisBusy",
    "RedisFull",
    "RedisLoading",
    "RedisReadOnly",
    "WritesRefused",
    "ScriptFault",
    "UnknownCommand",
    # Which version this is
    "__version__",
]
