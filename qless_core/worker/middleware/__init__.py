"""What goes around jobs: callables that take the job and answer a context manager.

A worker takes a list of them, `middleware=[…]`, a job class has its own as an attribute; the first
is the outermost. `docs/how-to/write-a-middleware.md` tells how to write one.
"""

from __future__ import annotations

from qless_core.worker.heartbeat import keep
from qless_core.worker.interrupt import Interruption, JobTaken, WorkerStopping
from qless_core.worker.logs import JobFilter, current_job
from qless_core.worker.middleware.after_fork import AfterFork
from qless_core.worker.middleware.memory_limit import MemoryExceeded, MemoryLimit
from qless_core.worker.middleware.progress import Progress
from qless_core.worker.middleware.requeue import RequeueOn
from qless_core.worker.middleware.retry import RetryOn
from qless_core.worker.middleware.sentry import Sentry
from qless_core.worker.middleware.timeout import JobTimeout, Timeout
from qless_core.worker.settling import Requeue, TryAgain

__all__ = [
    "AfterFork",
    "Interruption",
    "JobFilter",
    "JobTaken",
    "JobTimeout",
    "MemoryExceeded",
    "MemoryLimit",
    "Progress",
    "Requeue",
    "RequeueOn",
    "RetryOn",
    "Sentry",
    "Timeout",
    "TryAgain",
    "WorkerStopping",
    "current_job",
    "keep",
]
