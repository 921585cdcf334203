"""Names as a page shows them: one line, not too long, and still told from one another. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from qless_core.reads.names import NameDigest

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Characters of a name that a page shows.
MOST = 72

#: Characters of its end that are among them: where long names differ most.
_END = 20

#: Characters of the digest that tells names apart whose beginnings and ends are the same.
_MARK = 6

#: Line ends, and control characters, which would show as nothing.
_CONTROL = re.compile(r"\r?\n|[\x00-\x1f\x7f]")
_PICTURES = {"\n": "↵", "\r\n": "↵", "\r": "↵", "\t": "⇥"}


def short(name: str, most: int = MOST) -> str:
    r"""Write a name in one line of at most so many characters; its beginning and end stay.

    >>> short("mail-Timeout"), short("two\r\nlines\t"), short(""), short(" a ")
    ('mail-Timeout', 'two↵lines⇥', '(empty)', '␣a␣')
    >>> short("a" * 100 + "b" * 100, 30)
    'aaaaaaaaa…bbbbbbbbbbbbbbbbbbbb'
    """
    line = _visible(name[: most + 1]) if len(name) > most else _visible(name)
    if len(name) <= most:
        return line
    return f"{line[: most - _END - 1]}…{_visible(name[-_END:])}"


def _visible(name: str) -> str:
    """Give control characters, and blanks at the ends, a picture."""
    if not name:
        return "(empty)"
    text = _CONTROL.sub(lambda found: _PICTURES.get(found[0], "·"), name)
    inner = text.strip(" ")
    before, after = len(text) - len(text.lstrip(" ")), len(text) - len(text.rstrip(" "))
    if not inner:
        return "␣" * len(text)
    return "␣" * before + inner + "␣" * after


def distinct(names: Iterable[str], most: int = MOST) -> dict[str, str]:
    """Write names as `short` does, and mark those that would look the same.

    >>> sorted(distinct(["a" * 50 + "1" + "b" * 50, "a" * 50 + "2" + "b" * 50], 30).values())
    ['aaaaaaaaa…bbbbbbbbbbbbbbbbbbbb #5940f9', 'aaaaaaaaa…bbbbbbbbbbbbbbbbbbbb #bd0eab']
    """
    shown = {name: short(name, most) for name in names}
    texts = list(shown.values())
    return {
        name: f"{text} #{NameDigest.of(name)[:_MARK]}" if texts.count(text) > 1 else text
        for name, text in shown.items()
    }
