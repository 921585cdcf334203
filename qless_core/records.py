"""What the script answers, as typed records: one frozen dataclass for each shape of reply.

Read tolerantly: data that other clients or older versions wrote may lack fields or hold odd ones,
and must still be shown.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from qless_core import wire
from qless_core.histogram import Histogram
from qless_core.options import as_number, as_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

_EMPTY: Mapping[str, Any] = {}


def text(value: Any) -> str:  # noqa: ANN401 - any part of a reply
    """Give text where text is meant; "" for what is missing."""
    if isinstance(value, str):
        return value
    return "" if value is None or value is False else str(value)


def number_or_0(value: Any) -> int | float:  # noqa: ANN401 - any part of a reply
    """Give a number where one is meant, an int where it is whole; 0 for what is none."""
    return value if type(value) is int else as_number(value) or 0


def whole_or_0(value: Any) -> int:  # noqa: ANN401 - any part of a reply
    """Give a whole number where one is meant; 0 for what is missing or is none."""
    return value if type(value) is int else as_whole(value) or 0


def texts(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - any part of a reply
    """Give a tuple of texts where a list of names is meant."""
    if not value:
        return ()
    return tuple(text(item) for item in wire.as_list(value))


@dataclass(frozen=True, slots=True)
class HistoryItem:
    """One thing that happened to a job.

    Attributes:
        what: `put`, `popped`, `failed`, `timed-out`, `done` or what a `log` said.
        when: epoch seconds, whole.
        details: what came with it: `q`, `worker`, `group` or the data of a `log`.

    """

    what: str
    when: int
    details: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_reply(cls, item: Any) -> Self:  # noqa: ANN401 - any part of a reply
        """Read an item of the list `history` of a job."""
        details = dict(item) if isinstance(item, dict) else {"what": text(item)}
        what, when = details.pop("what", None), details.pop("when", None)
        return cls(text(what), whole_or_0(when), details)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job failed last.

    Attributes:
        group: what kind of failure it is.
        message: what happened, usually a traceback.
        when: epoch seconds, whole.
        worker: who held the job; "" when its lock ran out for good.

    """

    group: str
    message: str
    when: int
    worker: str

    @classmethod
    def from_reply(cls, value: Any) -> Self | None:  # noqa: ANN401 - any part of a reply
        """Read the object `failure` of a job; None when it never failed."""
        if not isinstance(value, dict) or not value:
            return None
        return cls(
            group=text(value.get("group")),
            message=text(value.get("message")),
            when=whole_or_0(value.get("when")),
            worker=text(value.get("worker")),
        )


@dataclass(slots=True, unsafe_hash=True)  # to be frozen costs each job more than to be read
class JobRecord:
    """A job as the script tells it; `data` is the JSON text, byte for byte as it is stored.

    Nobody writes to it: `dataclasses.replace` makes another one.
    """

    jid: str
    klass: str
    data: str
    queue: str = ""
    state: str = ""
    worker: str = ""
    tracked: bool = False
    priority: float = 0
    expires: float = 0
    retries: int = 0
    remaining: int = 0
    tags: tuple[str, ...] = ()
    history: tuple[HistoryItem, ...] = ()
    failure: Failure | None = None
    spawned_from_jid: str | None = None
    dependents: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()
    throttles: tuple[str, ...] = ()

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read one job of a reply."""
        told = reply.get
        # Who takes jobs is told neither of these, or of no failure.
        history, failure = told("history"), told("failure")
        return cls(
            jid=text(told("jid")),
            klass=text(told("klass")),
            data=text(told("data")),
            queue=text(told("queue")),
            state=text(told("state")),
            worker=text(told("worker")),
            tracked=bool(told("tracked")),
            priority=number_or_0(told("priority")),
            expires=number_or_0(told("expires")),
            retries=whole_or_0(told("retries")),
            remaining=whole_or_0(told("remaining")),
            tags=texts(told("tags")),
            history=tuple(map(HistoryItem.from_reply, wire.as_list(history))) if history else (),
            failure=Failure.from_reply(failure) if failure else None,
            spawned_from_jid=text(told("spawned_from_jid")) or None,
            dependents=texts(told("dependents")),
            dependencies=texts(told("dependencies")),
            throttles=texts(told("throttles")),
        )


@dataclass(frozen=True, slots=True)
class WaitReply:
    """What one who waits for jobs is told."""

    #: What it took.
    jobs: tuple[JobRecord, ...] = ()
    #: The seconds after which it is to look again; None where that is not its task.
    again: float | None = None
    #: The moment of it, epoch seconds by the clock that the queue goes by.
    now: float = 0.0

    @classmethod
    def from_text(cls, text: str | None) -> Self:
        """Read the reply of `wait.pop`."""
        reply = wire.reply_record(text)
        return cls(
            tuple(map(JobRecord.from_reply, wire.as_list(reply.get("jobs")))),
            as_number(reply.get("again")),
            number_or_0(reply.get("now")),
        )


@dataclass(frozen=True, slots=True)
class TurnReply:
    """What became of the jobs that a worker has done, and what it took next.

    Attributes:
        jobs: those that it took.
        left: the jids that could not be finished, each with the reason, as in `Report`.
        now: the moment of it, epoch seconds by the clock that the queue goes by.

    """

    jobs: tuple[JobRecord, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)
    now: float = 0

    @classmethod
    def from_text(cls, text: str | None) -> Self:
        """Read the reply of `turn`."""
        reply = wire.loads(text) if text else None
        if not isinstance(reply, dict):
            return cls()
        left = reply.get("left")
        return cls(
            tuple(map(JobRecord.from_reply, wire.as_list(reply.get("jobs")))),
            left if isinstance(left, dict) else {},
            number_or_0(reply.get("now")),
        )


@dataclass(frozen=True, slots=True)
class RecurringRecord:
    """A recurring job as the script tells it; `data` is the JSON text its children get."""

    jid: str
    klass: str
    data: str
    queue: str = ""
    state: str = "recur"
    priority: float = 0
    interval: float = 0
    retries: int = 0
    count: int = 0
    tags: tuple[str, ...] = ()
    backlog: int = 0
    throttles: tuple[str, ...] = ()
    #: The expression and the time zone of a cron job; "" where it recurs by interval.
    cron: str = ""
    timezone: str = ""

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `recur.get`."""
        return cls(
            jid=text(reply.get("jid")),
            klass=text(reply.get("klass")),
            data=text(reply.get("data")),
            queue=text(reply.get("queue")),
            state=text(reply.get("state")),
            priority=number_or_0(reply.get("priority")),
            interval=number_or_0(reply.get("interval")),
            retries=whole_or_0(reply.get("retries")),
            count=whole_or_0(reply.get("count")),
            tags=texts(reply.get("tags")),
            backlog=whole_or_0(reply.get("backlog")),
            throttles=texts(reply.get("throttles")),
            cron=text(reply.get("cron")),
            timezone=text(reply.get("timezone")),
        )


@dataclass(frozen=True, slots=True)
class CronJob:
    """What it takes to plan further runs of a cron job.

    Attributes:
        planned: its last run that is planned, epoch seconds.

    """

    jid: str
    cron: str
    timezone: str
    planned: float
    backlog: int


@dataclass(frozen=True, slots=True)
class CronDue:
    """The cron jobs that need more runs planned, and the time of the queue, epoch seconds.

    `seen` is how many the page has, those among them of which nothing can be read.
    """

    now: float
    jobs: tuple[CronJob, ...]
    seen: int

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `cron.due`."""
        jobs = tuple(
            CronJob(
                jid=text(job.get("jid")),
                cron=text(job.get("cron")),
                timezone=text(job.get("timezone")),
                planned=number_or_0(job.get("planned")),
                backlog=whole_or_0(job.get("backlog")),
            )
            for job in wire.as_list(reply.get("jobs"))
        )
        return cls(number_or_0(reply.get("now")), jobs, whole_or_0(reply.get("seen")))


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How many jobs of a queue are in each state, as a pop would find them now.

    Attributes:
        recurring: those by interval and those by cron expression.
        cron: how many of these recur by cron expression.

    """

    name: str
    waiting: int = 0
    running: int = 0
    stalled: int = 0
    scheduled: int = 0
    depends: int = 0
    recurring: int = 0
    cron: int = 0
    throttled: int = 0
    paused: bool = False

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read one queue of the reply of `queues`, which counts cron jobs by themselves."""
        cron = whole_or_0(reply.get("cron"))
        return cls(
            name=text(reply.get("name")),
            waiting=whole_or_0(reply.get("waiting")),
            running=whole_or_0(reply.get("running")),
            stalled=whole_or_0(reply.get("stalled")),
            scheduled=whole_or_0(reply.get("scheduled")),
            depends=whole_or_0(reply.get("depends")),
            recurring=whole_or_0(reply.get("recurring")) + cron,
            cron=cron,
            throttled=whole_or_0(reply.get("throttled")),
            paused=bool(reply.get("paused")),
        )


@dataclass(frozen=True, slots=True)
class ThrottleRecord:
    """A throttle, and how many of its jobs may run at once; 0 for any number."""

    id: str
    maximum: int = 0

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `throttle.get`."""
        return cls(text(reply.get("id")), whole_or_0(reply.get("maximum")))


@dataclass(frozen=True, slots=True)
class JidPage:
    """Some of many jids, and how many there are in all."""

    total: int
    jids: tuple[str, ...]

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `failed` with a group, or of `tag get`."""
        return cls(whole_or_0(reply.get("total")), texts(reply.get("jobs")))


@dataclass(frozen=True, slots=True)
class TrackedRecord:
    """The tracked jobs, and the jids of those that are gone."""

    jobs: tuple[JobRecord, ...]
    expired: tuple[str, ...]

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `track` without arguments."""
        jobs = wire.as_list(reply.get("jobs"))
        return cls(tuple(map(JobRecord.from_reply, jobs)), texts(reply.get("expired")))


@dataclass(frozen=True, slots=True)
class GivenBack:
    """The jobs of a worker that wait again, and those that failed as they had no retry left."""

    given: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `giveback.all`."""
        return cls(texts(reply.get("given")), texts(reply.get("failed")))


@dataclass(frozen=True, slots=True)
class WorkerCounts:
    """How many jobs a worker holds, and with how many of them it is late."""

    name: str
    jobs: int = 0
    stalled: int = 0

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read one worker of the reply of `workers`."""
        stalled = reply.get("stalled")
        return cls(text(reply.get("name")), whole_or_0(reply.get("jobs")), whole_or_0(stalled))


@dataclass(frozen=True, slots=True)
class WorkerJobs:
    """The jids a worker holds: those within their lock, and those whose lock ran out."""

    jobs: tuple[str, ...] = ()
    stalled: tuple[str, ...] = ()

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `workers` with a name."""
        return cls(texts(reply.get("jobs")), texts(reply.get("stalled")))


@dataclass(frozen=True, slots=True)
class WorkerChild:
    """A child of a worker: the name in which it takes jobs, its pid, and when it started."""

    name: str
    pid: int = 0
    started: float = 0

    @classmethod
    def from_reply(cls, reply: Any) -> Self:  # noqa: ANN401 - any part of a reply
        """Read one of the `children` that a worker tells of."""
        reply = reply if isinstance(reply, dict) else {}
        return cls(
            text(reply.get("name")), whole_or_0(reply.get("pid")), number_or_0(reply.get("started"))
        )


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker tells of itself.

    Attributes:
        host: the machine that it runs on.
        pid: its process there.
        kind: `forking`, `serial`, `thread` or `greenlet`.
        version: of this package.
        queues: the names and patterns that it was told, in its order.
        concurrency: how many jobs it runs at once, at most.
        started: when, epoch seconds; another process of the same name started at another time.
        state: `running`, `paused`, `stopping`, or `failing` where all its children die before they
            work.
        children: the processes that run its jobs; none where it runs them itself.

    """

    host: str = ""
    pid: int = 0
    kind: str = ""
    version: str = ""
    queues: tuple[str, ...] = ()
    concurrency: int = 1
    started: float = 0
    state: str = "running"
    children: tuple[WorkerChild, ...] = ()

    @classmethod
    def from_reply(cls, reply: Any) -> Self | None:  # noqa: ANN401 - any part of a reply
        """Read what a worker told of itself; None where it told nothing."""
        if not isinstance(reply, dict):
            return None
        return cls(
            host=text(reply.get("host")),
            pid=whole_or_0(reply.get("pid")),
            kind=text(reply.get("kind")),
            version=text(reply.get("version")),
            queues=texts(reply.get("queues")),
            concurrency=whole_or_0(reply.get("concurrency")) or 1,
            started=number_or_0(reply.get("started")),
            state=text(reply.get("state")) or "running",
            children=tuple(
                found
                for child in wire.as_list(reply.get("children"))
                if (found := WorkerChild.from_reply(child)).name
            ),
        )


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    """A worker as the script knows it.

    Attributes:
        name: what it is called.
        seen: when it gave a sign of life last, epoch seconds; None when it is not on the list.
        asked: what it is asked to do and has not done yet; "" for nothing.
        info: what it tells of itself; None when it tells nothing, as children and other clients.

    """

    name: str
    seen: float | None = None
    asked: str = ""
    info: WorkerInfo | None = None

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read one worker of the reply of `worker.info`."""
        return cls(
            name=text(reply.get("name")),
            seen=as_number(reply.get("seen")),
            asked=text(reply.get("asked")),
            info=WorkerInfo.from_reply(reply.get("info")),
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job is, by its own word.

    Attributes:
        done: how much of it is done.
        total: of how much; None where it did not say.
        note: what it said beside; "" for nothing.
        when: when it said so, epoch seconds.
        worker: who held it then.

    """

    done: float
    total: float | None = None
    note: str = ""
    when: float = 0
    worker: str = ""

    @classmethod
    def from_reply(cls, reply: Any) -> Self | None:  # noqa: ANN401 - any part of a reply
        """Read the field `progress` of a job; None where it said nothing."""
        if not isinstance(reply, dict):
            return None
        return cls(
            done=number_or_0(reply.get("done")),
            total=as_number(reply.get("total")),
            note=text(reply.get("note")),
            when=number_or_0(reply.get("when")),
            worker=text(reply.get("worker")),
        )

    @property
    def share(self) -> float | None:
        """The part of it that is done, from 0 to 1; None where it is not known of how much.

        >>> Progress(30, 40).share, Progress(3).share, Progress(0, 0).share, Progress(9, 3).share
        (0.75, None, 1.0, 1.0)
        """
        if self.total is None:
            return None
        return min(self.done / self.total, 1.0) if self.total > 0 else 1.0


@dataclass(frozen=True, slots=True)
class Timing:
    """How long jobs waited, or ran: count, mean and standard deviation (seconds), histogram."""

    count: int
    mean: float
    std: float
    histogram: Histogram

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read `wait` or `run` of the reply of `stats`."""
        bins = wire.as_list(reply.get("histogram"))
        return cls(
            count=whole_or_0(reply.get("count")),
            mean=number_or_0(reply.get("mean")),
            std=number_or_0(reply.get("std")),
            histogram=Histogram(tuple(whole_or_0(bin_) for bin_ in bins)),
        )


@dataclass(frozen=True, slots=True)
class QueueStats:
    """What happened in a queue on one day.

    Attributes:
        retries: jobs that were taken back from a worker or retried.
        failures: times that a job failed.
        failed: jobs that failed on that day and are failed still.
        wait: from put to pop.
        run: from pop to complete.

    """

    retries: int
    failures: int
    failed: int
    wait: Timing
    run: Timing

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `stats`."""
        return cls(
            retries=whole_or_0(reply.get("retries")),
            failures=whole_or_0(reply.get("failures")),
            failed=whole_or_0(reply.get("failed")),
            wait=Timing.from_reply(reply.get("wait") or _EMPTY),
            run=Timing.from_reply(reply.get("run") or _EMPTY),
        )


@dataclass(frozen=True, slots=True)
class Report:
    """What work on many jobs did.

    Attributes:
        done: the jids of those that it was done to, in order.
        left: the others, each with the reason: the state it is in, `gone`, `group` (failed in
            another group), `dependents` (others wait for it) or `nowhere` (it is in no queue).
        emptied: the failure groups that have no job left.

    """

    done: tuple[str, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)
    emptied: tuple[str, ...] = ()

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `bulk.move` and `bulk.cancel`."""
        left = reply.get("left")
        reasons = left.items() if isinstance(left, dict) else ()
        explained = {jid: text(why) for jid, why in reasons}
        return cls(texts(reply.get("done")), explained, texts(reply.get("emptied")))


@dataclass(frozen=True, slots=True)
class ArchivePage:
    """Completed jobs that an archiver has not written yet.

    Attributes:
        start: where the archiver stands; "" at the very beginning.
        end: where it stands when it has written these.
        jobs: the jobs, the oldest first.
        times: when each completed, epoch seconds.
        gone: how many went before they could be read.
        has_gap: whether some before these may have gone unseen.

    """

    start: str
    end: str
    jobs: tuple[JobRecord, ...]
    times: tuple[float, ...]
    gone: int
    has_gap: bool

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `archive.next`."""
        return cls(
            start=text(reply.get("from")),
            end=text(reply.get("to")),
            jobs=tuple(map(JobRecord.from_reply, wire.as_list(reply.get("jobs")))),
            times=tuple(map(number_or_0, wire.as_list(reply.get("times")))),
            gone=whole_or_0(reply.get("gone")),
            has_gap=bool(reply.get("gap")),
        )


@dataclass(frozen=True, slots=True)
class Involved:
    """A job that an action on others would touch, as it is now."""

    jid: str
    klass: str
    state: str
    queue: str
    worker: str


@dataclass(frozen=True, slots=True)
class Closure:
    """Jobs and all that wait for them, through whomever.

    Attributes:
        jobs: those that exist, each after the jobs that wait for it.
        missing: the jids that were asked for and have no job.
        is_cut: whether there are more than were looked at.

    """

    jobs: tuple[Involved, ...]
    missing: tuple[str, ...]
    is_cut: bool

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `bulk.closure`."""
        jobs = tuple(
            Involved(
                jid=text(job.get("jid")),
                klass=text(job.get("klass")),
                state=text(job.get("state")),
                queue=text(job.get("queue")),
                worker=text(job.get("worker")),
            )
            for job in wire.as_list(reply.get("jobs"))
        )
        return cls(jobs, texts(reply.get("missing")), bool(reply.get("more")))


@dataclass(frozen=True, slots=True)
class AuditStep:
    """What one step of the audit found.

    Attributes:
        cursor: where the next step begins; "0" when there is none.
        keys: how many keys or entries were met.
        found: kind, note and subject of each fault.
        left: subjects that there was no time for.
        links: jobs that wait for others and are waited for, with those that they wait for.

    """

    cursor: str
    keys: int
    found: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    left: tuple[tuple[str, ...], ...] = ()
    links: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `audit.scan`, `audit.walk` and `audit.look`."""
        links = reply.get("links")
        return cls(
            cursor=text(reply.get("cursor")) or "0",
            keys=whole_or_0(reply.get("keys")),
            found=tuple(
                (text(one.get("kind")), text(one.get("note")), texts(one.get("subject")))
                for one in wire.as_list(reply.get("found"))
            ),
            left=tuple(texts(subject) for subject in wire.as_list(reply.get("left"))),
            links={jid: texts(jids) for jid, jids in links.items()}
            if isinstance(links, dict)
            else {},
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a repair of the audit did.

    Attributes:
        done: whether it did anything.
        what: what it did, or why it did nothing.

    """

    done: bool
    what: str

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read one item of the reply of `audit.repair`."""
        done = "done" in reply
        return cls(done, text(reply.get("done" if done else "left")))


@dataclass(frozen=True, slots=True)
class OperationStep:
    """What one step of an operation did, and how far it is.

    Attributes:
        state: `running`, `paused`, `stopped` or `done`; `superseded` where another run of it goes
            on, `gone` where there is none.
        at: how many jobs of its list are behind it.
        total: how many the list has.
        skipped: how many of this step were left alone.
        kept: bytes that were kept of what the jobs of this step were.
        took_s: seconds of the server's time that it took.

    """

    state: str
    at: int
    total: int
    skipped: int
    kept: int
    took_s: float

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `operation.step`."""
        return cls(
            state=text(reply.get("state")),
            at=whole_or_0(reply.get("at")),
            total=whole_or_0(reply.get("total")),
            skipped=whole_or_0(reply.get("skipped")),
            kept=whole_or_0(reply.get("bytes")),
            took_s=float(reply.get("took") or 0),
        )


@dataclass(frozen=True, slots=True)
class OperationCopy:
    """How far the list of a failure group is copied for an operation.

    Attributes:
        size: how many jobs are to come in all.
        copied: how many of them are copied now.
        last: jids of the newest of them, at most a hundred: there the copy ends.
        listed: whether it is for sure that all of them were there when somebody looked; else the
            moment of each failure decides.

    """

    size: int
    copied: int
    last: tuple[str, ...]
    listed: bool

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `operation.freeze`."""
        size, copied = (whole_or_0(reply.get(name)) for name in ("size", "copied"))
        last, listed = texts(reply.get("last")), reply.get("listed") is True
        return cls(size=size, copied=copied, last=last, listed=listed)


@dataclass(frozen=True, slots=True)
class OperationLook:
    """What an operation would do to a stretch of its list.

    Attributes:
        looked: how many jobs were looked at.
        fits: how many of them it would act on.
        classes: how many of these by class.
        queues: the same by queue.
        left: the others, by reason.
        sample: jids of the first that it would act on.
        odd: jids of the first others, each with its reason.

    """

    looked: int
    fits: int
    classes: Mapping[str, int]
    queues: Mapping[str, int]
    left: Mapping[str, int]
    sample: tuple[str, ...]
    odd: tuple[tuple[str, str], ...]

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `operation.look`."""
        return cls(
            looked=whole_or_0(reply.get("looked")),
            fits=whole_or_0(reply.get("fits")),
            classes=_numbers(reply.get("classes")),
            queues=_numbers(reply.get("queues")),
            left=_numbers(reply.get("left")),
            sample=texts(reply.get("sample")),
            odd=tuple((text(jid), text(why)) for jid, why in wire.as_list(reply.get("odd"))),
        )


@dataclass(frozen=True, slots=True)
class OperationFare:
    """What became of jobs that an operation put to work.

    Attributes:
        looked: how many were looked at.
        failed: how many have failed since.
        ended: how many have ended since, those that failed among them.

    """

    looked: int
    failed: int
    ended: int

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `operation.fare`."""
        return cls(*(whole_or_0(reply.get(name)) for name in ("looked", "failed", "ended")))


def _numbers(found: object) -> dict[str, int]:
    items = found.items() if isinstance(found, dict) else ()
    return {name: whole_or_0(number) for name, number in items}


@dataclass(frozen=True, slots=True)
class ShardLeave:
    """What became of a job that was to leave for another shard.

    Attributes:
        luggage: what is to arrive there; "" when it stays.
        stays: why it stays: the state that it is in, `gone`, `unreadable`, or `dependents` when
            others wait for it; "" when it left.

    """

    luggage: str = ""
    stays: str = ""

    @classmethod
    def from_reply(cls, reply: Mapping[str, Any]) -> Self:
        """Read the reply of `shard.leave`."""
        return cls(text(reply.get("luggage")), text(reply.get("stays")))
