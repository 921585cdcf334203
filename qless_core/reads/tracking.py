"""A connection on which the server says which of the keys that were read on it have changed.

Redis tracks for it what it read (CLIENT TRACKING), and tells once of each key that somebody changes
after that; then no more, until it is read again. So it costs writers next to nothing.
"""

from __future__ import annotations

from contextlib import suppress
from ssl import SSLWantReadError
from typing import TYPE_CHECKING, Any, Final

import hiredis
from redis import exceptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis import Redis

#: A command in words, the name of its key second.
Command = tuple[str | int | float, ...]

#: Commands that are sent before their answers are read.
_AT_ONCE: Final = 1_000
#: Bytes that are read at a time.
_SPACE: Final = 1 << 16
#: What a reader gives when an answer has not come to its end.
_NOT_ALL: Final = object()


class Tracking:
    """One such connection, taken from the pool of a client. Used by one thread at a time.

    Once it raised anything, it is of no use any more, and must be closed.

    Args:
        redis: whose server to ask.

    Attributes:
        changed: keys that changed since they were read; who has seen to them takes them out.
        all_changed: whether every key may have.

    Raises:
        redis.exceptions.ResponseError: the server does not tell, or not this user.
        redis.exceptions.RedisError, OSError: it cannot be reached.

    """

    def __init__(self, redis: Redis) -> None:
        self.changed: set[str] = set()
        self.all_changed = False
        self._pool = redis.connection_pool
        self._connection: Any = self._pool.get_connection()
        # Never used through the connection, which would connect again by itself, untracked.
        sock: Any = self._connection._sock  # noqa: SLF001 - redis-py has no other way to it
        self._sock = sock
        self._patience: float | None = self._sock.gettimeout()
        encoder = self._connection.encoder
        self._reader = hiredis.Reader(
            protocolError=exceptions.InvalidResponse,
            replyError=self._connection._parser.parse_error,  # noqa: SLF001 - as above
            encoding=encoder.encoding,
            errors=encoder.encoding_errors,
            notEnoughData=_NOT_ALL,
        )
        self._space = bytearray(_SPACE)
        try:
            for asked in (("HELLO", "3"), ("CLIENT", "TRACKING", "ON")):
                (answer,) = self.ask((asked,))
                if isinstance(answer, Exception):
                    raise answer  # noqa: TRY301 - the connection goes back all the same
        except BaseException:
            self.close()
            raise

    @property
    def leads_astray(self) -> bool:
        """Whether the client has learnt that its server is another one by now."""
        return bool(self._connection.is_astray)

    def ask(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands, and give their answers; what is refused comes back as the exception."""
        answers = []
        for start in range(0, len(commands), _AT_ONCE):
            some = commands[start : start + _AT_ONCE]
            self._sock.sendall(b"".join(map(self._packed, some)))
            answers += [self._answer() for _ in some]
        return answers

    def listen(self) -> None:
        """Hear what has been told by now, without waiting for more."""
        self._sock.settimeout(0.0)
        try:
            while True:
                self._receive()
                while (found := self._reader.gets()) is not _NOT_ALL:
                    self._hear(found)
        except (BlockingIOError, SSLWantReadError):
            pass
        finally:
            with suppress(OSError):  # it was closed meanwhile, which the next use will find
                self._sock.settimeout(self._patience)

    def close(self) -> None:
        """Let the connection go; nobody else would understand what is said on it."""
        with suppress(Exception):  # whatever state it is in
            self._connection.disconnect()
        with suppress(Exception):
            self._pool.release(self._connection)

    def _packed(self, command: Command) -> bytes:
        try:
            packed: bytes = hiredis.pack_command(command)  # type: ignore[arg-type] # it takes any length
        except UnicodeEncodeError:
            packed = b"".join(self._connection.pack_command(*command))
        return packed

    def _answer(self) -> Any:  # noqa: ANN401 - what Redis answers
        while True:
            while (found := self._reader.gets()) is _NOT_ALL:
                self._receive()
            if not isinstance(found, hiredis.PushNotification):
                return found
            self._hear(found)

    def _receive(self) -> None:
        count = self._sock.recv_into(self._space)
        if not count:
            problem = "Connection closed by server."
            raise exceptions.ConnectionError(problem)
        self._reader.feed(self._space, 0, count)  # type: ignore[arg-type] # it takes any buffer

    def _hear(self, told: Any) -> None:  # noqa: ANN401 - what Redis tells unasked
        if not isinstance(told, list) or not told or told[0] != "invalidate":
            return
        if told[1] is None:
            self.all_changed = True
        else:
            self.changed.update(told[1])
