"""The Lua: assembled from its parts, as a script and as a library of functions."""

from __future__ import annotations

import functools
import hashlib
import re
from importlib import resources
from itertools import accumulate
from typing import Final

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
    "wait",
    "heartbeat",
    "prune",
    "complete",
    "fail",
    "retry",
    "giveback",
    "progress",
    "cancel",
    "track",
    "worker",
    "recurring",
    "cron",
    "throttle",
    "limits",
    "bulk",
    "turn",
    "walk",
    "archive",
    "audit",
    "repair",
    "once",
    "api",
    "main",
)

#: The files that run at each call.
_RUN_AT_ONCE: Final = frozenset({"api", "main"})

#: The line of `keys.lua` that names the namespace.
_NAMESPACE_LINE: Final = "local NAMESPACE = 'ql:'"

#: A namespace with a hash tag, `{ql}:`, keeps all its keys in one slot of a cluster.
_HASH_TAG: Final = re.compile(r"\{[^}]+\}")

#: A command in the list of `api.lua` that only reads.
_READING: Final = re.compile(r" ([a-z.]+)=[a-z]+\?")

_PLACE: Final = re.compile(r"@?user_(script|function):(\d+)")

#: What makes a script of the parts: they end with the entry known.
_CALL: Final = "return Answer(KEYS, ARGV)\n"

#: What makes a library of them. A server has `redis.call` and `cjson` only while a function runs:
#: so the parts are read by the first call, and live on with what they hold.
_OPENING: Final = "local answer local function read() "
_CLOSING: Final = """return Answer end
local function entry(keys, argv)
  answer = answer or read()
  return answer(keys, argv)
end
redis.register_function('NAME', entry)
redis.register_function{ function_name = 'NAME_reads', callback = entry, flags = { 'no-writes' } }
"""


class Script:
    """The assembled script for one namespace.

    Attributes:
        namespace: what every key and channel begins with.
        source: the text of the script.
        sha: its SHA-1, by which EVALSHA knows it.
        name: the library's, and its function's; other texts have other names, so that versions and
            namespaces live side by side in one server.
        library: the text of the library for FUNCTION LOAD. Its functions take what the script
            does: `name` any command, `<name>_reads` those that write nothing.
        reads: the commands that write nothing, whatever they are called with.
        keys: the keys it must be called with: none, or the hash tag of its namespace.

    """

    def __init__(self, namespace: str = "ql:") -> None:
        self.namespace = namespace
        parts = [_part(name, namespace) for name in PARTS]
        text = "".join(parts)
        self.source = text + _CALL
        self.sha = _sha1(self.source)
        body = f"{_OPENING}{text}{_CLOSING}"
        self.name = f"qless_{_sha1(body)[:16]}"
        self.library = (
            f"#!lua name={self.name}\n{_OPENING}{text}{_CLOSING.replace('NAME', self.name)}"
        )
        self.reads = frozenset(_READING.findall(_part("api", namespace)))
        tag = _HASH_TAG.search(namespace)
        self.keys: tuple[str, ...] = (tag[0],) if tag else ()
        ends = accumulate(part.count("\n") for part in parts)
        #: For each part: the last line of the script that belongs to it.
        self._ends = tuple(ends)

    def locate(self, text: str) -> str:
        """Name file and line where a text of Redis names a line: user_script:24 -> job.lua:16."""
        return _PLACE.sub(self._located, text)

    def place(self, text: str) -> str:
        """Find the first file and line in a text of Redis; "" when it names none."""
        found = _PLACE.search(text)
        return self._located(found) if found else ""

    def _located(self, found: re.Match[str]) -> str:
        # The first line of the library is its name.
        line = int(found[2]) - (1 if found[1] == "function" else 0)
        return self._place(line)

    def _place(self, line: int) -> str:
        start = 0
        for name, end in zip(PARTS, self._ends, strict=True):
            if line <= end:
                return f"{name}.lua:{line - start}"
            start = end
        return f"user_script:{line}"


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


def _sha1(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _lua_text(text: str) -> str:
    """Write a text as Lua does, byte by byte, so that no character can end it."""
    return "'" + "".join(f"\\{byte:03d}" for byte in text.encode()) + "'"
