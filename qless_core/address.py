"""What an address means: which servers, which connections, which namespace.

redis:// rediss:// unix://                    one server
redis+sentinel:// rediss+sentinel://          the primary that Sentinels name
redis+cluster:// rediss+cluster://            the node of a cluster that holds the namespace
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from redis import connection as redis_py

from qless_core.errors import BadArgument
from qless_core.masking import listed, masked

if TYPE_CHECKING:
    from collections.abc import Mapping

    Place = tuple[str, int]

#: What is before the hosts of an address, these with user and password, and what is behind.
_AUTHORITY: Final = re.compile(r"([^/?#]*//|)([^/?#]*)(.*)", re.DOTALL)
#: The ports of servers and of Sentinels, where an address names none.
PORT: Final = 6379
SENTINEL_PORT: Final = 26379

#: How many replicas must have a change before it counts, where an address does not say.
REPLICAS: Final = {"server": 0, "sentinel": 1, "cluster": 1}

#: Begins the options that are for the Sentinels.
_FOR_SENTINELS: Final = "sentinel_"
_SCHEME: Final = re.compile(r"(rediss?)(?:\+(sentinel|cluster))?|unix")
_ODD: Final = "write odd characters of a password as %XX"


@dataclass(frozen=True)
class Address:
    """An address, understood.

    Attributes:
        kind: "server", "sentinel" or "cluster".
        places: hosts and ports: of the server, the Sentinels or nodes of the cluster; none for a
            socket.
        settings: of each connection to a server, as redis-py has them; `path` for a socket.
        is_tls: whether connections are encrypted.
        service: what the Sentinels call the servers.
        sentinel_settings: of each connection to a Sentinel.
        namespace: what keys begin with; None where the address does not say.
        replicas: how many replicas must have a change before it counts.

    """

    kind: str
    places: tuple[Place, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    is_tls: bool = False
    service: str = ""
    sentinel_settings: Mapping[str, Any] = field(default_factory=dict)
    namespace: str | None = None
    replicas: int = 0

    def __str__(self) -> str:
        """Write it without options and secrets."""
        database = self.settings.get("db") or 0
        if not self.places:
            return f"unix://{self.settings['path']}?db={database}"
        scheme = "rediss" if self.is_tls else "redis"
        kind = "" if self.kind == "server" else f"+{self.kind}"
        service = f"/{self.service}" if self.service else ""
        return f"{scheme}{kind}://{listed(self.places)}{service}/{database}"


#: What an address looks like, for messages.
EXAMPLE: Final = "redis://localhost:6379/0"


def address_of(url: str) -> Address:
    """Understand an address.

    Raises:
        BadArgument: it cannot be understood; the message does not show its secrets.

    """
    if not isinstance(url, str):
        raise BadArgument(_no_text(url))
    try:
        return _read(url)
    except _Complaint as problem:
        message = f"the Redis URL {masked(url)} cannot be used: {problem}"
    # The text of any cause could hold the password.
    raise BadArgument(message) from None


def _no_text(url: object) -> str:
    if url is None:
        return f"there is no Redis URL, but None: is REDIS_URL set? It looks like {EXAMPLE}"
    kind = type(url)
    hint = (
        "; a client of redis-py is given as `redis=`"
        if hasattr(url, "connection_pool") or hasattr(url, "nodes_manager")
        else ""
    )
    return f"a Redis URL is text, as {EXAMPLE}, not {kind.__module__}.{kind.__qualname__}{hint}"


class _Complaint(Exception):  # noqa: N818 - never leaves this module
    """Raised with what is wrong, without quoting the address."""


def _read(url: str) -> Address:
    parts, kind = _split(url)
    options = _options(parts.query)
    namespace = options.pop("namespace", None)
    replicas = _replicas(options.pop("replicas", None), kind)
    theirs = {
        name.removeprefix(_FOR_SENTINELS): options.pop(name)
        for name in list(options)
        if kind == "sentinel" and name.startswith(_FOR_SENTINELS)
    }
    settings = _parsed(options) | _owner(parts.netloc.rpartition("@")[0])
    if parts.scheme == "unix":
        path = unquote(parts.path)
        if not path.strip("/"):
            problem = "it names no socket"
            raise _Complaint(problem)
        settings |= {"path": path}
        return Address("server", settings=settings, namespace=namespace, replicas=replicas)
    service, database = _path(parts.path, kind)
    if database is not None:
        settings.setdefault("db", database)
    # What is said of the way to the servers holds for the Sentinels too.
    way = {name: settings[name] for name in settings if name.startswith(("socket_", "ssl_"))}
    return Address(
        kind,
        _places(parts.netloc.rpartition("@")[2], kind),
        settings,
        is_tls=parts.scheme.startswith("rediss"),
        service=service,
        sentinel_settings=way | _parsed(theirs) if kind == "sentinel" else {},
        namespace=namespace,
        replicas=replicas,
    )


def _split(url: str) -> tuple[SplitResult, str]:
    """Cut an address into its parts, and name its kind."""
    # Several hosts, of which one is in brackets, are no host to newer versions of Python.
    scheme, hosts, rest = _AUTHORITY.fullmatch(url).groups()  # type: ignore[union-attr]  # it matches any text
    try:
        parts = urlsplit(f"{scheme}x{rest}" if hosts else url)._replace(netloc=hosts or "")
    except ValueError:
        problem = f"its host or port cannot be read; {_ODD}"
        raise _Complaint(problem) from None
    found = _SCHEME.fullmatch(parts.scheme)
    if not found or "://" not in url:
        problem = (
            "it must begin with redis://, rediss:// or unix://, "
            f"or with redis+sentinel:// or redis+cluster://, as {EXAMPLE} does"
        )
        raise _Complaint(problem)
    if parts.fragment or url.endswith("#"):
        problem = f"it holds a #; {_ODD}"
        raise _Complaint(problem)
    return parts, found[2] or "server"


def _options(query: str) -> dict[str, str]:
    """Read what follows the question mark; of an option given twice the first counts."""
    options: dict[str, str] = {}
    for name, value in parse_qsl(query):
        options.setdefault(name, value)
    return options


def _parsed(options: dict[str, str]) -> dict[str, Any]:
    """Turn the texts of options into what redis-py takes."""
    settings: dict[str, Any] = {}
    for name, value in options.items():
        parser: Any = redis_py.URL_QUERY_ARGUMENT_PARSERS.get(name, str)
        try:
            settings[name] = parser(value)
        except (TypeError, ValueError):
            problem = f"the value of {name} means nothing"
            raise _Complaint(problem) from None
    return settings


def _replicas(told: str | None, kind: str) -> int:
    """Read how many replicas to wait for: by default for one, where one may take over."""
    if told is None:
        return REPLICAS[kind]
    if not (told.isascii() and told.isdigit()):
        problem = "replicas must be a number"
        raise _Complaint(problem)
    return int(told)


def _owner(owner: str) -> dict[str, str]:
    user, _, password = owner.partition(":")
    named = {"username": unquote(user), "password": unquote(password)}
    return {name: value for name, value in named.items() if value}


def _places(hosts: str, kind: str) -> tuple[Place, ...]:
    """Read hosts and ports; only a kind of many servers may have commas."""
    default = SENTINEL_PORT if kind == "sentinel" else PORT
    found = []
    for each in hosts.split(","):
        try:
            parts = urlsplit(f"//{each}")
            port = parts.port
        except ValueError:
            problem = f"its host or port cannot be read; {_ODD}"
            raise _Complaint(problem) from None
        found.append((unquote(parts.hostname or "localhost"), port or default))
    if kind == "server" and len(found) > 1:
        problem = "it names several hosts; with them it is redis+sentinel:// or redis+cluster://"
        raise _Complaint(problem)
    return tuple(found)


def _path(path: str, kind: str) -> tuple[str, int | None]:
    """Read the name that Sentinels know, and the number of the database."""
    parts = [unquote(part) for part in path.strip("/").split("/") if part]
    service = ""
    if kind == "sentinel":
        if not parts:
            problem = "it lacks the name that the Sentinels give the servers, as in …:26379/main/0"
            raise _Complaint(problem)
        service = parts.pop(0)
    if not parts:
        return service, None
    if len(parts) > 1 or not (parts[0].isascii() and parts[0].isdigit()):
        problem = "its path must be the number of a database"
        raise _Complaint(problem)
    return service, int(parts[0])
