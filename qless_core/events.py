"""What the queue says about itself while it works: events, and a subscription to them.

The log channel tells of every job when it is put, completed, advanced, failed, canceled or loses
its lock, and of options. It says nothing of pop, heartbeat, retry, pause, tag, priority and recur.
The other channels carry the bare jid, of tracked jobs alone.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeout

from qless_core.errors import RedisUnavailable
from qless_core.records import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from redis.client import PubSub

    from qless_core.client import Client

log = logging.getLogger("qless.events")

_T = TypeVar("_T")

#: The channels that carry jids of tracked jobs, and `track` and `untrack` of any job.
TRACKED_CHANNELS: Final = (
    "canceled",
    "completed",
    "failed",
    "popped",
    "put",
    "stalled",
    "track",
    "untrack",
)

#: Seconds of silence after which a subscription asks the server whether it is still there.
PING_AFTER_S: Final = 15.0
#: Seconds that the server may take to answer that, or a SUBSCRIBE.
ANSWER_WITHIN_S: Final = 5.0
#: Seconds that `listen` waits at a time before it looks whether it was closed.
SLICE_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened."""


@dataclass(frozen=True, slots=True)
class JobEvent(Event):
    """Something that happened to a job, from the log."""

    jid: str


@dataclass(frozen=True, slots=True)
class Put(JobEvent):
    """A job was put into a queue."""

    queue: str


@dataclass(frozen=True, slots=True)
class Completed(JobEvent):
    """A job was completed in a queue."""

    queue: str


@dataclass(frozen=True, slots=True)
class Advanced(JobEvent):
    """A job was completed in one queue and went into the next, `to`."""

    queue: str
    to: str


@dataclass(frozen=True, slots=True)
class Failed(JobEvent):
    """A job failed."""

    group: str
    message: str
    worker: str


@dataclass(frozen=True, slots=True)
class Canceled(JobEvent):
    """A job was canceled; `worker` is "" where nobody held it."""

    queue: str
    worker: str


@dataclass(frozen=True, slots=True)
class LockLost(JobEvent):
    """A worker lost its lock on a job."""

    worker: str


@dataclass(frozen=True, slots=True)
class ConfigSet(Event):
    """An option was set."""

    option: str
    value: str


@dataclass(frozen=True, slots=True)
class ConfigUnset(Event):
    """An option was unset."""

    option: str


@dataclass(frozen=True, slots=True)
class Tracked(JobEvent):
    """Something happened to a tracked job; `name` is one of `TRACKED_CHANNELS`."""

    name: str


@dataclass(frozen=True, slots=True)
class ToWorker(JobEvent):
    """A worker was told of a job that it held: `name` is `lock_lost` or `canceled`."""

    name: str
    worker: str


#: The log's word for each event, the class, and the fields it is built from.
_LOGGED: Final[dict[str, type[Event]]] = {
    "put": Put,
    "completed": Completed,
    "advanced": Advanced,
    "failed": Failed,
    "canceled": Canceled,
    "lock_lost": LockLost,
    "config_set": ConfigSet,
    "config_unset": ConfigUnset,
}


def event_of(channel: str, data: str, namespace: str = "ql:") -> Event | None:
    """Read one message; None for what is not ours or makes no sense."""
    if not channel.startswith(namespace):
        return None
    name = channel[len(namespace) :]
    if name in TRACKED_CHANNELS:
        return Tracked(jid=data, name=name)
    if name == "log":
        return _logged(_message(data))
    return _to_worker(_message(data), name[2:]) if name.startswith("w:") else None


def _message(data: str) -> dict[str, Any]:
    """Read the JSON of a message; empty when it is none."""
    try:
        message = json.loads(data)
    except (RecursionError, ValueError):
        return {}
    return message if isinstance(message, dict) else {}


def _logged(message: dict[str, Any]) -> Event | None:
    """Build the event that a message of the log tells of."""
    kind = _LOGGED.get(text(message.get("event")))
    if kind is None:
        return None
    return kind(**{name: text(message.get(name)) for name in kind.__dataclass_fields__})


def _to_worker(message: dict[str, Any], worker: str) -> Event | None:
    """Build the event that a message to a worker tells of."""
    name, jid = text(message.get("event")), text(message.get("jid"))
    return ToWorker(jid=jid, name=name, worker=worker) if name and jid else None


class Subscription:
    """A connection of its own that hears events; opened by `with`, or by the first `get`.

    One thread may call `get`, any other `close`. After `RedisUnavailable` the next `get` connects
    again; what happened in between is lost, so read afresh what matters.

    Args:
        client: whose Redis and namespace to listen to.
        channels: names without the namespace; the log and those of tracked jobs when none is given.

    """

    def __init__(self, client: Client, channels: tuple[str, ...] = ()) -> None:
        self._client = client
        self._names = channels or ("log", *TRACKED_CHANNELS)
        self._pubsub: PubSub | None = None
        #: Messages that came while the subscription was still being confirmed.
        self._early: deque[dict[str, Any]] = deque()
        self._heard_at = 0.0
        self._asked = False
        self._closed = False
        #: Held while the connection is used, so that close() tidies up after get(), not under it.
        self._using = Lock()

    def __enter__(self) -> Self:
        with self._using:
            self._guarded(self._connected)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels listened to, with the namespace."""
        return tuple(self._client.keys.event(name) for name in self._names)

    def get(self, timeout: float = 0) -> Event | None:
        """Wait up to so many seconds for an event; None when none came.

        It is also None, sooner, when a message was skipped or the subscription was closed.

        Raises:
            RedisUnavailable: the server is gone; the next call connects again.

        """
        with self._using:
            message = self._guarded(self._next, timeout)
        return self._read(message)

    def _read(self, message: dict[str, Any] | None) -> Event | None:
        """Turn a message into an event; None for one that is none of ours."""
        if message is None or message.get("type") != "message":
            return None
        event = event_of(message["channel"], message["data"], self._client.namespace)
        if event is None:
            log.info("skipped a message on %r that is none of ours", message["channel"])
        return event

    def drain(self) -> list[Event]:
        """Give what happened until now, without waiting for more.

        Raises:
            RedisUnavailable: the server is gone; the next call connects again.

        """
        with self._using:
            messages = self._guarded(self._until_pong) or []
        events = (self._read(message) for message in messages)
        return [event for event in events if event is not None]

    def listen(self) -> Iterator[Event]:
        """Give events as they come, until `close`.

        Raises:
            RedisUnavailable: the server is gone; a new iteration connects again.

        """
        while not self._closed:
            event = self.get(SLICE_S)
            if event is not None:
                yield event

    def close(self) -> None:
        """End the subscription; a `get` that waits in another thread returns at once."""
        self._closed = True
        pubsub = self._pubsub
        connection = pubsub.connection if pubsub else None
        if connection is not None:
            # Wakes a reader; shutting down a socket is safe from another thread.
            connection.disconnect()
        with self._using:
            self._drop()

    def _guarded(self, use: Callable[..., _T], *args: Any) -> _T | None:  # noqa: ANN401  passed on
        """Use the connection; on any trouble drop it, and say so unless we closed it."""
        if self._closed:
            return None
        try:
            return use(*args)
        except Exception as error:
            self._drop()
            if self._closed:
                return None
            if isinstance(error, RedisError | OSError):
                problem = f"the subscription to {self._client.safe_url} is lost: {error}"
                raise RedisUnavailable(problem) from error
            raise

    def _next(self, timeout: float) -> dict[str, Any] | None:
        """Read one message, or ask the server for a sign of life after a long silence."""
        pubsub = self._connected()
        if self._early:
            return self._early.popleft()
        message: dict[str, Any] | None = pubsub.get_message(timeout=max(0.0, timeout))
        now = self._client.clock.monotonic()
        if message is not None:
            self._heard_at, self._asked = now, False
        elif self._asked and now - self._heard_at > PING_AFTER_S + ANSWER_WITHIN_S:
            problem = f"no sign of life for {now - self._heard_at:.0f} s"
            raise RedisTimeout(problem)
        elif not self._asked and now - self._heard_at > PING_AFTER_S:
            pubsub.ping()
            self._asked = True
        return message

    def _until_pong(self) -> list[dict[str, Any]]:
        """Read all that the server sent before it answers a question asked now."""
        pubsub = self._connected()
        found = [*self._early]
        self._early.clear()
        pubsub.ping()
        while True:
            message: dict[str, Any] | None = pubsub.get_message(timeout=ANSWER_WITHIN_S)
            if message is None:
                problem = f"no answer to PING within {ANSWER_WITHIN_S:.0f} s"
                raise RedisTimeout(problem)
            if message["type"] == "pong":
                return found
            found.append(message)

    def _connected(self) -> PubSub:
        """Connect and subscribe, unless that is done, and wait until the server confirmed it."""
        if self._pubsub is not None:
            return self._pubsub
        pubsub = self._pubsub = self._client.redis.pubsub()
        pubsub.subscribe(*self.channels)
        confirmed: set[str] = set()
        while not confirmed.issuperset(self.channels):
            message = pubsub.get_message(timeout=ANSWER_WITHIN_S)
            if message is None:
                problem = f"no answer to SUBSCRIBE within {ANSWER_WITHIN_S:.0f} s"
                raise RedisTimeout(problem)
            if message["type"] == "subscribe":
                confirmed.add(message["channel"])
            else:
                self._early.append(message)
        self._heard_at, self._asked = self._client.clock.monotonic(), False
        return pubsub

    def _drop(self) -> None:
        """Give the connection up."""
        pubsub, self._pubsub = self._pubsub, None
        self._early.clear()
        if pubsub is not None:
            with suppress(Exception):  # it is being thrown away, in whatever state it is
                pubsub.close()


class Events:
    """`client.events`: what happens in the queues, as it happens."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def subscribe(self, *channels: str) -> Subscription:
        """Listen on a connection of its own: `with client.events.subscribe() as events: …`.

        Args:
            channels: names without the namespace, such as `log`, `completed` or `w:<worker>`; the
                log and the channels of tracked jobs when none is given.

        """
        return Subscription(self._client, channels)

    def listen(self, *channels: str) -> Iterator[Event]:
        """Give events as they come, for ever.

        Raises:
            RedisUnavailable: the server is gone.

        """
        with self.subscribe(*channels) as subscription:
            yield from subscription.listen()
