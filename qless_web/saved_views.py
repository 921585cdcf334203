"""Addresses of the console that somebody gave a name: kept in Redis, for everybody who looks.

One hash under `web:`, with the name as field and the address, without the prefix that the console
is mounted under, as value. It has an end: `MOST` views, whose names and addresses have one, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from qless_core.errors import BadArgument
from qless_core.reads.plan import Read, Scope, call, read

if TYPE_CHECKING:
    from qless_core.keys import Keys

#: Views that are kept, and characters of a name and of an address.
MOST: Final = 50
LONGEST_NAME: Final = 60
LONGEST_ADDRESS: Final = 1_000

#: A path of this console, with its query: nothing that a browser would take for another host.
_ADDRESS = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f#]*")


@dataclass(frozen=True, slots=True)
class SavedView:
    """One of them."""

    name: str
    address: str


def checked(name: str, address: str) -> SavedView:
    """Give the view that is to be kept.

    Raises:
        BadArgument: it has no name, or one that is too long, or leads nowhere in this console.

    """
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME:
        problem = f"A view needs a name of at most {LONGEST_NAME} characters, not “{name[:80]}”."
        raise BadArgument(problem)
    if not is_address(address):
        problem = (
            f"“{address[:80]}” is no address of this console: a path as /failed?page=2, of at most"
            f" {LONGEST_ADDRESS:,} characters."
        )
        raise BadArgument(problem)
    return SavedView(name, address)


def is_address(text: str) -> bool:
    """Say whether a text is the address of a page here, whoever wrote it."""
    fits = len(text) <= LONGEST_ADDRESS and text.isascii() and bool(_ADDRESS.fullmatch(text))
    return fits and ".." not in text.partition("?")[0].split("/")


def key_of(keys: Keys) -> str:
    """Name the hash."""
    return keys.web("views")


@read
def saved(scope: Scope) -> Read[tuple[SavedView, ...]]:
    """Read them, by name."""
    (found,) = yield [call("hgetall", key_of(scope.keys))]
    known = sorted((found or {}).items(), key=lambda each: (each[0].casefold(), each[0]))
    return tuple(SavedView(name, address) for name, address in known if is_address(address))


# What changes goes the way of the reads, which tell what Redis refuses. Two people who save the
# last one at once may make it one too many, which does no harm.


@read
def keep(scope: Scope, view: SavedView) -> Read[bool]:
    """Keep a view, in place of one with its name; False where there are too many."""
    key = key_of(scope.keys)
    known, many = yield [call("hexists", key, view.name), call("hlen", key)]
    if not known and (many or 0) >= MOST:
        return False
    yield [call("hset", key, view.name, view.address)]
    return True


@read
def forget(scope: Scope, name: str) -> Read[bool]:
    """Forget a view; False where there is none of that name."""
    (gone,) = yield [call("hdel", key_of(scope.keys), name)]
    return bool(gone)
