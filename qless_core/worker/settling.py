"""Telling Redis what became of a job, once: kept and told again while Redis is away.

The first time an outcome goes as any command does, because that is fastest. When nobody knows
whether it arrived, it is told again under an id by which Redis knows a request that it has carried
out. A worker that takes no other job in its name meanwhile (see `Settler.flush`) cannot mistake the
next run of a job for the one that it tells of.
"""

from __future__ import annotations

import logging
import os
import socket
import uuid
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from qless_core import wire
from qless_core.backoff import Backoff
from qless_core.clock import REAL
from qless_core.duration import seconds_of
from qless_core.errors import BadArgument, JobError, JobNotRunning, QlessError, RedisUnavailable
from qless_core.job import State
from qless_core.worker.deaths import stopped
from qless_core.worker.interrupt import JobTaken, WorkerStopping
from qless_core.worker.performing import group_of, message_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event

    from qless_core.client import Client
    from qless_core.commands import Commands
    from qless_core.duration import Duration
    from qless_core.job import Job

log = logging.getLogger("qless.worker")

#: Seconds that an outcome is kept at least: as long as a client may insist. Less than Redis
#: remembers what it carried out.
KEEP_S: Final = 300.0
#: The longest pause between attempts to tell it.
LONGEST_PAUSE_S: Final = 2.0


class TryAgain(Exception):  # noqa: N818 - the name is the sentence
    """Raised in a job, or by its middleware, to run it again later; a retry is used up.

    When none is left the job fails.

    Args:
        delay: seconds until it may run again, from 0 up, or a timedelta.
        group: the failure that is kept with it; `<queue>-<Exception>` of what this was raised from.
        message: what happened; the traceback of what this was raised from.

    Raises:
        BadArgument: one of them is something else.

    """

    def __init__(
        self, delay: Duration = 0, *, group: str | None = None, message: str | None = None
    ) -> None:
        self.delay = _delay_of(delay)
        self.group = _text_of("the group", group)
        self.message = _text_of("the message", message)
        super().__init__(f"again in {self.delay:g} s")


class Requeue(Exception):  # noqa: N818 - the name is the sentence
    """Raised in a job, or by its middleware, to put it into a queue anew; its retries are renewed.

    Args:
        delay: seconds that it waits there first, from 0 up, or a timedelta.
        queue: the name of the queue; its own when not given.

    Raises:
        BadArgument: one of them is something else.

    """

    def __init__(self, delay: Duration = 0, *, queue: str | None = None) -> None:
        self.delay = _delay_of(delay)
        self.queue = _text_of("the queue", queue)
        if queue is not None and (not queue or wire.clean(queue) != queue):
            problem = f"the queue must be a name of UTF-8, got {queue!r}"
            raise BadArgument(problem)
        super().__init__(f"again in {self.delay:g} s")


def _delay_of(given: Duration) -> float:
    delay = seconds_of("the delay", given)
    if delay < 0:
        problem = f"the delay must be seconds from 0 up, got {given!r}"
        raise BadArgument(problem)
    return delay


def _text_of(what: str, given: str | None) -> str | None:
    if given is not None and not isinstance(given, str):
        problem = f"{what} must be text, got {given!r}"
        raise BadArgument(problem)
    return given


@dataclass
class Outcome:
    """What became of a job: that it is complete, when nothing else is said."""

    job: Job
    #: The data of the job, as JSON; None where it is as it was.
    text: str | None
    #: By what Redis knows the request when it is told again.
    request: str = field(default_factory=lambda: uuid.uuid4().hex)
    #: In what states the job is afterwards.
    states: frozenset[State] = frozenset({State.COMPLETE})

    def tell(self, commands: Commands) -> None:
        """Tell Redis.

        Raises:
            QlessError: as the verb of the job does.

        """
        job, text = self.job, self.text or "{}"
        state = commands.complete(job.jid, job.holder, job.queue_name, text)
        job.note_complete(text, state)


@dataclass
class Failed(Outcome):
    """A job failed."""

    group: str = ""
    message: str = ""
    states: frozenset[State] = frozenset({State.FAILED})

    def tell(self, commands: Commands) -> None:
        """Tell Redis.

        Raises:
            QlessError: as the verb of the job does.

        """
        job = self.job
        commands.fail(job.jid, job.holder, *_clean(self.group, self.message), self.text)
        job.note_failed(self.text)


@dataclass
class Retried(Failed):
    """A job is to run again."""

    delay: float = 0
    states: frozenset[State] = frozenset({State.WAITING, State.SCHEDULED, State.FAILED})

    def tell(self, commands: Commands) -> None:
        """Tell Redis.

        Raises:
            QlessError: as the verb of the job does.

        """
        job = self.job
        said = _clean(self.group, self.message)
        left = commands.retry(job.jid, job.queue_name, job.holder, self.delay, *said)
        job.note_retry(left, self.delay)
        if left >= 0:  # else its failure is in its history
            self._mark(said[0], left)

    def _mark(self, group: str, left: int) -> None:
        """Say in its history that it was retried; what counts is known by then."""
        job = self.job
        details = {"group": group, "delay": round(self.delay, 3), "remaining": left}
        told = wire.dumps(details, what="the details of a retry")
        try:
            # Not as a request that is sent once: that one is the retry itself.
            job.client.commands.log(job.jid, "retried", told)
        except QlessError as trouble:
            log.info("job %r was retried, which its history does not say: %s", job.jid, trouble)


@dataclass
class Requeued(Outcome):
    """A job goes into a queue anew."""

    queue: str = ""
    delay: float = 0
    states: frozenset[State] = frozenset({State.WAITING, State.SCHEDULED, State.DEPENDS})

    def tell(self, commands: Commands) -> None:
        """Tell Redis.

        Raises:
            QlessError: as the verb of the job does.

        """
        job, text = self.job, self.text or "{}"
        # A job is moved from whoever has it: so see first that it is ours, and stays so meanwhile.
        job.client.commands.heartbeat(job.jid, job.holder)
        commands.requeue(job.holder, self.queue, job.jid, job.klass_name, text, self.delay)
        job.note_complete(text, State.SCHEDULED if self.delay > 0 else State.WAITING, self.queue)


@dataclass
class GivenBack(Outcome):
    """A job was stopped, or not begun, because its worker stops."""

    why: str = ""
    has_begun: bool = True
    states: frozenset[State] = frozenset({State.WAITING, State.FAILED})

    def tell(self, commands: Commands) -> None:
        """Tell Redis.

        Raises:
            QlessError: as the verb of the job does.

        """
        job, ran = self.job, self.has_begun
        details = {"why": self.why, "host": socket.gethostname(), "pid": os.getpid()}
        said = wire.dumps(details, what="the details of a job given back")
        message = stopped(self.why)
        left = commands.giveback(job.jid, job.holder, int(ran), "stopped", said, "", message)
        job.note_retry(left if ran else max(left, 0))


def outcome_of(job: Job, error: BaseException | None) -> Outcome | None:
    """Find what is to be told of a job that returned, or raised something; None for nothing.

    There is nothing to tell where the job settled itself, or was taken from us.
    """
    if job.is_settled or isinstance(error, JobTaken):
        return None
    try:
        changed = job.unsent_data
    except Exception as problem:  # noqa: BLE001 - of whatever class the data are
        # The job left something in its data that JSON cannot say.
        changed, error = None, error or problem
    if error is None:
        return Outcome(job, job.raw_data)
    try:
        decided = _decided(job, error)
    except Exception as problem:  # noqa: BLE001 - one that the application made of ours
        decided, error = None, problem
    if decided is not None:
        return decided
    return Failed(job, changed, group=_group(job, error), message=message_of(error))


def _decided(job: Job, error: BaseException) -> Outcome | None:
    """Give the outcome where what was raised says it."""
    if isinstance(error, TryAgain):
        return _retried(job, error)
    if isinstance(error, Requeue):
        queue = error.queue or job.queue_name
        return Requeued(job, job.raw_data, queue=queue, delay=error.delay)
    if isinstance(error, WorkerStopping):
        why = error.why or "its worker stops"
        return GivenBack(job, None, why=wire.clean(why), has_begun=error.has_begun)
    return None


def _retried(job: Job, error: TryAgain) -> Retried:
    cause = error.__cause__ or error
    return Retried(
        job,
        None,
        group=error.group or _group(job, cause),
        message=error.message or message_of(cause),
        delay=error.delay,
    )


def _clean(group: str, message: str) -> tuple[str, str]:
    return wire.clean(group), wire.clean(message)


def _group(job: Job, error: BaseException) -> str:
    return group_of(job.queue_name, error)


@dataclass
class _Kept:
    """An outcome that waits for Redis."""

    outcome: Outcome
    until: float
    #: Whether it was sent, and no answer came.
    is_unknown: bool = False


class Settler:
    """Tells Redis what became of jobs, in order; each is told once.

    It belongs to the loop of one worker, which calls `flush` before it takes another job.

    Args:
        client: whose Redis.
        keep: for how many seconds an outcome is kept while Redis is away; never for less than the
            lock lasts.
        on_settled: called with the jid when Redis has said what became of a job.

    """

    def __init__(
        self,
        client: Client,
        *,
        keep: float = KEEP_S,
        on_settled: Callable[[str], object] | None = None,
    ) -> None:
        self._client = client
        self._on_settled = on_settled
        self._keep_s = keep
        self._kept: deque[_Kept] = deque()
        #: The jids of jobs that ran, and of which Redis was not told what became of them, nor is
        #: it going to be; also of those that were taken from us.
        self.given_up: set[str] = set()
        self._backoff = Backoff(longest=LONGEST_PAUSE_S)

    def __repr__(self) -> str:
        return f"<Settler with {len(self._kept)} to tell>"

    @property
    def is_done(self) -> bool:
        """Whether nothing is still to be told."""
        return not self._kept

    @property
    def kept(self) -> list[Job]:
        """The jobs of which something is still to be told."""
        return [kept.outcome.job for kept in self._kept]

    def settle(self, job: Job, error: BaseException | None) -> bool:
        """Complete a job that returned, fail one that raised, leave alone what settled itself.

        Args:
            job: the job.
            error: what it raised.

        Returns:
            Whether nothing is left to be told; else Redis is away, and it is kept for `flush`.

        """
        outcome = outcome_of(job, error)
        if outcome is not None:
            self._keep(outcome)
            self._tell_all()
        else:
            self._is_over(job.jid, is_told=job.is_settled)
        return not self._kept

    def keep(self, job: Job, error: BaseException | None = None) -> None:
        """Keep the outcome of a job of which was told in another way, without an answer."""
        outcome = outcome_of(job, error)
        if outcome is not None:
            self._keep(outcome).is_unknown = True
        else:
            self._is_over(job.jid, is_told=job.is_settled)

    def flush(self, stop: Event | None = None) -> None:
        """Tell all that is kept; wait for Redis as long as need be, or until `stop`.

        What cannot be told until then is given up: its lock runs out, and the job runs again as
        its retries say.
        """
        while self._kept:
            trouble = self._tell_all()
            if trouble is None:
                return
            if stop is not None and stop.is_set():
                break
            wait = self._backoff.next()
            level = logging.WARNING if self._backoff.failed == 1 else logging.INFO
            log.log(level, "%d outcomes wait, again in %.1f s: %s", len(self._kept), wait, trouble)
            REAL.wait(wait, stop)
        for kept in self._kept:
            log.error("job %r: its outcome could not be told", kept.outcome.job.jid)
            self.given_up.add(kept.outcome.job.jid)
        self._kept.clear()

    def _keep(self, outcome: Outcome) -> _Kept:
        lasts = outcome.job.expires_at - self._client.clock.now()
        kept = _Kept(outcome, REAL.monotonic() + max(self._keep_s, lasts))
        self._kept.append(kept)
        return kept

    def _tell_all(self) -> RedisUnavailable | None:
        """Tell what is kept, the oldest first; answers what stood in the way, None for nothing."""
        while self._kept:
            kept = self._kept[0]
            is_told = False
            try:
                is_told = self._tell(kept)
            except RedisUnavailable as trouble:
                kept.is_unknown = True
                if trouble.passes and REAL.monotonic() < kept.until:
                    return trouble
                log.exception("job %r: its outcome could not be told", kept.outcome.job.jid)
            self._kept.popleft()
            self._is_over(kept.outcome.job.jid, is_told=is_told)
        self._backoff.reset()
        return None

    def _is_over(self, jid: str, *, is_told: bool) -> None:
        """Note that nothing more is told of a job."""
        if not is_told:
            self.given_up.add(jid)
        elif self._on_settled is not None:
            self._on_settled(jid)

    def _tell(self, kept: _Kept) -> bool:
        """Tell one; whatever becomes of it, the worker lives on.

        Returns:
            Whether Redis has said what became of the job; else it may still be ours.

        Raises:
            RedisUnavailable: it was not told, or nobody knows whether it was.

        """
        outcome, job = kept.outcome, kept.outcome.job
        client = self._client
        try:
            outcome.tell(client.once(outcome.request) if kept.is_unknown else client.commands)
        except RedisUnavailable:
            raise
        except JobError as refusal:
            if _was_told(kept, refusal):
                log.info("job %r was settled, though the answer was lost", job.jid)
            else:
                log.warning("job %r is no longer ours: %s", job.jid, refusal)
        except BadArgument as problem:
            return self._tell_instead(kept, problem)
        except QlessError:
            log.exception("job %r: its outcome was refused", job.jid)
            return False
        except Exception as problem:  # noqa: BLE001 - an exception of the job may say anything
            return self._tell_instead(kept, problem)
        else:
            log.info("job %r is settled: %s", job.jid, job.state)
        return True

    def _tell_instead(self, kept: _Kept, problem: Exception) -> bool:
        """Fail a job whose outcome says something that is not accepted."""
        job, outcome = kept.outcome.job, kept.outcome
        is_failure = type(outcome) is Failed
        if is_failure and outcome.text is None:
            log.error("job %r: its failure was refused: %s", job.jid, problem)
            return False
        job.forget_changes()
        instead = outcome_of(job, problem)
        if isinstance(outcome, Failed) and is_failure:
            instead = Failed(job, None, group=outcome.group, message=outcome.message)
        if instead is None:
            return job.is_settled
        instead.text = None
        kept.outcome = instead
        return self._tell(kept)


def _was_told(kept: _Kept, refusal: JobError) -> bool:
    """Whether a refusal only says that an earlier attempt, without an answer, had arrived."""
    if not kept.is_unknown or not isinstance(refusal, JobNotRunning):
        return False
    return refusal.state in kept.outcome.states
