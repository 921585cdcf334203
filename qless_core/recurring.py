"""A recurring job: it puts a job of its own kind into its queue again and again."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from qless_core import wire
from qless_core.cron import Cron, name_of
from qless_core.duration import seconds_of
from qless_core.errors import BadArgument, MalformedData
from qless_core.job import read_jobs
from qless_core.job_class import klass_name_of
from qless_core.several import texts_of

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable

    from qless_core.client import Client
    from qless_core.duration import Duration
    from qless_core.job import Job
    from qless_core.records import RecurringRecord


class RecurringJob:
    """A recurring job: a snapshot, and the verbs that change it in Redis.

    It recurs by interval or by cron expression, which is to say that either `interval` or `cron` is
    something. Assigning to `priority`, `interval`, `cron`, `timezone`, `retries`, `backlog`, `data`
    and `klass_name` changes one thing; `update` changes several at once.

    Attributes:
        client: the client that read it.
        record: the snapshot, as the script told it.

    """

    def __init__(self, client: Client, record: RecurringRecord) -> None:
        self.client = client
        self.record = record

    def __repr__(self) -> str:
        when = f"at {self.cron!r} {self.timezone}" if self.cron else f"every {self.interval:g} s"
        return f"<RecurringJob {self.jid} {self.klass_name} {when} in {self.queue_name!r}>"

    @property
    def jid(self) -> str:
        """What it is called; its children are called `<jid>-<n>`."""
        return self.record.jid

    @property
    def state(self) -> str:
        """The word `recur`."""
        return self.record.state

    @property
    def queue_name(self) -> str:
        """The queue that its children go into."""
        return self.record.queue

    @property
    def tags(self) -> list[str]:
        """The tags that its children get."""
        return list(self.record.tags)

    @property
    def throttles(self) -> list[str]:
        """The limits that its children run under; their queue's own among them."""
        return list(self.record.throttles)

    @property
    def count(self) -> int:
        """How many children it had."""
        return self.record.count

    @property
    def last_spawned_jid(self) -> str | None:
        """What its last child is called; None when it had none."""
        return f"{self.jid}-{self.count}" if self.count else None

    @property
    def last_spawned_job(self) -> Job | None:
        """Its last child, read now; None when it had none, or that one is gone."""
        jid = self.last_spawned_jid
        jobs = [] if jid is None else read_jobs(self.client, [jid])
        return jobs[0] if jobs else None

    @property
    def raw_data(self) -> str:
        """The JSON text of the data, as it is stored."""
        return self.record.data

    @property
    def klass_name(self) -> str:
        """The class that runs its children; assigning changes it in Redis too."""
        return self.record.klass

    @klass_name.setter
    def klass_name(self, klass: str) -> None:
        self.update(klass=klass)

    @property
    def priority(self) -> float:
        """The priority that its children get; assigning changes it in Redis too."""
        return self.record.priority

    @priority.setter
    def priority(self, priority: float) -> None:
        self.update(priority=priority)

    @property
    def interval(self) -> float:
        """Seconds from child to child, 0 where a cron expression says when.

        Assigning moves the next run by the difference.
        """
        return self.record.interval

    @interval.setter
    def interval(self, interval: Duration) -> None:
        self.update(interval=interval)

    @property
    def cron(self) -> str:
        """The cron expression, or "" if it has none; assigning replaces the runs to come."""
        return self.record.cron

    @cron.setter
    def cron(self, expression: str) -> None:
        self.update(cron=expression)

    @property
    def timezone(self) -> str:
        """The time zone of the cron expression; assigning replaces the runs to come."""
        return self.record.timezone

    @timezone.setter
    def timezone(self, timezone: str | dt.tzinfo) -> None:
        self.update(timezone=timezone)

    @property
    def next_run(self) -> float | None:
        """When it is due next, epoch seconds, as Redis knows now; None when it is gone.

        Past, where no pop came by since. None as well for a cron job whose planned runs are over,
        until a client plans further ones.
        """
        return self.client.commands.recur_next(self.jid)

    @property
    def retries(self) -> int:
        """The retries that its children get; assigning changes them in Redis too."""
        return self.record.retries

    @retries.setter
    def retries(self, retries: int) -> None:
        self.update(retries=retries)

    @property
    def backlog(self) -> int:
        """How many missed runs are made up for; 0 for all. Assigning changes it in Redis too."""
        return self.record.backlog

    @backlog.setter
    def backlog(self, backlog: int) -> None:
        self.update(backlog=backlog)

    @property
    def data(self) -> Any:  # noqa: ANN401 - job data is any JSON
        """What its children are to work on; assigning changes it in Redis, changing it does not.

        Raises:
            MalformedData: what Redis holds is not JSON.

        """
        try:
            return wire.loads(self.record.data)
        except json.JSONDecodeError as error:
            raise MalformedData(self.jid) from error

    @data.setter
    def data(self, data: Any) -> None:  # noqa: ANN401 - job data is any JSON
        self._update(data=wire.dumps(data))

    def update(  # noqa: PLR0913 - the fields of a recurring job, keyword-only
        self,
        *,
        priority: float | None = None,
        interval: Duration | None = None,
        retries: int | None = None,
        backlog: int | None = None,
        klass: str | None = None,
        queue: str | None = None,
        throttles: Iterable[str] | None = None,
        cron: str | None = None,
        timezone: str | dt.tzinfo | None = None,
    ) -> None:
        """Change what is given, at once; `data` is changed by assigning.

        Raises:
            BadArgument: an interval of nothing, an expression that cannot be read, one of these for
                a job of the other kind, or another value that makes no sense.
            RecurringJobNotFound: it is gone.

        """
        self._update(
            **self._timing(cron, timezone),
            priority=priority,
            interval=seconds_of("interval", interval),
            retries=retries,
            backlog=backlog,
            klass=None if klass is None else klass_name_of(klass),
            queue=queue,
            throttles=texts_of("throttles", throttles),
        )

    def move(self, queue: str) -> None:
        """Let its children go into another queue.

        Raises:
            RecurringJobNotFound: it is gone.

        """
        self._update(queue=queue)

    def pause(self) -> bool:
        """Let it make no jobs until it goes on; answers False when it was paused already.

        Defining it anew with this library leaves it paused; with the original's it goes on.

        Raises:
            RecurringJobNotFound: it is gone.

        """
        return self.client.commands.recur_pause(self.jid)

    def unpause(self) -> bool:
        """Let it go on with its next run; answers False when it was not paused.

        The runs that fell due meanwhile are not made up for.

        Raises:
            RecurringJobNotFound: it is gone.

        """
        was_paused = self.client.commands.recur_unpause(self.jid)
        if was_paused and self.cron:
            self.client.cron_plans.extend()
        return was_paused

    def run_now(self) -> str:
        """Make a job of it now, beside those of its runs; answers the jid.

        Raises:
            RecurringJobNotFound: it is gone.

        """
        return self.client.commands.recur_run(self.jid)

    def tag(self, *tags: str) -> list[str]:
        """Add tags to those that its children get; answers all of them.

        Raises:
            RecurringJobNotFound: it is gone.

        """
        found = self.client.commands.recur_tag(self.jid, *tags) if tags else self.tags
        self.record = replace(self.record, tags=tuple(found))
        return found

    def untag(self, *tags: str) -> list[str]:
        """Remove tags from those that its children get; answers the rest.

        Raises:
            RecurringJobNotFound: it is gone.

        """
        found = self.client.commands.recur_untag(self.jid, *tags) if tags else self.tags
        self.record = replace(self.record, tags=tuple(found))
        return found

    def cancel(self) -> None:
        """End it; its children stay."""
        self.client.commands.unrecur(self.jid)

    def _timing(self, expression: str | None, timezone: str | dt.tzinfo | None) -> dict[str, Any]:
        """Plan the runs of another expression or time zone."""
        if expression is None and timezone is None:
            return {}
        if not self.cron:
            problem = f"recurring job {self.jid} recurs by interval, not by cron expression"
            raise BadArgument(problem)
        cron = Cron(
            self.cron if expression is None else expression,
            self.timezone if timezone is None else name_of(timezone),
        )
        now = self.client.now()
        return {
            "cron": cron.expression,
            "timezone": cron.timezone,
            "runs": cron.plan(now, now),
        }

    def _update(self, *, interval: float | None = None, **changes: Any) -> None:  # noqa: ANN401 - fields
        self.client.commands.recur_update(self.jid, interval_s=interval, **changes)
        changes.pop("runs", None)
        if interval is not None:
            changes["interval"] = interval
        given = {name: value for name, value in changes.items() if value is not None}
        given["throttles"] = self._moved(given.get("throttles"), given.get("queue"))
        self.record = replace(self.record, **given)

    def _moved(self, throttles: list[str] | None, queue: str | None) -> tuple[str, ...]:
        """Say what the script makes of the throttles: that of the queue goes with it."""
        own = self.client.keys.queue_throttle
        queues = {own(self.queue_name), own(queue or self.queue_name)}
        named = [n for n in (self.throttles if throttles is None else throttles) if n not in queues]
        return (*dict.fromkeys(named), own(queue or self.queue_name)) if named else ()
