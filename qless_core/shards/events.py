"""What happens on all shards, in one subscription."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from qless_core.clock import REAL
from qless_core.duration import seconds_of
from qless_core.subscription import Events, Subscription

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self

    from qless_core.duration import Duration
    from qless_core.events import Event
    from qless_core.shards.client import ShardedClient

#: Seconds to listen to one shard before the others are heard.
SLICE_S: Final = 0.05


class ShardedSubscription:
    """Hears the events of all shards, by a connection to each.

    Args:
        client: whose shards.
        channels: names without the namespace; the log and those of tracked jobs when none is given.

    """

    def __init__(self, client: ShardedClient, channels: tuple[str, ...] = ()) -> None:
        self._parts = [Subscription(shard, channels) for shard in client.shards.values()]
        self._closed = False

    def __enter__(self) -> Self:
        for part in self._parts:
            part.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, timeout: Duration = 0) -> Event | None:
        """Wait up to so many seconds for an event of any shard, as `Subscription.get`."""
        until = REAL.monotonic() + seconds_of("the timeout", timeout)
        while not self._closed:
            for part in self._parts:
                left = max(0.0, min(SLICE_S, until - REAL.monotonic()))
                event = part.get(left)
                if event is not None:
                    return event
            if REAL.monotonic() >= until:
                break
        return None

    def drain(self) -> list[Event]:
        """Give what happened until now, without waiting for more."""
        return [event for part in self._parts for event in part.drain()]

    def listen(self) -> Iterator[Event]:
        """Give events as they come, until `close`."""
        while not self._closed:
            event = self.get(1)
            if event is not None:
                yield event

    def close(self) -> None:
        """End the subscription."""
        self._closed = True
        for part in self._parts:
            part.close()


class ShardedEvents(Events):
    """What happens in the queues of all shards, as it happens."""

    _client: ShardedClient

    def subscribe(self, *channels: str) -> Any:  # noqa: ANN401 - a ShardedSubscription
        """Listen on connections of its own, one to each shard."""
        return ShardedSubscription(self._client, channels)
