"""What the commands print: lines and tables, whatever is in them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from qless_core.masking import hushed
from qless_core.options import as_number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

#: How characters are printed that a terminal would obey, whoever stored them.
_SHOWN: Final = {
    code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"
} | {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


def say(value: object) -> None:
    """Print a line, whatever is in it."""
    _print(value, sys.stdout)


def complain(problem: object) -> None:
    """Print a line to the standard error, whatever is in it."""
    _print(f"qless: {hushed(str(problem))}", sys.stderr)


def _print(value: object, stream: TextIO) -> None:
    encoding = stream.encoding or "utf-8"
    text = str(value).translate(_SHOWN).encode(encoding, "backslashreplace").decode(encoding)
    print(text, file=stream)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns: text to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        cells = (
            cell.rjust(width) if as_number(cell) is not None else cell.ljust(width)
            for cell, width in zip(row, widths, strict=True)
        )
        say("  ".join(cells).rstrip())
