"""The client: a connection, the script and a clock; it hands out queues, jobs and all the rest.

A command is never sent twice by itself: redis-py's retries are off, because a pop that was carried
out and whose answer was lost would otherwise take a second job.
"""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import redis as redis_py
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from qless_core.clock import SERVER, Clock
from qless_core.commands import Commands
from qless_core.config import Config
from qless_core.errors import BadArgument, RedisUnavailable
from qless_core.events import Events
from qless_core.failures import Failures
from qless_core.jobs import Jobs
from qless_core.keys import Keys
from qless_core.queue import Queues
from qless_core.script import Runner, Script
from qless_core.stats import Stats
from qless_core.tags import Tags
from qless_core.worker_registry import Workers

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

#: Where Redis is when nobody says anything else.
DEFAULT_URL: Final = "redis://localhost:6379/0"

#: How every connection is made; the query of a URL may say otherwise, but for the first four.
FIXED: Final[dict[str, Any]] = {
    "decode_responses": True,
    # Bytes that are no UTF-8 come in as lone surrogates and go out as the same bytes.
    "encoding_errors": "surrogateescape",
    # Without the handshake of RESP3, which some proxies and narrow ACLs refuse.
    "protocol": 2,
    "retry_on_timeout": False,
}
DEFAULTS: Final[dict[str, Any]] = {
    # A script takes milliseconds; whoever waits longer waits for a server that is not there.
    "socket_timeout": 10.0,
    "socket_connect_timeout": 5.0,
    # The most connections at once; more are refused at once instead of waited for.
    "max_connections": 256,
    # Says nothing of itself: CLIENT SETINFO is one more command that an ACL may refuse.
    "driver_info": None,
}

#: Settings that redis-py adds for a pool of its own, and that would tie ours to it.
_OF_THEIR_POOL: Final = ("maint_notifications", "orig_", "himport_", "event_dispatcher")
#: Words in the query of a URL whose values nobody may read.
_SECRETS: Final = ("password", "passwd", "secret", "token")
_MASK: Final = "***"


class Client:
    """A client of one qless in one Redis. Threads may share it.

    Args:
        url: `redis://`, `rediss://` or `unix://`, with user, password, database and options.
        namespace: what every key begins with.
        clock: tells the time to Redis, in tests; by default Redis asks itself.
        redis: a redis-py client whose connection settings are used, in place of `url`.
        worker_name: in whose name jobs are popped; `<host>-<pid>` when not given.

    Raises:
        BadArgument: the URL cannot be understood.

    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        namespace: str = "ql:",
        clock: Clock | None = None,
        redis: redis_py.Redis | None = None,
        worker_name: str | None = None,
    ) -> None:
        #: The address as it was given; None for a client made from another.
        self.url = url if redis is None else None
        self.namespace = namespace
        self.clock = clock or Clock()
        self.keys = Keys(namespace)
        self.redis = redis_py.Redis(connection_pool=_pool(url, redis))
        self.commands = Commands(self._run)
        self.config = Config(self.commands)
        self._worker_name = worker_name
        self._runner = Runner(self.redis, Script(namespace))

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
    def failures(self) -> Failures:
        """The failed jobs by group."""
        return Failures(self)

    @property
    def workers(self) -> Workers:
        """The workers that Redis knows: `client.workers.counts`, `client.workers[name]`."""
        return Workers(self)

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
        return _described(self.redis.connection_pool.connection_kwargs)

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
            problem = f"Redis at {self.safe_url} does not tell the time: {error}"
            raise RedisUnavailable(problem) from error
        return float(seconds) + float(microseconds) / 1e6

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
        """Put failed jobs, oldest first, back to work in a queue; answers how many."""
        return self.commands.unfail(queue, group, count)

    def bulk_cancel(self, jids: Iterable[str]) -> list[str]:
        """Remove jobs for good, all or none; answers their jids.

        Raises:
            HasDependents: another job, not among these, waits for one of them.

        """
        return self.commands.cancel(*jids)

    def close(self) -> None:
        """Close the connections that are not in use; the next call opens new ones."""
        self.redis.connection_pool.disconnect(inuse_connections=False)

    def _run(self, command: str, *args: str | float) -> Any:  # noqa: ANN401  what Redis answers
        return self._runner(command, self.clock.stamp(), *args)


def masked(url: str) -> str:
    """Give a URL without its secrets: passwords before the host and in the query.

    Where it is not plain what belongs to a password, nothing but the scheme is left.
    """
    scheme, separator, rest = url.partition("://")
    hidden = f"{scheme}://{_MASK}" if separator and scheme.isalnum() else _MASK
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return hidden
    if not separator or parts.fragment or rest.count("@") != parts.netloc.count("@"):
        return hidden
    owner, at, host = parts.netloc.rpartition("@")
    user, colon, _ = owner.partition(":")
    query = urlencode(
        [
            (name, _MASK if any(word in name.lower() for word in _SECRETS) else value)
            for name, value in parse_qsl(parts.query, keep_blank_values=True)
        ],
        safe="*/",
    )
    owner = f"{user}:{_MASK}" if colon else user
    return f"{scheme}://{owner}{at}{host}{parts.path}{'?' if query else ''}{query}"


def _described(settings: dict[str, Any]) -> str:
    """Describe where connection settings lead, without their secrets."""
    database = settings.get("db") or 0
    if settings.get("path"):
        return f"unix://{settings['path']}?db={database}"
    host = settings.get("host", "localhost")
    host = f"[{host}]" if ":" in host else host
    return f"redis://{host}:{settings.get('port', 6379)}/{database}"


def _pool(url: str, redis: redis_py.Redis | None) -> redis_py.ConnectionPool:
    """Make a pool of connections with our settings, from an address or as another client's."""
    retry = Retry(NoBackoff(), 0)
    if redis is not None:
        theirs = redis.connection_pool
        settings = {
            name: value
            for name, value in theirs.connection_kwargs.items()
            if not name.startswith(_OF_THEIR_POOL)
        }
        settings |= {**FIXED, "retry": retry, "max_connections": theirs.max_connections}
        return redis_py.ConnectionPool(theirs.connection_class, **settings)
    problem = _complaint(url)
    if problem is None:
        try:
            pool = redis_py.ConnectionPool.from_url(url, **DEFAULTS, **FIXED)
            pool.connection_kwargs |= {**FIXED, "retry": retry}
            # Made and thrown away, to find options that no connection knows.
            pool.connection_class(**pool.connection_kwargs)
        except (RedisError, TypeError, ValueError, AttributeError):
            problem = "it holds an option or a value that means nothing"
        else:
            return pool
    # The text of the error below, and of any cause, could hold the password.
    message = f"the Redis URL {masked(url)} cannot be used: {problem}"
    raise BadArgument(message) from None


def _complaint(url: str) -> str | None:
    """Say what is wrong with an address, without quoting it; None when nothing is seen."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "its host or port cannot be read; write odd characters of a password as %XX"
    if parts.scheme not in ("redis", "rediss", "unix"):
        return "it must begin with redis://, rediss:// or unix://"
    if parts.fragment:
        return "it holds a #; write odd characters of a password as %XX"
    path = parts.path.strip("/")
    if parts.scheme == "unix":
        return None if path else "it names no socket"
    return "its path must be the number of a database" if path and not path.isdigit() else None
