"""Addresses and texts without their secrets: for logs, pages and messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, urlencode

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Words in the query of a URL whose values nobody may read.
_SECRETS: Final = ("pass", "pwd", "auth", "secret", "token", "credential")
_MASK: Final = "***"

#: In any text: what may be before the host of a URL, the query's secrets, and a URL.
_OWNER: Final = re.compile(r"://(?![^\s@:]*:?\*\*\*@[^@\n]*$)[^\n]*@", re.MULTILINE)
_IN_QUERY: Final = re.compile(
    rf"([?&][^=&\s]*(?:{'|'.join(_SECRETS)})[^=&\s]*=)[^&\n]*", re.IGNORECASE
)
_URL: Final = re.compile(r"[A-Za-z][\w+.-]*://[^\s'\"]+")

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")
#: What stands before the path: an owner, and hosts with commas between.
_PARTS: Final = re.compile(r"(?:(?P<owner>[^/?#]*)@)?(?P<hosts>[^/?#@]*)(?P<path>[^?#]*)")
_HOST: Final = re.compile(r"(?:\[[0-9A-Fa-f:.%]+\]|[^\[\]:,\s]*)(?::\d{1,5})?")


def masked(url: str) -> str:
    """Give a URL without its secrets: passwords before the host and in the query.

    A user without a password is one too: many write the password there. Where it is not plain what
    belongs to a password, nothing but the scheme is left.

    >>> masked("redis+sentinel://me:secret@a:1,b:2/main/0?sentinel_password=secret")
    'redis+sentinel://me:***@a:1,b:2/main/0?sentinel_password=***'
    """
    scheme, separator, rest = url.partition("://")
    hidden = f"{scheme}://{_MASK}" if separator and _SCHEME.fullmatch(scheme) else _MASK
    before, asked, query = rest.partition("?")
    found = _PARTS.fullmatch(before)
    if not separator or not found or "@" in query or "#" in query or "@" in found["path"]:
        return hidden
    if not all(_HOST.fullmatch(host) for host in found["hosts"].split(",")):
        return hidden
    owner = "" if found["owner"] is None else f"{_masked_owner(found['owner'])}@"
    query = _masked_query(query)
    return f"{scheme}://{owner}{found['hosts']}{found['path']}{asked and query and '?'}{query}"


def _masked_owner(owner: str) -> str:
    user, colon, _ = owner.partition(":")
    return f"{user}:{_MASK}" if colon else (owner and _MASK)


def _masked_query(query: str) -> str:
    return urlencode(
        [
            (name, _MASK if any(word in name.lower() for word in _SECRETS) else value)
            for name, value in parse_qsl(query, keep_blank_values=True)
        ],
        safe="*/{}:",
    )


def hushed(text: str) -> str:
    """Give any text without the secrets of the URLs in it, rather too little than too much."""
    text = _OWNER.sub(f"://{_MASK}@", text)
    text = _IN_QUERY.sub(rf"\1{_MASK}", text)
    return _URL.sub(lambda found: masked(found[0]), text)


def listed(places: Iterable[tuple[str, int]]) -> str:
    """Write hosts and ports as in a URL: `a:6379,[::1]:6380`."""
    return ",".join(
        f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in places
    )
