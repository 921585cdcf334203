"""The client: a connection, the script and a clock; it hands out queues, jobs and all the rest."""

from __future__ import annotations

import copy
import functools
import os
import socket
from typing import TYPE_CHECKING, Any, Final

import redis as redis_py
from redis.exceptions import RedisError

from qless_core.archive import SETTLE_S, JsonLines, archive
from qless_core.audit import AuditReport
from qless_core.bell import Bell
from qless_core.bulk import Bulk
from qless_core.clock import SERVER, Clock
from qless_core.commands import Commands
from qless_core.config import Config
from qless_core.connection import DEFAULT_NAMESPACE, DEFAULT_URL, described, pool_like, pool_of
from qless_core.cron_plans import CronPlans
from qless_core.duration import seconds_of
from qless_core.errors import BadArgument, RedisUnavailable
from qless_core.failures import Failures
from qless_core.job import jids_of
from qless_core.jobs import Jobs
from qless_core.keys import Keys
from qless_core.masking import masked
from qless_core.queue import Queues
from qless_core.reserver import Reserver
from qless_core.runner import Runner
from qless_core.script import Script
from qless_core.server_errors import errors_of_server, shortened
from qless_core.stats import Stats
from qless_core.subscription import Events
from qless_core.tags import Tags
from qless_core.throttles import Throttles
from qless_core.worker_registry import Workers

__all__ = ["Client", "connect", "masked"]

if TYPE_CHECKING:
    from collections.abc import Iterable
    from threading import Event as Flag
    from typing import Self

    from redis.cluster import RedisCluster

    from qless_core.archive import Archived, Writer
    from qless_core.duration import Duration
    from qless_core.job import Job
    from qless_core.queue import Queue

#: The most seconds that a client insists: for less than Redis remembers what it carried out.
MOST_PATIENCE_S: Final = 300

#: Assembling the script takes milliseconds; all clients of a namespace share one.
_script = functools.cache(Script)


class Client:
    """A client of one qless in one Redis. Threads may share it.

    Args:
        url: `redis://`, `rediss://`, `unix://`, `redis+sentinel://` or `redis+cluster://`, with
            user, password, database and options.
        namespace: what every key begins with; one in the URL stands in for the usual one.
        clock: tells the time to Redis, in tests; by default Redis asks itself.
        redis: a redis-py client (also of Sentinels, or of a cluster) whose connection settings are
            used, in place of `url`.
        worker_name: in whose name jobs are popped; `<host>-<pid>` when not given.
        patience: for up to how many seconds a command is sent again while Redis is away or the
            answer is lost; each carries an id then, so that it runs once. At most 300; 0 for not at
            all.

    Raises:
        BadArgument: the URL cannot be understood or is None, or the namespace is none.
        ClusterNeedsTag: it is a cluster, and the namespace holds no hash tag, as `{ql}:` does.

    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        namespace: str = DEFAULT_NAMESPACE,
        clock: Clock | None = None,
        redis: redis_py.Redis | RedisCluster | None = None,
        worker_name: str | None = None,
        patience: Duration = 0,
    ) -> None:
        patience = seconds_of("patience", patience or 0)
        if not 0 <= patience <= MOST_PATIENCE_S:
            message = f"patience must be from 0 to {MOST_PATIENCE_S} seconds, got {patience!r}"
            raise BadArgument(message)
        #: The address as it was given; None for a client made from another.
        self.url = url if redis is None else None
        pool = pool_of(url, namespace) if redis is None else pool_like(redis, namespace)
        self.namespace = pool.namespace
        self.clock = clock or Clock()
        self.keys = Keys(self.namespace)
        self.redis = redis_py.Redis(connection_pool=pool)
        self.commands = Commands(self._run)
        self.config = Config(self.commands)
        self.cron_plans = CronPlans(self.commands, self.clock)
        self._worker_name = worker_name
        self._runner = Runner(self.redis, _script(self.namespace), patience, self.clock)

    def __repr__(self) -> str:
        return f"<Client {self.safe_url} {self.namespace!r}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # What it hands out

    @property
    def queues(self) -> Queues:
        """Every queue: `client.queues["mail"]`, `client.queues.counts`."""
        return Queues(self)

    @property
    def jobs(self) -> Jobs:
        """Every job: `client.jobs[jid]`, `client.jobs.failed()`."""
        return Jobs(self)

    @property
    def bulk(self) -> Bulk:
        """Work on many jobs at once: `client.bulk.complete(jobs)`, `cancel`, `move`, `unfail`."""
        return Bulk(self)

    @property
    def failures(self) -> Failures:
        """The failed jobs by group."""
        return Failures(self)

    @property
    def workers(self) -> Workers:
        """The workers that Redis knows: `client.workers.counts`, `client.workers[name]`."""
        return Workers(self)

    @property
    def throttles(self) -> Throttles:
        """The limits of how many jobs run at once: `client.throttles["mail-api"]`."""
        return Throttles(self)

    @property
    def tags(self) -> Tags:
        """The tags in use: `client.tags()`, `client.tags.jids(tag)`."""
        return Tags(self)

    @property
    def stats(self) -> Stats:
        """The statistics: `client.stats.get(queue, day)`."""
        return Stats(self)

    @property
    def events(self) -> Events:
        """What happens, as it happens: `client.events.listen()`."""
        return Events(self)

    # What it does itself

    @property
    def worker_name(self) -> str:
        """In whose name jobs are popped; unless given, it follows the process through a fork."""
        return self._worker_name or f"{socket.gethostname()}-{os.getpid()}"

    @property
    def safe_url(self) -> str:
        """The address with its secrets masked: for logs, pages and messages."""
        if self.url is not None:
            return masked(self.url)
        return described(self.redis)

    def now(self) -> float:
        """Tell the time that the queue goes by, epoch seconds: the server's, in one round trip.

        Raises:
            RedisUnavailable: the server cannot be reached.

        """
        stamp = self.clock.stamp()
        if stamp != SERVER:
            return float(stamp)
        try:
            seconds, microseconds = self.redis.time()
        except (RedisError, OSError) as error:
            found = errors_of_server(error, self.namespace)
            raise (found or RedisUnavailable.of(str(error))) from shortened(error)
        return float(seconds) + float(microseconds) / 1e6

    def clock_skew(self) -> float:
        """Tell by how many seconds the clock of some client is ahead of the server's; 0.0 for none.

        Our clients go by the server's time. Others send their own: where that is ahead, it takes
        jobs from those who run them, and keeps its own too long. Told by the workers, that is by
        the one that was last seen the furthest in the future.

        Raises:
            RedisUnavailable: the server cannot be reached.

        """
        now = self.now()
        try:
            newest: Any = self.redis.zrevrange(self.keys.workers, 0, 0, withscores=True)
        except (RedisError, OSError) as error:
            found = errors_of_server(error, self.namespace)
            raise (found or RedisUnavailable.of(str(error))) from shortened(error)
        return max(0.0, float(newest[0][1]) - now) if newest else 0.0

    def audit(self) -> AuditReport:
        """Look over the whole database for what does not fit together; nothing is changed.

        The walk goes on as its findings are asked for, and never blocks the server for more than
        a few milliseconds. What moves meanwhile is not taken for a fault.
        """
        return AuditReport(self.commands)

    def reserver(
        self, queues: str | Queue | Iterable[str | Queue], *, stop: Flag | None = None
    ) -> Reserver:
        """Take jobs of several queues, and wait for them: `client.reserver(["a", "b"]).pop()`.

        Args:
            queues: their names, or queues; a later one gives a job when those before it have none.
            stop: ends the waiting when it is set, within a quarter of a second.

        Raises:
            BadArgument: there is no queue.

        """
        return Reserver(self, queues, stop=stop)

    def bell(self, keys: Iterable[str]) -> Bell:
        """Make what a reserver blocks with."""
        return Bell(self._runner, keys)

    def once(self, request: str) -> Commands:
        """Give commands that Redis carries out once, however often they are sent.

        Args:
            request: an id that no other request has; the answer is remembered for 10 minutes.

        """
        return Commands(functools.partial(self._run, "once", request))

    def track(self, jid: str) -> bool:
        """Track a job, so that its events are told; answers whether that is new.

        Raises:
            JobNotFound: there is no such job.

        """
        return self.commands.track("track", jid)

    def untrack(self, jid: str) -> bool:
        """Track a job no more; answers whether it was tracked."""
        return self.commands.track("untrack", jid)

    def unfail(self, group: str, queue: str, count: int = 25) -> int:
        """Do `failures.unfail`, under the name of other clients."""
        return self.failures.unfail(group, queue, count)

    def bulk_cancel(self, jids: Iterable[str | Job]) -> list[str]:
        """Remove jobs for good, all or none; answers their jids, also those that have no job.

        The name is that of other clients. `commands.bulk_cancel` is another thing: it spares jobs
        that others wait for, and says what it did.

        Raises:
            BadArgument: one jid was given where several are meant.
            HasDependents: another job, not among these, waits for one of them.

        """
        return self.commands.cancel(*jids_of(jids))

    def archive(
        self,
        to: str | os.PathLike[str] | Writer,
        *,
        name: str = "default",
        settle: Duration = SETTLE_S,
    ) -> Archived:
        """Write the jobs that completed since the last run away, each once, before they expire.

        Args:
            to: a file to append lines of JSON to, its name maybe with codes of `strftime` for the
                time of completion; or what is called with lists of `archive.ArchivedJob`.
            name: what the archiver is called: each name has its own place in the completed jobs.
            settle: seconds that a job is left alone after it completed.

        Returns:
            How many were written, and whether any may have been missed.

        Raises:
            ArchiveMoved: another archiver of this name is at work.
            OSError: the file cannot be written.

        """
        write = to if callable(to) else JsonLines(to)
        return archive(self, write, name=name, settle=seconds_of("settle", settle))

    def twin(self) -> Client:
        """Make a client like this one with connections of its own, as a forked process needs it."""
        return Client(
            namespace=self.namespace,
            clock=self.clock,
            redis=self.redis,
            worker_name=self._worker_name,
            patience=self._runner.patience,
        )

    def line(self) -> Any:  # noqa: ANN401 - redis-py's
        """Connect, for processes that are forked from this one; None where none can inherit it.

        Raises:
            RedisUnavailable: the server cannot be reached.

        """
        return self._runner.line()

    def adopt(self, line: Any) -> None:  # noqa: ANN401 - redis-py's
        """Send commands on a connection that this process has inherited; nobody else uses it."""
        self._runner.adopt(line)

    def let_go(self) -> bool:
        """Use what was inherited no more; answers whether another process may use it now."""
        return self._runner.let_go()

    def make_room(self, connections: int) -> None:
        """Let there be so many connections at least, where its address says less.

        Args:
            connections: how many at once.

        """
        pool = self.redis.connection_pool
        pool.max_connections = max(pool.max_connections, connections)

    def named(self, worker_name: str) -> Client:
        """Give this client in another name, on the same connections.

        Args:
            worker_name: in whose name it pops.

        """
        client = copy.copy(self)
        client._worker_name = worker_name  # noqa: SLF001 - one of ours
        return client

    def close(self) -> None:
        """Close the connections that are not in use; the next call opens new ones."""
        self.redis.connection_pool.disconnect(inuse_connections=False)

    def _run(self, command: str, *args: str | float) -> Any:  # noqa: ANN401 - what Redis answers
        return self._runner(command, self.clock.stamp(), *args)


def connect(url: str = DEFAULT_URL, **settings: Any) -> Client:  # noqa: ANN401 - those of Client
    """Make a client: `qless_core.connect("redis://localhost:6379/0")`; arguments as `Client` has.

    Nothing is sent before the first call, so that a Redis that is away is no reason not to start.

    Raises:
        BadArgument: as `Client`.

    """
    return Client(url, **settings)
