"""What each thread or child of a worker does: take jobs, perform them, settle them, until told.

A busy one makes one round trip for each job: it tells that one is done and takes the next. With
`prefetch` it makes one for many. It outlives its troubles: a lost lock ends the work on that job
alone, and while Redis is away it waits, ever longer, and then goes on.
"""

from __future__ import annotations

import logging
import math
import os
import socket
from typing import TYPE_CHECKING, Final

from qless_core import wire
from qless_core.backoff import Backoff
from qless_core.clock import REAL, SERVER
from qless_core.errors import (
    ClusterNeedsTag,
    JobError,
    QlessError,
    RedisUnavailable,
)
from qless_core.job import Job
from qless_core.worker import recycling
from qless_core.worker.interrupt import WorkerStopping
from qless_core.worker.memory import bytes_in_use
from qless_core.worker.performing import attempt
from qless_core.worker.reserving import PATTERNS_S, Source
from qless_core.worker.settling import Settler
from qless_core.worker.signals import renew
from qless_core.worker.switch import Mode
from qless_core.worker.telling import Telling, heard

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qless_core.client import Client
    from qless_core.reserver import Reserver
    from qless_core.worker.interrupt import Throw
    from qless_core.worker.plan import Plan
    from qless_core.worker.slate import Slate
    from qless_core.worker.switch import Switch
    from qless_core.worker.telling import Done

log = logging.getLogger("qless.worker")

#: Seconds between two looks whether a burst is over.
LOOK_S: Final = 0.25
#: Seconds between two looks of a paused worker, should it not be told to go on.
PAUSED_S: Final = 60.0


class Loop:
    """One job after another, for one thread.

    Args:
        client: whose Redis.
        plan: what the worker was made to do.
        switch: what it is told while it works.
        name: in whose name it holds jobs; nobody else works in this name.
        slate: where to note what it is at, for a parent.
        throw: how jobs are interrupted where it runs in no thread of its own, as `Grip` has it.

    """

    def __init__(
        self,
        client: Client,
        plan: Plan,
        switch: Switch,
        name: str,
        *,
        slate: Slate | None = None,
        throw: Throw | None = None,
    ) -> None:
        self.client = client
        self.name = name
        self.source = Source(client, plan.queues, plan.order)
        self._plan = plan
        self._switch = switch
        self._slate = slate
        self._throw = throw
        #: Jobs that were begun, and of which Redis has not said what became of them. These may have
        #: run: whoever gives one back says so, that none runs twice that may run but once.
        self.begun: set[str] = set()
        self._settler = Settler(client, on_settled=self._settled)
        self._telling = Telling(client, name, self._heard)
        self._backoff = Backoff()
        #: Whether Redis may hold jobs for this name of which nobody takes care: an answer that told
        #: of them was lost, or nothing could be told of them.
        self._may_hold_more = False
        #: When a call was sent that said what time it was, and what it said.
        self._anchor: tuple[float, float] | None = None
        #: Jobs of those at hand that are ours no longer.
        self.taken: set[str] = set()
        #: Whether a job runs, or what goes around it.
        self.is_at_work = False
        self._jobs_left: float = plan.jobs_per_child or math.inf
        self._ends_at = math.inf
        #: Whether a burst is over, so that no other need go on in its place.
        self.is_exhausted = False
        self._is_over = False

    def __repr__(self) -> str:
        return f"<Loop {self.name!r} of {self.source!r}>"

    @property
    def is_settled(self) -> bool:
        """Whether Redis knows what became of all that was taken in this name."""
        return not self.begun and not self._may_hold_more

    def run(self) -> None:
        """Work until told to end, or until it is over.

        Raises:
            ClusterNeedsTag: it never will.

        """
        self._ends_at = REAL.monotonic() + (self._plan.child_age_s or math.inf)
        self._begin_turn()  # what its parent sees: it works, though there be no queue yet
        try:
            while not self._is_over and not self._switch.is_ending:
                self._turn()
        finally:
            self._end()

    def step(self) -> Job | None:
        """Take one job, perform and settle it; answers it, or None when there was none.

        Raises:
            RedisUnavailable: no job could be taken.

        """
        self._catch_up()
        reserver = self.source.reserver()
        jobs = [] if reserver is None else self._take(reserver, 1)
        if not jobs:
            return None
        job = jobs[0]
        self.begun.add(job.jid)
        self._begin(job)
        self._settle(job, self._attempt(job))
        self._flush()
        return job

    # Taking

    def _turn(self) -> None:
        """Work what comes next, or wait: for a job, or for Redis."""
        try:
            jobs = self._next()
        except ClusterNeedsTag:
            raise  # will be so for ever
        except QlessError as trouble:
            wait = self._backoff.next()
            level = logging.WARNING if self._backoff.failed == 1 else logging.INFO
            log.log(level, "no job can be taken, again in %.1f s: %s", wait, trouble)
            self._switch.wait(wait)
            return
        self._backoff.reset()
        if len(jobs) > 1:
            self._work_many(jobs)
        elif jobs:
            self._work(jobs)
        if self._jobs_left <= 0 or self._is_worn:
            self._is_over = True

    def _next(self) -> list[Job]:
        """Tell what is done, and take the next jobs; waits for some."""
        self._catch_up()
        # Before the look at the switch: what was told until then stops this one from waiting.
        reserver = self.source.reserver()
        if self._switch.mode is not Mode.RUN:
            return self._rest()
        if reserver is None:
            return self._without_queues()
        count = min(self._plan.prefetch, self._jobs_left)
        jobs = self._take(reserver, int(count))
        if jobs or self._telling.doubtful:
            return jobs
        if self._plan.burst:
            self.is_exhausted = self._is_over = self._is_all_done(reserver.queues)
            if self._is_over:
                return []
        return self._wait(reserver, int(count))

    def _take(self, reserver: Reserver, count: int) -> list[Job]:
        """Tell what is done and take what is there, in one round trip.

        Answers none where something is doubtful: that is to be known before.
        """
        done = self._telling.claim()
        if self._telling.doubtful:
            # The thread that tells could not, just now.
            self._telling.doubtful.extend(job for job, _ in done)
            return []
        self._begin_turn()
        sent = REAL.monotonic()
        triples = [(job.jid, job.queue_name, text) for job, text in done]
        try:
            reply = self.client.commands.turn(self.name, count, reserver.queues, triples)
        except RedisUnavailable:
            self._may_hold_more = True
            self._telling.doubtful.extend(job for job, _ in done)
            raise
        except QlessError:
            if not done:
                raise
            # Something is wrong with one of them: each by itself.
            self._telling.doubtful.extend(job for job, _ in done)
            return []
        self._end_turn(done, reply.left)
        self._anchor = (sent, reply.now) if self._knows_the_time else None
        if not reply.jobs:
            self.client.cron_plans.tend()
        client, name = self.client, self.name
        return [Job(client, record, worker=name, brief=True) for record in reply.jobs]

    @property
    def _knows_the_time(self) -> bool:
        """Whether it goes by the server's clock: no other tells how long a lock lasts."""
        return self.client.clock.stamp() is SERVER

    def _begin_turn(self) -> None:
        """Forget what was taken from us until now: that was of the jobs before."""
        self.taken.clear()
        if self._slate is not None:
            self._slate.begin_turn()

    def _end_turn(self, done: list[Done], left: Mapping[str, str]) -> None:
        """Note that all is told that was done."""
        if done:
            heard(done, left)
            self._note(done, left)
        if self._slate is None:
            return
        if self.begun:
            self._slate.told()
        else:
            self._slate.clear()

    def _note(self, done: list[Done], left: Mapping[str, str]) -> None:
        """Note what Redis says of jobs that were told to be done."""
        for job, _ in done:
            if job.jid in left:
                self._settler.given_up.add(job.jid)
                self._may_hold_more = True
            else:
                self.begun.discard(job.jid)

    def _heard(self, done: list[Done], left: Mapping[str, str]) -> None:
        """Note the same where that was told by itself, in whatever thread."""
        self._note(done, left)
        if self._slate is not None:
            # Each by itself: the next one is done meanwhile, maybe.
            for job, _ in done:
                if job.jid not in left:
                    self._slate.heard(job.jid)

    def _settled(self, jid: str) -> None:
        """Note that Redis knows what became of a job."""
        self.begun.discard(jid)
        if self._slate is not None:
            self._slate.heard(jid)

    def _wait(self, reserver: Reserver, count: int) -> list[Job]:
        """Wait for a job."""
        seconds = min(self._plan.interval, max(self._ends_at - REAL.monotonic(), 0.001))
        if self.source.has_patterns:
            seconds = min(seconds, PATTERNS_S)
        if self._plan.burst:
            seconds = min(seconds, LOOK_S)
        before = reserver.troubles
        try:
            taken = reserver.take(count, timeout=seconds)
        except BaseException:
            self._may_hold_more = True
            raise
        jobs = taken.jobs
        self._anchor = taken.anchor if self._knows_the_time else None
        if reserver.troubles != before:
            try:
                self._drop_strangers(jobs)
            except RedisUnavailable as trouble:
                # These are worked all the same.
                log.info("not known yet what else is ours: %s", trouble)
        return jobs

    def _rest(self) -> list[Job]:
        """Tell what is done, and wait until told to go on."""
        self._telling.tell()
        if self._telling.doubtful:
            self._catch_up()
        if self._switch.mode is Mode.PAUSE:
            self._switch.wait(PAUSED_S, Mode.PAUSE)
        return []

    def _without_queues(self) -> list[Job]:
        """Wait for a queue that fits the patterns."""
        self._telling.tell()
        if self._plan.burst:
            self.is_exhausted = self._is_over = True
        else:
            self._switch.wait(min(self._plan.interval, PATTERNS_S))
        return []

    def _is_all_done(self, queues: Sequence[str]) -> bool:
        """Look whether nothing is left in the queues that will come by itself, or runs."""
        for name in queues:
            counts = self.client.commands.queue(name)
            waits = 0 if counts.paused else counts.waiting + counts.throttled
            if waits or counts.running or counts.stalled:
                return False
        return True

    # Performing

    def _work_many(self, jobs: list[Job]) -> None:
        """Work jobs that were taken ahead."""
        self._telling.begin()
        try:
            self._work(jobs)
        finally:
            self._telling.rest()

    def _work(self, jobs: list[Job]) -> None:
        """Work jobs, unless they are taken from us meanwhile or we are to begin no more."""
        at = 0
        try:
            for job in jobs:
                # Before the look whether it may begin: whoever says that none may sees it here.
                self.begun.add(job.jid)
                if self._may_begin(job):
                    self._jobs_left -= 1
                    self._begin(job)
                    self._ended(job, self._attempt(job))
                else:
                    self.begun.discard(job.jid)
                    self._give_back(job)
                at += 1
        except BaseException as error:
            # Not the job's own: the program ends.
            self._settle(jobs[at], WorkerStopping(repr(error)))
            for job in jobs[at + 1 :]:
                self._give_back(job)
            raise

    def _may_begin(self, job: Job) -> bool:
        if self._switch.mode is not Mode.RUN:
            return False
        if self._is_taken(job) or not self._has_room(job):
            return False
        if self._anchor is None:
            return True
        sent, now = self._anchor
        # The lock lasts at least that long, however long the answer was on its way.
        return sent + job.expires_at - now > REAL.monotonic()

    def _has_room(self, job: Job) -> bool:
        """Whether it can be noted what comes of a job; else see to it that there is room."""
        if self._slate is None or self._slate.has_room(job.jid):
            return True
        self._telling.tell()
        self._flush_doubtful()
        if self.begun - {job.jid}:
            return False
        self._slate.clear()
        return True

    def _is_taken(self, job: Job) -> bool:
        """Whether a job at hand is said to be ours no longer."""
        if job.jid in self.taken:
            return True
        return self._slate is not None and job.jid in self._slate.taken()

    def _attempt(self, job: Job) -> BaseException | None:
        plan = self._plan
        self.is_at_work = True
        try:
            return attempt(job, plan.middleware, throw=self._throw, is_taken=self._is_taken)
        finally:
            self.is_at_work = False
            renew()  # before anything is told of it: who hears that may send a signal at once

    def _begin(self, job: Job) -> None:
        self.source.last = job.queue_name
        if self._slate is not None:
            self._slate.begin(job.jid)
        if log.isEnabledFor(logging.INFO):
            log.info("job %r (%r) from %r begins", job.jid, job.klass_name, job.queue_name)

    def _ended(self, job: Job, error: BaseException | None) -> None:
        """Keep a job that is done for the next call, settle any other now."""
        if error is not None or job.is_settled:
            self._settle(job, error)
            return
        try:
            text, changed = job.raw_data, job.unsent_data
        except Exception:  # noqa: BLE001 - of whatever the job left there: it is told why
            self._settle(job, error)
            return
        self._telling.add(job, text)
        if self._slate is not None and not self._slate.done(changed):
            self._telling.tell()

    def _settle(self, job: Job, error: BaseException | None) -> None:
        """Tell what became of a job, now if that can be."""
        self._settler.settle(job, error)
        if job.jid in self._settler.given_up:
            self._may_hold_more = True
        if self._slate is not None:
            if job.jid in self.begun:
                self._slate.keep()
            else:
                self._slate.end()

    def _give_back(self, job: Job) -> None:
        """Let a job wait again that was not begun."""
        details = {"host": socket.gethostname(), "pid": os.getpid()}
        try:
            job.give_back(ran=False, what="not-begun", details=details)
        except JobError as trouble:
            log.info("job %r is no longer ours: %s", job.jid, trouble)
        except QlessError as trouble:
            self._may_hold_more = True
            log.warning("job %r cannot be given back now: %s", job.jid, trouble)
        else:
            log.info("job %r was taken and not begun: it is given back", job.jid)

    # Between jobs

    def _catch_up(self) -> None:
        """Make good what could not be told or known before."""
        self._flush_doubtful()
        if self._may_hold_more:
            self._drop_strangers([])

    def _flush_doubtful(self) -> None:
        """Tell what is kept, and again of what nobody knows whether it was told."""
        while self._telling.doubtful:
            self._settler.keep(self._telling.doubtful.popleft())
        if not self._settler.is_done:
            self._flush()

    def _flush(self) -> None:
        """Tell what is kept."""
        self._settler.flush(self._switch.stopped)
        if self._settler.given_up:
            self._may_hold_more = True

    def _drop_strangers(self, ours: Sequence[Job]) -> None:
        """Give back what Redis holds for us and of which nobody here takes care.

        Such are jobs of which an answer told that was lost, and those that ran and of which nothing
        more will be told.
        """
        self._may_hold_more = False
        lost = set(self._settler.given_up)
        try:
            found = self.client.commands.worker(self.name)
            known = {job.jid for job in ours} | (self.begun - lost)
            for jid in sorted({*found.jobs, *found.stalled} - known):
                self._drop(jid, has_run=jid in self.begun)
        except BaseException:
            self._may_hold_more = True
            raise
        self._settler.given_up -= lost
        for jid in lost:
            self._settled(jid)

    def _drop(self, jid: str, *, has_run: bool) -> None:
        """Give back a job of which nobody here takes care."""
        why, what = "lost answer", "not-begun"
        if has_run:
            why, what = "its outcome was not told", "stopped"
        details = {"why": why, "host": socket.gethostname(), "pid": os.getpid()}
        said = wire.dumps(details, what="the details of a job given back")
        try:
            message = f"No retry was left, and {why}"
            self.client.commands.giveback(jid, self.name, int(has_run), what, said, "", message)
        except JobError as trouble:
            log.info("job %r is no longer ours: %s", jid, trouble)
        except RedisUnavailable:
            raise
        except QlessError as trouble:
            log.warning("job %r cannot be given back: %s", jid, trouble)
        else:
            log.warning("job %r goes back: %s", jid, why)

    @property
    def _is_worn(self) -> bool:
        """Whether another child should go on in the place of this one."""
        if self._slate is not None and recycling.reason():
            return True
        most = self._plan.child_memory
        if most is not None and bytes_in_use() >= most:
            return True
        return REAL.monotonic() >= self._ends_at

    def _end(self) -> None:
        """Tell what is done, and settle all."""
        self._telling.end()
        try:
            self._telling.tell()
            self._catch_up()
        except QlessError as trouble:
            log.warning("worker %s could not settle all: %s", self.name, trouble)

    def tell(self) -> None:
        """Tell what is done, where the loop itself does not come to it. Any thread may."""
        self._telling.tell()
