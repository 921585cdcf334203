"""Runs the script on Redis: as a function of the server where it can be one, else by EVALSHA.

A function is read once and kept; EVALSHA builds what it needs at each call. A command is never sent
twice unless it is certain that it did not run: see `OutcomeUnknown`.
"""

from __future__ import annotations

import math
import os
import re
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from redis import exceptions

from qless_core import foreign
from qless_core.backoff import Backoff
from qless_core.clock import Clock
from qless_core.errors import (
    ForeignData,
    OutcomeUnknown,
    QlessError,
    RedisUnavailable,
    ScriptFault,
)
from qless_core.keys import Keys
from qless_core.replication import Replication
from qless_core.server_errors import errors_of_server, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redis import Redis

    from qless_core.script import Script

#: Commands of which the first argument says whether they write.
_READS_IF: Final = {"tag": ("get", "top"), "track": ()}

#: `CODE user_script:<line>: Command(): sentence`.
_REFUSAL: Final = re.compile(r"([A-Z][A-Z_]+) (?:user_script:\d+: )?(.*)", re.DOTALL)

#: How a server says that a user may not call functions, or load them.
_MAY_NOT: Final = re.compile(r"run the '(?:fcall|fcall_ro|function\|load|function)' command")

#: The most seconds between two attempts of a client that has patience.
_LONGEST_WAIT_S: Final = 2.0

#: What the connection itself raises once it is there: whether the command ran is not known then.
_LOST: Final = (exceptions.ConnectionError, exceptions.TimeoutError, OSError)

#: Errors of a server that is there, though redis-py counts them among those of the connection.
_ANSWERS: Final = (
    exceptions.AuthenticationError,
    exceptions.BusyLoadingError,
    exceptions.MaxConnectionsError,
)


#: For how many seconds more than it has patience what came of a request is kept: an answer, or the
#: request itself, may be long on its way.
_KEPT_LONGER_S: Final = 60

#: Where the command is in a call that carries another one out, counted from its own name.
_WRAPPED_AT: Final = {"once": 3, "once.next": 5}


@dataclass(slots=True)
class _Sender:
    """One that sends one request after the other: Redis keeps what came of the last one only."""

    name: str
    number: int = 0


class Runner:
    """Calls the script on a redis-py client that must not retry by itself.

    Attributes:
        redis: the client.
        script: what is called.
        as_function: whether it is called as a function of the server; found out by the first call.
        patience: for how many seconds a command is sent again while Redis is away.

    """

    def __init__(
        self, redis: Redis, script: Script, patience: float = 0, clock: Clock | None = None
    ) -> None:
        self.redis = redis
        self.script = script
        self.as_function = True
        self.patience = patience
        #: A connection that was inherited, while it is not in use; and in which process that is so.
        self._lines: list[Any] = []
        self._line: Any = None
        self._heir = 0
        self._senders: list[_Sender] = []
        self._pid = os.getpid()
        self._clock = clock or Clock()
        # A client that was not made by us waits for nobody.
        self._replication = getattr(redis.connection_pool, "replication", Replication())

    def __call__(self, command: str, now: float | str, *args: str | float) -> Any:  # noqa: ANN401 - what Redis answers
        """Run a command at a moment (epoch seconds, or `auto` for the server's clock).

        Raises:
            ForeignData: a key holds data of another kind; the message names it where it can.
            OutcomeUnknown: the connection was lost before the answer came to a command that writes.
            QlessError: the script refused, with the class of its code.
            RedisUnavailable: Redis cannot be reached, or cannot do it now.
            ScriptFault: the script broke.

        """
        if not self.patience:
            return self._try(command, now, *args)
        if command == "once" or self._only_reads(command, args):
            return self._insist(command, now, *args)
        sender = self._sender()
        kept = math.ceil(self.patience) + _KEPT_LONGER_S
        numbered = (sender.name, sender.number, kept, command, *args)
        try:
            return self._insist("once.next", now, *numbered)
        finally:
            self._senders.append(sender)

    def _sender(self) -> _Sender:
        """Take a sender that has nothing under way, for one request."""
        if self._pid != os.getpid():
            self._senders, self._pid = [], os.getpid()  # those before the fork are the parent's
        try:
            sender = self._senders.pop()
        except IndexError:
            sender = _Sender(uuid.uuid4().hex)
        sender.number += 1
        return sender

    def _insist(self, *args: str | float) -> Any:  # noqa: ANN401 - as above
        """Send a command until it is answered, as long as patience lasts.

        What writes has an id by which Redis knows it again, so that it is carried out once.
        """
        until = self._clock.monotonic() + self.patience
        backoff = Backoff(longest=_LONGEST_WAIT_S)
        unknown: RedisUnavailable | None = None
        while True:
            try:
                return self._try(*args)
            except RedisUnavailable as error:
                if not error.passes:
                    raise
                if unknown is None and isinstance(error, OutcomeUnknown):
                    unknown = error
                wait = backoff.next()
                if self._clock.monotonic() + wait > until:
                    raise unknown or error from (unknown or error).__cause__
            self._clock.wait(wait)

    def _try(self, command: str | float, now: float | str, *args: str | float) -> Any:  # noqa: ANN401 - as above
        try:
            return self._call(str(command), now, *args)
        except exceptions.RedisError as error:
            found = self.translate(error)
            if isinstance(found, ForeignData):
                found = self._foreign(args)
            # A refusal says all that the server did; of other trouble a log shows where.
            is_refusal = bool(found.code) or isinstance(found, ForeignData)
            raise found from (None if is_refusal else shortened(error))

    def _call(self, command: str, *args: str | float) -> Any:  # noqa: ANN401 - as above
        reads = self._only_reads(command, args[1:])
        if self.as_function:
            try:
                return self._as_function(reads, command, *args)
            except exceptions.ResponseError as error:
                if _has_no_functions(error):
                    self.as_function = False
                elif not _is_for_functions(error):
                    raise
        return self._as_script(reads, command, *args)

    @property
    def is_plain(self) -> bool:
        """Whether a command is sent just once, and no replica waited for."""
        return not self.patience and not self._replication.is_due

    def words(self, command: str, now: float | str, *args: str | float) -> tuple[str | float, ...]:
        """Spell a call of what may write, for whoever sends it along with something else."""
        script = self.script
        how = ("FCALL", script.name) if self.as_function else ("EVALSHA", script.sha)
        return (*how, len(script.keys), *script.keys, command, now, *args)

    def _only_reads(self, command: str, args: tuple[str | float, ...]) -> bool:
        """Say whether a command, called so, may be asked again and where nothing is written."""
        if command in _READS_IF:
            return not args or args[0] in _READS_IF[command]
        return command in self.script.reads

    def _as_function(self, reads: bool, *args: str | float) -> Any:  # noqa: ANN401, FBT001 - as above; inner
        script = self.script
        name = f"{script.name}_reads" if reads else script.name
        sent = ("FCALL", name, len(script.keys), *script.keys, *args)
        try:
            return self._send(reads, sent)
        except exceptions.ResponseError as error:
            if "Function not found" not in str(error):
                raise
            # Refused before anything ran, so that a second call does nothing twice.
            self.redis.function_load(script.library, replace=True)
            return self._send(reads, sent)

    def _as_script(self, reads: bool, *args: str | float) -> Any:  # noqa: ANN401, FBT001 - as above; inner
        script = self.script
        sent = ("EVALSHA", script.sha, len(script.keys), *script.keys, *args)
        try:
            return self._send(reads, sent)
        except exceptions.NoScriptError:
            # As above: it did not run.
            self.redis.script_load(script.source)
            return self._send(reads, sent)

    def _send(self, reads: bool, args: tuple[str | float, ...]) -> Any:  # noqa: ANN401, FBT001 - as above; inner
        """Send a command on a connection that is there, and read the answer."""
        try:
            return self._send_once(reads, args)
        except exceptions.MovedError:
            # Refused before anything ran; the next connection leads to where it belongs.
            return self._send_once(reads, args)

    def _send_once(self, reads: bool, args: tuple[str | float, ...]) -> Any:  # noqa: ANN401, FBT001 - as above; inner
        connection = self._connection()  # what is raised here was not sent
        try:
            if not reads and self._replication.is_due:
                return self._replicated(connection, args)
            return _answer(connection, args)
        except _LOST as error:
            connection.disconnect()
            if reads or isinstance(error, _ANSWERS):
                raise
            words = args[3 + len(self.script.keys) :]
            command = words[_WRAPPED_AT.get(str(words[0]), 0)]
            problem = f"Whether the command {command} ran is not known: {error}"
            raise OutcomeUnknown.of(problem) from shortened(error)
        except exceptions.ResponseError:
            raise
        except BaseException:
            # Interrupted: what is on its way must not be taken for the answer of the next call.
            connection.disconnect()
            raise
        finally:
            self._put_back(connection)

    # Connections that are handed on to forked processes

    def line(self) -> Any:  # noqa: ANN401 - redis-py's
        """Connect, for processes that are forked from this one; None where none can inherit it.

        Raises:
            QlessError: as a command.

        """
        pool = self.redis.connection_pool
        try:
            connection: Any = pool.get_connection()
        except exceptions.RedisError as error:
            raise self.translate(error) from shortened(error)
        if connection.can_be_inherited:
            return connection
        pool.release(connection)
        return None

    def adopt(self, line: Any) -> None:  # noqa: ANN401 - redis-py's
        """Use a connection that was inherited, as long as it does."""
        self._line, self._lines, self._heir = line, [line], os.getpid()

    def let_go(self) -> bool:
        """Use what was inherited no more; answers whether the next one may use it.

        Not where it was lost, or where another thread waits for an answer there.
        """
        if self._line is None:
            return True
        try:
            return bool(self._lines.pop().is_ready)
        except IndexError:
            return False

    def _connection(self) -> Any:  # noqa: ANN401 - redis-py's
        """Take a connection that is there, or make one."""
        if self._lines and self._heir == os.getpid():
            with suppress(IndexError):
                line = self._lines.pop()
                if line.is_ready:
                    return line
        return self.redis.connection_pool.get_connection()

    def _put_back(self, connection: Any) -> None:  # noqa: ANN401 - redis-py's
        if connection is not self._line:
            self.redis.connection_pool.release(connection)
        elif connection.is_connected:
            self._lines.append(connection)

    def _replicated(self, connection: Any, args: tuple[str | float, ...]) -> Any:  # noqa: ANN401 - redis-py's
        """Send a command that writes, and wait until replicas have what it wrote."""
        connection.send_packed_command(connection.pack_commands([args, self._replication.command]))
        refusal, reply = None, None
        try:
            reply = connection.read_response()
        except exceptions.ResponseError as error:
            refusal = error
        try:
            self._replication.told(connection.read_response())
        except exceptions.ResponseError as error:
            if str(error).startswith("UNBLOCKED"):
                # The primary is one no longer, and what it wrote may have to go.
                raise exceptions.ConnectionError(str(error)) from error
            if refusal is None:
                self._replication.refused(error)
        if refusal is not None:
            raise refusal
        return reply

    def _foreign(self, names: tuple[str | float, ...]) -> ForeignData:
        """Name the key that a call with these arguments stumbled over."""
        keys = Keys(self.script.namespace)
        try:
            found = foreign.find(self.redis, keys, map(str, names))
        except exceptions.RedisError:
            found = None
        return ForeignData(*found) if found else ForeignData()

    def translate(self, error: exceptions.RedisError) -> QlessError:
        """Find the error of ours for an error of redis-py."""
        if found := errors_of_server(error, self.script.namespace):
            return found
        text = str(error)
        refusal = _REFUSAL.fullmatch(text)
        code = refusal[1] if refusal else ""
        if code == "WRONGTYPE":
            return ForeignData()
        if refusal and (kind := _classes().get(code)):
            return kind.from_refusal(refusal[2])
        if place := self.script.place(text):
            return ScriptFault(place, self.script.locate(text))
        return QlessError(text)


def _answer(connection: Any, args: tuple[str | float, ...]) -> Any:  # noqa: ANN401 - redis-py's
    """Send a command and read its answer."""
    if hasattr(connection, "ask"):
        return connection.ask(*args)
    # One of a client that was not made by us.
    connection.send_command(*args)
    return connection.read_response()


def _is_for_functions(error: exceptions.ResponseError) -> bool:
    """Say whether it was said before anything ran, as a function might write.

    A script is stopped only where it does write, so that it may do more there.
    """
    if isinstance(error, exceptions.OutOfMemoryError | exceptions.ReadOnlyError):
        return True
    return str(error).startswith(("NOREPLICAS ", "MISCONF "))


def _has_no_functions(error: exceptions.ResponseError) -> bool:
    """Say whether a server is too old for functions, or lets this user load or call none.

    The words of the server itself: what the function ran into says otherwise, and has begun.
    """
    text = str(error).lower()
    if text.startswith("unknown command"):
        return True
    return isinstance(error, exceptions.NoPermissionError) and bool(_MAY_NOT.search(text))


def _classes() -> dict[str, type[QlessError]]:
    """Find the class of every code."""
    return {kind.code: kind for kind in _subclasses(QlessError) if kind.code}


def _subclasses(kind: type[QlessError]) -> Iterator[type[QlessError]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)
