"""Takes jobs from several shards, and waits for them."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from qless_core.backoff import Backoff
from qless_core.clock import REAL
from qless_core.duration import seconds_of
from qless_core.errors import BadArgument, QlessError, RedisUnavailable
from qless_core.reserver import Reserver

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from threading import Event

    from qless_core.duration import Duration
    from qless_core.job import Job
    from qless_core.queue import Queue
    from qless_core.shards.client import ShardedClient

    #: Jobs, and why some shard gave none; None where all were asked.
    _Found = tuple[list[Job], QlessError | None]

log = logging.getLogger("qless.shards")

#: Seconds to block on one shard before the others are asked again.
SLICE_S: Final = 0.2


@dataclass
class _Rest:
    """A shard that was away: it is asked again after a while, ever longer."""

    trouble: RedisUnavailable
    until: float = 0.0
    backoff: Backoff = field(default_factory=Backoff)


class ShardedReserver:
    """Takes the next job of several queues from whichever shard has one; shards are asked in turn.

    To wait, it blocks on one shard after another, so that a job may be found some tenths of a
    second late. Workers do not wait like that: they have somebody for each shard.

    A shard that is away, or refuses, keeps nobody from the jobs of the others; it is told of where
    they have none.

    Args:
        client: whose queues.
        queues: their names, or queues; or one of them.
        stop: ends the waiting when it is set.

    """

    def __init__(
        self,
        client: ShardedClient,
        queues: str | Queue | Iterable[str | Queue],
        *,
        stop: Event | None = None,
    ) -> None:
        given = [queues] if isinstance(queues, str) or hasattr(queues, "name") else [*queues]
        names = [queue if isinstance(queue, str) else queue.name for queue in given]
        self.client = client
        self._reservers = {
            shard: Reserver(plain.named(client.worker_name), names, stop=stop)
            for shard, plain in client.shards.items()
        }
        self._rests: dict[str, _Rest] = {}
        self.queues = next(iter(self._reservers.values())).queues

    def __repr__(self) -> str:
        return f"<ShardedReserver of {', '.join(map(repr, self.queues))}>"

    @property
    def is_stopped(self) -> bool:
        """Whether it was told to wait no more."""
        return any(reserver.is_stopped for reserver in self._reservers.values())

    def pop(
        self, count: int | None = None, *, timeout: Duration | None = 0
    ) -> Job | list[Job] | None:
        """Take jobs, as `Reserver.pop` does; with a count, maybe of several queues and shards.

        Raises:
            BadArgument: the timeout is no number from 0 up, or the count none of jobs.
            QlessError: a shard refuses, and the others had nothing.
            RedisUnavailable: a shard cannot be reached, and the others had nothing.

        """
        seconds = seconds_of("the timeout", timeout)
        if seconds is not None and seconds < 0:
            problem = f"the timeout must be a number of seconds from 0 up or None, got {seconds!r}"
            raise BadArgument(problem)
        until = math.inf if seconds is None else REAL.monotonic() + seconds
        most = 1 if count is None else count
        jobs, trouble = self._taken(most)
        while not jobs and _may_pass(trouble) and REAL.monotonic() < until and not self.is_stopped:
            jobs, trouble = self._waited(most, until)
        if trouble is not None and not jobs:
            raise trouble
        if count is None:
            return jobs[0] if jobs else None
        return jobs

    def _taken(self, count: int) -> _Found:
        """Take what there is, from a shard further each time."""
        jobs: list[Job] = []
        trouble: QlessError | None = None
        for shard in self.client.turn():
            found, why = self._of(shard, count - len(jobs), 0)
            jobs += found
            trouble = _worse(trouble, why)
            if len(jobs) >= count:
                break
        return jobs, trouble

    def _waited(self, count: int, until: float) -> _Found:
        """Block on one shard after another for a moment each."""
        trouble: QlessError | None = None
        for shard in self.client.turn():
            seconds = max(0.0, min(SLICE_S, until - REAL.monotonic()))
            jobs, why = self._of(shard, count, seconds)
            trouble = _worse(trouble, why)
            if not jobs:
                jobs, why = self._taken(count)
                trouble = _worse(trouble, why)
            if jobs or self.is_stopped or not _may_pass(trouble):
                return jobs, trouble
        if len(self._rests) == len(self._reservers):
            self._reservers[next(iter(self._rests))].pause(min(SLICE_S, until - REAL.monotonic()))
        return [], trouble

    def _of(self, shard: str, count: int, timeout: float) -> _Found:
        """Take jobs of a shard; none where it refuses, and while it rests because it was away.

        What it raised is raised again by who has no jobs: those of other shards are taken already.
        """
        rest = self._rests.get(shard)
        if rest is not None and REAL.monotonic() < rest.until:
            return [], rest.trouble
        try:
            jobs = self._reservers[shard].pop(count, timeout=timeout)
        except QlessError as error:
            if not isinstance(error, RedisUnavailable) or not error.passes:
                log.warning("the shard %s gives no jobs: %s", shard, error)
                return [], error
            rest = self._rests.setdefault(shard, _Rest(error))
            rest.until, rest.trouble = REAL.monotonic() + rest.backoff.next(), error
            log.info("the shard %s cannot be asked for jobs: %s", shard, error)
            return [], error
        self._rests.pop(shard, None)
        self.client.whereabouts.note(shard, [job.jid for job in jobs])
        return [job.through(self.client) for job in jobs], None

    def __iter__(self) -> Iterator[Job]:
        """Give jobs as they come, until `stop`."""
        while not self.is_stopped:
            job = self.pop(timeout=None)
            if job is not None:
                yield job  # type: ignore[misc]  # one, as no count was given

    def stop(self) -> None:
        """Wait no more; any thread may say so."""
        for reserver in self._reservers.values():
            reserver.stop()


def _may_pass(trouble: QlessError | None) -> bool:
    """Say whether waiting may help."""
    return trouble is None or (isinstance(trouble, RedisUnavailable) and trouble.passes)


def _worse(one: QlessError | None, other: QlessError | None) -> QlessError | None:
    """Give the one of two troubles that is told: that in which waiting does not help."""
    return one if other is None or not _may_pass(one) else other
