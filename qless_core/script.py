"""The Lua: assembled from its parts, as a script and as a library of functions."""

from __future__ import annotations

import functools
import hashlib
import re
from bisect import bisect_right
from importlib import resources
from typing import TYPE_CHECKING, Final

from qless_core.excerpt import Excerpts

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    "hold",
    "reschedule",
    "edit",
    "throttle",
    "limits",
    "bulk",
    "turn",
    "walk",
    "archive",
    "place",
    "stored",
    "sight",
    "values",
    "checkup",
    "entries",
    "ledger",
    "recurrence",
    "scan",
    "audit",
    "repair",
    "whole",
    "act",
    "ship",
    "once",
    "api",
    "main",
)

#: The files that run at each call.
_RUN_AT_ONCE: Final = frozenset({"api", "main"})

#: The commands that are called most: each has what it needs at the head of the script, so that
#: EVALSHA builds little else.
_AT_THE_HEAD: Final = ("turn", "pop", "put", "complete", "heartbeat", "fail", "retry")

#: The files that most calls need nothing of: there, too, they are read when they are asked for.
_SELDOM: Final = frozenset({"tags", "dependencies", "spawn", "cron", "throttle", "limits"})

#: The line of `keys.lua` that names the namespace.
_NAMESPACE_LINE: Final = "local NAMESPACE = 'ql:'"

#: The line of `base.lua` that says whether what it makes lives on, and what a library says.
_LASTS: Final = ("local LASTS = false", "local LASTS = true")

#: A namespace with a hash tag, `{ql}:`, keeps all its keys in one slot of a cluster.
_HASH_TAG: Final = re.compile(r"\{[^}]+\}")

#: A command in the list of `api.lua` that only reads.
_READING: Final = re.compile(r" ([a-z.]+)=[a-z]+\?")

_PLACE: Final = re.compile(r"@?user_(script|function):(\d+)")

#: What makes a script of the parts: they end with the entry known. All but the first are in a
#: function of their own: what that has from outside, it hands on to those in it at little cost.
_INSIDE: Final = "return (function() "
_CALL: Final = "return Answer(KEYS, ARGV) end)()\n"

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
        whole = _Lines()
        for name in PARTS:
            whole.add(_wrapped(name, _part(name, namespace)), (name, 1))
        base, rest = _part("base", namespace), whole.text.removeprefix(_part("base", namespace))
        self._head = _head(namespace)
        self._whole = whole
        self.source = f"{self._head.text}{base}{_INSIDE}{rest}{_CALL}"
        self.sha = _sha1(self.source)
        body = f"{_OPENING}{whole.text.replace(*_LASTS)}"
        self.name = f"qless_{_sha1(body + _CLOSING)[:16]}"
        self.library = f"#!lua name={self.name}\n{body}{_CLOSING.replace('NAME', self.name)}"
        self.reads = frozenset(_READING.findall(_part("api", namespace)))
        tag = _HASH_TAG.search(namespace)
        self.keys: tuple[str, ...] = (tag[0],) if tag else ()

    def locate(self, text: str) -> str:
        """Name file and line where a text of Redis names a line: user_script:24 -> job.lua:16."""
        return _PLACE.sub(self._located, text)

    def place(self, text: str) -> str:
        """Find the first file and line in a text of Redis; "" when it names none."""
        found = _PLACE.search(text)
        return self._located(found) if found else ""

    def _located(self, found: re.Match[str]) -> str:
        line = int(found[2])
        if found[1] == "function":
            place = self._whole.place(line - 1)  # the first line of the library is its name
        elif line <= self._head.count:
            place = self._head.place(line)
        else:
            place = self._whole.place(line - self._head.count)
        return place or f"user_script:{line}"


class _Lines:
    """Text, of which each line is known to be one of a file."""

    def __init__(self) -> None:
        self.text = ""
        #: How many lines there are.
        self.count = 0
        self._starts: list[int] = []
        self._origins: list[tuple[str, int]] = []

    def add(self, text: str, origin: tuple[str, int] = ("", 0)) -> None:
        """Add whole lines, the first of which is that line of that file; "" for none."""
        self._starts.append(self.count + 1)
        self._origins.append(origin)
        self.text += text
        self.count += text.count("\n")

    def place(self, line: int) -> str:
        """Name the file and the line that a line is; "" when it is none."""
        if not 1 <= line <= self.count:
            return ""
        at = bisect_right(self._starts, line) - 1
        name, first = self._origins[at]
        return f"{name}.lua:{first + line - self._starts[at]}" if name else ""


def _head(namespace: str) -> _Lines:
    """Assemble the ways of the calls made most, each of what it needs."""
    excerpts = Excerpts({name: _part(name, namespace) for name in PARTS if name != "api"})
    at_once = {table for table, file in excerpts.tables.items() if file not in _SELDOM}
    head = _Lines()
    for command in _AT_THE_HEAD:
        needed = excerpts.needed(command)
        head.add(f"if ARGV[1] == '{command}' then return (function()\n")
        for name, statements in needed.items():
            if name == "base":
                for each in statements:
                    made = at_once & each.gives
                    lines = [f"local {table} = {{}}" for table in made] or each.lines
                    head.add(_joined(lines), ("base", each.line))
                head.add(f"{_INSIDE}\n")
                continue
            head.add(f"Load.{name} = function()\n" if name in _SELDOM else "do\n")
            for each in statements:
                head.add(_joined(each.lines), (name, each.line))
            head.add("end\n")
        head.add(f"{_CALL.rstrip()} end)() end\n")
    return head


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@functools.cache
def _part(name: str, namespace: str) -> str:
    """Read a file of the script."""
    text = resources.files("qless_core.lua").joinpath(f"{name}.lua").read_text("utf-8")
    if name == "keys" and namespace != "ql:":
        text = text.replace(_NAMESPACE_LINE, f"local NAMESPACE = {_lua_text(namespace)}")
    return text


def _wrapped(name: str, text: str) -> str:
    """Give a file in its block, without a line more than it has."""
    if name == "base":
        return text
    opening = "do" if name in _RUN_AT_ONCE else f"Load.{name} = function()"
    return f"{opening} {text.removesuffix(chr(10))} end\n"


def _sha1(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _lua_text(text: str) -> str:
    """Write a text as Lua does, byte by byte, so that no character can end it."""
    return "'" + "".join(f"\\{byte:03d}" for byte in text.encode()) + "'"
