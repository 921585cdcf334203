"""Queues of several shards: each is placed on one, and its jobs that are elsewhere count, too."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from qless_core.job import Job, jids_of
from qless_core.new_job import NewJob
from qless_core.queue import Queue, QueueJobs, Queues

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core.recurring import RecurringJob
    from qless_core.shards.client import ShardedClient
    from qless_core.throttles import Throttle


class ShardedQueueJobs(QueueJobs):
    """The jobs of a queue, on all shards."""

    _client: ShardedClient

    def all(self, *states: str) -> Iterator[Job | RecurringJob]:
        """Walk all jobs of the queue, as `QueueJobs.all` does, one shard after another."""
        return chain.from_iterable(
            shard.queues[self._name].jobs.all(*states) for shard in self._client.shards.values()
        )

    def all_jids(self, *states: str) -> Iterator[str]:
        """Walk the jids of all jobs, as `all` does."""
        return chain.from_iterable(
            shard.queues[self._name].jobs.all_jids(*states)
            for shard in self._client.shards.values()
        )


class ShardedQueue(Queue):
    """A queue. Jobs are put on the shard that it is placed on, and taken from all of them."""

    client: ShardedClient

    @property
    def shard(self) -> str:
        """The name of the shard that it is placed on."""
        return self.client.placement.of(self.name)

    @property
    def jobs(self) -> ShardedQueueJobs:
        """The jids of the queue by state."""
        return ShardedQueueJobs(self.client, self.name)

    @property
    def throttle(self) -> Throttle:
        """The limit of how many of its jobs run at once, on the shard that it is placed on."""
        return self.client.shards[self.shard].queues[self.name].throttle

    def put(self, klass: object, data: Any, **options: Any) -> str:  # noqa: ANN401 - as Queue.put has them
        """Put a job, as `Queue.put`.

        Raises:
            AcrossShards: a job of that jid, or one that it is to wait for, is on another shard.

        """
        if options.get("jid"):
            self.client.must_be_on(self.shard, [options["jid"]])
        return super().put(klass, data, **options)

    def put_many(self, jobs: Any) -> list[str]:  # noqa: ANN401 - as Queue.put_many has them
        """Put many jobs, as `Queue.put_many`.

        Raises:
            AcrossShards: a job of one of the jids, or one that one waits for, is on another shard.

        """
        new = [_listed(NewJob.of(job)) for job in jobs]
        given = [job.jid for job in new if job.jid]
        waits_for = [jid for job in new for jid in jids_of(job.depends or ())]
        self.client.must_be_on(self.shard, [*given, *waits_for])
        return super().put_many(new)

    def pop(self, count: int | None = None, *, timeout: Any = 0) -> Any:  # noqa: ANN401 - as Queue.pop
        """Take jobs, as `Queue.pop`, from whichever shard has some."""
        return self.client.reserver(self.name).pop(count, timeout=timeout)


def _listed(job: NewJob) -> NewJob:
    """Read what a job waits for into a list: it is looked at here, and again where it is put."""
    return job if job.depends is None else replace(job, depends=jids_of(job.depends))


class ShardedQueues(Queues):
    """Every queue, of all shards."""

    _client: ShardedClient

    def __getitem__(self, name: str) -> ShardedQueue:
        return ShardedQueue(self._client, name)
