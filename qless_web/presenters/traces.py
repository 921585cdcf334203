"""A failure's message as a template can print it: the line that says most, own frames, all. Pure.

Tracebacks of Python and backtraces of Ruby are known; any other text is plain lines.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Characters of a message that a page shows; all of it has an address of its own.
MOST = 40_000

#: Frames of exception groups have lines of a tree before them.
_PYTHON_FRAME = re.compile(
    r'[\s|]*File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<name>.+))?'
)
_RUBY_FRAME = re.compile(r"\s*(?:from )?(?P<file>\S+?):(?P<line>\d+)(?::in [`'](?P<name>[^'`]+)')")
#: A line of code below a frame, and the marks below that.
_CODE = re.compile(r"    |[ ]*\|[ ]{4}")

_LIBRARY = re.compile(
    r"site-packages|dist-packages|/lib/python\d|/gems/|/lib/ruby/|<frozen |<internal:"
    # What runs the job is no code of its author, wherever it is installed.
    r"|/qless_core/|/lib/qless/|/bin/qless"
)


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One line of a trace; ``kind`` is frame, library, code, error or plain."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class TracePart:
    """Lines that are shown, or where ``frames`` is not 0 so many frames of libraries, folded."""

    lines: tuple[TraceLine, ...]
    frames: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A failure's message.

    Attributes:
        text: as stored, or its beginning and end where it is very long.
        last: the line that says most.
        lines: all of them.
        parts: the same, own lines and frames of libraries apart, the latter to be folded.
        innermost: the innermost frame of the application, as "billing.py:88 charge()"; "" when
            no frame is known.
        cut: how many characters of the middle are not here.

    """

    text: str
    last: str
    lines: tuple[TraceLine, ...]
    parts: tuple[TracePart, ...] = ()
    innermost: str = ""
    cut: int = 0


def trace(text: str) -> Trace:
    """Return a failure's message line by line, the frames of libraries told from the others."""
    shown, cut = _shortened(text)
    lines = []
    kind = "plain"
    for line in shown.rstrip().splitlines() or [""]:
        kind = _line_kind(line, kind)
        lines.append(TraceLine(line, kind))
    python = shown.lstrip().startswith("Traceback (most recent call last)")
    last = _telling(lines, python=python)
    marked = tuple(TraceLine(line.text, "error") if line is last else line for line in lines)
    return Trace(
        text=shown,
        last=last.text.strip(),
        lines=marked,
        parts=tuple(_parts(marked)),
        innermost=_innermost(marked, python=python),
        cut=cut,
    )


def _shortened(text: str) -> tuple[str, int]:
    cut = len(text) - MOST
    if cut <= 0:
        return text, 0
    half = MOST // 2
    return f"{text[:half]}\n… {cut:,} characters are left out here …\n{text[-half:]}", cut


def _telling(lines: list[TraceLine], *, python: bool) -> TraceLine:
    """Find what was raised: in Python the last line that is not indented, else the first one."""
    said = [line for line in lines if line.text.strip()] or lines
    if not python:
        return said[0]
    flush = [line for line in said if line.kind == "plain" and not line.text[0].isspace()]
    # What follows the frames is the exception, and the lines of its message after that.
    after = next((n for n in range(len(said) - 1, -1, -1) if said[n].kind != "plain"), -1)
    return next((line for line in said[after + 1 :] if line in flush), said[-1])


def _line_kind(line: str, before: str) -> str:
    frame = _PYTHON_FRAME.match(line) or _RUBY_FRAME.match(line)
    if frame:
        return "library" if _LIBRARY.search(frame["file"]) else "frame"
    in_frame = before in {"frame", "library", "code"}
    if in_frame and (line.lstrip(" |").startswith("[Previous line repeated") or _CODE.match(line)):
        return "library" if before == "library" else "code"
    return "plain"


def _parts(lines: tuple[TraceLine, ...]) -> Iterator[TracePart]:
    """Part own lines from those of libraries; where all are of libraries, none is folded."""
    if not any(line.kind == "frame" for line in lines):
        yield TracePart(lines)
        return
    for is_library, group in itertools.groupby(lines, lambda line: line.kind == "library"):
        run = tuple(group)
        frames = sum(1 for each in run if _frame(each.text)) or 1
        yield TracePart(run, frames if is_library else 0)


def _frame(text: str) -> re.Match[str] | None:
    return _PYTHON_FRAME.match(text) or _RUBY_FRAME.match(text)


def _innermost(lines: tuple[TraceLine, ...], *, python: bool) -> str:
    frames = [line for line in lines if line.kind == "frame"]
    if not frames:
        return ""
    found = _frame(frames[-1 if python else 0].text)
    if found is None:
        return ""
    place = f"{found['file'].rsplit('/', 1)[-1]}:{found['line']}"
    return f"{place} {found['name'].strip()}" if found["name"] else place
