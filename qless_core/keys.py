"""The names of the Redis keys, for the readers in Python. `lua/keys.lua` is their twin."""

from __future__ import annotations

import re
from typing import Final

#: What a shell or a file of settings leaves behind by mistake.
_SLIPS: Final = re.compile(r"[\s'\"`\x00-\x1f\x7f]")
#: A namespace but for its hash tags, which must be whole: a cluster goes by them.
_TAGS: Final = re.compile(r"\{[^{}]+\}")


def complaint(namespace: str) -> str:
    """Say what is wrong with a namespace; "" when nothing is.

    >>> complaint("ql:"), complaint("{ql}:"), complaint("{ql:")
    ('', '', 'must have both braces of a hash tag')
    """
    if _SLIPS.search(namespace):
        return "must have no quote, blank or control character"
    if re.search(r"[{}]", _TAGS.sub("", namespace)):
        return "must have both braces of a hash tag"
    return ""


def tag_of(namespace: str) -> str | None:
    """Give the hash tag of a namespace, by which a cluster finds its slot; None without one.

    >>> tag_of("{ql}:"), tag_of("ql:")
    ('{ql}', None)
    """
    found = _TAGS.search(namespace)
    return found[0] if found else None


class Keys:
    """Key and channel names under one namespace (`ql:` unless told otherwise)."""

    __slots__ = ("namespace",)

    def __init__(self, namespace: str = "ql:") -> None:
        self.namespace = namespace

    def __repr__(self) -> str:
        return f"Keys({self.namespace!r})"

    # Jobs

    def job(self, jid: str) -> str:
        """Hash: the fields of a job."""
        return f"{self.namespace}j:{jid}"

    def history(self, jid: str) -> str:
        """List: what happened to a job, oldest first."""
        return f"{self.namespace}j:{jid}-history"

    def dependencies(self, jid: str) -> str:
        """Set: the jids that a job waits for."""
        return f"{self.namespace}j:{jid}-dependencies"

    def dependents(self, jid: str) -> str:
        """Set: the jids that wait for a job."""
        return f"{self.namespace}j:{jid}-dependents"

    def recurring(self, jid: str) -> str:
        """Hash: the fields of a recurring job."""
        return f"{self.namespace}r:{jid}"

    def cron_job(self, jid: str) -> str:
        """Hash: the fields of a job that recurs by cron expression."""
        return f"{self.namespace}cron:{jid}"

    def cron_runs(self, jid: str) -> str:
        """Sorted set: the runs planned for it, epoch seconds as text, by themselves."""
        return f"{self.namespace}cron-runs:{jid}"

    @property
    def crons(self) -> str:
        """Sorted set: cron jobs by when more runs are to be planned."""
        return f"{self.namespace}crons"

    # Queues

    @property
    def queues(self) -> str:
        """Sorted set: queue names by the time first seen."""
        return f"{self.namespace}queues"

    @property
    def paused_queues(self) -> str:
        """Set: names of the paused queues."""
        return f"{self.namespace}paused_queues"

    def work(self, queue: str) -> str:
        """Sorted set: waiting jobs, higher scores pop first."""
        return f"{self.namespace}q:{queue}-work"

    def locks(self, queue: str) -> str:
        """Sorted set: running jobs by the end of their lock."""
        return f"{self.namespace}q:{queue}-locks"

    def scheduled(self, queue: str) -> str:
        """Sorted set: scheduled jobs by due time."""
        return f"{self.namespace}q:{queue}-scheduled"

    def depends(self, queue: str) -> str:
        """Sorted set: jobs waiting for others, by the time put."""
        return f"{self.namespace}q:{queue}-depends"

    def recur(self, queue: str) -> str:
        """Sorted set: recurring jobs by next run."""
        return f"{self.namespace}q:{queue}-recur"

    def cron(self, queue: str) -> str:
        """Sorted set: the cron jobs of a queue by next run."""
        return f"{self.namespace}q:{queue}-cron"

    def throttled(self, queue: str) -> str:
        """Sorted set: jobs that a throttle keeps back, the next in line first."""
        return f"{self.namespace}q:{queue}-throttled"

    def awaited(self, queue: str) -> str:
        """Sorted set: throttles that jobs of a queue wait for, by when last looked at (ours)."""
        return f"{self.namespace}q:{queue}-awaited"

    def wake(self, queue: str) -> str:
        """Sorted set: a token where there may be something to take (ours)."""
        return f"{self.namespace}q:{queue}-wake"

    def waited(self, queue: str) -> str:
        """Text: there while somebody may wait for the jobs of a queue (ours)."""
        return f"{self.namespace}q:{queue}-waited"

    def lookout(self, group: str) -> str:
        """Text: who looks out for a group of those who wait (ours)."""
        return f"{self.namespace}lookout:{group}"

    def nudge(self, name: str) -> str:
        """Sorted set: a token for one of a group, or for one who waits (ours)."""
        return f"{self.namespace}nudge:{name}"

    # Throttles

    def queue_throttle(self, queue: str) -> str:
        """Name a queue's own throttle: no key, but the beginning of its keys."""
        return f"{self.namespace}q:{queue}"

    def throttle(self, id: str) -> str:  # noqa: A002 - the field's name in the hash
        """Hash: a throttle, its id and its maximum."""
        return f"{self.namespace}th:{id}"

    def throttle_locks(self, id: str) -> str:  # noqa: A002 - as above
        """Sorted set: jids that run under a throttle, each with score 1."""
        return f"{self.namespace}th:{id}-locks"

    def throttle_pending(self, id: str) -> str:  # noqa: A002 - as above
        """Sorted set: jids that a throttle keeps back, the next in line first."""
        return f"{self.namespace}th:{id}-pending"

    # Limits that are options (ours)

    def starts(self, klass: str) -> str:
        """List: when jobs of a class with a rate limit started, or are to start, latest first."""
        return f"{self.namespace}starts:{klass}"

    def host_workers(self, host: str) -> str:
        """Sorted set: workers of a host, by when they asked for jobs last."""
        return f"{self.namespace}host:{host}:workers"

    def host_failures(self, host: str) -> str:
        """Sorted set: `<when> <jid>` of what failed or was dropped on a host, by time."""
        return f"{self.namespace}host:{host}:failures"

    # Workers

    @property
    def workers(self) -> str:
        """Sorted set: worker names by the time last seen."""
        return f"{self.namespace}workers"

    def worker_jobs(self, worker: str) -> str:
        """Sorted set: jids a worker holds, by the end of their lock."""
        return f"{self.namespace}w:{worker}:jobs"

    def worker_info(self, worker: str) -> str:
        """Text: what a worker tells of itself, as JSON (ours)."""
        return f"{self.namespace}w:{worker}:info"

    def worker_asked(self, worker: str) -> str:
        """Text: what a worker is asked to do, and when the process meant started (ours)."""
        return f"{self.namespace}w:{worker}:asked"

    # Everything else

    @property
    def tracked(self) -> str:
        """Sorted set: tracked jids by the time tracked."""
        return f"{self.namespace}tracked"

    @property
    def completed(self) -> str:
        """Sorted set: completed jids by the time they completed."""
        return f"{self.namespace}completed"

    @property
    def failures(self) -> str:
        """Set: names of the failure groups."""
        return f"{self.namespace}failures"

    def failed(self, group: str) -> str:
        """List: jids of a failure group, newest at the head."""
        return f"{self.namespace}f:{group}"

    @property
    def tags(self) -> str:
        """Sorted set: tags by how many jobs carry them."""
        return f"{self.namespace}tags"

    def tag(self, tag: str) -> str:
        """Sorted set: jids that carry a tag, by the time tagged."""
        return f"{self.namespace}t:{tag}"

    @property
    def archive(self) -> str:
        """Hash: where each archiver of completed jobs stands (ours)."""
        return f"{self.namespace}archive"

    def once(self, request: str) -> str:
        """Text: what came of a request, as JSON, for some minutes (ours)."""
        return f"{self.namespace}once:{request}"

    @property
    def config(self) -> str:
        """Hash: the options that were set."""
        return f"{self.namespace}config"

    def stats(self, day: int, queue: str) -> str:
        """Hash: retries, failures and failed of a queue on a day (its midnight UTC, epoch)."""
        return f"{self.namespace}s:stats:{day}:{queue}"

    def wait(self, day: int, queue: str) -> str:
        """Hash: how long jobs waited on a day: total, mean, vk and the histogram."""
        return f"{self.namespace}s:wait:{day}:{queue}"

    def run(self, day: int, queue: str) -> str:
        """Hash: how long jobs ran on a day: total, mean, vk and the histogram."""
        return f"{self.namespace}s:run:{day}:{queue}"

    # The console's own

    def shards(self, name: str) -> str:
        """Hash: jobs on their way to another shard, `leaving` here or `arrived` there (ours)."""
        return f"{self.namespace}shards:{name}"

    def web(self, name: str) -> str:
        """Whatever the console keeps for itself (ours)."""
        return f"{self.namespace}web:{name}"

    # Channels

    @property
    def log(self) -> str:
        """Channel: what happens to every job, as JSON."""
        return f"{self.namespace}log"

    def event(self, name: str) -> str:
        """Channel: jids of tracked jobs that something happened to."""
        return f"{self.namespace}{name}"

    def worker(self, worker: str) -> str:
        """Channel: what a worker must know about the jobs it holds, as JSON."""
        return f"{self.namespace}w:{worker}"
