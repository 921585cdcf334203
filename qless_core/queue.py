"""`client.queues["mail"]`: put jobs into a queue, take them out, see and steer it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from qless_core import bulk, walk, wire
from qless_core.commands import sendable
from qless_core.cron import Cron, name_of
from qless_core.duration import seconds_of
from qless_core.errors import BadArgument, JobNotFound, JobNotRunning, QlessError
from qless_core.job import Job
from qless_core.job_class import klass_name_of
from qless_core.new_job import OPTIONS as NEW_JOB_OPTIONS
from qless_core.new_job import NewJob, jid_given, with_defaults
from qless_core.recurring import RecurringJob
from qless_core.reserver import Reserver
from qless_core.several import listed, texts_of
from qless_core.throttles import Throttle

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator, Mapping

    from qless_core.client import Client
    from qless_core.duration import Duration
    from qless_core.records import QueueCounts, QueueStats
    from qless_core.stats import Day

    #: A job as `Commands.bulk_put` takes it.
    Row = list[str | float]


class QueueJobs:
    """`queue.jobs`: the jids of a queue by state, and all of its jobs, one after another."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self._name = name

    def __repr__(self) -> str:
        return f"<QueueJobs {self._name!r}>"

    def running(self, offset: int = 0, count: int = 25) -> list[str]:
        """List jobs within their lock, by its end.

        Raises:
            BadArgument: offset or count is no whole number from 0 up.

        """
        return self._client.commands.jobs("running", self._name, offset, count)

    def stalled(self, offset: int = 0, count: int = 25) -> list[str]:
        """List jobs whose lock ran out.

        Raises:
            BadArgument: offset or count is no whole number from 0 up.

        """
        return self._client.commands.jobs("stalled", self._name, offset, count)

    def scheduled(self, offset: int = 0, count: int = 25) -> list[str]:
        """List scheduled jobs, the next due first.

        Raises:
            BadArgument: offset or count is no whole number from 0 up.

        """
        return self._client.commands.jobs("scheduled", self._name, offset, count)

    def depends(self, offset: int = 0, count: int = 25) -> list[str]:
        """List jobs that wait for others.

        Raises:
            BadArgument: offset or count is no whole number from 0 up.

        """
        return self._client.commands.jobs("depends", self._name, offset, count)

    def throttled(self, offset: int = 0, count: int = 25) -> list[str]:
        """List jobs that a throttle keeps back, the next in line first."""
        return self._client.commands.jobs("throttled", self._name, offset, count)

    def recurring(self, offset: int = 0, count: int = 25) -> list[str]:
        """List recurring jobs, the next to run first.

        Raises:
            BadArgument: offset or count is no whole number from 0 up.

        """
        return self._client.commands.jobs("recurring", self._name, offset, count)

    def all(self, *states: str) -> Iterator[Job | RecurringJob]:
        """Walk all jobs of the queue, each once, while others put, take and move them.

        Jobs are read as they are asked for, a page at a time. One that is there from beginning to
        end and changes its place at most once meanwhile is met; one that comes or goes may be.
        For `failed` the failures of all queues are read.

        Args:
            states: of those in which they are: `waiting` (and what is due), `running`, `stalled`,
                `scheduled`, `depends`, `throttled`, `recurring`, `failed`; of all when none is
                given. Complete jobs are in no queue: `client.jobs.all_complete()`.

        Raises:
            BadArgument: there is no such state.

        """
        return walk.queue_jobs(self._client, self._name, states)

    def all_jids(self, *states: str) -> Iterator[str]:
        """Walk the jids of all jobs of the queue, as `all` does, without reading the jobs.

        Raises:
            BadArgument: there is no such state.

        """
        return walk.queue_jids(self._client, self._name, states)

    def __iter__(self) -> Iterator[Job | RecurringJob]:
        return self.all()

    def __contains__(self, job: object) -> bool:
        """Whether a job, or what has this jid, is in the queue, in any state but complete."""
        jid = job.jid if isinstance(job, Job | RecurringJob) else job
        found = self._client.jobs[jid] if isinstance(jid, str) and jid else None
        return found is not None and found.queue_name == self._name and found.state != "complete"


class Queue:
    """One queue. It exists from the first job put into it, and needs no creating.

    Attributes:
        client: the client it belongs to.
        name: what it is called.

    """

    def __init__(self, client: Client, name: str) -> None:
        self.client = client
        self.name = name

    def __repr__(self) -> str:
        return f"<Queue {self.name!r}>"

    def __len__(self) -> int:
        """Count the jobs waiting, running and scheduled."""
        return self.client.commands.length(self.name)

    def __bool__(self) -> bool:
        """Be true, as a queue is a queue also while it is empty."""
        return True

    # Jobs in

    def put(  # noqa: PLR0913 - the options of the README, keyword-only
        self,
        klass: object,
        data: Any,  # noqa: ANN401 - job data is any JSON
        *,
        priority: float | None = None,
        tags: Iterable[str] | None = None,
        delay: Duration | None = None,
        retries: int | None = None,
        jid: str | None = None,
        depends: Iterable[str | Job] | None = None,
        throttles: Iterable[str] | None = None,
        heartbeat: Duration | None = None,
        at: float | dt.datetime | None = None,
        strict: bool | None = None,
        replace: bool = True,
    ) -> str:
        """Put a job. What is not given, its class may give (`qless_options`).

        Args:
            klass: the class (or function) that will run it, as an object or as its dotted name.
            data: what it is to work on: anything that JSON can say.
            priority: the higher, the sooner it is popped; 0 when not given.
            tags: texts to find it by.
            delay: seconds before it may run, or a timedelta, as for all that is seconds.
            retries: how often it may be taken back from a worker before it fails; 5 when not given.
            jid: what to call it; a job that has this jid is replaced. Made up when not given.
            depends: jobs that must be complete first.
            throttles: names of limits that it runs under, `client.throttles[name]`; a job that is
                replaced keeps its own when not given.
            heartbeat: seconds that it is locked for at a time, whatever its queue says; 0 for what
                that says. A job that is replaced keeps its own when not given.
            at: the moment before which it may not run, in the place of `delay`: epoch seconds, or a
                datetime that knows its time zone. A moment that is past means now.
            strict: refuse it where a job that it depends on does not exist; that is left out else.
            replace: with False, a job of that `jid` that runs or will run is left as it is, and
                nothing is put. One that failed or is complete is put anew.

        Returns:
            The jid.

        Raises:
            BadArgument: an argument makes no sense, or the data cannot be said in JSON.
            MissingDependencies: with `strict`, a job that it is to wait for does not exist.

        """
        ready = NewJob(
            klass,
            data,
            priority=priority,
            tags=tags,
            delay=delay,
            retries=retries,
            jid=jid,
            depends=depends,
            throttles=throttles,
            heartbeat=heartbeat,
            at=at,
            strict=strict,
        ).ready()
        put = self.client.commands.put if replace else self.client.commands.put_new
        put(
            self.client.worker_name,
            self.name,
            ready.jid,
            ready.klass,
            ready.data,
            ready.delay,
            **ready.options,
        )
        return ready.jid

    def put_many(self, jobs: Iterable[NewJob | Mapping[str, Any] | tuple[Any, ...]]) -> list[str]:
        """Put many jobs, some hundreds in one round trip, in their order.

        All are checked before the first is sent: one that makes no sense refuses all. What only
        Redis can see, a ring of dependencies, refuses those of its round trip, and a note of the
        error says how many were put before.

        Args:
            jobs: `NewJob`s, dicts of its arguments, or tuples of class, data and, maybe, a dict
                of options. One may depend on an earlier one.

        Returns:
            Their jids.

        Raises:
            BadArgument: a job makes no sense; the message says which, the first being job 0.

        """
        ready = _ready(jobs)
        jids: list[str] = []
        for chunk in bulk.batches(ready):
            try:
                jids += self.client.commands.bulk_put(
                    self.client.worker_name, self.name, len(jids), chunk
                )
            except QlessError as error:
                error.add_note(f"{len(jids)} of {len(ready)} jobs were put before")
                raise
        return jids

    def recur(  # noqa: PLR0913 - the options of the README, keyword-only
        self,
        klass: object,
        data: Any,  # noqa: ANN401 - job data is any JSON
        interval: Duration,
        *,
        offset: Duration = 0,
        priority: float | None = None,
        tags: Iterable[str] | None = None,
        retries: int | None = None,
        backlog: int | None = None,
        throttles: Iterable[str] | None = None,
        keep_next_run: bool = False,
        jid: str | None = None,
    ) -> str:
        """Put a job of a class again and again.

        Args:
            klass: the class (or function) that will run it, as an object or as its dotted name.
            data: what it is to work on: anything that JSON can say.
            interval: seconds from one job to the next.
            offset: seconds before the first.
            priority: of each job; 0 when not given.
            tags: of each job.
            retries: of each job; 0 when not given.
            backlog: how many missed jobs are made up for; all when 0 or not given.
            throttles: names of limits that each job runs under.
            keep_next_run: leave the next run where it is when the recurring job is there already,
                for an application that does this at every start.
            jid: what to call it; a recurring job that has this jid is changed.

        Returns:
            The jid of the recurring job; its jobs are called `<jid>-<n>`.

        Raises:
            BadArgument: an argument makes no sense, or the data cannot be said in JSON.

        """
        options = _recurring_options(
            klass,
            data,
            priority=priority,
            tags=tags,
            retries=retries,
            backlog=backlog,
            throttles=throttles,
        )
        return self.client.commands.recur(
            self.name,
            jid_given(jid),
            klass_name_of(klass),
            wire.dumps(data),
            seconds_of("interval", interval),
            seconds_of("offset", offset),
            **options,
            keep_next_run=keep_next_run,
        )

    def cron(  # noqa: PLR0913 - as above
        self,
        klass: object,
        data: Any,  # noqa: ANN401 - job data is any JSON
        expression: str,
        *,
        timezone: str | dt.tzinfo = "UTC",
        priority: float | None = None,
        tags: Iterable[str] | None = None,
        retries: int | None = None,
        backlog: int | None = None,
        throttles: Iterable[str] | None = None,
        jid: str | None = None,
    ) -> str:
        """Put a job of a class whenever a cron expression says so.

        An application may do this at every start, with a jid: what is owed, the count and, unless
        the expression changed, the next run stay as they are.

        Args:
            klass: the class (or function) that will run it, as an object or as its dotted name.
            data: what it is to work on: anything that JSON can say.
            expression: minute, hour, day of the month, month and day of the week, as in Debian's
                cron; six fields begin with seconds. Or `@daily`, `@hourly` and their like.
            timezone: whose clocks it means, as `Europe/Berlin` or `ZoneInfo("Europe/Berlin")`.
            priority: of each job; 0 when not given.
            tags: of each job.
            retries: of each job; 0 when not given.
            backlog: how many missed jobs are made up for; all when 0 or not given.
            throttles: names of limits that each job runs under.
            jid: what to call it; a recurring job that has this jid is changed.

        Returns:
            The jid of the recurring job; its jobs are called `<jid>-<n>`.

        Raises:
            BadArgument: the expression cannot be read, there is no such time zone, or another
                argument makes no sense; nothing was written.

        """
        cron = Cron(expression, name_of(timezone))
        now = self.client.now()
        return self.client.commands.cron(
            self.name,
            jid_given(jid),
            klass_name_of(klass),
            wire.dumps(data),
            cron.expression,
            cron.timezone,
            runs=cron.plan(now, now),
            **_recurring_options(
                klass,
                data,
                priority=priority,
                tags=tags,
                retries=retries,
                backlog=backlog,
                throttles=throttles,
            ),
        )

    # Jobs out

    @overload
    def pop(self, count: None = None, *, timeout: Duration | None = 0) -> Job | None: ...

    @overload
    def pop(self, count: int, *, timeout: Duration | None = 0) -> list[Job]: ...

    def pop(
        self, count: int | None = None, *, timeout: Duration | None = 0
    ) -> Job | list[Job] | None:
        """Take the next job, or None when there is none; with a count, a list of up to so many.

        Args:
            count: how many at most.
            timeout: seconds to wait for the first one; None for ever, 0 not at all. Several queues
                at once are waited for with `client.reserver`.

        Raises:
            BadArgument: the timeout is no number from 0 up, or the count none of jobs.
            RedisUnavailable: Redis cannot be reached; while there is time it is waited for, too.

        """
        timeout = seconds_of("the timeout", timeout)
        if timeout != 0:
            return Reserver(self.client, self.name).pop(count, timeout=timeout)
        self.client.cron_plans.tend()
        worker = self.client.worker_name
        records = self.client.commands.pop(self.name, worker, 1 if count is None else count)
        jobs = [Job(self.client, record, worker=worker) for record in records]
        return _one_or_all(jobs, count)

    @overload
    def peek(self, count: None = None) -> Job | None: ...

    @overload
    def peek(self, count: int) -> list[Job]: ...

    def peek(self, count: int | None = None) -> Job | list[Job] | None:
        """Read what the next pop would take, without taking it."""
        records = self.client.commands.peek(self.name, 1 if count is None else count)
        return _one_or_all([Job(self.client, record) for record in records], count)

    # The queue itself

    @property
    def jobs(self) -> QueueJobs:
        """The jids of the queue by state."""
        return QueueJobs(self.client, self.name)

    @property
    def counts(self) -> QueueCounts:
        """How many jobs are in each state, now."""
        return self.client.commands.queue(self.name)

    def stats(self, day: Day | None = None) -> QueueStats:
        """Read the statistics of a day: a date, also as text, or any moment; today's if not given.

        Raises:
            BadArgument: it is no day.

        """
        return self.client.stats.get(self.name, day)

    @property
    def heartbeat(self) -> float:
        """Seconds that its jobs are locked for; assign to set them, delete to go by all queues'."""
        config = self.client.config
        own = config.get(f"{self.name}-heartbeat")
        return float(own if own is not None else config["heartbeat"])

    @heartbeat.setter
    def heartbeat(self, seconds: Duration) -> None:
        self.client.config[f"{self.name}-heartbeat"] = seconds_of("heartbeat", seconds)

    @heartbeat.deleter
    def heartbeat(self) -> None:
        del self.client.config[f"{self.name}-heartbeat"]

    @property
    def throttle(self) -> Throttle:
        """The limit of how many of its jobs run at once: `queue.throttle.maximum = 5`."""
        return Throttle(self.client, self.client.keys.queue_throttle(self.name))

    @property
    def is_paused(self) -> bool:
        """Whether pops take nothing from it."""
        return self.counts.paused

    @property
    def max_concurrency(self) -> int:
        """How many of its jobs may run at once, 0 for any number; assign to change it."""
        return int(self.client.config[f"{self.name}-max-concurrency"])

    @max_concurrency.setter
    def max_concurrency(self, jobs: int) -> None:
        self.client.config[f"{self.name}-max-concurrency"] = jobs

    def pause(self, *, stop_jobs: bool = False) -> int:
        """Let no pop take anything.

        Args:
            stop_jobs: take the jobs that run from their workers, too: they wait in the queue, ahead
                of all others. Otherwise they go on.

        Returns:
            How many jobs were taken from their workers.

        """
        self.client.commands.pause(self.name)
        if not stop_jobs:
            return 0
        running = [*self.jobs.all_jids("running", "stalled")]
        return sum(self._stop(jid) for jid in running)

    def unpause(self) -> None:
        """Let pops take jobs again."""
        self.client.commands.unpause(self.name)

    def _stop(self, jid: str) -> bool:
        """Take a job from its worker; answers whether it ran still."""
        try:
            self.client.commands.timeout(jid)
        except (JobNotFound, JobNotRunning):
            return False
        return True

    def forget(self) -> None:
        """Take its name off the list of known queues; the next put brings it back."""
        self.client.commands.queue_forget(self.name)


class Queues:
    """`client.queues`: every queue."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __repr__(self) -> str:
        return f"<Queues of {self._client!r}>"

    def __getitem__(self, name: str) -> Queue:
        return Queue(self._client, name)

    def __contains__(self, queue: object) -> bool:
        """Whether a queue is known: something was put into it, and nobody forgot it."""
        return (queue.name if isinstance(queue, Queue) else queue) in [*self]

    def __iter__(self) -> Iterator[str]:
        """Give the names of the known queues."""
        return (each.name for each in self.counts)

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def counts(self) -> list[QueueCounts]:
        """How many jobs each known queue has in each state, now."""
        return self._client.commands.queues()


def _ready(jobs: Iterable[NewJob | Mapping[str, Any] | tuple[Any, ...]]) -> list[Row]:
    """Check all jobs of a `put_many`, and spell them.

    Raises:
        BadArgument: a job makes no sense, or depends on a later one.

    """
    rows: list[Row] = []
    places: dict[str, int] = {}
    wanted: list[tuple[int, str]] = []
    for number, job in enumerate(listed("jobs", jobs)):
        try:
            ready = NewJob.of(job).ready()
            rows.append([sendable("put", part) for part in ready.row()])
        except BadArgument as error:
            problem = f"job {number}: {error}"
            raise BadArgument(problem) from error
        places.setdefault(ready.jid, number)
        wanted += [(number, jid) for jid in ready.options["depends"] or ()]
    for number, jid in wanted:
        if places.get(jid, -1) > number:
            problem = f"job {number}: it depends on {jid!r}, which comes later: job {places[jid]}"
            raise BadArgument(problem)
    return rows


def _recurring_options(klass: object, data: Any, **given: Any) -> dict[str, Any]:  # noqa: ANN401 - job data; options
    """Give the options of a recurring job: what is not given, its class may give.

    Raises:
        BadArgument: one makes no sense.

    """
    known = dict.fromkeys([*NEW_JOB_OPTIONS, *given])
    options = with_defaults(klass, data, given, known=known)
    lists = {name: texts_of(name, options[name]) for name in ("tags", "throttles")}
    return {**options, **lists}


def _one_or_all(jobs: list[Job], count: int | None) -> Job | list[Job] | None:
    if count is None:
        return jobs[0] if jobs else None
    return jobs
