"""From what the server says, or its silence, to an error that says what to do about it."""

from __future__ import annotations

import re
from typing import Final

from redis import exceptions

from qless_core.errors import (
    BadArgument,
    ClusterNeedsTag,
    NotPermitted,
    PrimaryMoved,
    QlessError,
    RedisBusy,
    RedisFull,
    RedisLoading,
    RedisReadOnly,
    RedisUnavailable,
    WritesRefused,
)
from qless_core.keys import tag_of

#: The class of each code of the server.
_KINDS: Final[dict[str, type[RedisUnavailable]]] = {
    "ASK": PrimaryMoved,
    "BUSY": RedisBusy,
    "CLUSTERDOWN": PrimaryMoved,
    "LOADING": RedisLoading,
    "MASTERDOWN": PrimaryMoved,
    "MISCONF": WritesRefused,
    "MOVED": PrimaryMoved,
    "NOREPLICAS": WritesRefused,
    "OOM": RedisFull,
    "READONLY": RedisReadOnly,
    "TRYAGAIN": PrimaryMoved,
    "UNBLOCKED": PrimaryMoved,
}

#: The codes of classes of redis-py that cut them off the text.
_CODES: Final[dict[type[exceptions.RedisError], str]] = {
    exceptions.MovedError: "MOVED",
    exceptions.AskError: "ASK",
    exceptions.BusyLoadingError: "LOADING",
    exceptions.MasterDownError: "MASTERDOWN",
    exceptions.NoPermissionError: "NOPERM",
    exceptions.ClusterDownError: "CLUSTERDOWN",
    exceptions.OutOfMemoryError: "OOM",
    exceptions.ReadOnlyError: "READONLY",
    exceptions.TryAgainError: "TRYAGAIN",
}

_CODE: Final = re.compile(r"[A-Z]{2,}(?= )")
#: The same where Redis 6 tells of an error inside a script.
_INNER: Final = re.compile(r"(?<=: -)[A-Z]{2,}(?= )")
_PLACE: Final = re.compile(r",? *script: [0-9a-z_]+,? on .*\Z|,? on @?user_\w+:\d+.*\Z", re.DOTALL)
#: What a user may not do, as the server says it, and which right that is.
_RIGHTS: Final = (
    (re.compile(r"run the '([^']+)' command"), "the command {named} (+{lower})"),
    (re.compile(r"access the '(.+)' key", re.DOTALL), "the key {named} (~{namespace}*)"),
    (re.compile(r"access the '(.+)' channel", re.DOTALL), "the channel {named} (&{namespace}*)"),
    (re.compile(r"the channel|a channel|the channels"), "a channel (&{namespace}*)"),
    (re.compile(r"the keys|a key"), "a key (~{namespace}*)"),
)
#: How it says so of a command inside a script, which has no code of its own.
_DENIED: Final = re.compile(
    r"ACL failure in script|no permissions? to|The user executing the script can't"
)
#: What a node of a cluster says to keys that are not tagged.
_ELSEWHERE: Final = re.compile(
    r"non local key in a cluster node|do not hash to the same slot", re.IGNORECASE
)


_NO_DATABASE: Final = (
    "DB index is out of range: the number of the database, at the end of the Redis URL, is more "
    "than this server has: 16, of 0 to 15, unless its `databases` says otherwise"
)


class ClusterWithoutTag(exceptions.ConnectionError):
    """Raised by a connection to a node of a cluster, when the namespace holds no hash tag."""


def errors_of_server(error: Exception, namespace: str = "ql:") -> QlessError | None:
    """Find the error of ours for what the server or the connection said.

    Args:
        error: of redis-py, or an OSError.
        namespace: what keys and channels begin with, for errors that must name them.

    Returns:
        None for what the script itself said: a refusal, a fault, data of another kind.

    """
    code, text = _code_of(error), _PLACE.sub("", str(error)).strip()
    if kind := _KINDS.get(code):
        return kind.of(f"{code} {text.removeprefix(code).strip()}")
    if missing := _missing(error, code, text, namespace):
        return NotPermitted(text, missing)
    if _is_elsewhere(error):
        # With a tag it is the slot that is on its way to another node.
        return PrimaryMoved.of(text) if tag_of(namespace) else ClusterNeedsTag(namespace)
    return _of_connection(error, text)


def _of_connection(error: Exception, text: str) -> QlessError | None:
    """Find the error of ours for one of the connection itself, or of what it was to lead to."""
    if isinstance(error, exceptions.MaxConnectionsError):
        return RedisUnavailable(f"{text}: raise `max_connections`, or wait until some are free")
    if isinstance(error, exceptions.ConnectionError | exceptions.TimeoutError | OSError):
        return RedisUnavailable.of(str(error))
    if "DB index is out of range" in text:
        return BadArgument(_NO_DATABASE)
    return None


def shortened(error: BaseException) -> BaseException:
    """Give an error as the cause of another one, without what came before it.

    redis-py's error says all that the one of the socket beneath it does.
    """
    error.__suppress_context__ = True
    return error


def _code_of(error: Exception) -> str:
    """Find the code, which redis-py may have cut off the text."""
    for kind, code in _CODES.items():
        if isinstance(error, kind):
            return code
    found = _CODE.match(str(error)) or _INNER.search(str(error))
    code = getattr(error, "status_code", None) or ""
    return code if code != "ERR" and code else (found[0] if found else "")


def _is_elsewhere(error: Exception) -> bool:
    if isinstance(error, ClusterWithoutTag | exceptions.ClusterCrossSlotError):
        return True
    return isinstance(error, exceptions.ResponseError) and bool(_ELSEWHERE.search(str(error)))


def _missing(error: Exception, code: str, text: str, namespace: str) -> str:
    """Say which right is missing, as ACL SETUSER takes it where that can be told; "" if none is."""
    if code in ("NOAUTH", "WRONGPASS") or isinstance(error, exceptions.AuthenticationError):
        return NotPermitted.NOBODY
    is_denied = isinstance(error, exceptions.ResponseError) and _DENIED.search(text)
    if code != "NOPERM" and not is_denied:
        return ""
    for what, right in _RIGHTS:
        if found := what.search(text):
            named = (*found.groups(), "")[0]
            return right.format(named=named, lower=named.lower(), namespace=namespace)
    return "a command that the script calls"
