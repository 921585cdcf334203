"""Plain commands to Redis, in one round trip, whose errors are those of the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qless_core.reads.plan import call, run

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from qless_core.client import Client
    from qless_core.reads.plan import Call, Scope

__all__ = ["call", "send"]


def send(client: Client, *calls: Call) -> list[Any]:
    """Send commands, and give their replies in order.

    Raises:
        QlessError: the server is gone, or does not let this user do it.

    """

    def batch(_scope: Scope) -> Generator[Sequence[Call], list[Any], list[Any]]:
        return (yield calls)

    _, (replies,) = run(client.redis, client.keys, [batch], now=0.0)
    return list(replies)
