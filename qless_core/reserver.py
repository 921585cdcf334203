"""Waits for jobs: `queue.pop(timeout=…)`, and a `Reserver` for several queues.

How it works is told in `docs/explanation/blocking-pop.md`, and in `lua/wait.lua`.
"""

from __future__ import annotations

import hashlib
import logging
import math
import random
import uuid
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Lock
from typing import TYPE_CHECKING, Final, overload

from qless_core.backoff import Backoff
from qless_core.clock import REAL, SERVER
from qless_core.connection import may_move
from qless_core.duration import seconds_of
from qless_core.errors import BadArgument, QlessError, RedisUnavailable
from qless_core.job import Job
from qless_core.records import WaitReply

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qless_core.bell import Bell
    from qless_core.client import Client
    from qless_core.duration import Duration
    from qless_core.queue import Queue
    from qless_core.records import JobRecord

log = logging.getLogger("qless.reserver")

#: The most seconds to block at a time, so that a connection that is dead is noticed.
BLOCK_S: Final = 10.0
#: The most seconds until a flag is seen that somebody else sets to end the waiting.
FLAG_S: Final = 0.25
#: The longest pause between attempts while Redis is away.
LONGEST_PAUSE_S: Final = 2.0
#: The least seconds between two looks of one who does not go by the server's clock: his may stand.
STANDING_S: Final = 0.05
#: Seconds that the answer may take of a server that is told to let go.
LET_GO_S: Final = 2.0
#: Seconds that the answer may be late before the server counts as gone.
LATE_S: Final = 5.0
#: The same two where another server may take over from one that falls silent.
MOVING_BLOCK_S: Final = 2.5
MOVING_LATE_S: Final = 1.5
#: The least seconds to block: 0 would be for ever.
SHORTEST_S: Final = 0.001
#: Seconds after which a lookout tries again that could not look.
LOOK_AGAIN_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Taken:
    """What was taken.

    Attributes:
        jobs: the jobs.
        anchor: a moment of the monotonic clock at which they were not taken yet, and what the clock
            was then that the queue goes by: by these one knows how long a lock lasts at least. None
            where nothing was taken.

    """

    jobs: list[Job]
    anchor: tuple[float, float] | None = None


class Reserver:
    """Takes the next job of several queues, or waits for one. Threads may share it.

    A later queue gives a job when those before it have none.

    Args:
        client: whose queues; its `worker_name` holds the jobs.
        queues: their names, or queues; or one of them.
        stop: ends the waiting when it is set, within a quarter of a second.

    Raises:
        BadArgument: there is no queue.

    """

    def __init__(
        self,
        client: Client,
        queues: str | Queue | Iterable[str | Queue],
        *,
        stop: Event | None = None,
    ) -> None:
        given = [queues] if isinstance(queues, str) or hasattr(queues, "name") else queues
        names = [queue if isinstance(queue, str) else queue.name for queue in given]
        if not names:
            problem = "a reserver needs at least one queue"
            raise BadArgument(problem)
        self.client = client
        #: The names of the queues, in order; who waits may ask them in another one each time.
        self.queues = tuple(dict.fromkeys(names))
        #: The same, as they were given.
        self.queues_as_given = self.queues
        #: How often it was waited for Redis: an answer may have been lost then, with jobs in it.
        self.troubles = 0
        #: What those share who wait for the same queues.
        self.group = _group_of(self.queues)
        self._flag = stop
        self._stopped = Event()
        self._lock = Lock()
        self._waiting: set[str] = set()

    def __repr__(self) -> str:
        return f"<Reserver of {', '.join(map(repr, self.queues))}>"

    @property
    def is_stopped(self) -> bool:
        """Whether it was told to wait no more."""
        return self._stopped.is_set() or (self._flag is not None and self._flag.is_set())

    @overload
    def pop(self, count: None = None, *, timeout: Duration | None = 0) -> Job | None: ...

    @overload
    def pop(self, count: int, *, timeout: Duration | None = 0) -> list[Job]: ...

    def pop(
        self, count: int | None = None, *, timeout: Duration | None = 0
    ) -> Job | list[Job] | None:
        """Take the next job, or None when there is none; with a count, a list of up to so many.

        Args:
            count: how many at most; they are all of one queue.
            timeout: seconds to wait for the first one; None for ever, 0 not at all.

        Raises:
            BadArgument: the timeout is no number from 0 up, or the count none of jobs.
            NotPermitted: this Redis user may not block.
            RedisUnavailable: Redis was still away when the time was over. Until then it is waited
                for, too.

        """
        jobs = self.take(1 if count is None else count, timeout=timeout).jobs
        if count is None:
            return jobs[0] if jobs else None
        return jobs

    def take(self, count: int, *, timeout: Duration | None = 0) -> Taken:
        """Take the next jobs as `pop` does, and tell when that was.

        Raises:
            BadArgument: as `pop`.
            NotPermitted: as `pop`.
            RedisUnavailable: as `pop`.

        """
        timeout = seconds_of("the timeout", timeout)
        if timeout is not None and timeout < 0:
            problem = f"the timeout must be a number of seconds from 0 up or None, got {timeout!r}"
            raise BadArgument(problem)
        worker = self.client.worker_name
        if timeout == 0:
            self.client.cron_plans.tend()
            sent = REAL.monotonic()
            reply = self.client.commands.wait_pop(
                worker, count, "", self.group, "all", *self.queues
            )
            records, anchor = reply.jobs, (sent, reply.now)
        else:
            wait = _Wait(self, count, timeout)
            records, anchor = wait.run(), wait.anchor
        jobs = [Job(self.client, record, worker=worker) for record in records]
        return Taken(jobs, anchor if jobs else None)

    def __iter__(self) -> Iterator[Job]:
        """Give jobs as they come, until `stop`.

        Raises:
            NotPermitted: this Redis user may not block.

        """
        while not self.is_stopped:
            job = self.pop(timeout=None)
            if job is not None:
                yield job

    def stop(self) -> None:
        """Wait no more. Any thread may say so; who waits in `pop` goes on at once."""
        self._stopped.set()
        with self._lock:
            waiting = [*self._waiting]
        for waiter in waiting:
            with suppress(QlessError):  # then it goes on when it is done blocking
                self.client.commands.wait_wake(waiter)

    @contextmanager
    def waiting(self, waiter: str) -> Iterator[None]:
        """Know somebody as one who waits, meanwhile."""
        with self._lock:
            self._waiting.add(waiter)
        try:
            yield
        finally:
            with self._lock:
                self._waiting.discard(waiter)

    @property
    def has_flag(self) -> bool:
        """Whether somebody else may end the waiting without telling."""
        return self._flag is not None

    def pause(self, seconds: float) -> None:
        """Wait for so many seconds at most, or until `stop`."""
        REAL.wait(min(seconds, FLAG_S) if self.has_flag else seconds, self._stopped)


class _Wait:
    """One call of `pop`: asks, and as long as there is nothing blocks and asks again."""

    def __init__(self, reserver: Reserver, count: int, timeout: float | None) -> None:
        client = reserver.client
        self._reserver = reserver
        self._client = client
        self._waiter = uuid.uuid4().hex
        self._worker = client.worker_name
        self._count = count
        self._until = math.inf if timeout is None else REAL.monotonic() + timeout
        #: Whether the waiter is the lookout of its group.
        self._looks_out = False
        #: When it asked last, and what time the queue said it was: see `Taken`.
        self.anchor = (0.0, 0.0)
        self._backoff = Backoff(longest=LONGEST_PAUSE_S)
        moves = may_move(client.redis)
        self._block_s, self._late_s = (
            (MOVING_BLOCK_S, MOVING_LATE_S) if moves else (BLOCK_S, LATE_S)
        )

    def run(self) -> tuple[JobRecord, ...]:
        """Wait; answers what was taken."""
        keys, reserver = self._client.keys, self._reserver
        tokens = [keys.nudge(self._waiter), *map(keys.wake, reserver.queues)]
        with (
            reserver.waiting(self._waiter),
            self._client.bell([*tokens, keys.nudge(reserver.group)]) as bell,
        ):
            try:
                jobs = self._until_some(bell)
            except BaseException:
                self._give_up(bell)
                raise
            if not jobs:
                self._leave()
            return jobs

    def _until_some(self, bell: Bell) -> tuple[JobRecord, ...]:
        """Ask and block until there are jobs, or the time is over; sit out that Redis is away."""
        while not self._reserver.is_stopped:
            try:
                reply = self._ask()
                while not reply.jobs and not self._is_over:
                    self._client.cron_plans.tend()
                    reply = self._block(bell)
            except RedisUnavailable as trouble:
                bell.drop()
                self._reserver.troubles += 1
                if not trouble.passes or self._is_over:
                    raise
                self._pause(trouble)
            else:
                return reply.jobs
        return ()

    @property
    def _left(self) -> float:
        """How many seconds are left."""
        return self._until - REAL.monotonic()

    @property
    def _is_over(self) -> bool:
        return self._reserver.is_stopped or self._left <= 0

    def _ask(self) -> WaitReply:
        """Take what is there, else be one of those who wait."""
        group, queues = self._reserver.group, self._reserver.queues
        sent = REAL.monotonic()
        reply = self._client.commands.wait_pop(
            self._worker, self._count, self._waiter, group, "all", *queues
        )
        self.anchor = (sent, reply.now)
        return self._heard(reply)

    def _heard(self, reply: WaitReply) -> WaitReply:
        self._backoff.reset()
        self._look_in(reply.again)
        return reply

    def _look_in(self, seconds: float | None) -> None:
        """Plan the next look of a lookout; None for one who is none."""
        self._looks_out = seconds is not None
        if seconds is not None and self._client.clock.stamp() != SERVER:
            seconds = max(seconds, STANDING_S)
        self._look_at = math.inf if seconds is None else REAL.monotonic() + seconds

    def _block(self, bell: Bell) -> WaitReply:
        """Block until a token comes or the time is over, as a lookout looking now and then."""
        seconds = self._block_s * random.uniform(0.8, 1.0)  # noqa: S311 - to spread load
        seconds = max(min(seconds, self._left), SHORTEST_S)
        group, queues = self._reserver.group, self._reserver.queues
        args = (self._worker, self._count, self._waiter, group, "marked", *queues)
        sent = REAL.monotonic()
        bell.set(seconds, "wait.pop", self._client.clock.stamp(), *args)
        until = sent + seconds + self._late_s
        has_woken = False
        while not bell.rings(self._until_next(until)):
            if REAL.monotonic() >= until:
                problem = f"no answer {self._late_s:g} s after it was due"
                raise RedisUnavailable(problem)
            if REAL.monotonic() >= self._look_at:
                self._look()
            if self._is_over and not has_woken:
                # The server looks at its clock ten times a second only.
                has_woken = True
                self._client.commands.wait_wake(self._waiter)
        text = bell.read()
        if text is None:
            return self._ask()
        reply = WaitReply.from_text(text)
        self.anchor = (self._answered_at(sent, reply.now), reply.now)
        return self._heard(reply)

    def _answered_at(self, sent: float, now: float) -> float:
        """Tell when the server, which had let this call wait, carried it out, or a moment before.

        By its clock, unless that was set meanwhile so that it cannot be: then all that is known is
        that it was after it was sent.
        """
        asked, then = self.anchor
        likely = asked + now - then
        return likely if sent <= likely <= REAL.monotonic() else sent

    def _until_next(self, until: float) -> float:
        """Give the seconds until there is something else to do than to listen."""
        ends = self._until if self._left > 0 else until
        seconds = min(until, ends, self._look_at) - REAL.monotonic()
        return min(seconds, FLAG_S) if self._reserver.has_flag else seconds

    def _look(self) -> None:
        """Look as the lookout of the group, and wake who can take what there is."""
        group, queues = self._reserver.group, self._reserver.queues
        try:
            self._look_in(self._client.commands.wait_look(self._waiter, group, *queues))
        except RedisUnavailable as trouble:
            # The connection that blocks will tell, if it is lost, too.
            log.info("cannot look for jobs: %s", trouble)
            self._look_in(LOOK_AGAIN_S)

    def _pause(self, trouble: RedisUnavailable) -> None:
        """Wait for Redis, ever longer, but no longer than there is time."""
        seconds = min(self._backoff.next(), self._left)
        level = logging.WARNING if self._backoff.failed == 1 else logging.INFO
        log.log(level, "waiting for jobs: Redis is away, again in %.1f s: %s", seconds, trouble)
        until = REAL.monotonic() + seconds
        while not self._reserver.is_stopped and REAL.monotonic() < until:
            self._reserver.pause(until - REAL.monotonic())

    def _leave(self) -> None:
        """Let another one be the lookout."""
        if self._looks_out:
            with suppress(QlessError):  # the others notice, too
                self._client.commands.wait_leave(self._waiter, self._reserver.group)

    def _give_up(self, bell: Bell) -> None:
        """End the waiting where something was raised; nobody would run what is taken now."""
        with suppress(QlessError):
            if bell.is_set:
                self._client.commands.wait_wake(self._waiter)
                if bell.rings(LET_GO_S):
                    self._put_back(WaitReply.from_text(bell.read()).jobs)
            self._leave()

    def _put_back(self, jobs: tuple[JobRecord, ...]) -> None:
        if jobs:
            jids = [job.jid for job in jobs]
            log.warning("waiting for jobs was given up as these came, they go back: %s", jids)
            self._client.commands.timeout(*jids)


def _group_of(queues: tuple[str, ...]) -> str:
    """Name those who wait for the same queues, in whatever order."""
    text = "\n".join(sorted(queues)).encode("utf-8", "surrogateescape")
    return hashlib.sha1(text, usedforsecurity=False).hexdigest()[:16]
