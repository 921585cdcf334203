"""How Redis is reached: the connections to an address, and the pool that keeps them.

Every connection of a client, whatever it is for, is made here: with the same settings, and to the
server that is the primary at that moment. A command is never sent twice by itself: redis-py's
retries are off, because a pop that was carried out and whose answer was lost would otherwise take
a second job.
"""

from __future__ import annotations

import functools
import math
import os
import select
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from ssl import SSLCertVerificationError, SSLSocket
from typing import TYPE_CHECKING, Any, Final, cast

import hiredis
import redis as redis_py
from redis import exceptions
from redis.backoff import NoBackoff
from redis.cluster import RedisCluster
from redis.connection import (
    URL_QUERY_ARGUMENT_PARSERS,
    Connection,
    HiredisRespSerializer,
    SSLConnection,
    UnixDomainSocketConnection,
)
from redis.retry import Retry
from redis.sentinel import SentinelConnectionPool

from qless_core.address import REPLICAS, Address, address_of
from qless_core.cluster import ClusterGuide
from qless_core.errors import BadArgument, ClusterNeedsTag
from qless_core.guide import ASK_WITHIN_S, Guide, hello
from qless_core.keys import complaint, tag_of
from qless_core.masking import masked
from qless_core.replication import Replication
from qless_core.sentinel import SentinelGuide
from qless_core.server_errors import ClusterWithoutTag

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from socket import socket

    from redis.connection import AbstractConnection

    from qless_core.address import Place

    _Connection = AbstractConnection
else:
    # Whatever redis-py has for the kind of connection: see `_guided`.
    _Connection = object

#: Where Redis is when nobody says anything else.
DEFAULT_URL: Final = "redis://localhost:6379/0"

#: What keys begin with when nobody says anything else.
DEFAULT_NAMESPACE: Final = "ql:"

#: Settings that redis-py adds for a pool of its own, and that would tie ours to it.
_OF_THEIR_POOL: Final = (
    "maint_notifications",
    "oss_cluster_",
    "orig_",
    "himport_",
    "event_dispatcher",
    "connection_pool",
    "redis_connect_func",
    "guide",
    "host",
    "port",
    "retry",
    "ssl_context",
    "connection_class",
)


#: What nearly every command is sent as.
_ONE_WORD: Final = frozenset({"FCALL", "EVALSHA", "BZPOPMIN"})


#: Bytes that are read of an answer at a time.
_SPACE: Final = 1 << 15
#: What a reader gives when an answer has not come to its end.
_NOT_ALL: Final = object()
#: What redis-py says of a connection that the server has closed.
_CLOSED: Final = "Connection closed by server."


class Packer(HiredisRespSerializer):
    """Packs commands as fast as hiredis can, which by itself refuses what no UTF-8 can hold."""

    def pack(self, *args: Any) -> list[bytes]:  # noqa: ANN401 - as redis-py has it
        """Pack a command; lone surrogates become the bytes they stand for."""
        if args[0] in _ONE_WORD:
            # What redis-py looks for in the others takes longer than the packing.
            try:
                return [hiredis.pack_command(args)]
            except (TypeError, UnicodeEncodeError):
                pass
        try:
            packed: list[bytes] = super().pack(*args)
        except UnicodeEncodeError:
            encoded: list[Any] = [_encoded(arg) if isinstance(arg, str) else arg for arg in args]
            packed = super().pack(*encoded)
        return packed


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        problem = f"{text!r} stands for no bytes: {error.reason}"
        raise exceptions.DataError(problem) from None


#: How every connection is made; the query of a URL may say otherwise, but for `FIXED`.
FIXED: Final[dict[str, Any]] = {
    "decode_responses": True,
    # Bytes that are no UTF-8 come in as lone surrogates and go out as the same bytes.
    "encoding_errors": "surrogateescape",
    # Without the handshake of RESP3, which some proxies and narrow ACLs refuse.
    "protocol": 2,
    "retry_on_timeout": False,
    "command_packer": Packer(),
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

#: Where another server may take over, one that is silent is given up sooner.
MOVING: Final[dict[str, Any]] = {"socket_timeout": 3.0, "socket_connect_timeout": 2.0}


#: Options of an address that redis-py has no parser for, and ours.
_MORE_OPTIONS: Final = (
    "namespace",
    "replicas",
    "username",
    "password",
    "ssl_ca_certs",
    "ssl_ca_path",
    "ssl_cert_reqs",
    "ssl_certfile",
    "ssl_keyfile",
    "ssl_password",
    "ssl_min_version",
    "sentinel_username",
    "sentinel_password",
)


class Guided(_Connection):
    """A connection that is led to its server, and looks who is there.

    Args:
        guide: says where to connect to.
        settings: as redis-py's connections take them.

    """

    def __init__(self, *, guide: Guide, **settings: Any) -> None:  # noqa: ANN401 - redis-py's
        self._guide = guide
        self._generation = guide.generation
        #: Reads the answers of `ask`, and where they are read to.
        self._answers: hiredis.Reader | None = None
        self._space = bytearray(_SPACE)
        #: Whether `ask` was the last to use it, so that no part of an answer is left anywhere.
        self.is_clean = False
        super().__init__(**settings)

    def connect(self) -> None:
        """Connect unless that is done, and nothing has happened that makes it wrong.

        A subscription keeps its connection: it would not notice what it misses.
        """
        kept: object = self._connect_callbacks
        if self._generation != self._guide.generation and not kept:
            self.disconnect()  # type: ignore[no-untyped-call]  # redis-py's
        super().connect()  # type: ignore[no-untyped-call]  # redis-py's

    @property
    def is_ready(self) -> bool:
        """Whether it is there, leads where it should, and nothing has come that nobody asked for.

        A server that closed it has sent that it did.
        """
        if self._generation != self._guide.generation or self.should_reconnect():  # type: ignore[no-untyped-call]  # redis-py's
            return False
        try:
            if self.is_clean and self._poll is not None:
                return not self._poll.poll(0)
            return not self.can_read()
        except (exceptions.RedisError, OSError):
            return False

    @property
    def is_astray(self) -> bool:
        """Whether its server was found to be the wrong one since it connected."""
        return self._generation != self._guide.generation

    @property
    def can_be_inherited(self) -> bool:
        """Whether processes that are forked may use it one after another: TLS counts in each."""
        return not isinstance(self._sock, SSLSocket)

    def ask(self, *args: str | float) -> Any:  # noqa: ANN401 - what Redis answers
        """Send a command and read its answer, both at the least expense.

        Raises:
            redis.exceptions.RedisError: as `send_command` and `read_response` do.

        """
        answers = self._answers
        if answers is None or self._sock is None or self.health_check_interval:
            self.send_command(*args)  # type: ignore[no-untyped-call]  # redis-py's
            return self.read_response()
        try:
            packed = hiredis.pack_command(args)
        except (TypeError, UnicodeEncodeError):
            packed = b"".join(self.pack_command(*args))
        self.send_packed_command((packed,), check_health=False)
        return self.hear()

    def hear(self) -> Any:  # noqa: ANN401 - what Redis answers
        """Read the answer to a command that was sent.

        Raises:
            redis.exceptions.RedisError: as `read_response` does.

        """
        answers, sock = self._answers, self._sock
        if answers is None or sock is None or self.health_check_interval:
            return self.read_response()
        try:
            while (found := answers.gets()) is _NOT_ALL:
                count = sock.recv_into(self._space)
                if not count:
                    raise exceptions.ConnectionError(_CLOSED)  # noqa: TRY301 - as a lost one
                answers.feed(self._space, 0, count)
        except BaseException as error:
            self.disconnect()
            self._raise(error)
            raise
        self.is_clean = True
        if isinstance(found, Exception):
            self._see_to(found)
            raise found
        return found

    def comes(self, seconds: float) -> bool:
        """Wait for an answer for so many seconds at most; answers whether one comes, or the end.

        Nothing of it may have been read yet.

        Raises:
            redis.exceptions.RedisError: as `can_read` does.

        """
        if self._poll is None or self._sock is None:
            return self.can_read(timeout=seconds)
        return bool(self._poll.poll(math.ceil(seconds * 1000)))

    def _raise(self, error: BaseException) -> None:
        """Raise what redis-py raises for what came of a socket."""
        if isinstance(error, TimeoutError):
            self._see_to_silence()
            problem = f"Timeout reading from {self._host_error()}"  # type: ignore[no-untyped-call]  # redis-py's
            raise exceptions.TimeoutError(problem) from error
        if isinstance(error, OSError):
            problem = f"Error while reading from {self._host_error()} : {error.args}"  # type: ignore[no-untyped-call]  # redis-py's
            raise exceptions.ConnectionError(problem) from error

    def _connect(self) -> Any:  # noqa: ANN401 - a socket, whichever kind
        place = self._guide.primary()
        self._generation = self._guide.generation
        if place is not None:
            self.host, self.port = place
        try:
            sock = super()._connect()  # type: ignore[no-untyped-call,safe-super]  # redis-py's class of the kind has one
        except TimeoutError:
            self._see_to_silence()
            raise
        self._answers = hiredis.Reader(
            protocolError=exceptions.InvalidResponse,
            replyError=self._parser.parse_error,
            encoding=self.encoder.encoding,
            errors=self.encoder.encoding_errors,
            notEnoughData=_NOT_ALL,
        )
        self._poll = _poll_of(sock)
        return sock

    def _wrap_socket_with_ssl(self, sock: socket) -> Any:  # noqa: ANN401 - as redis-py has it
        """Agree on TLS; say what is amiss where the other end does not speak it."""
        try:
            return super()._wrap_socket_with_ssl(sock)  # type: ignore[misc]  # redis-py's class for TLS has one
        except SSLCertVerificationError:
            raise
        except OSError as error:
            place = self._host_error()  # type: ignore[no-untyped-call]  # redis-py's
            problem = (
                f"{place} does not speak TLS with us ({error}): "
                "an address without TLS begins with redis:// instead of rediss://"
            )
            raise exceptions.ConnectionError(problem) from error

    def on_connect_check_health(self, check_health: bool = True) -> None:  # noqa: FBT001, FBT002 - as redis-py has it
        """Introduce ourselves, then look who is there."""
        try:
            super().on_connect_check_health(check_health)
        except exceptions.ResponseError:
            self._look(hello(self))  # a cluster knows no database, and there is more to say
            raise
        self._look(hello(self))

    def _look(self, told: dict[str, Any]) -> None:
        if told.get("mode") == "cluster" and self._guide.tag is None:
            problem = "this is a node of a cluster"
            raise ClusterWithoutTag(problem)
        if self._guide.to_primary and told.get("role") == "replica":
            self._guide.astray()
            problem = f"{self._host_error()} is a replica, though it was named as the primary"  # type: ignore[no-untyped-call]  # redis-py's
            raise exceptions.ConnectionError(problem)

    def read_response(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as redis-py has it
        """Read an answer; after one that says that this is the wrong server, connect anew."""
        try:
            return super().read_response(*args, **options)
        except exceptions.ResponseError as error:
            self._see_to(error)
            raise
        except exceptions.TimeoutError:
            if "timeout" not in options:
                self._see_to_silence()
            raise

    def _see_to_silence(self) -> None:
        """Let the next use look for another server, where one may have taken over."""
        if self._guide.to_primary:
            self._guide.silent((self.host, self.port))

    def _see_to(self, error: Exception) -> None:
        """Have the next use connect anew where this is the wrong server.

        No sooner: more answers may be on their way here.
        """
        if isinstance(error, exceptions.ReadOnlyError | exceptions.MovedError):
            self._guide.astray()


def _poll_of(sock: socket) -> select.poll | None:
    """Give what tells whether something has come; None where that is not all there is to know."""
    if isinstance(sock, SSLSocket) or not hasattr(select, "poll"):
        return None
    found = select.poll()
    found.register(sock, select.POLLIN)
    return found


@functools.cache
def _guided(kind: type[AbstractConnection]) -> type[AbstractConnection]:
    """Make the guided twin of a class of connections."""
    return type(f"Guided{kind.__name__}", (Guided, kind), {})


class Pool(redis_py.ConnectionPool):
    """The connections of one client.

    Args:
        address: where they lead.
        namespace: what keys begin with; None to see only whether the address will do. One that the
            address names stands in for the usual one.
        kind: the class of connections; found by the address when not given.

    Attributes:
        address: where they lead.
        namespace: what keys begin with.
        replication: how many replicas must have a change before it counts.

    Raises:
        BadArgument: the namespace is none, or is not that of the address.
        ClusterNeedsTag: the address is that of a cluster, and the namespace has no hash tag.

    """

    def __init__(
        self,
        address: Address,
        namespace: str | None = None,
        kind: type[AbstractConnection] | None = None,
    ) -> None:
        self.address = address
        self.namespace = _agreed(address.namespace, namespace)
        self.replication = Replication(address.replicas)
        tag = tag_of(self.namespace)
        if address.kind == "cluster" and tag is None and namespace is not None:
            raise ClusterNeedsTag(self.namespace)
        usual = DEFAULTS | MOVING if self.may_move else DEFAULTS
        settings = usual | dict(address.settings) | FIXED
        limit = settings.pop("max_connections")
        if address.kind == "server" and address.places:
            settings["host"], settings["port"] = address.places[0]
        super().__init__(
            _guided(kind or _kind_of(address)),  # type: ignore[arg-type]  # mypy takes it for no Hashable
            limit,
            guide=_guide_to(address, tag),
            # This object is copied for each connection, so that what it counts is its own.
            retry=Retry(NoBackoff(), 0),
            **settings,
        )
        # Made and thrown away, to find options that no connection knows.
        self.connection_class(**self.connection_kwargs)
        if self.may_move:
            _asking(address, address.places[0])

    @property
    def may_move(self) -> bool:
        """Whether another server may take over from the one that they lead to."""
        return self.address.kind != "server"

    def get_connection(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - as redis-py has it
        """Give a connection that is ready for a command.

        What redis-py does and counts meanwhile takes longer than to pack and send a command: so
        connections that are there are kept here, out of its sight.
        """
        if self.pid == os.getpid():
            while self._ready:
                try:
                    connection = self._ready.pop()
                except IndexError:
                    break  # another thread was faster
                if connection.is_ready:
                    connection.is_clean = False
                    return connection
                super().release(connection)  # it is made anew, as one that comes from there is
        return super().get_connection(*args, **options)

    def release(self, connection: Any) -> None:  # noqa: ANN401 - redis-py knows several kinds
        """Take a connection back."""
        if connection.pid == self.pid == os.getpid() and connection.is_connected:
            self._ready.append(connection)
        else:
            super().release(connection)

    def reset(self) -> None:
        """Begin anew, in a process that was forked, say: connections are of one process."""
        self._ready: list[Any] = []
        super().reset()

    def disconnect(self, inuse_connections: bool = True) -> None:  # noqa: FBT001, FBT002 - as redis-py has it
        """Close those that are not in use; the others, too, where that is said."""
        with suppress(IndexError):
            while True:
                super().release(self._ready.pop())
        super().disconnect(inuse_connections)


def pool_of(url: str, namespace: str | None = None) -> Pool:
    """Make a pool of connections to an address.

    Args:
        url: the address.
        namespace: what keys begin with; None to see only whether the address will do.

    Raises:
        BadArgument: the address cannot be understood; the message does not show its password.
        ClusterNeedsTag: the address is that of a cluster, and the namespace has no hash tag.

    """
    address = address_of(url)
    try:
        return Pool(address, namespace)
    except BadArgument:
        raise
    except (exceptions.RedisError, TypeError, ValueError, AttributeError):
        problem = _meaningless(address, masked(url))
    # The text of any cause could hold the password.
    message = f"the Redis URL {masked(url)} cannot be used: {problem}"
    raise BadArgument(message) from None


def _meaningless(address: Address, shown: str) -> str:
    """Say which option makes an address useless, unless that is no name but part of a password."""
    least = {name: value for name, value in address.settings.items() if name == "path"}
    for name, value in address.settings.items():
        if name in shown and not _makes_sense(replace(address, settings=least | {name: value})):
            return _no_option(name)
    for name, value in address.sentinel_settings.items():
        told = {name: value}
        if name in shown and not _makes_sense(replace(address, sentinel_settings=told)):
            return _no_option(f"sentinel_{name}")
    return "it holds an option or a value that means nothing"


def _makes_sense(address: Address) -> bool:
    try:
        Pool(address)
    except (exceptions.RedisError, TypeError, ValueError, AttributeError):
        return False
    return True


def _no_option(name: str) -> str:
    known = [*URL_QUERY_ARGUMENT_PARSERS, *_MORE_OPTIONS]
    if name in known:
        return f"the value of {name} means nothing"
    near = get_close_matches(name, known, n=1)
    return f"the option {name} means nothing{f'; did you mean {near[0]}?' if near else ''}"


def pool_like(redis: redis_py.Redis | RedisCluster, namespace: str | None = None) -> Pool:
    """Make a pool of connections to where another client's lead, but with our settings.

    Raises:
        ClusterNeedsTag: it is the client of a cluster, and the namespace has no hash tag.

    """
    if isinstance(redis, RedisCluster):
        nodes = redis.nodes_manager
        places = [(node.host, node.port) for node in nodes.startup_nodes.values()]
        return Pool(_address("cluster", places, nodes.connection_kwargs), namespace)
    theirs = redis.connection_pool
    if isinstance(theirs, Pool):
        # The namespace that the address names is the other client's.
        is_another = namespace not in (None, DEFAULT_NAMESPACE)
        address = replace(theirs.address, namespace=None) if is_another else theirs.address
        return Pool(address, namespace)
    settings = theirs.connection_kwargs | {"max_connections": theirs.max_connections}
    if isinstance(theirs, SentinelConnectionPool):
        return Pool(_address_by_sentinels(theirs, settings), namespace)
    places = [(settings["host"], settings["port"])] if "host" in settings else []
    return Pool(_address("server", places, settings), namespace, theirs.connection_class)


def described(redis: redis_py.Redis) -> str:
    """Describe where a client whose pool was made here leads to, without secrets."""
    return str(cast("Pool", redis.connection_pool).address)


def may_move(redis: redis_py.Redis) -> bool:
    """Say whether another server may take over from the one that a client of ours leads to."""
    return cast("Pool", redis.connection_pool).may_move


def _agreed(named: str | None, given: str | None) -> str:
    """Choose between the namespace of an address and one that was given."""
    namespace = given if named is None or given not in (None, DEFAULT_NAMESPACE) else named
    if named not in (None, namespace):
        problem = f"the address is for the namespace {named!r}, not {given!r}"
        raise BadArgument(problem)
    if problem := complaint(namespace or DEFAULT_NAMESPACE):
        message = f"the namespace {namespace!r} {problem}"
        raise BadArgument(message)
    return namespace or DEFAULT_NAMESPACE


def _address_by_sentinels(theirs: SentinelConnectionPool, settings: dict[str, Any]) -> Address:
    watching = [
        each.connection_pool.connection_kwargs for each in theirs.sentinel_manager.sentinels
    ]
    return replace(
        _address("sentinel", [(each["host"], each["port"]) for each in watching], settings),
        is_tls=issubclass(theirs.connection_class, SSLConnection),
        service=theirs.service_name,
        sentinel_settings=_portable(watching[0]),
    )


def _address(kind: str, places: Iterable[Place], settings: Mapping[str, Any]) -> Address:
    is_tls = settings.get("ssl") or settings.get("connection_class") is SSLConnection
    return Address(
        kind, tuple(places), _portable(settings), is_tls=bool(is_tls), replicas=REPLICAS[kind]
    )


def _portable(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Give the settings of another client without what ties them to its connections."""
    return {name: value for name, value in settings.items() if not name.startswith(_OF_THEIR_POOL)}


def _kind_of(address: Address) -> type[AbstractConnection]:
    if not address.places:
        return UnixDomainSocketConnection
    return SSLConnection if address.is_tls else Connection


def _guide_to(address: Address, tag: str | None) -> Guide:
    """Choose who leads the connections to an address."""
    ask = partial(_asking, address)
    if address.kind == "sentinel":
        return SentinelGuide(address.places, ask, address.service, tag)
    if address.kind == "cluster":
        return ClusterGuide(address.places, ask, tag or "")
    if tag is not None and address.places:
        # With such a namespace it may be a node of a cluster too.
        return ClusterGuide(address.places, ask, tag, or_alone=True)
    return Guide(tag)


def _asking(address: Address, place: Place) -> AbstractConnection:
    """Make a connection on which to ask where the primary is."""
    told = address.sentinel_settings if address.kind == "sentinel" else address.settings
    settings = DEFAULTS | dict(told) | FIXED | {"host": place[0], "port": place[1]}
    for name in ("db", "max_connections"):
        settings.pop(name, None)
    for name in ("socket_timeout", "socket_connect_timeout"):
        settings[name] = min(settings[name] or ASK_WITHIN_S, ASK_WITHIN_S)
    kind = SSLConnection if address.is_tls else Connection
    return kind(**settings, retry=Retry(NoBackoff(), 0))
