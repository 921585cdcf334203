"""What a message says first of all: the line that names the error, and where it arose. Pure.

Formats of Python, Ruby, Node, Java and Go are known; of any other text the first line counts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Characters of a message that are looked at, from its beginning and from its end: a traceback of
#: Python tells most in its last lines, all others in their first.
HEAD, TAIL = 12_000, 6_000

#: Frames that are looked through for one of the application's own.
_MOST_FRAMES = 60


class Told(NamedTuple):
    """What a message tells.

    Attributes:
        lines: those that name the error; behind it what caused it, where that is told apart.
        place: the innermost frame of the application, as `charge in gateway.py`; "" for none.

    """

    lines: tuple[str, ...]
    place: str = ""


def told(message: str) -> Told:
    """Find what a message tells.

    >>> told("no stock")
    Told(lines=('no stock',), place='')
    """
    if len(message) > HEAD + TAIL:
        message = f"{message[:HEAD]}\n{message[-TAIL:]}"
    message = message.strip()
    if "\n" not in message:
        first = _RUBY_FIRST.match(message) if ":in " in message else None
        return _ruby(message) if first else Told((message,))
    for marks, read in _FORMATS:
        if any(mark in message for mark in marks):
            return read(message)
    return Told((_first(message),))


def _first(text: str) -> str:
    return text.partition("\n")[0].rstrip()


# -- Python

_PY_FRAME = re.compile(r' {2}File "([^"\n]{1,400})", line \d+(?:, in ([^\n]{1,200}))?')
_PY_LIBRARY = re.compile(r"(?:site|dist)-packages/|/lib(?:64)?/python\d|^<|/qless_core/")

#: What stands before the lines of an exception inside a group of them.
_PY_GROUPED = re.compile(r"^[ ]*(?:[|+] ?)?(?:[-+ ]*-{3,}[^\n]*)?", re.MULTILINE)


def _python(message: str) -> Told:
    if "Exception Group Traceback" in message:
        return _python_group(message)
    start = max(message.rfind(_TRACEBACK), 0)
    line, place = _python_block(message, start)
    return Told((line,), place)


def _python_block(message: str, start: int) -> tuple[str, str]:
    """Give the error of a traceback that begins at `start` and ends with the message."""
    last = message.rfind('\n  File "')
    if last < start:
        return _flush(message, message.find("\n", start) + 1), ""
    frame = _PY_FRAME.match(message, last + 1)
    line = _flush(message, frame.end() if frame else last + 1)
    return line, _python_place(message, start, last)


def _flush(text: str, at: int) -> str:
    """Give the first line behind `at` that is not indented, and more where it says too little."""
    for found in _FLUSH.finditer(text, at):
        line = found[0].rstrip()
        if line.endswith(":") or _COUNTED.search(line):
            return " ".join(f"{line} {text[found.end() : found.end() + 400]}".split("\n")[:3])
        return line
    return text[at:].strip().partition("\n")[0]


_FLUSH = re.compile(r"^[^\s][^\n]*", re.MULTILINE)
#: A message that only counts what its next lines say.
_COUNTED = re.compile(r"\d validation errors? for ")


def _python_place(message: str, start: int, last: int) -> str:
    innermost = ""
    at = last
    for _ in range(_MOST_FRAMES):
        frame = _PY_FRAME.match(message, at + 1)
        if frame:
            place = _place(frame[1], frame[2] or "")
            if not _PY_LIBRARY.search(frame[1]):
                return place
            innermost = innermost or place
        at = message.rfind('\n  File "', start, at)
        if at < 0:
            break
    return innermost


def _python_group(message: str) -> Told:
    """Give the error of a group of exceptions, and the first of those in it."""
    head, _, inner = message.partition("+-+---")
    line, place = _python_block(_PY_GROUPED.sub("", head).rstrip(), 0)
    plain = _ungrouped(inner.partition("\n")[2].partition("+------")[0])
    cause, inner_place = _python_block(plain, 0)
    return Told((line, cause) if cause else (line,), inner_place or place)


def _ungrouped(text: str) -> str:
    return "\n".join(line.lstrip(" |") if _bare(line) else line[6:] for line in text.split("\n"))


def _bare(line: str) -> bool:
    """Say whether a line inside a group is a flush one, behind its bar."""
    return not line.lstrip(" ").startswith("|  ")


def _place(file: str, name: str) -> str:
    base = re.split(r"[\\/]", file)[-1]
    return f"{name.strip()} in {base}" if name else base


# -- Ruby

_RUBY_FRAME = re.compile(
    r"^\s*(?:from )?([^\s:][^\s:]{0,400}):\d+:in [`']([^'\n]{1,200})'", re.MULTILINE
)
_RUBY_FIRST = re.compile(r"([^\s:]{1,400}):\d+:in [`']([^'\n]{1,200})': (.*)")
_RUBY_LIBRARY = re.compile(r"/gems/|/lib/ruby/|^<internal:|/bundle/")
_RUBY_BLOCK = re.compile(r"^(?:(?:block|rescue|ensure)(?: \(\d+ levels\))? in )+")


def _ruby(message: str) -> Told:
    first = _first(message)
    raised = _RUBY_FIRST.match(first)
    line = raised[3] if raised else first
    return Told((line,), _ruby_place(message))


def _ruby_place(message: str) -> str:
    innermost = ""
    for number, frame in enumerate(_RUBY_FRAME.finditer(message)):
        place = _place(frame[1], _RUBY_BLOCK.sub("", frame[2]))
        if not _RUBY_LIBRARY.search(frame[1]):
            return place
        innermost = innermost or place
        if number >= _MOST_FRAMES:
            break
    return innermost


# -- Java, and what else runs on its machine

_JAVA_FRAME = re.compile(r"^\s+at ([^\s(]{1,300})\(", re.MULTILINE)
_JAVA_LIBRARY = re.compile(
    r"(?:java|javax|jakarta|jdk|sun|com\.sun|kotlinx?|scala|clojure|groovy|akka|reactor|"
    r"org\.(?:springframework|hibernate|apache|postgresql|mariadb|eclipse|jboss|slf4j|junit|mongodb)|"
    r"com\.(?:zaxxer|mysql|fasterxml|google|amazonaws|oracle|microsoft|datastax|qless)|"
    r"io\.(?:netty|lettuce|grpc|micrometer|reactivex|vertx)|redis\.clients|okhttp3|okio|retrofit2|"
    r"software\.amazon|feign)\."
)
_JAVA_CAUSE = re.compile(r"^\s*Caused by: ([^\n]*)", re.MULTILINE)
_JAVA_THREAD = re.compile(r'Exception in thread "[^"\n]*" ')


def _java(message: str) -> Told:
    first = _JAVA_THREAD.sub("", _first(message), count=1)
    causes = list(_JAVA_CAUSE.finditer(message))
    root = causes[-1] if causes else None
    # The frames below the root that are not shared come first; then those of what it led to.
    place = _java_place(message, root.end() if root else 0) or (
        _java_place(message, 0) if root else ""
    )
    return Told((first, root[1]) if root else (first,), place)


def _java_place(message: str, at: int) -> str:
    for number, frame in enumerate(_JAVA_FRAME.finditer(message, at)):
        name = frame[1].rpartition("/")[2]
        if not _JAVA_LIBRARY.match(name):
            return ".".join(name.split(".")[-2:])
        if number >= _MOST_FRAMES:
            break
    return ""


# -- Node

_NODE_FRAME = re.compile(
    r"^\s+at (?:async )?(?:(?P<name>[^\n()]{1,200}) \()?"
    r"(?P<file>[^\s()]{1,400}?):\d+:\d+\)?(?: \{)?$",
    re.MULTILINE,
)
_NODE_LIBRARY = re.compile(r"node_modules/|^node:|^internal/|^<anonymous>")
_NODE_CAUSE = re.compile(r"^\s+\[cause\]: ([^\n]*)", re.MULTILINE)
_NODE_SAID = re.compile(r"^[A-Za-z_$][\w$.]*(?: \[\w+\])?: [^\n]*", re.MULTILINE)
#: Where a program ended of it: the line of the code and a mark below, before the error.
_NODE_UNCAUGHT = re.compile(r"\S{1,400}:\d+\n[^\n]*\n\s*\^+\s*\n")


def _node(message: str) -> Told:
    head = message.partition("\n    at ")[0]
    uncaught = _NODE_UNCAUGHT.match(head)
    said = _NODE_SAID.search(head, uncaught.end()) if uncaught else None
    first = said[0] if said else _first(head)
    cause = _NODE_CAUSE.search(message)
    return Told((first, cause[1]) if cause else (first,), _node_place(message))


def _node_place(message: str) -> str:
    for number, frame in enumerate(_NODE_FRAME.finditer(message)):
        if not _NODE_LIBRARY.search(frame["file"]):
            name = (frame["name"] or "").partition(" [as ")[0]
            return _place(frame["file"], "" if "<anonymous>" in name else name)
        if number >= _MOST_FRAMES:
            break
    return ""


# -- Go

_GO_SAID = re.compile(r"^(?:panic|fatal error): ([^\n]*)", re.MULTILINE)
_GO_FRAME = re.compile(
    r"^([\w./*()\[\]-]{1,300}?)\((?:\.\.\.|[^\n()]*(?:\{[^\n]*\}[^\n]*)?)\)\n\t", re.MULTILINE
)
_GO_LIBRARY = re.compile(
    r"(?:runtime|panic|testing|sync|net|os|io|reflect|database|encoding)\b(?![\w-]*\.[\w-]+/)"
)


def _go(message: str) -> Told:
    said = _GO_SAID.search(message)
    return Told((said[0] if said else _first(message),), "".join(_go_places(message)))


def _go_places(message: str) -> Iterator[str]:
    for number, frame in enumerate(_GO_FRAME.finditer(message)):
        if not _GO_LIBRARY.match(frame[1]):
            yield frame[1].rpartition("/")[2]
            return
        if number >= _MOST_FRAMES:
            return


_TRACEBACK = "Traceback (most recent call last)"

#: What tells a format, in the order in which they are tried.
_FORMATS: tuple[tuple[tuple[str, ...], Callable[[str], Told]], ...] = (
    ((_TRACEBACK,), _python),
    (("\ngoroutine ",), _go),
    (("\n\tat ", "\nCaused by: "), _java),
    (("\n    at ",), _node),
    (("'\n\tfrom ", ":in `", ":in '"), _ruby),
)
