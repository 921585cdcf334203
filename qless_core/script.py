"""The Lua: assembled from its parts, run on Redis, its refusals turned into errors."""

from __future__ import annotations

import functools
import hashlib
import re
from importlib import resources
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from redis import exceptions

from qless_core import foreign
from qless_core.errors import ForeignData, QlessError, RedisUnavailable, ScriptFault
from qless_core.keys import Keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from redis import Redis

#: The files of `lua/` in the order in which to read them, without `.lua`. `base` comes first and
#: stays open; `api` and `main` run at each call, in a block each, so that their locals end with it;
#: each other file becomes a function that `base` calls when something of it is first asked for.
PARTS: Final = (
    "base",
    "json",
    "keys",
    "check",
    "events",
    "config",
    "stats",
    "history",
    "tags",
    "job",
    "dependencies",
    "queue",
    "failures",
    "put",
    "spawn",
    "expire",
    "pop",
    "heartbeat",
    "prune",
    "complete",
    "fail",
    "retry",
    "cancel",
    "track",
    "worker",
    "recurring",
    "bulk",
    "api",
    "main",
)

#: The files that run at each call.
_RUN_AT_ONCE: Final = frozenset({"api", "main"})

#: The line of `keys.lua` that names the namespace.
_NAMESPACE_LINE: Final = "local NAMESPACE = 'ql:'"

#: A namespace with a hash tag, `{ql}:`, keeps all its keys in one slot of a cluster.
_HASH_TAG: Final = re.compile(r"\{[^}]+\}")

_PLACE: Final = re.compile(r"@?user_script:(\d+)")

#: `CODE user_script:<line>: Command(): sentence`.
_REFUSAL: Final = re.compile(r"([A-Z][A-Z_]+) (?:user_script:\d+: )?(.*)", re.DOTALL)

#: Errors of the server that pass: it is busy, full, or not (yet, or any more) the one to ask.
_PASSING: Final = frozenset(
    {"BUSY", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "MISCONF", "NOREPLICAS", "OOM", "TRYAGAIN"}
)

#: The same, and being gone, where redis-py has a class and may have cut the code off the text.
_PASSING_CLASSES: Final = (
    exceptions.ClusterDownError,
    exceptions.ConnectionError,
    exceptions.MasterDownError,
    exceptions.OutOfMemoryError,
    exceptions.ReadOnlyError,
    exceptions.TimeoutError,
    exceptions.TryAgainError,
)


class Script:
    """The assembled script for one namespace.

    Attributes:
        namespace: what every key and channel begins with.
        source: the text of the script.
        sha: its SHA-1, by which EVALSHA knows it.
        keys: the keys it must be called with: none, or the hash tag of its namespace.

    """

    def __init__(self, namespace: str = "ql:") -> None:
        self.namespace = namespace
        parts = [_part(name, namespace) for name in PARTS]
        self.source = "".join(parts)
        self.sha = hashlib.sha1(self.source.encode(), usedforsecurity=False).hexdigest()
        tag = _HASH_TAG.search(namespace)
        self.keys: tuple[str, ...] = (tag[0],) if tag else ()
        ends = accumulate(part.count("\n") for part in parts)
        #: For each part: the last line of the script that belongs to it.
        self._ends = tuple(ends)

    def locate(self, text: str) -> str:
        """Name file and line where a text of Redis names a line: user_script:24 -> job.lua:16."""
        return _PLACE.sub(lambda found: self._place(int(found[1])), text)

    def _place(self, line: int) -> str:
        start = 0
        for name, end in zip(PARTS, self._ends, strict=True):
            if line <= end:
                return f"{name}.lua:{line - start}"
            start = end
        return f"user_script:{line}"


class Runner:
    """Calls the script on a redis-py client that must not retry by itself."""

    def __init__(self, redis: Redis, script: Script) -> None:
        self.redis = redis
        self.script = script

    def __call__(self, command: str, now: float | str, *args: str | float) -> Any:  # noqa: ANN401 - what Redis answers
        """Run a command at a moment (epoch seconds, or `auto` for the server's clock).

        Raises:
            ForeignData: a key holds data of another kind; the message names it where it can.
            QlessError: the script refused, with the class of its code.
            RedisUnavailable: Redis cannot be reached, or cannot do it now.
            ScriptFault: the script broke.

        """
        try:
            return self._evaluate(command, now, *args)
        except exceptions.RedisError as error:
            found = self.translate(error)
            if isinstance(found, ForeignData):
                found = self._foreign(args)
            raise found from error

    def _foreign(self, names: tuple[str | float, ...]) -> ForeignData:
        """Name the key that a call with these arguments stumbled over."""
        keys = Keys(self.script.namespace)
        try:
            found = foreign.find(self.redis, keys, map(str, names))
        except exceptions.RedisError:
            found = None
        return ForeignData(*found) if found else ForeignData()

    def _evaluate(self, *args: str | float) -> Any:  # noqa: ANN401 - as above
        script = self.script
        sent = (*script.keys, *args)
        try:
            return self.redis.evalsha(script.sha, len(script.keys), *sent)
        except exceptions.NoScriptError:
            # Refused before anything ran, so that a second call does nothing twice.
            self.redis.script_load(script.source)
            return self.redis.evalsha(script.sha, len(script.keys), *sent)

    def translate(self, error: exceptions.RedisError) -> QlessError:
        """Find the error of ours for an error of redis-py."""
        text = str(error)
        refusal = _REFUSAL.fullmatch(text)
        code = refusal[1] if refusal else ""
        if code in _PASSING or isinstance(error, _PASSING_CLASSES):
            return RedisUnavailable(text)
        if code == "WRONGTYPE":
            return ForeignData()
        if refusal and (kind := _classes().get(code)):
            return kind.from_refusal(refusal[2])
        place = _PLACE.search(text)
        if place:
            return ScriptFault(self.script.locate(place[0]), self.script.locate(text))
        return QlessError(text)


@functools.cache
def _part(name: str, namespace: str) -> str:
    """Read a file of the script, in its block, without a line more than the file has."""
    text = resources.files("qless_core.lua").joinpath(f"{name}.lua").read_text("utf-8")
    if name == "keys" and namespace != "ql:":
        text = text.replace(_NAMESPACE_LINE, f"local NAMESPACE = {_lua_text(namespace)}")
    if name == "base":
        return text
    opening = "do" if name in _RUN_AT_ONCE else f"Load.{name} = function()"
    return f"{opening} {text.removesuffix(chr(10))} end\n"


def _lua_text(text: str) -> str:
    """Write a text as Lua does, byte by byte, so that no character can end it."""
    return "'" + "".join(f"\\{byte:03d}" for byte in text.encode()) + "'"


def _classes() -> dict[str, type[QlessError]]:
    """Find the class of every code."""
    return {kind.code: kind for kind in _subclasses(QlessError) if kind.code}


def _subclasses(kind: type[QlessError]) -> Iterator[type[QlessError]]:
    for subclass in kind.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)
