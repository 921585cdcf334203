"""A job: a snapshot of what Redis knew of it, and the verbs that change it there.

The snapshot does not follow what others do; `client.jobs[jid]` takes a new one. It follows its own
verbs: what a verb tells is known from then on, and what it changes without telling is read again
when somebody asks for it.
"""

from __future__ import annotations

import copy
import json
import logging
import uuid
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Self

from qless_core import wire
from qless_core.data import JobData
from qless_core.duration import seconds_of
from qless_core.errors import BadArgument, JobNotFound, MalformedData, RedisUnavailable
from qless_core.finishing import finish
from qless_core.job_class import find, klass_name_of, performer_of
from qless_core.moment import moment_of
from qless_core.records import Failure, HistoryItem, JobRecord
from qless_core.several import listed, texts_of

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from qless_core.client import Client
    from qless_core.duration import Duration
    from qless_core.records import Progress

#: What jobs say, for whoever reads the log of the program.
_log: Final = logging.getLogger("qless.job")


class State(StrEnum):
    """The states of a job, in the order in which people read them."""

    WAITING = "waiting"
    RUNNING = "running"
    STALLED = "stalled"
    SCHEDULED = "scheduled"
    DEPENDS = "depends"
    THROTTLED = "throttled"
    FAILED = "failed"
    COMPLETE = "complete"


def state_of(stored: str) -> State | str:
    """Give the state that a stored word means; words that we do not know stay what they are."""
    try:
        return State(stored)
    except ValueError:
        return stored


_HISTORY: Final = frozenset({"history"})


class Job:
    """A job.

    Args:
        client: the client that read it; None for a job built for a unit test.
        record: the snapshot, as the script told it.
        worker: who popped it; the client's worker when not given.
        brief: whether the snapshot lacks the history; it is read when it is asked for.

    """

    def __init__(
        self, client: Client | None, record: JobRecord, *, worker: str = "", brief: bool = False
    ) -> None:
        self._client = client
        self._worker = worker
        self._data = JobData(record.data)
        self._is_settled = False
        self._record = record
        #: Fields of the record that a verb changed without telling to what.
        self._unknown: frozenset[str] = _HISTORY if brief else frozenset()
        self._cleanups: list[Callable[[], object]] = []
        self._renewed: float = 0
        #: Whether it is in no Redis, so that what it knows of itself is all there is to know.
        self._is_built = False

    @classmethod
    def build(
        cls,
        klass: object,
        data: Any = None,  # noqa: ANN401 - job data is any JSON
        *,
        client: Client | None = None,
        queue: str = "test",
        attempt: int = 1,
        **fields: Any,  # noqa: ANN401 - fields of the record
    ) -> Self:
        """Make a job that is in no Redis, for a unit test; its data goes through JSON as ever.

        Args:
            klass: the class or function that runs it, or its dotted name.
            data: what it is to work on; {} when not given.
            client: what its verbs go to, as a `qless_core.testing.NullClient`; without one they
                raise BadArgument.
            queue: the queue it claims to be in.
            attempt: which of its runs this claims to be, 1 for the first.
            fields: what else it claims of itself, named as in `records.JobRecord`.

        Raises:
            BadArgument: the data cannot be said in JSON, the class has no name that a worker
                could import, or a job has no such field.

        """
        try:
            record = JobRecord(
                **{
                    "jid": new_jid(),
                    "klass": klass_name_of(klass, here=True),
                    "data": wire.dumps({} if data is None else data),
                    "queue": queue,
                    "state": "running",
                    "retries": 5,
                    "remaining": fields.get("retries", 5),
                    "history": (HistoryItem("popped", 0),) * attempt,
                    **fields,
                }
            )
        except TypeError as error:
            problem = f"a job cannot be built of that: {error}"
            raise BadArgument(problem) from error
        job = cls(client, record, worker=record.worker)
        job._is_built = True
        return job

    def __repr__(self) -> str:
        known = self._record
        state = "changed" if "state" in self._unknown else known.state
        return f"<Job {known.jid} {known.klass} {state} in {known.queue!r}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and other.jid == self.jid

    def __hash__(self) -> int:
        return hash(self.jid)

    # What it is

    @property
    def client(self) -> Client:
        """The client that read it.

        Raises:
            BadArgument: the job was built without one, for a unit test.

        """
        if self._client is None:
            problem = f"job {self.jid} was built without a client and is in no queue"
            raise BadArgument(problem)
        return self._client

    @property
    def record(self) -> JobRecord:
        """The snapshot, as the script told it.

        Raises:
            JobNotFound: a verb changed something without telling, and now the job is gone.

        """
        return self._knowing(*self._unknown)

    @property
    def jid(self) -> str:
        """What it is called, unique among all jobs."""
        return self._record.jid

    @property
    def klass_name(self) -> str:
        """The class that runs it, as `module.Qualname`."""
        return self._record.klass

    @property
    def klass(self) -> Any:  # noqa: ANN401 - a class, a function or a module
        """The class or function that runs it, imported.

        Raises:
            CannotPerform: it cannot be imported here.

        """
        return find(self.klass_name)

    @property
    def queue_name(self) -> str:
        """The queue it is in, or was last in."""
        return self._record.queue

    @property
    def worker_name(self) -> str:
        """The worker that holds it; "" when none does."""
        return self._record.worker

    @property
    def state(self) -> State | str:
        """The state it was in when the snapshot was taken, or that our own verb brought it to.

        Raises:
            JobNotFound: a verb changed it without telling, and now the job is gone.

        """
        return state_of(self._knowing("state").state)

    @property
    def data(self) -> Any:  # noqa: ANN401 - job data is any JSON
        """What it is to work on; change it in place, and it goes with complete, heartbeat, fail.

        Raises:
            MalformedData: what Redis holds is not JSON.

        """
        try:
            return self._data.value
        except json.JSONDecodeError as error:
            problem = f"The data of job {self.jid} is not JSON: {error}"
            raise MalformedData(self.jid, problem) from error

    @data.setter
    def data(self, data: Any) -> None:  # noqa: ANN401 - job data is any JSON
        self._data.value = data

    @property
    def raw_data(self) -> str:
        """The JSON text of the data as it would be sent: what was received, unless changed."""
        return self._data.text()

    @property
    def unsent_data(self) -> str | None:
        """The JSON text of the data where Redis has another one; None where it has this one."""
        return self._data.text() if self._data.is_changed else None

    def __getitem__(self, key: Any) -> Any:  # noqa: ANN401 - job data is any JSON
        return self.data[key]

    def __setitem__(self, key: Any, value: Any) -> None:  # noqa: ANN401 - job data is any JSON
        self.data[key] = value

    def __contains__(self, key: object) -> bool:
        return key in self.data

    def __iter__(self) -> Iterator[Any]:
        """Iterate the data: the keys of an object, the items of a list."""
        return iter(self.data)

    def get(self, key: Any, default: Any = None) -> Any:  # noqa: ANN401 - job data is any JSON
        """Give a value of the data by its key; the default where there is none.

        Raises:
            TypeError: the data is no object.

        """
        data = self.data
        if isinstance(data, dict):
            return data.get(key, default)
        problem = f"the data of job {self.jid} has no keys: it is {type(data).__name__}"
        raise TypeError(problem)

    @property
    def tags(self) -> list[str]:
        """Its tags."""
        return list(self._knowing("tags").tags)

    @property
    def history(self) -> list[HistoryItem]:
        """What happened to it, oldest first."""
        return list(self._knowing("history").history)

    @property
    def failure(self) -> Failure | None:
        """Why it failed last; None when it did not."""
        return self._knowing("failure").failure

    @property
    def last_failure(self) -> Failure | None:
        """What went wrong last with this work, in whichever attempt; None when nothing did.

        It is `failure`; where that was forgotten, as a job was put to work again, what the history
        tells of it: everything but the message.
        """
        if self.failure is not None:
            return self.failure
        for item in reversed(self._this_time()):
            if item.what == "failed":
                told = item.details
                return Failure(
                    str(told.get("group", "")), "", item.when, str(told.get("worker", ""))
                )
        return None

    @property
    def attempt(self) -> int:
        """Which run of this work this is, 1 for the first; of a job that does not run, its last.

        Every run counts for which a worker took it, whatever became of that, also those before
        somebody retried it by hand; those do not for which it was given back without having begun.
        It begins anew where the job completed: in its next queue, or when it is put again. Of a
        history that was cut (option `max-job-history`) what is left counts, and the used retries.

        A job that a worker has comes without its history: the first look at it is a round trip.
        While Redis is away the used retries count alone, so that a job can go by it at any time.
        """
        try:
            items = self._this_time()
        except RedisUnavailable:
            items = []
        taken = 0
        for item in items:
            if item.what == "popped":
                taken += 1
            elif item.details.get("ran") is False:
                taken -= 1
        known = self._knowing("state", "remaining")
        used = known.retries - known.remaining
        return max(taken, used + (known.state == State.RUNNING), 0)

    def _this_time(self) -> list[HistoryItem]:
        """Give what happened since it completed last, oldest first."""
        items = self.history
        done = [place for place, item in enumerate(items) if item.what == "done"]
        return items[done[-1] + 1 :] if done else items

    @property
    def tracked(self) -> bool:
        """Whether somebody tracks it."""
        return self._record.tracked

    @property
    def dependencies(self) -> list[str]:
        """The jids that it waits for."""
        return list(self._knowing("dependencies").dependencies)

    @property
    def dependents(self) -> list[str]:
        """The jids that wait for it."""
        return list(self._record.dependents)

    @property
    def spawned_from_jid(self) -> str | None:
        """The recurring job that it came from."""
        return self._record.spawned_from_jid

    @property
    def throttles(self) -> list[str]:
        """The limits that it runs under; its queue's own among them."""
        return list(self._knowing("throttles").throttles)

    @property
    def original_retries(self) -> int:
        """How many times it may be taken back from a worker before it fails."""
        return self._record.retries

    @property
    def retries_left(self) -> int:
        """How many of them are left."""
        return self._record.remaining

    @property
    def expires_at(self) -> float:
        """The end of the lock, epoch seconds; 0 when not locked."""
        if self._is_settled:
            return self._record.expires
        return max(self._record.expires, self._renewed)

    @property
    def ttl(self) -> float:
        """Seconds until the lock ends, by the clock that the queue goes by; negative when past.

        0 for a job that is not locked, as far as this snapshot knows; then nobody is asked.
        """
        return self.expires_at - self.client.now() if self.expires_at else 0.0

    @property
    def holder(self) -> str:
        """The worker in whose name the verbs of its holder are sent: whoever popped it."""
        return self._worker or self.client.worker_name

    @property
    def is_settled(self) -> bool:
        """Whether a verb of this object gave the job out of our hands."""
        return self._is_settled

    # What the worker that holds it does

    def perform(self) -> Any:  # noqa: ANN401 - what the job returns
        """Run it here and now, as a worker would; what it raises comes through.

        A coroutine is run to its end, in an event loop made for it. Nothing is settled: the worker
        that holds the job completes or fails it afterwards.

        Raises:
            CannotPerform: its class cannot be imported, or has nothing that runs jobs.

        """
        return finish(performer_of(self.klass_name, self.queue_name)(self), self.klass_name)

    def on_stop(self, cleanup: Callable[[], object]) -> None:
        """Have something called if the job is stopped: by its worker, a timeout, a lost lock.

        The last that was given is called first; what it raises is logged. It is called at once,
        by another thread, so that it can end what the job waits for: `job.on_stop(process.kill)`.
        """
        self._cleanups.append(cleanup)

    def next_cleanup(self) -> Callable[[], object] | None:
        """Take what is to be called next now that the job is stopped; None when that is all."""
        try:
            return self._cleanups.pop()
        except IndexError:
            return None

    def heartbeat(self) -> float:
        """Renew the lock; answers its new end, epoch seconds.

        Raises:
            LockLost: another worker has it.
            JobNotRunning: it is not running.
            JobNotFound: it is gone.

        """
        text = self._data.text() if self._data.is_changed else None
        expires = self.client.commands.heartbeat(self.jid, self.holder, text)
        if text is not None:
            self._data.sent(text)
        self._learn(expires=expires)
        return expires

    def progress(self, done: float, total: float | None = None, note: str | None = None) -> None:
        """Tell how far it is, for people to see; one round trip, and the lock stays as it is.

        Args:
            done: how much is done.
            total: of how much, where that is known.
            note: what to say beside. What UTF-8 cannot hold is replaced.

        Raises:
            LockLost: another worker has it.
            JobNotRunning: it is not running.
            JobNotFound: it is gone.

        """
        self.client.commands.progress(
            self.jid,
            self.holder,
            done,
            total=total,
            note=None if note is None else wire.clean(note),
        )

    def read_progress(self) -> Progress | None:
        """Read how far it was when it said so last, maybe in an earlier run; None if it never did.

        `done`, `total`, `note`, `share` (0 to 1), `when` and `worker`.
        """
        return self.client.commands.progress_get(self.jid)

    def complete(
        self,
        next_queue: str | None = None,
        *,
        delay: Duration | None = None,
        depends: Iterable[str | Job] | None = None,
        strict: bool = False,
    ) -> State | str:
        """Finish, or go on in the next queue; answers the new state.

        Args:
            next_queue: the queue to go on in.
            delay: seconds to wait there first.
            depends: jobs to wait for there first.
            strict: refuse where one of these does not exist; it is left out else.

        Raises:
            LockLost: another worker has it.
            JobNotRunning: it is not running.
            JobNotFound: it is gone.
            MissingDependencies: with `strict`, a job that it is to wait for does not exist.

        """
        text = self._data.text()
        state = self.client.commands.complete(
            self.jid,
            self.holder,
            self.queue_name,
            text,
            next=next_queue,
            delay_s=seconds_of("delay", delay),
            depends=None if depends is None else jids_of(depends),
            strict=strict,
        )
        self.note_complete(text, state, next_queue, dependencies_are_known=depends is None)
        return state_of(state)

    def complete_and_pop(
        self,
        queue: str | None = None,
        *,
        next_queue: str | None = None,
        delay: Duration | None = None,
        depends: Iterable[str | Job] | None = None,
        strict: bool = False,
    ) -> Job | None:
        """Finish, or go on in the next queue, and take the next job, in one round trip.

        Args:
            queue: where the next job is taken from; this one's own queue when not given.
            next_queue: the queue that this job goes on in.
            delay: seconds that it waits there first.
            depends: jobs that it waits for there first.
            strict: refuse where one of these does not exist; it is left out else.

        Returns:
            The next job, or None when there is none.

        Raises:
            LockLost: another worker has this job; nothing is taken.
            JobNotRunning: it is not running; nothing is taken.
            JobNotFound: it is gone; nothing is taken.
            MissingDependencies: with `strict`, a job that it is to wait for does not exist.

        """
        text = self._data.text()
        state, records = self.client.commands.complete_pop(
            self.queue_name if queue is None else queue,
            1,
            self.jid,
            self.holder,
            self.queue_name,
            text,
            next=next_queue,
            delay_s=seconds_of("delay", delay),
            depends=None if depends is None else jids_of(depends),
            strict=strict,
        )
        self.note_complete(text, state, next_queue, dependencies_are_known=depends is None)
        jobs = [Job(self.client, record, worker=self.holder) for record in records]
        return jobs[0] if jobs else None

    def fail(self, group: str, message: str) -> None:
        """Record the job as failed.

        Args:
            group: what kind of failure it is; failures are looked at by group.
            message: what happened. What UTF-8 cannot hold is replaced.

        Raises:
            LockLost: another worker has it.
            JobNotRunning: it is not running.
            JobNotFound: it is gone.

        """
        text = self._data.text() if self._data.is_changed else None
        group, message = wire.clean(group), wire.clean(message)
        self.client.commands.fail(self.jid, self.holder, group, message, text)
        self.note_failed(text)

    def retry(
        self, delay: Duration = 0, group: str | None = None, message: str | None = None
    ) -> int:
        """Give the job back to its queue; answers the retries left, -1 when it failed instead.

        Args:
            delay: seconds to wait before it may run again.
            group: the failure it counts as when no retries are left.
            message: what happened. What UTF-8 cannot hold is replaced.

        Raises:
            LockLost: another worker has it.
            JobNotRunning: it is not running.
            JobNotFound: it is gone.

        """
        delay = seconds_of("delay", delay)
        left = self.client.commands.retry(
            self.jid,
            self.queue_name,
            self.holder,
            delay,
            None if group is None else wire.clean(group),
            None if message is None else wire.clean(message),
        )
        self.note_retry(left, delay)
        return left

    def give_back(
        self,
        *,
        ran: bool,
        what: str = "given-back",
        details: Mapping[str, Any] | None = None,
        group: str | None = None,
        message: str | None = None,
    ) -> int:
        """Let the job wait again now, at its place in line; answers as `retry`.

        Args:
            ran: whether it was begun: then it loses a retry, and fails where none is left.
            what: what its history calls that.
            details: what its history says of it: the signal, the host, the pid.
            group: the failure that a job that ran counts as; None when it is nobody's fault.
            message: what happened; without a group it is told only where no retry was left. What
                UTF-8 cannot hold is replaced.

        Raises:
            LockLost: another worker has it.
            JobNotRunning: it is not running.
            JobNotFound: it is gone.

        """
        nobody = None if message is None else ""  # nobody's fault
        left = self.client.commands.giveback(
            self.jid,
            self.holder,
            int(ran),
            wire.clean(what),
            wire.dumps(dict(details or {}), what="the details of a job given back"),
            nobody if group is None else wire.clean(group),
            None if message is None else wire.clean(message),
        )
        if ran and left < 0:
            self._leave("failure", state=State.FAILED, remaining=left)
        elif ran and group is not None:
            # It may have to wait first, as the option `drop-backoff` says.
            self._leave("failure", "state", remaining=left)
        else:
            self._leave(state=State.WAITING, remaining=left)
        return left

    # What anybody does

    def move(  # noqa: PLR0913 - the options of a put, keyword-only
        self,
        queue: str,
        *,
        delay: Duration = 0,
        depends: Iterable[str | Job] | None = None,
        priority: float | None = None,
        tags: Iterable[str] | None = None,
        retries: int | None = None,
        throttles: Iterable[str] | None = None,
        heartbeat: Duration | None = None,
        at: float | dt.datetime | None = None,
        strict: bool = False,
    ) -> str:
        """Put the job into a queue from wherever it is; answers its jid.

        Whoever runs it now loses it, and its retries are renewed.

        Args:
            queue: where it goes.
            delay: seconds before it may run there.
            depends: jobs that must be complete first, in the place of those it waited for; as
                before when none is given.
            priority: its new priority; as before when not given.
            tags: its new tags; as before when not given.
            retries: its new retries; as before when not given.
            throttles: names of the limits that it runs under; as before when not given.
            heartbeat: seconds that it is locked for at a time, 0 for what its queue says; as before
                when not given.
            at: the moment before which it may not run there, in the place of `delay`: epoch
                seconds, or a datetime that knows its time zone.
            strict: refuse where a job that it depends on does not exist; that is left out else.

        Raises:
            JobNotFound: it is gone.
            BadArgument: it would wait for itself, or an argument makes no sense.
            MissingDependencies: with `strict`, a job that it is to wait for does not exist.

        """
        text, delay = self._data.text(), seconds_of("delay", delay)
        listed, limits = texts_of("tags", tags), texts_of("throttles", throttles)
        jid = self.client.commands.requeue(
            self.client.worker_name,
            queue,
            self.jid,
            self.klass_name,
            text,
            delay,
            priority=priority,
            tags=listed,
            retries=retries,
            depends=None if depends is None else jids_of(depends),
            throttles=limits,
            heartbeat=seconds_of("heartbeat", heartbeat),
            at=moment_of(at, delay or None),
            strict=strict,
        )
        self._data.sent(text)
        if priority is not None:
            self._learn(priority=priority)
        if retries is not None:
            self._learn(retries=retries)
        # It waits for others where it did so before, and blank tags are left out: Redis knows.
        doubtful = [
            name for name, new in (("tags", listed), ("throttles", limits)) if new is not None
        ]
        self._leave(
            "state", "dependencies", *doubtful, queue=queue, remaining=self.original_retries
        )
        return jid

    def requeue(self, queue: str, **options: Any) -> str:  # noqa: ANN401 - those of `move`
        """Do `move`, under the name of other clients.

        Raises:
            JobNotFound: it is gone.
            BadArgument: it would wait for itself, or an argument makes no sense.

        """
        return self.move(queue, **options)

    def cancel(self) -> None:
        """Remove the job for good.

        Raises:
            HasDependents: another job waits for it.

        """
        self.client.commands.cancel(self.jid)
        self._settle("state")

    def timeout(self) -> None:
        """Take the lock from whoever runs it, now; it goes back to the front of its queue.

        Raises:
            JobNotRunning: it is not running.
            JobNotFound: it is gone.

        """
        self.client.commands.timeout(self.jid)
        self._settle(state=State.STALLED, expires=0)

    @property
    def priority(self) -> float:
        """The higher, the sooner it is popped; assigning changes it in Redis too.

        Raises:
            JobNotFound: it is gone.
            BadArgument: what is assigned is no number.

        """
        return self._record.priority

    @priority.setter
    def priority(self, priority: float) -> None:
        kept = self.client.commands.priority(self.jid, priority)
        self._learn(priority=kept)

    def tag(self, *tags: str) -> list[str]:
        """Add tags; answers all it has now.

        Raises:
            JobNotFound: it is gone.

        """
        return self._tagged(self.client.commands.tag("add", self.jid, *tags) if tags else self.tags)

    def untag(self, *tags: str) -> list[str]:
        """Remove tags; answers the rest.

        Raises:
            JobNotFound: it is gone.

        """
        commands = self.client.commands
        return self._tagged(commands.tag("remove", self.jid, *tags) if tags else self.tags)

    def track(self) -> bool:
        """Track the job, so that its events are told; answers whether that is new.

        Raises:
            JobNotFound: it is gone.

        """
        is_new = self.client.commands.track("track", self.jid)
        self._learn(tracked=True)
        return is_new

    def untrack(self) -> bool:
        """Track it no more; answers whether it was tracked."""
        was_tracked = self.client.commands.track("untrack", self.jid)
        self._learn(tracked=False)
        return was_tracked

    def depend(self, *jobs: str | Job, strict: bool = False) -> None:
        """Let it wait for more jobs; with `strict`, all of them must exist.

        Raises:
            MissingDependencies: with `strict`, one does not exist.
            NotWaitingOnDependencies: it runs already, failed or is complete.

        """
        if jobs:
            switch = "strict" if strict else "on"
            self.client.commands.depends(self.jid, switch, *jids_of(jobs))
            self._doubt("state", "dependencies")

    def undepend(self, *jobs: str | Job, all: bool = False) -> None:  # noqa: A002 - qless-py's name
        """Let it wait for these jobs no more, or for none at all.

        Raises:
            BadArgument: it is not said for which.
            NotWaitingOnDependencies: it waits for nothing.

        """
        if bool(jobs) == all:
            problem = "undepend() takes either jobs or all=True"
            raise BadArgument(problem)
        self.client.commands.depends(self.jid, "off", *(("all",) if all else jids_of(jobs)))
        self._doubt("state", "dependencies")

    @property
    def logger(self) -> logging.LoggerAdapter[logging.Logger]:
        """The log of the program, for what the job says: `job.logger.info("…")`.

        It is the logger `qless.job`; each record has the `jid`, `klass` and `queue` of the job.
        """
        known = {"jid": self.jid, "klass": self.klass_name, "queue": self.queue_name}
        return logging.LoggerAdapter(_log, known)

    def log(self, message: str, data: Any = None) -> None:  # noqa: ANN401 - any JSON
        """Append to the history of the job, and say it in the log of the program.

        Args:
            message: what to call it.
            data: an object of details.

        Raises:
            JobNotFound: it is gone.

        """
        text = None if data is None else wire.dumps(data, what="the data of a log")
        message = wire.clean(message)
        self.client.commands.log(self.jid, message, text)
        self.logger.info("%s%s", message, f" {text}" if text else "")
        self._doubt("history")

    def through(self, client: Client) -> Self:
        """Give the same snapshot, whose verbs go through another client.

        Args:
            client: one that finds the job, as a client of several shards does.

        """
        same = copy.copy(self)
        same._client = client  # noqa: SLF001 - one of ours
        return same

    def reload(self) -> Self:
        """Take the snapshot anew; changes of `data` that were not sent are forgotten.

        Raises:
            JobNotFound: it is gone.

        """
        self._reread()
        self._data = JobData(self._record.data)
        return self

    def forget_changes(self) -> None:
        """Take `data` back to what was received, or last sent."""
        self._data.forget_changes()

    def note_complete(
        self,
        text: str,
        state: str,
        next_queue: str | None = None,
        *,
        dependencies_are_known: bool = True,
    ) -> None:
        """Note that it was completed, by a call that is not one of its own verbs.

        Args:
            text: the data that was sent with it, as JSON.
            state: the state that it is in now.
            next_queue: the queue that it went on in.
            dependencies_are_known: whether it waits for what it waited for before.

        """
        self._data.sent(text)
        queue = self.queue_name if next_queue is None else next_queue
        doubtful = () if dependencies_are_known else ("dependencies",)
        self._leave(*doubtful, queue=queue, state=state)
        self._learn(failure=None, remaining=self.original_retries)

    def note_lock(self, expires: float) -> None:
        """Note that its lock was renewed, by a call of another thread than its own.

        Args:
            expires: the new end, epoch seconds.

        """
        # Beside the snapshot, which the job's own thread may be changing.
        self._renewed = expires

    def note_failed(self, text: str | None = None) -> None:
        """Note that it failed, by a call that is not one of its own verbs.

        Args:
            text: the data that was sent with it, as JSON.

        """
        if text is not None:
            self._data.sent(text)
        self._leave("failure", state=State.FAILED)

    def note_retry(self, left: int, delay: float = 0) -> None:
        """Note that it is to run again, by a call that is not one of its own verbs.

        Args:
            left: the retries left, as the call answered.
            delay: the seconds until then.

        """
        if left < 0:
            self._leave("failure", state=State.FAILED, remaining=left)
        else:
            state = State.SCHEDULED if delay > 0 else State.WAITING
            self._settle("failure", state=state, remaining=left)

    # Within

    def _knowing(self, *names: str) -> JobRecord:
        """Give the snapshot, after a look at Redis where one of these fields is in doubt."""
        if not self._unknown.isdisjoint(names):
            self._reread()
        return self._record

    def _reread(self) -> None:
        record = self.client.commands.get(self.jid)
        if record is None and self._is_built:
            record = self._record
        if record is None:
            raise JobNotFound(self.jid)
        self._record, self._unknown = record, frozenset()

    def _learn(self, **fields: Any) -> None:  # noqa: ANN401 - fields of the record
        self._record = replace(self._record, **fields)
        self._unknown -= fields.keys()

    def _doubt(self, *names: str) -> None:
        self._unknown |= frozenset(names)

    def _leave(self, *doubtful: str, **fields: Any) -> None:  # noqa: ANN401 - fields of the record
        """Settle, and let no worker hold it any more."""
        self._settle(*doubtful, worker="", expires=0, **fields)

    def _settle(self, *doubtful: str, **fields: Any) -> None:  # noqa: ANN401 - fields of the record
        """Note that the job is out of our hands, what is known of it, and what is not."""
        self._doubt("history", *doubtful)
        self._learn(**fields)
        self._is_settled = True

    def _tagged(self, tags: list[str]) -> list[str]:
        self._learn(tags=tuple(tags))
        return tags


@dataclass(frozen=True, slots=True)
class JobPage:
    """Some of many jobs, and how many there are in all; those that are gone are left out."""

    total: int
    jobs: list[Job]


def read_jobs(client: Client, jids: Sequence[str]) -> list[Job]:
    """Read those of the jobs that exist, in one call."""
    return [Job(client, record) for record in client.commands.multiget(*jids)]


def jids_of(jobs: Iterable[str | Job]) -> list[str]:
    """Name jobs that are given as jids or as themselves.

    Raises:
        BadArgument: one text was given where several jobs are meant, or what is neither.

    """
    named = [job.jid if isinstance(job, Job) else job for job in listed("jobs", jobs)]
    for jid in named:
        if not isinstance(jid, str):
            problem = f"a job is named by its jid, a text, got {jid!r}"
            raise BadArgument(problem)
    return named


def new_jid() -> str:
    """Make up a jid that nothing else has."""
    return uuid.uuid4().hex
