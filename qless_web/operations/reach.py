"""Whose jobs an operation may touch: patterns of queues, as the script can read them."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

#: Stands for the bytes that go on with a character, which JSON cannot tell.
_GOES_ON: Final = "\x01"
#: Any one character, and none at all, as patterns of Lua.
_ANY: Final = f"[^{_GOES_ON}][{_GOES_ON}]*"
_NONE: Final = "[^%w%W]"
#: Where characters of one byte end, and one that has several.
_ASCII: Final = 128
_LONG: Final = "€"


def stored(patterns: Iterable[str]) -> list[list[str]]:
    """Give patterns of names as lists of what stands between their stars, as patterns of Lua.

    >>> stored(["mail*", "a-[bc]"])
    [['mail', ''], ['a%-[bc]']]

    Args:
        patterns: as `fnmatch` reads them: `*`, `?` and `[abc]`, of which one with a character
            that is not ASCII fits nothing.

    """
    return [_parts(pattern) for pattern in patterns]


def reaches(patterns: Iterable[str], queue: str) -> bool:
    """Say whether a queue is one of those that patterns mean."""
    return any(fnmatchcase(queue, pattern) for pattern in patterns)


def _parts(pattern: str) -> list[str]:
    parts = [""]
    for token in _tokens(pattern):
        if token == "*":  # noqa: S105 - a star
            parts.append("")
        else:
            parts[-1] += _of(token)
    return parts


def _tokens(pattern: str) -> Iterator[str]:
    """Give the characters of a pattern, each set of characters as one."""
    at = 0
    while at < len(pattern):
        end = at + 1
        if pattern[at] == "[":
            first = at + 2 if pattern[at + 1 : at + 2] == "!" else at + 1
            closed = pattern.find("]", first + 1)
            end = closed + 1 if closed >= 0 else end
        yield pattern[at:end]
        at = end


def _of(token: str) -> str:
    if token == "?":  # noqa: S105 - a question mark
        return _ANY
    if len(token) == 1:
        return _escaped(token)
    if not token.isascii():
        return _NONE
    chosen = {chr(code) for code in range(2, _ASCII) if fnmatchcase(chr(code), token)}
    if not fnmatchcase(_LONG, token):
        return f"[{''.join(map(_escaped, sorted(chosen)))}]" if chosen else _NONE
    others = sorted({chr(code) for code in range(2, _ASCII)} - chosen)
    return f"[^{''.join(map(_escaped, others))}{_GOES_ON}][{_GOES_ON}]*"


def _escaped(character: str) -> str:
    if character < "\x02":
        return _NONE
    is_plain = character.isalnum() or ord(character) >= _ASCII or not character.isprintable()
    return character if is_plain else f"%{character}"
