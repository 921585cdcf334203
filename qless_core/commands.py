"""The seam to the script: one method per command, the same name, the same order of arguments.

Options are keyword-only and None leaves the choice to the script, which alone has the defaults.
JSON arguments (`data`, `next`'s data) are text; lists of names are lists.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from qless_core import wire
from qless_core.errors import BadArgument
from qless_core.options import as_number
from qless_core.records import (
    ArchivePage,
    AuditStep,
    Closure,
    CronDue,
    GivenBack,
    JidPage,
    JobRecord,
    OperationCopy,
    OperationFare,
    OperationLook,
    OperationStep,
    Outcome,
    Progress,
    QueueCounts,
    QueueStats,
    RecurringRecord,
    Report,
    ShardLeave,
    ThrottleRecord,
    TrackedRecord,
    TurnReply,
    WaitReply,
    WorkerCounts,
    WorkerJobs,
    WorkerRecord,
    text,
    texts,
    whole_or_0,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Commands:
    """Every command of the script.

    Args:
        run: calls the script with a command and its arguments, adding the time.

    """

    def __init__(self, run: Callable[..., Any]) -> None:
        self._run = run

    def __repr__(self) -> str:
        return "<Commands>"

    # Jobs come, are taken, and go

    def put(
        self,
        me: str,
        queue: str,
        jid: str,
        klass: str,
        data: str,
        delay_s: float,
        *,
        priority: float | None = None,
        tags: Sequence[str] | None = None,
        retries: int | None = None,
        depends: Sequence[str] | None = None,
        throttles: Sequence[str] | None = None,
        heartbeat: float | None = None,
        at: float | None = None,
        strict: bool = False,
    ) -> str:
        """Put a job into a queue, new or from wherever it is; answers its jid.

        Raises:
            MissingDependencies: with `strict`, a job that it is to wait for does not exist.

        """
        options = put_options(
            priority=priority,
            tags=tags,
            retries=retries,
            depends=depends,
            throttles=throttles,
            heartbeat=heartbeat,
            at=at,
            strict=strict,
        )
        return text(self._call("put", me, queue, jid, klass, data, delay_s, *options))

    def put_new(
        self,
        me: str,
        queue: str,
        jid: str,
        klass: str,
        data: str,
        delay_s: float,
        *,
        priority: float | None = None,
        tags: Sequence[str] | None = None,
        retries: int | None = None,
        depends: Sequence[str] | None = None,
        throttles: Sequence[str] | None = None,
        heartbeat: float | None = None,
        at: float | None = None,
        strict: bool = False,
    ) -> bool:
        """Do as `put`, but leave a job that runs or will run as it is; answers whether it was put.

        Raises:
            MissingDependencies: as `put`.

        """
        options = put_options(
            priority=priority,
            tags=tags,
            retries=retries,
            depends=depends,
            throttles=throttles,
            heartbeat=heartbeat,
            at=at,
            strict=strict,
        )
        reply = self._call("put.new", me, queue, jid, klass, data, delay_s, *options)
        return whole_or_0(reply) == 1

    def requeue(
        self,
        me: str,
        queue: str,
        jid: str,
        klass: str,
        data: str,
        delay_s: float,
        *,
        priority: float | None = None,
        tags: Sequence[str] | None = None,
        retries: int | None = None,
        depends: Sequence[str] | None = None,
        throttles: Sequence[str] | None = None,
        heartbeat: float | None = None,
        at: float | None = None,
        strict: bool = False,
    ) -> str:
        """Do as `put`, for a job that must exist.

        Raises:
            JobNotFound: there is no such job.
            MissingDependencies: as `put`.

        """
        options = put_options(
            priority=priority,
            tags=tags,
            retries=retries,
            depends=depends,
            throttles=throttles,
            heartbeat=heartbeat,
            at=at,
            strict=strict,
        )
        return text(self._call("requeue", me, queue, jid, klass, data, delay_s, *options))

    def get(self, jid: str) -> JobRecord | None:
        """Read a job; None when there is none."""
        reply = self._call("get", jid)
        return JobRecord.from_reply(wire.reply_record(reply)) if reply else None

    def multiget(self, *jids: str) -> list[JobRecord]:
        """Read those of the jobs that exist."""
        return [JobRecord.from_reply(job) for job in self._list("multiget", *jids)] if jids else []

    def pop(self, queue: str, worker: str, count: int) -> list[JobRecord]:
        """Take up to so many jobs for a worker."""
        return [JobRecord.from_reply(job) for job in self._list("pop", queue, worker, count)]

    def wait_pop(
        self, worker: str, count: int, waiter: str, group: str, where: str, *queues: str
    ) -> WaitReply:
        """Take jobs from the first queue that has some, or begin to wait for one.

        Args:
            worker: who takes them.
            count: how many at most.
            waiter: a name of whoever waits, which nobody else has; "" for one who will not wait.
            group: a name that all have who wait for these queues.
            where: `all` to look everywhere; `marked`, after blocking, where there may be something.
            queues: where to look, in this order.

        """
        return WaitReply.from_text(
            self._call("wait.pop", worker, count, waiter, group, where, *queues)
        )

    def wait_look(self, waiter: str, group: str, *queues: str) -> float | None:
        """Look, as the lookout of a group; answers the seconds until the next look.

        None says that somebody else is the lookout now.
        """
        return as_number(self._call("wait.look", waiter, group, *queues))

    def wait_leave(self, waiter: str, group: str) -> None:
        """Wait no more, having taken nothing; another one takes over where it was the lookout."""
        self._call("wait.leave", waiter, group)

    def wait_wake(self, waiter: str) -> None:
        """Let one that blocks go on."""
        self._call("wait.wake", waiter)

    def peek(self, queue: str, count: int) -> list[JobRecord]:
        """Read the jobs that the next pop would take, taking none."""
        return [JobRecord.from_reply(job) for job in self._list("peek", queue, count)]

    def heartbeat(self, jid: str, worker: str, data: str | None = None) -> int:
        """Renew a lock; answers its new end, epoch seconds.

        Raises:
            JobNotFound: there is no such job.
            JobNotRunning: it is not running.
            LockLost: another worker has it.

        """
        return whole_or_0(self._call("heartbeat", jid, worker, *_given(data)))

    def complete(
        self,
        jid: str,
        worker: str,
        queue: str,
        data: str,
        *,
        next: str | None = None,  # noqa: A002 - the option's name in the script
        delay_s: float | None = None,
        depends: Sequence[str] | None = None,
        strict: bool = False,
    ) -> str:
        """Finish a job, or hand it to the next queue; answers its new state.

        Raises:
            JobNotFound: there is no such job.
            JobNotRunning: it is not running.
            LockLost: another worker has it.
            MissingDependencies: with `strict`, a job that it is to wait for does not exist.

        """
        options = _complete_options(next, delay_s, depends, strict=strict)
        return text(self._call("complete", jid, worker, queue, data, *options))

    def fail(self, jid: str, worker: str, group: str, message: str, data: str | None = None) -> str:
        """Record a running job as failed; answers its jid.

        Raises:
            JobNotFound: there is no such job.
            JobNotRunning: it is not running.
            LockLost: another worker has it.

        """
        return text(self._call("fail", jid, worker, group, message, *_given(data)))

    def retry(
        self,
        jid: str,
        queue: str,
        worker: str,
        delay_s: float = 0,
        group: str | None = None,
        message: str | None = None,
    ) -> int:
        """Give a running job back; answers the retries left, -1 when it failed instead.

        Raises:
            JobNotFound: there is no such job.
            JobNotRunning: it is not running.
            LockLost: another worker has it.

        """
        if message is not None and group is None:
            problem = "retry(): a message needs a group"
            raise BadArgument(problem)
        reply = self._call("retry", jid, queue, worker, delay_s, *_given(group), *_given(message))
        return whole_or_0(reply)

    def giveback(  # noqa: PLR0917 - the arguments of the command, in its order
        self,
        jid: str,
        worker: str,
        ran: int,
        what: str,
        details: str,
        group: str | None = None,
        message: str | None = None,
    ) -> int:
        """Let a running job wait again at its place; answers as `retry`.

        Args:
            jid: which.
            worker: who holds it.
            ran: 1 for a job that was begun, which loses a retry; 0 for one that was not.
            what: what its history calls that.
            details: what its history says of it, an object as JSON.
            group: the failure that a job that ran counts as.
            message: what happened.

        Raises:
            JobNotFound: there is no such job.
            JobNotRunning: it is not running.
            LockLost: another worker has it.

        """
        if message is not None and group is None:
            problem = "giveback(): a message needs a group"
            raise BadArgument(problem)
        reply = self._call(
            "giveback", jid, worker, ran, what, details, *_given(group), *_given(message)
        )
        return whole_or_0(reply)

    def giveback_all(
        self,
        worker: str,
        what: str,
        details: str,
        started: Sequence[str],
        group: str | None = None,
        message: str | None = None,
    ) -> GivenBack:
        """Do `giveback` with all that a worker holds, some hundreds of jobs at a time.

        Args:
            worker: who holds them.
            what: as of `giveback`, like `details`, `group` and `message`.
            details: as above.
            started: those that lose a retry.
            group: as above.
            message: as above.

        """
        if message is not None and group is None:
            problem = "giveback.all(): a message needs a group"
            raise BadArgument(problem)
        names = wire.dumps(list(started), what="a list of names")
        reply = self._call(
            "giveback.all", worker, what, details, names, *_given(group), *_given(message)
        )
        return GivenBack.from_reply(wire.reply_record(reply))

    def cancel(self, *jids: str) -> list[str]:
        """Remove jobs for good; answers their jids.

        Raises:
            HasDependents: another job, not among these, waits for one of them.

        """
        return list(texts(self._call("cancel", *jids))) if jids else []

    def timeout(self, *jids: str) -> None:
        """Take the locks of running jobs away now.

        Raises:
            JobNotFound: there is no such job.
            JobNotRunning: it is not running.

        """
        if jids:
            self._call("timeout", *jids)

    # Failures

    def failed(self) -> dict[str, int]:
        """Read the failure groups and how many jobs each holds."""
        reply = wire.reply_record(self._call("failed"))
        return {group: whole_or_0(count) for group, count in reply.items()}

    def failed_group(
        self, group: str, start: int | None = None, limit: int | None = None
    ) -> JidPage:
        """Read the jids of a failure group, newest first (`failed` with a group)."""
        reply = self._call("failed", group, *_given(start), *_given(limit))
        return JidPage.from_reply(wire.reply_record(reply))

    def unfail(self, queue: str, group: str, count: int | None = None) -> int:
        """Move failed jobs, oldest first, back to work in a queue; answers how many."""
        return whole_or_0(self._call("unfail", queue, group, *_given(count)))

    # A job's attributes

    def jobs(
        self,
        state: str,
        queue: str | None = None,
        offset: int | None = None,
        count: int | None = None,
    ) -> list[str]:
        """List jids: state `complete` without a queue, the others with one."""
        reply = self._call("jobs", state, *_given(queue), *_given(offset), *_given(count))
        return list(texts(reply))

    def depends(self, jid: str, switch: str, *jids: str) -> int:
        """Turn dependencies `on` or `off`; `off` takes the word `all` too.

        Raises:
            NotWaitingOnDependencies: the job's state has no dependencies.

        """
        return whole_or_0(self._call("depends", jid, switch, *jids))

    def priority(self, jid: str, priority: float) -> int:
        """Change the priority of a job; answers it, as an integer.

        Raises:
            JobNotFound: there is no such job.

        """
        return whole_or_0(self._call("priority", jid, priority))

    def tag(self, action: str, jid: str, *tags: str) -> list[str]:
        """Tag a job: `add` or `remove`; answers its tags now.

        Raises:
            JobNotFound: there is no such job.

        """
        return list(texts(self._list("tag", action, jid, *tags)))

    def tag_get(
        self, tag: str, offset: int = 0, count: int = 25, order: str | None = None
    ) -> JidPage:
        """Read the jids that carry a tag; `open-first` has those not complete first (`tag get`)."""
        reply = self._call("tag", "get", tag, offset, count, *_given(order))
        return JidPage.from_reply(wire.reply_record(reply))

    def tag_top(self, offset: int | None = None, count: int | None = None) -> list[str]:
        """Read the tags used more than once, most used first (`tag top`)."""
        return list(texts(self._list("tag", "top", *_given(offset), *_given(count))))

    def track(self, action: str, jid: str) -> bool:
        """Begin to `track` or to `untrack` a job; answers whether that changed anything.

        Raises:
            JobNotFound: there is no such job.

        """
        return text(self._call("track", action, jid)) == "1"

    def tracked(self) -> TrackedRecord:
        """Read the tracked jobs (`track` without arguments)."""
        return TrackedRecord.from_reply(wire.reply_record(self._call("track")))

    def log(self, jid: str, message: str, data: str | None = None) -> None:
        """Append to the history of a job.

        Raises:
            JobNotFound: there is no such job.

        """
        self._call("log", jid, message, *_given(data))

    def progress(
        self,
        jid: str,
        worker: str,
        done: float,
        *,
        total: float | None = None,
        note: str | None = None,
    ) -> None:
        """Note how far a running job is.

        Raises:
            JobNotFound: there is no such job.
            JobNotRunning: it is not running.
            LockLost: another worker has it.

        """
        self._call("progress", jid, worker, done, *_options(total=total, note=note))

    def progress_get(self, jid: str) -> Progress | None:
        """Read how far a job was when it said so last; None when it never did."""
        reply = self._call("progress.get", jid)
        return Progress.from_reply(wire.reply_record(reply)) if reply else None

    # Queues and workers

    def queues(self) -> list[QueueCounts]:
        """Read the counts of every queue."""
        return [QueueCounts.from_reply(queue) for queue in self._list("queues")]

    def queue(self, queue: str) -> QueueCounts:
        """Read the counts of one queue (`queues` with a name)."""
        return QueueCounts.from_reply(wire.reply_record(self._call("queues", queue)))

    def length(self, queue: str) -> int:
        """Read how many jobs a queue has at work, running and scheduled."""
        return whole_or_0(self._call("length", queue))

    def pause(self, *queues: str) -> None:
        """Let no pop take anything from these queues."""
        self._call("pause", *queues)

    def unpause(self, *queues: str) -> None:
        """Let pops take jobs from these queues again."""
        self._call("unpause", *queues)

    def queue_forget(self, *queues: str) -> None:
        """Take names off the list of known queues."""
        self._call("queue.forget", *queues)

    def stats(self, queue: str, date: float) -> QueueStats:
        """Read the statistics of a queue on the day (UTC) that holds this moment."""
        return QueueStats.from_reply(wire.reply_record(self._call("stats", queue, date)))

    def workers(self) -> list[WorkerCounts]:
        """Read the workers seen lately, the most recent first."""
        return [WorkerCounts.from_reply(worker) for worker in self._list("workers")]

    def worker(self, worker: str) -> WorkerJobs:
        """Read what one worker holds (`workers` with a name)."""
        return WorkerJobs.from_reply(wire.reply_record(self._call("workers", worker)))

    def worker_deregister(self, *workers: str) -> None:
        """Take workers off the list until they are heard of again."""
        self._call("worker.deregister", *workers)

    def worker_beat(self, worker: str, info: str) -> str:
        """Give a sign of life; answers `stop`, `pause` or `resume` where that is asked, else "".

        Args:
            worker: who.
            info: what it tells of itself, an object as JSON.

        """
        return text(self._call("worker.beat", worker, info))

    def worker_ask(self, worker: str, request: str) -> None:
        """Ask a worker to `stop`, to `pause` or to `resume`.

        Raises:
            WorkerNotFound: no worker of that name tells of itself.

        """
        self._call("worker.ask", worker, request)

    def worker_info(self, *workers: str) -> list[WorkerRecord]:
        """Read what workers tell of themselves, each in its turn."""
        found = self._list("worker.info", *workers) if workers else []
        return [WorkerRecord.from_reply(worker) for worker in found]

    # Options

    def config_get(self, key: str) -> str | None:
        """Read one option as it is stored; None when it is not set and has no default."""
        reply = self._call("config.get", key)
        return None if reply is None else text(reply)

    def config(self) -> dict[str, str | float]:
        """Read all options: numbers until set, then text (`config.get` without a key)."""
        return wire.reply_record(self._call("config.get"))

    def config_set(self, key: str, value: str | float) -> None:
        """Store an option."""
        self._call("config.set", key, value)

    def config_unset(self, key: str) -> None:
        """Forget a stored option, so that its default counts again."""
        self._call("config.unset", key)

    # Recurring jobs

    def recur(
        self,
        queue: str,
        jid: str,
        klass: str,
        data: str,
        interval_s: float,
        offset_s: float,
        *,
        priority: float | None = None,
        tags: Sequence[str] | None = None,
        retries: int | None = None,
        backlog: int | None = None,
        throttles: Sequence[str] | None = None,
        keep_next_run: bool = False,
    ) -> str:
        """Put a job of a class every so many seconds; answers the recurring job's jid."""
        options = _options(
            priority=priority,
            tags=_json(tags),
            retries=retries,
            backlog=backlog,
            throttles=_json(throttles),
        )
        if keep_next_run:
            options += ["keep-next-run", 1]
        timing = ("interval", interval_s, offset_s)
        return text(self._call("recur", queue, jid, klass, data, *timing, *options))

    def recur_get(self, jid: str) -> RecurringRecord | None:
        """Read a recurring job; None when there is none."""
        reply = self._call("recur.get", jid)
        return RecurringRecord.from_reply(wire.reply_record(reply)) if reply else None

    def recur_update(
        self,
        jid: str,
        *,
        priority: float | None = None,
        interval_s: float | None = None,
        retries: int | None = None,
        data: str | None = None,
        klass: str | None = None,
        queue: str | None = None,
        backlog: int | None = None,
        cron: str | None = None,
        timezone: str | None = None,
        runs: Sequence[int] | None = None,
        throttles: Sequence[str] | None = None,
    ) -> None:
        """Change a recurring job; a new interval moves the next run by the difference.

        Another expression or time zone of a cron job comes with its next runs.

        Raises:
            RecurringJobNotFound: there is no such recurring job.

        """
        options = _options(
            priority=priority,
            interval=interval_s,
            retries=retries,
            data=data,
            klass=klass,
            queue=queue,
            backlog=backlog,
            throttles=_json(throttles),
            cron=cron,
            timezone=timezone,
            runs=None if runs is None else _moments(runs),
        )
        self._call("recur.update", jid, *options)

    def recur_tag(self, jid: str, *tags: str) -> list[str]:
        """Add tags to those its children get; answers them.

        Raises:
            RecurringJobNotFound: there is no such recurring job.

        """
        return list(texts(self._list("recur.tag", jid, *tags)))

    def recur_untag(self, jid: str, *tags: str) -> list[str]:
        """Remove tags from those its children get; answers the rest.

        Raises:
            RecurringJobNotFound: there is no such recurring job.

        """
        return list(texts(self._list("recur.untag", jid, *tags)))

    def recur_next(self, jid: str) -> float | None:
        """Read when a recurring job runs next, epoch seconds; None when nobody knows."""
        return as_number(self._call("recur.next", jid))

    def recur_pause(self, jid: str) -> bool:
        """Let a recurring job make no jobs until it goes on; False when it is paused already.

        Raises:
            RecurringJobNotFound: there is no such recurring job.

        """
        return bool(whole_or_0(self._call("recur.pause", jid)))

    def recur_unpause(self, jid: str) -> bool:
        """Let it go on with its next run; False when it is not paused.

        Raises:
            RecurringJobNotFound: there is no such recurring job.

        """
        return bool(whole_or_0(self._call("recur.unpause", jid)))

    def recur_run(self, jid: str) -> str:
        """Make a job of a recurring job now, beside its runs; answers the jid.

        Raises:
            RecurringJobNotFound: there is no such recurring job.

        """
        return text(self._call("recur.run", jid))

    def unrecur(self, jid: str) -> None:
        """End a recurring job; its children stay."""
        self._call("unrecur", jid)

    def cron(
        self,
        queue: str,
        jid: str,
        klass: str,
        data: str,
        expression: str,
        timezone: str,
        *,
        runs: Sequence[int],
        priority: float | None = None,
        tags: Sequence[str] | None = None,
        retries: int | None = None,
        backlog: int | None = None,
        throttles: Sequence[str] | None = None,
    ) -> str:
        """Put a job of a class at the runs of a cron expression; answers the recurring job's jid.

        The script reads neither expression nor time zone: `runs` are the next ones.
        """
        options = _options(
            priority=priority,
            tags=_json(tags),
            retries=retries,
            backlog=backlog,
            throttles=_json(throttles),
        )
        timing = (expression, timezone, _moments(runs))
        return text(self._call("cron", queue, jid, klass, data, *timing, *options))

    def cron_due(self, count: int = 100, offset: int = 0) -> CronDue:
        """Read which cron jobs need more runs planned: a page of them, from an offset on."""
        return CronDue.from_reply(wire.reply_record(self._call("cron.due", count, offset)))

    def cron_refill(
        self, jid: str, expression: str, timezone: str, planned: float, runs: Sequence[int]
    ) -> int:
        """Plan the runs that follow the last one planned; 0 where that is not it any more."""
        timing = (expression, timezone, planned, _moments(runs))
        return whole_or_0(self._call("cron.refill", jid, *timing))

    # Throttles

    def throttle_set(self, throttle: str, maximum: int, expiry_s: int | None = None) -> None:
        """Let so many jobs that name a throttle run at once, 0 for any number.

        Args:
            throttle: which.
            maximum: how many.
            expiry_s: after how many seconds the limit ends; -1 for never. None leaves it as it is.

        """
        self._call("throttle.set", throttle, maximum, *_given(expiry_s))

    def throttle_get(self, throttle: str) -> ThrottleRecord:
        """Read the limit of a throttle."""
        return ThrottleRecord.from_reply(wire.reply_record(self._call("throttle.get", throttle)))

    def throttle_locks(self, throttle: str) -> list[str]:
        """List the jids that run under a throttle."""
        return list(texts(self._call("throttle.locks", throttle)))

    def throttle_pending(self, throttle: str) -> list[str]:
        """List the jids that a throttle keeps back, the next in line first."""
        return list(texts(self._call("throttle.pending", throttle)))

    def throttle_ttl(self, throttle: str) -> int:
        """Read in how many seconds a limit ends; -1 when it does not, -2 when there is none."""
        return whole_or_0(self._call("throttle.ttl", throttle))

    def throttle_release(self, throttle: str, *jids: str) -> None:
        """Let jobs count no more; the next in line go to work."""
        self._call("throttle.release", throttle, *jids)

    def throttle_delete(self, throttle: str) -> None:
        """Take a limit away; the jobs that it kept back go to work."""
        self._call("throttle.delete", throttle)

    def queue_throttle_get(self, queue: str) -> ThrottleRecord:
        """Read the limit of a queue's own throttle."""
        return ThrottleRecord.from_reply(wire.reply_record(self._call("queue.throttle.get", queue)))

    def queue_throttle_set(self, queue: str, maximum: int) -> None:
        """Let so many jobs of a queue run at once, 0 for any number."""
        self._call("queue.throttle.set", queue, maximum)

    # Many jobs at once, each checked at the moment of acting

    def reschedule(
        self, jids: Sequence[str], *, delay_s: float | None = None, at: float | None = None
    ) -> Report:
        """Let scheduled jobs be due at another time; those in another state are left alone.

        Args:
            jids: the jobs.
            delay_s: seconds from now.
            at: a moment, epoch seconds, where no delay is given.

        """
        when = ("at", at or 0) if delay_s is None else ("delay", delay_s)
        reply = self._call("reschedule", *when, *jids) if jids else None
        return Report.from_reply(wire.reply_record(reply))

    def edit(self, jid: str, field: str, new: str | int, *, shown: str = "") -> Report:
        """Change the data or the retries of a job that nobody runs.

        Args:
            jid: the job.
            field: `data` or `retries`.
            new: JSON, kept byte for byte; or how many retries it has from now on.
            shown: the SHA-1 of what was stored, in hex digits, where only that is to be replaced.

        Returns:
            Done, or left alone: `changed` where something else is stored now, `gone`, or its state.

        Raises:
            BadArgument: the value makes no sense.

        """
        reply = self._call("edit", jid, field, shown, new)
        return Report.from_reply(wire.reply_record(reply))

    def bulk_move(self, group: str, queue: str, wanted: Sequence[tuple[str, str]]) -> Report:
        """Put jobs back to work, each into its own queue or all into one.

        Args:
            group: the failure group they must be failed in; "" for no matter which.
            queue: where they go; "" for each into its own.
            wanted: jids, each with the states it may be in, with commas between; "" for any.

        """
        pairs = [part for pair in wanted for part in pair]
        reply = self._call("bulk.move", group, queue, *pairs) if pairs else None
        return Report.from_reply(wire.reply_record(reply))

    def bulk_cancel(self, group: str, wanted: Sequence[tuple[str, str]]) -> Report:
        """Remove jobs for good, but those that others, not among them, wait for.

        `client.bulk_cancel` is another thing: it does `cancel`, all or none.

        Args:
            group: the failure group they must be failed in; "" for no matter which.
            wanted: jids, each with the states it may be in, with commas between; "" for any.

        """
        pairs = [part for pair in wanted for part in pair]
        reply = self._call("bulk.cancel", group, *pairs) if pairs else None
        return Report.from_reply(wire.reply_record(reply))

    def bulk_put(
        self, me: str, queue: str, first: int, jobs: Sequence[Sequence[str | float]]
    ) -> list[str]:
        """Put jobs into a queue, one after another, all or none; answers their jids.

        Args:
            me: who puts them.
            queue: where they go.
            first: the number of the first, for a refusal to say which job it is of.
            jobs: of each jid, class, data as JSON, delay in seconds, then names and values of
                options as `put_options` spells them.

        """
        flat: list[str | float] = []
        for job in jobs:
            flat += [*job[:4], len(job) - 4, *job[4:]]
        return list(texts(self._call("bulk.put", me, queue, first, *flat))) if jobs else []

    def bulk_complete(
        self,
        worker: str,
        jobs: Sequence[tuple[str, str, str]],
        *,
        next: str = "",  # noqa: A002 - the argument's name in the script
        delay_s: float = 0,
    ) -> Report:
        """Finish jobs that a worker holds, or hand them to the next queue; the rest is left.

        Args:
            worker: who holds them.
            jobs: jid, queue and data as JSON of each.
            next: the queue that they go on in; "" for none.
            delay_s: seconds that they wait there first.

        """
        triples = [part for job in jobs for part in job]
        reply = self._call("bulk.complete", worker, next, delay_s, *triples) if jobs else None
        return Report.from_reply(wire.reply_record(reply))

    def complete_pop(
        self,
        from_: str,
        count: int,
        jid: str,
        worker: str,
        queue: str,
        data: str,
        *,
        next: str | None = None,  # noqa: A002 - the option's name in the script
        delay_s: float | None = None,
        depends: Sequence[str] | None = None,
        strict: bool = False,
    ) -> tuple[str, list[JobRecord]]:
        """Do `complete`, then `pop` from a queue; answers the new state, and what was taken.

        Raises:
            JobNotFound: there is no such job.
            JobNotRunning: it is not running.
            LockLost: another worker has it.
            MissingDependencies: as `complete`.

        """
        options = _complete_options(next, delay_s, depends, strict=strict)
        reply = wire.reply_record(
            self._call("complete.pop", from_, count, jid, worker, queue, data, *options)
        )
        jobs = [JobRecord.from_reply(job) for job in wire.as_list(reply.get("jobs"))]
        return text(reply.get("state")), jobs

    def turn(
        self,
        worker: str,
        count: int,
        queues: Sequence[str],
        done: Sequence[tuple[str, str, str]] = (),
    ) -> TurnReply:
        """Finish jobs that a worker holds, and take it the next ones, in one call.

        The jobs come without their history.

        Args:
            worker: who.
            count: how many to take at most.
            queues: where to look, in this order; at most 1000.
            done: jid, queue and data as JSON of each job to finish.

        """
        flat = [part for job in done for part in job]
        return TurnReply.from_text(self._call("turn", worker, count, len(queues), *queues, *flat))

    def bulk_closure(self, *jids: str) -> Closure:
        """Find all jobs that wait for these, through whomever."""
        reply = self._call("bulk.closure", *jids) if jids else None
        return Closure.from_reply(wire.reply_record(reply))

    def bulk_states(self, group: str, start: int, count: int) -> dict[str, int]:
        """Count the states of jobs that a failure group lists, newest first; `gone` is one."""
        reply = wire.reply_record(self._call("bulk.states", group, start, count))
        return {state: whole_or_0(number) for state, number in reply.items()}

    # Operations: one thing done to a long list of jobs

    def operation_freeze_group(
        self, operation: str, group: str, newest: str = "", count: int = 0, before: float = 0
    ) -> OperationCopy:
        """Begin to copy the list of a failure group for an operation.

        The first thousand are copied then; `operation_freeze_more` goes on.

        Args:
            operation: which; only its list is written.
            group: the failures.
            newest: the newest job that somebody saw; those that failed since are left out.
            count: how many somebody saw: the oldest ones count where the newest has left.
            before: when they looked, epoch seconds; 0 where nobody did.

        """
        reply = self._call("operation.freeze", operation, "group", group, newest, count, before)
        return OperationCopy.from_reply(wire.reply_record(reply))

    def operation_freeze_more(
        self, operation: str, group: str, size: int, last: Sequence[str] = ()
    ) -> int:
        """Go on to copy the list of a failure group; answers how many jobs are copied now.

        Args:
            operation: which.
            group: the failures.
            size: how many jobs are to come at most, as `operation_freeze_group` answered.
            last: the newest of them, as it answered too: none is copied that is newer.

        """
        return whole_or_0(self._call("operation.freeze", operation, "more", group, size, *last))

    def operation_freeze_list(self, operation: str, other: str) -> int:
        """Copy a thousand more of the jobs of another operation; answers how many are copied now.

        Args:
            operation: which.
            other: whose list is copied.

        """
        return whole_or_0(self._call("operation.freeze", operation, "list", other))

    def operation_freeze(self, operation: str, jids: Sequence[str], *, needed: bool = False) -> int:
        """Add jobs to the list of an operation, each with its state; answers how many there are.

        Args:
            operation: which.
            jids: the jobs, in the order in which they are to be done.
            needed: whether these are to stay, as others wait for them.

        """
        form = "needed" if needed else "jids"
        return whole_or_0(self._call("operation.freeze", operation, form, *jids))

    def operation_look(
        self, operation: str, start: int, count: int, unfit: Sequence[int] = ()
    ) -> OperationLook:
        """Say what an operation would do to a stretch of its list, at most 500 jobs.

        Args:
            operation: which.
            start: the place of the first in the list.
            count: how many.
            unfit: places of jobs whose data cannot be edited as is wanted.

        """
        reply = self._call("operation.look", operation, start, count, *unfit)
        return OperationLook.from_reply(wire.reply_record(reply))

    def operation_step(
        self,
        operation: str,
        run: int,
        count: int,
        seconds: float,
        edits: Sequence[tuple[str, str]] = (),
    ) -> OperationStep:
        """Do the next jobs of an operation that runs.

        Args:
            operation: which.
            run: which run of it asks; any but the latest does nothing.
            count: how many jobs at most.
            seconds: of the server's time, after which no further job is begun.
            edits: of each of these jobs its data as it was read, and as it is to be; both ""
                for one that is to be left.

        """
        pairs = [part for pair in edits for part in pair]
        reply = self._call("operation.step", operation, run, count, seconds, *pairs)
        return OperationStep.from_reply(wire.reply_record(reply))

    def operation_start(self, operation: str, run: int) -> int:
        """Let an operation be done that is a draft, or rests.

        Args:
            operation: which.
            run: the run of it that was seen.

        Returns:
            The run that is to be done now; 0 where there is nothing to start, as where it was
            undone, or another one has.

        """
        return int(self._call("operation.start", operation, run))

    def operation_undo(self, operation: str) -> int:
        """Let an operation be done that undoes another one, and note there that it is undone.

        Args:
            operation: which; a draft.

        Returns:
            The run that is to be done now; 0 where there is nothing to start: the other one is
            gone or at work, or was undone before.

        """
        return int(self._call("operation.undo", operation))

    def operation_rest(self, operation: str, state: str, why: str = "") -> str:
        """Let an operation that is under way rest; answers the state that it is in then.

        Args:
            operation: which.
            state: `paused`, or `stopped`.
            why: where nobody ordered it, the reason in a word.

        """
        return text(self._call("operation.rest", operation, state, why))

    def operation_fare(self, operation: str, start: int, count: int) -> OperationFare:
        """Say what became of jobs that an operation put to work, of a stretch of at most 500."""
        reply = self._call("operation.fare", operation, start, count)
        return OperationFare.from_reply(wire.reply_record(reply))

    # Going to another shard

    def shard_leave(self, journey: str, jid: str) -> ShardLeave:
        """Take a job away, to have it arrive on another shard; it is kept until `shard_settle`.

        Args:
            journey: a name that no other journey has.
            jid: a job that nobody holds and nobody waits for, or a recurring job.

        """
        return ShardLeave.from_reply(wire.reply_record(self._call("shard.leave", journey, jid)))

    def shard_arrive(self, journey: str, jid: str, luggage: str) -> str:
        """Bring a job here that left another shard, once however often this is said.

        Returns:
            `arrived`; `known` when it had; or why it cannot: `exists`, `unreadable`.

        """
        return text(self._call("shard.arrive", journey, jid, luggage))

    def shard_settle(self, journey: str, jid: str) -> bool:
        """Forget a journey that is over, first where the job left; answers whether it was known."""
        return bool(whole_or_0(self._call("shard.settle", journey, jid)))

    def shard_leaving(self, count: int) -> list[tuple[str, str, str]]:
        """List some of the jobs that left and were not settled: journey, jid and luggage."""
        rows = self._list("shard.leaving", count)
        return [(text(row[0]), text(row[1]), text(row[2])) for row in rows]

    # Walking what is long

    def jobs_walk(
        self, list_: str, name: str, count: int, behind: tuple[str, str] | None = None
    ) -> list[tuple[str, str]]:
        """Read the next entries of a list, at most 1000: each a jid and its score, as text.

        Args:
            list_: `waiting`, `due`, `scheduled`, `running`, `stalled`, `depends`, `recurring`,
                `cron`, `throttled`, `complete` or `tag`.
            name: of the queue or of the tag; "" for `complete`.
            count: how many at most.
            behind: the last entry of the stretch before; None to begin.

        """
        place = () if behind is None else (behind[1], behind[0])
        reply = texts(self._call("jobs.walk", list_, name, count, *place))
        return list(zip(reply[::2], reply[1::2], strict=True))

    def archive_next(self, name: str, settle_s: float, count: int) -> ArchivePage:
        """Read the completed jobs that an archiver has not written yet, the oldest first.

        Args:
            name: what the archiver is called.
            settle_s: those that completed within so many seconds wait for another time.
            count: how many at most.

        """
        reply = wire.reply_record(self._call("archive.next", name, settle_s, count))
        return ArchivePage.from_reply(reply)

    def archive_done(self, name: str, from_: str, to: str) -> None:
        """Note that an archiver has written a page, by the two positions that the page told.

        Raises:
            ArchiveMoved: it does not stand where the page began.

        """
        self._call("archive.done", name, from_, to)

    # Looking for what does not fit together

    def audit_scan(self, cursor: str, count: int) -> AuditStep:
        """Look at the keys of one step of SCAN, about so many; "0" begins."""
        return AuditStep.from_reply(wire.reply_record(self._call("audit.scan", cursor, count)))

    def audit_walk(self, place: str, name: str, cursor: str, count: int) -> AuditStep:
        """Look at entries of one set or list, about so many; "0" begins."""
        reply = self._call("audit.walk", place, name, cursor, count)
        return AuditStep.from_reply(wire.reply_record(reply))

    def audit_look(self, *subjects: Sequence[str]) -> AuditStep:
        """Look at subjects that other steps left."""
        named = [_names(subject) for subject in subjects]
        reply = self._call("audit.look", *named) if named else None
        return AuditStep.from_reply(wire.reply_record(reply))

    def audit_repair(self, kind: str, how: str, *subjects: Sequence[str]) -> list[Outcome]:
        """Repair faults of one kind, where they are there still."""
        named = [_names(subject) for subject in subjects]
        reply = self._call("audit.repair", kind, how, *named) if named else None
        return [Outcome.from_reply(outcome) for outcome in wire.reply_list(reply)]

    # How they are sent

    def _call(self, command: str, *args: str | float) -> Any:  # noqa: ANN401 - what Redis answers
        for arg in args:
            # What nearly all are: to ask this of each takes longer than to send it.
            if not (type(arg) is str and arg.isascii()):
                sendable(command, arg)
        return self._run(command, *args)

    def _list(self, command: str, *args: str | float) -> list[Any]:
        return wire.reply_list(self._call(command, *args))


def _given(value: str | float | None) -> tuple[str | float, ...]:
    """Send an optional last argument, or nothing."""
    return () if value is None else (value,)


def _json(names: Sequence[str] | None) -> str | None:
    """Write a list of names for an option that takes JSON."""
    return None if names is None else wire.dumps(list(names), what="a list of names")


def _moments(runs: Sequence[int]) -> str:
    """Write a list of moments as JSON."""
    return wire.dumps(list(runs), what="a list of moments")


def _names(names: Sequence[str]) -> str:
    """Write a list of names, also of such as are no text."""
    return json.dumps(list(names), ensure_ascii=False)


def _options(**values: str | float | None) -> list[str | float]:
    """Spell the options that are given as names and values."""
    return [part for name, value in values.items() if value is not None for part in (name, value)]


def put_options(
    *,
    priority: float | None,
    tags: Sequence[str] | None,
    retries: int | None,
    depends: Sequence[str] | None,
    throttles: Sequence[str] | None,
    heartbeat: float | None,
    at: float | None,
    strict: bool,
) -> list[str | float]:
    """Spell the options of `put`, `put.new` and `requeue`."""
    return _options(
        priority=priority,
        tags=_json(tags),
        retries=retries,
        depends=_json(depends),
        throttles=_json(throttles),
        heartbeat=heartbeat,
        at=at,
        strict=1 if strict else None,
    )


def _complete_options(
    next_: str | None, delay_s: float | None, depends: Sequence[str] | None, *, strict: bool
) -> list[str | float]:
    """Spell the options of `complete`."""
    return _options(next=next_, delay=delay_s, depends=_json(depends), strict=1 if strict else None)


def sendable(command: str, value: str | float) -> str | float:
    """Let through what the script can read.

    Raises:
        BadArgument: it is text that UTF-8 cannot hold, no finite number, or of another type.

    """
    if isinstance(value, str):
        if not value.isascii():
            _check_encodable(command, value)
        return value
    if type(value) is int:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        problem = f"{command}(): {value!r} is neither text nor a number"
        raise BadArgument(problem)
    if not math.isfinite(value):
        problem = f"{command}(): {value!r} is not a finite number"
        raise BadArgument(problem)
    return value


def _check_encodable(command: str, value: str) -> None:
    """Refuse lone surrogates, but let those pass that stand for bytes read from Redis.

    Raises:
        BadArgument: no sequence of bytes stands for this text.

    """
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        problem = f"{command}(): {value!r} cannot be sent: {error.reason}"
        raise BadArgument(problem) from None
