"""qless for Python: a job queue whose rules run inside Redis.

What it has is imported when it is first asked for: a command answers at once, and a process that
only puts jobs loads no worker.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from qless_core.version import __version__

if TYPE_CHECKING:
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
    from qless_core.worker.forking import ForkingWorker
    from qless_core.worker.greenlets import GreenletWorker
    from qless_core.worker.interrupt import Interruption, JobTaken, WorkerStopping
    from qless_core.worker.serial import SerialWorker
    from qless_core.worker.settling import Requeue, TryAgain
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
    # What a job raises to say what becomes of it, and what is raised in it to stop it
    "TryAgain",
    "Requeue",
    "Interruption",
    "WorkerStopping",
    "JobTaken",
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

#: The module that each name is of, where that is not `errors`.
_PLACES: Final = {
    name: f"qless_core.{module}"
    for module, names in {
        "client": "Client connect",
        "clock": "Clock",
        "job": "Job State",
        "job_class": "CannotPerform",
        "queue": "Queue",
        "recurring": "RecurringJob",
        "shards": "ShardedClient",
        "worker.forking": "ForkingWorker",
        "worker.greenlets": "GreenletWorker",
        "worker.interrupt": "Interruption JobTaken WorkerStopping",
        "worker.serial": "SerialWorker",
        "worker.settling": "Requeue TryAgain",
        "worker.sharded": "ShardedWorker",
        "worker.threads": "ThreadWorker",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever it has; type checkers read above
    """Import what is asked for.

    Raises:
        AttributeError: there is no such thing.

    """
    if name not in __all__:
        problem = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(problem)
    found = getattr(importlib.import_module(_PLACES.get(name, "qless_core.errors")), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List what it has, imported or not."""
    return sorted({*globals(), *__all__})
