"""A failure's message as a template can print it: the line that says most, own frames, all. Pure.

Tracebacks of Python and backtraces of Ruby are known; any other text is plain lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Characters of a message that a page shows; all of it has an address of its own.
MOST = 40_000

_PYTHON_FRAME = re.compile(r'\s*File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in (?P<name>.+))?')
_RUBY_FRAME = re.compile(r"\s*(?:from )?(?P<file>\S+?):(?P<line>\d+)(?::in [`'](?P<name>[^'`]+)')")
_LIBRARY = re.compile(
    r"site-packages|dist-packages|/lib/python\d|/gems/|/lib/ruby/|<frozen |<internal:"
)


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One line of a trace; ``kind`` is frame, library, code, error, plain or folded."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A failure's message.

    Attributes:
        text: as stored, or its beginning and end where it is very long.
        last: the line that says most.
        lines: all of them.
        own: the same with the frames of libraries folded into one line that counts them; empty
            where there is nothing to fold.
        innermost: the innermost frame of the application, as "billing.py:88 charge()"; "" when
            no frame is known.
        cut: how many characters of the middle are not here.

    """

    text: str
    last: str
    lines: tuple[TraceLine, ...]
    own: tuple[TraceLine, ...] = ()
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
    own = _folded(marked)
    return Trace(
        text=shown,
        last=last.text.strip(),
        lines=marked,
        own=own if len(own) < len(marked) else (),
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
    if line.startswith("    ") and before in {"frame", "library", "code"}:
        return "library" if before == "library" else "code"
    return "plain"


def _folded(lines: tuple[TraceLine, ...]) -> tuple[TraceLine, ...]:
    kept: list[TraceLine] = []
    run: list[TraceLine] = []
    for line in (*lines, TraceLine("", "end")):
        if line.kind == "library":
            run.append(line)
            continue
        if run:
            frames = sum(1 for each in run if _frame(each.text)) or 1
            kept.append(
                TraceLine(
                    f"  … {frames} frame{'' if frames == 1 else 's'} of libraries …", "folded"
                )
            )
            run = []
        kept.append(line)
    return tuple(kept[:-1])


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
