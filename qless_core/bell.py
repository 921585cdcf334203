"""A connection on which one who waits for jobs hears that there may be some."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from redis import exceptions

from qless_core.errors import RedisUnavailable
from qless_core.server_errors import errors_of_server, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from qless_core.connection import Guided, Pool
    from qless_core.runner import Runner


class Bell:
    """Blocks on tokens, and takes a job in the same round trip in which one comes.

    The call of the script is sent right behind the one that blocks: the server carries it out as
    soon as it lets go, so that from put to start there is no more back and forth than with BRPOP.
    Give it back with `close`, or by `with`.

    Args:
        runner: whose Redis and script to use.
        keys: of the tokens.

    """

    def __init__(self, runner: Runner, keys: Iterable[str]) -> None:
        self._runner = runner
        self._keys = tuple(keys)
        self._connection: Guided | None = None
        #: Whether answers are on their way, and how many.
        self._owed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_set(self) -> bool:
        """Whether it blocks, or has an answer that was not read."""
        return self._owed > 0

    def set(self, seconds: float, command: str, now: str, *args: str | float) -> None:
        """Block for at most so many seconds, then call the script.

        Args:
            seconds: to block.
            command: of the script. It is not sent where a lost answer would be asked for again, or
                replicas are waited for: that is the runner's.
            now: the time, as commands send it.
            args: of the command.

        Raises:
            QlessError: as the runner.

        """
        sent: list[tuple[Any, ...]] = [("BZPOPMIN", *self._keys, round(seconds, 3))]
        if self._runner.is_plain:
            sent.append(self._runner.words(command, now, *args))
        try:
            connection = self._connected()
            self._owed = len(sent)
            connection.send_packed_command(connection.pack_commands(sent))  # type: ignore[no-untyped-call]  # redis-py's
        except BaseException as error:
            self.drop()
            self._raise(error)
            raise

    def rings(self, seconds: float) -> bool:
        """Wait for so many seconds at most; answers whether there is something to read.

        Raises:
            RedisUnavailable: the connection is lost.

        """
        try:
            return self._connected().comes(max(0.0, seconds))
        except BaseException as error:
            self.drop()
            self._raise(error)
            raise

    def read(self) -> Any:  # noqa: ANN401 - what Redis answers
        """Read what the script answered; None when it was not called, or could not be.

        Raises:
            QlessError: as the runner; the user may not block, or the connection is lost.

        """
        connection = self._connected()
        try:
            connection.hear()
            self._owed -= 1
            return self._answer(connection) if self._owed else None
        except BaseException as error:
            self.drop()
            self._raise(error)
            raise
        finally:
            self._owed = 0

    def drop(self) -> None:
        """Break the connection, with whatever is on its way; the next use makes it anew."""
        self._owed = 0
        if self._connection is not None:
            self._connection.disconnect()  # type: ignore[no-untyped-call]  # redis-py's

    def close(self) -> None:
        """Give the connection back, or up where an answer is on its way."""
        if self._owed:
            self.drop()
        connection, self._connection = self._connection, None
        if connection is not None:
            self._pool.release(connection)

    def _answer(self, connection: Guided) -> Any:  # noqa: ANN401 - as above
        try:
            return connection.hear()
        except exceptions.ResponseError:
            return None  # a server that does not know the script, say: the runner sees to it

    @property
    def _pool(self) -> Pool:
        return cast("Pool", self._runner.redis.connection_pool)

    def _connected(self) -> Guided:
        found = self._connection
        if found is None:
            found = self._connection = self._pool.get_connection()
        return found

    def _raise(self, error: BaseException) -> None:
        """Raise the error of ours for one of redis-py's."""
        if isinstance(error, exceptions.RedisError | OSError):
            found = errors_of_server(error, self._runner.script.namespace)
            raise (found or RedisUnavailable.of(str(error))) from shortened(error)
