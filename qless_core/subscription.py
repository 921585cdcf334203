"""A subscription to the events of a queue, on a connection of its own."""

from __future__ import annotations

import logging
from collections import deque
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeout

from qless_core.connection import may_move
from qless_core.duration import seconds_of
from qless_core.errors import RedisUnavailable
from qless_core.events import TRACKED_CHANNELS, event_of
from qless_core.server_errors import errors_of_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from redis.client import PubSub

    from qless_core.client import Client
    from qless_core.duration import Duration
    from qless_core.events import Event

log = logging.getLogger("qless.events")

_T = TypeVar("_T")

#: Seconds of silence after which a subscription asks the server whether it is still there.
PING_AFTER_S: Final = 15.0
#: The same where another server may take over from one that falls silent.
MOVING_PING_AFTER_S: Final = 2.0
#: Seconds that the server may take to answer that, or a SUBSCRIBE.
ANSWER_WITHIN_S: Final = 5.0
#: The same where another server may take over.
MOVING_ANSWER_WITHIN_S: Final = 2.0
#: What tells the answer to `drain` from one that was asked for after a silence.
FENCE: Final = "until-here"
#: Seconds of waiting at a time before a look whether the subscription was closed.
SLICE_S: Final = 0.5


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
        self._ping_after_s, self._answer_within_s = (
            (MOVING_PING_AFTER_S, MOVING_ANSWER_WITHIN_S)
            if may_move(client.redis)
            else (PING_AFTER_S, ANSWER_WITHIN_S)
        )
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

    def get(self, timeout: Duration = 0) -> Event | None:
        """Wait up to so many seconds for an event; None when none came.

        It is also None, sooner, when a message was skipped or the subscription was closed.

        Raises:
            BadArgument: the timeout is no number of seconds.
            NotPermitted: the user may not hear these channels.
            RedisUnavailable: the server is gone; the next call connects again.

        """
        seconds = seconds_of("the timeout", timeout)
        with self._using:
            message = self._guarded(self._next, seconds)
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
        # A reader that is still connecting, to a server that does not answer, tidies up by itself.
        if self._using.acquire(timeout=SLICE_S):
            try:
                self._drop()
            finally:
                self._using.release()

    def _guarded(self, use: Callable[..., _T], *args: Any) -> _T | None:  # noqa: ANN401 - passed on
        """Use the connection; on any trouble drop it, and say so unless we closed it."""
        if self._closed:
            return None
        try:
            found = use(*args)
        except Exception as error:
            self._drop()
            if self._closed:
                return None
            if isinstance(error, RedisError | OSError):
                meant = errors_of_server(error, self._client.namespace)
                if isinstance(meant, RedisUnavailable) and not meant.passes:
                    raise meant from error
                problem = f"the subscription to {self._client.safe_url} is lost: {error}"
                raise RedisUnavailable(problem) from error
            raise
        if self._closed:
            self._drop()
            return None
        return found

    def _next(self, timeout: float) -> dict[str, Any] | None:
        """Read one message, in slices, so as to notice that nobody wants it more.

        redis-py connects again by itself before it reads, also what close() took away.
        """
        pubsub = self._connected()
        if self._early:
            return self._early.popleft()
        while True:
            piece = max(0.0, min(timeout, SLICE_S))
            message: dict[str, Any] | None = pubsub.get_message(timeout=piece)
            self._see_whether_it_lives(pubsub, message)
            timeout -= piece
            if message is not None or timeout <= 0 or self._closed:
                return message

    def _see_whether_it_lives(self, pubsub: PubSub, message: dict[str, Any] | None) -> None:
        """Ask for a sign of life after a long silence, and give up after a longer one."""
        now = self._client.clock.monotonic()
        if message is not None:
            self._heard_at, self._asked = now, False
        elif self._asked and now - self._heard_at > self._ping_after_s + self._answer_within_s:
            problem = f"no sign of life for {now - self._heard_at:.0f} s"
            raise RedisTimeout(problem)
        elif not self._asked and now - self._heard_at > self._ping_after_s:
            pubsub.ping()
            self._asked = True

    def _until_pong(self) -> list[dict[str, Any]]:
        """Read all that the server sent before it answers a question asked now."""
        pubsub = self._connected()
        found = [*self._early]
        self._early.clear()
        pubsub.ping(FENCE)
        while True:
            message = self._answer(pubsub)
            if message["type"] == "pong" and message["data"] == FENCE:
                return found
            found.append(message)

    def _connected(self) -> PubSub:
        """Connect and subscribe, unless that is done, and wait until the server confirmed it."""
        if self._pubsub is not None:
            return self._pubsub
        pubsub: PubSub = self._client.redis.pubsub()  # type: ignore[no-untyped-call]  # redis-py's
        self._pubsub = pubsub
        pubsub.subscribe(*self.channels)
        confirmed: set[str] = set()
        while not confirmed.issuperset(self.channels):
            message = self._answer(pubsub)
            if message["type"] == "subscribe":
                confirmed.add(message["channel"])
            else:
                self._early.append(message)
        self._heard_at, self._asked = self._client.clock.monotonic(), False
        return pubsub

    def _answer(self, pubsub: PubSub) -> dict[str, Any]:
        """Read a message that must come, in slices, so as to notice that nobody wants it more."""
        slices = round(self._answer_within_s / SLICE_S)
        for _ in range(slices):
            message: dict[str, Any] | None = pubsub.get_message(timeout=SLICE_S)
            if message is not None:
                return message
            if self._closed:
                break
        problem = f"no answer within {self._answer_within_s:.0f} s"
        raise RedisTimeout(problem)

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

    def __repr__(self) -> str:
        return f"<Events of {self._client!r}>"

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
