"""`client.jobs`: jobs by their jid, and the lists of jobs that belong to no one queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, overload

from qless_core import walk
from qless_core.job import Job, read_jobs
from qless_core.recurring import RecurringJob

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core.client import Client
    from qless_core.job import JobPage
    from qless_core.records import JidPage


@dataclass(frozen=True, slots=True)
class TrackedJobs:
    """The tracked jobs, and the jids of those that were tracked and are gone."""

    jobs: list[Job]
    expired: list[str]


class Jobs:
    """Jobs of every queue."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __repr__(self) -> str:
        return f"<Jobs of {self._client!r}>"

    def __getitem__(self, jid: str) -> Job | RecurringJob | None:
        """Read a job or recurring job; None when nothing has this jid."""
        record = self._client.commands.get(jid)
        if record is not None:
            return Job(self._client, record)
        recurring = self._client.commands.recur_get(jid)
        return None if recurring is None else RecurringJob(self._client, recurring)

    def __contains__(self, job: object) -> bool:
        """Whether a job, or what has this jid, exists."""
        jid = job.jid if isinstance(job, Job | RecurringJob) else job
        return isinstance(jid, str) and bool(jid) and self[jid] is not None

    def __iter__(self) -> NoReturn:
        """Refuse: nothing lists all jobs.

        Raises:
            TypeError: always.

        """
        problem = (
            "there is no list of all jobs: those of a queue are `queue.jobs.all()`, the others "
            "`client.jobs.all_complete()`, `all_failed()` and `all_tagged(tag)`"
        )
        raise TypeError(problem)

    def get(self, *jids: str) -> list[Job]:
        """Read those of the jobs that exist, in one call."""
        return read_jobs(self._client, jids)

    def complete(self, offset: int = 0, count: int = 25) -> list[str]:
        """List the jids of completed jobs, newest first.

        Raises:
            BadArgument: offset or count is no whole number from 0 up.

        """
        return self._client.commands.jobs("complete", offset=offset, count=count)

    def all_complete(self) -> Iterator[Job]:
        """Walk all completed jobs, the oldest first, each once, a page at a time."""
        return walk.listed_jobs(self._client, "complete")

    def all_failed(self, group: str | None = None) -> Iterator[Job]:
        """Walk the failed jobs of a group, or of all, the oldest of each first, each once."""
        groups = self._client.failures.groups if group is None else [group]
        return walk.group_jobs(self._client, groups)

    def all_tagged(self, tag: str) -> Iterator[Job]:
        """Walk all jobs that carry a tag, by the time they were tagged, each once."""
        return walk.listed_jobs(self._client, "tag", tag)

    def tracked(self) -> TrackedJobs:
        """Read all tracked jobs."""
        record = self._client.commands.tracked()
        return TrackedJobs([Job(self._client, job) for job in record.jobs], list(record.expired))

    def tagged(self, tag: str, offset: int = 0, count: int = 25) -> JidPage:
        """Do `tags.jids`, under the name of other clients."""
        return self._client.tags.jids(tag, offset, count)

    @overload
    def failed(self, group: None = None) -> dict[str, int]: ...

    @overload
    def failed(self, group: str, start: int = 0, limit: int = 25) -> JobPage: ...

    def failed(
        self, group: str | None = None, start: int = 0, limit: int = 25
    ) -> dict[str, int] | JobPage:
        """Do `failures.groups`, or with a group `failures.jobs`, under another client's name."""
        failures = self._client.failures
        return failures.groups if group is None else failures.jobs(group, start, limit)
