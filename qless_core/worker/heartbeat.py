"""Keeps the locks of long jobs, in the background, for those who ask for it.

A job class asks by `heartbeats = True`, a worker by the option of that name; a job may for a part
of its work by `with keep(job): …`.
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from qless_core.errors import JobError, QlessError, RedisUnavailable
from qless_core.worker.interrupt import JobTaken, interrupt
from qless_core.worker.timetable import Timetable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from qless_core.job import Job
    from qless_core.worker.timetable import Entry

log = logging.getLogger("qless.worker")

#: Seconds that a job runs before its lock is looked at: most are over by then.
FIRST_LOOK_S: Final = 0.25
#: Which part of what is left of a lock passes before it is renewed.
PART: Final = 1 / 3
#: The least seconds between two renewals of a lock.
LEAST_S: Final = 0.1
#: The most seconds until another attempt when one failed.
AGAIN_S: Final = 1.0


class Heartbeats:
    """Renews the locks of the jobs that are being kept, each at a third of what is left of it.

    A job whose lock is lost is interrupted by `JobTaken`. The calls are made by the job's client,
    from another thread.
    """

    def __init__(self) -> None:
        self._times = Timetable("qless-heartbeats")
        self._kept: set[tuple[str, str]] = set()

    def __repr__(self) -> str:
        return f"<Heartbeats of {len(self._kept)} jobs>"

    @contextmanager
    def keep(self, job: Job) -> Iterator[None]:
        """Keep the lock of a job meanwhile; once more is no more."""
        key = (job.holder, job.jid)
        if key in self._kept:
            yield
            return
        self._kept.add(key)
        beat = _Beat(job, self._times)
        try:
            beat.begin()
            yield
        finally:
            self._kept.discard(key)
            beat.end()


class _Beat:
    """The renewals of one lock."""

    def __init__(self, job: Job, times: Timetable) -> None:
        self._client = job.client
        self._job = job
        self._times = times
        self._entry: Entry | None = None
        self._is_over = False

    def begin(self) -> None:
        self._entry = self._times.after(FIRST_LOOK_S, self._look)

    def end(self) -> None:
        self._is_over = True
        if self._entry is not None:
            self._times.cancel(self._entry)

    def _look(self) -> None:
        """Plan the first renewal."""
        self._attempt(self._plan, self._look)

    def _renew(self) -> None:
        self._attempt(self._send, self._renew)

    def _send(self) -> None:
        # Without the data: that is the job's own, which may be changing it now.
        expires = self._client.commands.heartbeat(self._job.jid, self._job.holder)
        self._job.note_lock(expires)
        self._plan()

    def _plan(self) -> None:
        left = self._job.expires_at - self._client.now()
        self._after(max(left * PART, LEAST_S), self._renew)

    def _attempt(self, what: Callable[[], None], again: Callable[[], None]) -> None:
        """Do something, or try again in a while."""
        if self._is_over:
            return
        job = self._job
        try:
            what()
        except JobError as refusal:
            if not self._is_over:
                log.warning("job %r is no longer ours: %s", job.jid, refusal)
                interrupt(JobTaken(str(refusal)), job.jid, job.holder)
        except QlessError as trouble:
            level = logging.INFO if isinstance(trouble, RedisUnavailable) else logging.ERROR
            log.log(level, "job %r: its lock cannot be renewed now: %s", job.jid, trouble)
            self._after(AGAIN_S, again)

    def _after(self, seconds: float, call: Callable[[], None]) -> None:
        self._entry = self._times.after(seconds, call)
        if self._is_over:
            self._times.cancel(self._entry)


_ours: Final = Heartbeats()


def keep(job: Job) -> AbstractContextManager[None]:
    """Keep the lock of a job meanwhile: a middleware, and for jobs themselves."""
    return _ours.keep(job)
