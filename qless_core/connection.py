"""How Redis is reached: what an address means, and the pool of connections made from it.

A command is never sent twice by itself: redis-py's retries are off, because a pop that was carried
out and whose answer was lost would otherwise take a second job.
"""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import redis as redis_py
from redis.backoff import NoBackoff
from redis.connection import HiredisRespSerializer
from redis.exceptions import DataError, RedisError
from redis.retry import Retry

from qless_core.errors import BadArgument

#: Where Redis is when nobody says anything else.
DEFAULT_URL: Final = "redis://localhost:6379/0"

#: Settings that redis-py adds for a pool of its own, and that would tie ours to it.
_OF_THEIR_POOL: Final = ("maint_notifications", "orig_", "himport_", "event_dispatcher")
#: Words in the query of a URL whose values nobody may read.
_SECRETS: Final = ("pass", "pwd", "auth", "secret", "token", "credential")
_MASK: Final = "***"

#: In any text: what may be before the host of a URL, the query's secrets, and a URL.
_OWNER: Final = re.compile(r"://(?![^\s@:]*:?\*\*\*@[^@\n]*$)[^\n]*@", re.MULTILINE)
_IN_QUERY: Final = re.compile(
    rf"([?&][^=&\s]*(?:{'|'.join(_SECRETS)})[^=&\s]*=)[^&\n]*", re.IGNORECASE
)
_URL: Final = re.compile(r"[A-Za-z][\w+.-]*://[^\s'\"]+")


class Packer(HiredisRespSerializer):
    """Packs commands as fast as hiredis can, which by itself refuses what no UTF-8 can hold."""

    def pack(self, *args: Any) -> list[bytes]:  # noqa: ANN401 - as redis-py has it
        """Pack a command; lone surrogates become the bytes they stand for."""
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
        raise DataError(problem) from None


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


def masked(url: str) -> str:
    """Give a URL without its secrets: passwords before the host and in the query.

    A user without a password is one too: many write the password there. Where it is not plain what
    belongs to a password, nothing but the scheme is left.
    """
    scheme, separator, rest = url.partition("://")
    hidden = f"{scheme}://{_MASK}" if separator and scheme.isalnum() else _MASK
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return hidden
    if not separator or parts.fragment or rest.count("@") != parts.netloc.count("@"):
        return hidden
    owner, at, host = parts.netloc.rpartition("@")
    user, colon, _ = owner.partition(":")
    query = urlencode(
        [
            (name, _MASK if any(word in name.lower() for word in _SECRETS) else value)
            for name, value in parse_qsl(parts.query, keep_blank_values=True)
        ],
        safe="*/",
    )
    owner = f"{user}:{_MASK}" if colon else (owner and _MASK)
    return f"{scheme}://{owner}{at}{host}{parts.path}{'?' if query else ''}{query}"


def hushed(text: str) -> str:
    """Give any text without the secrets of the URLs in it, rather too little than too much."""
    text = _OWNER.sub(f"://{_MASK}@", text)
    text = _IN_QUERY.sub(rf"\1{_MASK}", text)
    return _URL.sub(lambda found: masked(found[0]), text)


def described(settings: dict[str, Any]) -> str:
    """Describe where connection settings lead, without their secrets."""
    database = settings.get("db") or 0
    if settings.get("path"):
        return f"unix://{settings['path']}?db={database}"
    host = settings.get("host", "localhost")
    host = f"[{host}]" if ":" in host else host
    return f"redis://{host}:{settings.get('port', 6379)}/{database}"


def pool_like(redis: redis_py.Redis) -> redis_py.ConnectionPool:
    """Make a pool of connections to where another client's lead, but with our settings."""
    theirs = redis.connection_pool
    settings = {
        name: value
        for name, value in theirs.connection_kwargs.items()
        if not name.startswith(_OF_THEIR_POOL)
    }
    settings |= {**FIXED, "retry": Retry(NoBackoff(), 0), "max_connections": theirs.max_connections}
    return redis_py.ConnectionPool(theirs.connection_class, **settings)


def pool_of(url: str) -> redis_py.ConnectionPool:
    """Make a pool of connections to an address.

    Raises:
        BadArgument: the address cannot be understood; the message does not show its password.

    """
    problem = _complaint(url)
    if problem is None:
        try:
            pool = redis_py.ConnectionPool.from_url(url, **DEFAULTS, **FIXED)
            pool.connection_kwargs |= {**FIXED, "retry": Retry(NoBackoff(), 0)}
            # Made and thrown away, to find options that no connection knows.
            pool.connection_class(**pool.connection_kwargs)
        except (RedisError, TypeError, ValueError, AttributeError):
            problem = "it holds an option or a value that means nothing"
        else:
            return pool
    # The text of any cause could hold the password.
    message = f"the Redis URL {masked(url)} cannot be used: {problem}"
    raise BadArgument(message) from None


def _complaint(url: str) -> str | None:
    """Say what is wrong with an address, without quoting it; None when nothing is seen."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "its host or port cannot be read; write odd characters of a password as %XX"
    if parts.scheme not in ("redis", "rediss", "unix"):
        return "it must begin with redis://, rediss:// or unix://"
    if parts.fragment:
        return "it holds a #; write odd characters of a password as %XX"
    path = parts.path.strip("/")
    if parts.scheme == "unix":
        return None if path else "it names no socket"
    return "its path must be the number of a database" if path and not path.isdigit() else None
