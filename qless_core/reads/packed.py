"""Many plain commands at once, packed by whoever knows their form: for walks through all jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import redis.exceptions

if TYPE_CHECKING:
    from redis import Redis


def answers(client: Redis, commands: bytes, count: int) -> list[Any] | None:
    """Send commands in one round trip, and give their replies in order.

    Args:
        client: where to send them.
        commands: in the protocol of Redis.
        count: how many there are.

    Returns:
        The replies; None where anything went wrong. Whoever asks as everybody does finds that
        again, and is told what it is.

    """
    try:
        connection: Any = client.connection_pool.get_connection()
    except (redis.exceptions.RedisError, OSError):
        return None
    try:
        connection.send_packed_command([commands])
        return [connection.read_response() for _ in range(count)]
    except (redis.exceptions.RedisError, OSError):
        # What was not read yet is no answer to another.
        connection.disconnect()
        return None
    except BaseException:
        connection.disconnect()
        raise
    finally:
        client.connection_pool.release(connection)
