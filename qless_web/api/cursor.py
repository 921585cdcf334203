"""Where the next part of a list begins, in a form that only the list it came from takes back."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b
from typing import TYPE_CHECKING

from qless_web.problem import ApiProblem

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Bytes of the digest that names the list, and of the place in it.
_LIST, _PLACE = 6, 9

#: Lists in Redis do not get longer. A walk through several counts them, too.
_FARTHEST, FARTHEST_WALK = 10**9, 2**63 - 1


def write(place: int, path: str, asked: Mapping[str, object]) -> str:
    """Write a cursor.

    Args:
        place: how many items to skip.
        path: of the list.
        asked: what else it was asked for, as its filter.

    """
    text = place.to_bytes(_PLACE, "big") + _list(path, asked)
    return urlsafe_b64encode(text).decode().rstrip("=")


def read(cursor: str, path: str, asked: Mapping[str, object], *, farthest: int = _FARTHEST) -> int:
    """Read a cursor: how many items to skip, at most `farthest`.

    Raises:
        ApiProblem: it is none, or of another list.

    """
    try:
        raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except (binascii.Error, ValueError):
        raw = b""
    place = int.from_bytes(raw[:_PLACE], "big")
    if len(raw) != _PLACE + _LIST or place > farthest:
        detail = "The cursor is none that this console wrote: send what `next` said, or none."
        raise ApiProblem(400, "bad-cursor", detail)
    if raw[_PLACE:] != _list(path, asked):
        detail = (
            "The cursor belongs to another list: only `limit` may change between two parts of one."
        )
        raise ApiProblem(400, "bad-cursor", detail)
    return place


def _list(path: str, asked: Mapping[str, object]) -> bytes:
    text = repr((path, sorted(asked.items())))
    return blake2b(text.encode(errors="surrogatepass"), digest_size=_LIST).digest()
