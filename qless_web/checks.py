"""What the settings of the console take: text or a value in, the value out.

Where it makes no sense, a ValueError says what it must be.
"""

from __future__ import annotations

import ipaddress
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from qless_core.connection import pool_of
from qless_core.keys import complaint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

#: Names of the colours the environment's label may have; the style sheet knows the shades.
COLOURS = ("grey", "blue", "green", "amber", "red", "violet")

#: Roles of those who are signed in elsewhere; `none` lets in only those of the file of users.
ROLES = ("none", "viewer", "operator", "admin")

_YES = frozenset({"1", "yes", "true", "on"})
_NO = frozenset({"", "0", "no", "false", "off"})

#: What a server may be called: it stands in addresses and in the header.
_SERVER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,39}")


def text(value: object) -> str:
    """Take any text, without blanks around it."""
    return str(value).strip()


def switch(value: object) -> bool:
    """Take yes or no."""
    if isinstance(value, bool):
        return value
    word = text(value).lower()
    if word in _YES:
        return True
    if word in _NO:
        return False
    message = "must be yes or no"
    raise ValueError(message)


def whole(lowest: int, highest: int) -> Callable[[object], int]:
    """Make a check of whole numbers."""

    def check(value: object) -> int:
        digits = text(value)
        if not re.fullmatch(r"\d{1,9}", digits) or not lowest <= int(digits) <= highest:
            message = f"must be a whole number from {lowest} to {highest}"
            raise ValueError(message)
        return int(digits)

    return check


def seconds(lowest: float, highest: float) -> Callable[[object], float]:
    """Make a check of seconds."""

    def check(value: object) -> float:
        message = f"must be a number of seconds from {lowest:g} to {highest:g}"
        try:
            number = float(text(value))
        except ValueError:
            raise ValueError(message) from None
        if not lowest <= number <= highest:
            raise ValueError(message)
        return number

    return check


def words(value: object) -> tuple[str, ...]:
    """Take a text with commas between, or any list."""
    parts = value.split(",") if isinstance(value, str) else cast("Iterable[object]", value)
    return tuple(word for word in map(text, parts) if word)


def redis_url(value: object) -> str:
    """Take the address of a server, of Sentinels or of a cluster.

    Raises:
        BadArgument: it is none; what it says is whole without the name of the setting.

    """
    url = text(value)
    pool_of(url)
    return url


def read_url(value: object) -> str:
    """Take the address of one server, or none."""
    url = text(value)
    if url and pool_of(redis_url(url)).address.kind != "server":
        message = "must name the one server to read at: redis://, rediss:// or unix://"
        raise ValueError(message)
    return url


def prefix(value: object) -> str:
    """Take a path; none is ""."""
    path = text(value).strip("/")
    if not path:
        return ""
    if not re.fullmatch(r"[\w.~/-]+", path) or {"", ".", ".."} & set(path.split("/")):
        message = "must be a path such as /ops/qless"
        raise ValueError(message)
    return f"/{path}"


def origins(value: object) -> tuple[str, ...]:
    """Take origins, without a slash at their end."""
    found = tuple(origin.rstrip("/") for origin in words(value))
    for origin in found:
        if not re.fullmatch(r"https?://[^/\s]+", origin):
            message = "must be origins such as https://ops.example.com, with commas between"
            raise ValueError(message)
    return found


def runbooks(value: object) -> tuple[tuple[str, str], ...]:
    """Read pairs of a pattern and an address: of a text, or of a mapping."""
    if isinstance(value, str):
        pairs = [each.partition("=")[::2] for each in words(value)]
    else:
        pairs = list(cast("Any", getattr(value, "items", lambda: value))())
    found = tuple((text(pattern), text(url)) for pattern, url in pairs)
    for pattern, url in found:
        if not pattern or not re.fullmatch(r"https?://[^/\s{}]+(?:/\S*)?", url):
            message = "must be patterns of groups with addresses: mail-*=https://wiki.example/mail"
            raise ValueError(message)
    return found


def servers(value: object) -> tuple[tuple[str, str], ...]:
    """Read names with addresses: of a text, or of a mapping."""
    if isinstance(value, str):
        pairs = [each.partition("=")[::2] for each in value.split()]
    else:
        pairs = list(cast("Any", getattr(value, "items", lambda: value))())
    names = [text(name) for name, _ in pairs]
    if not all(map(_SERVER_NAME.fullmatch, names)) or len({*names}) < len(names):
        message = "must be names, each once, with addresses: shop=redis://a:6379/0"
        raise ValueError(message)
    return tuple((name, redis_url(url)) for name, (_, url) in zip(names, pairs, strict=True))


def colour(value: object) -> str:
    """Take one of `COLOURS`."""
    name = text(value)
    if name not in COLOURS:
        message = f"must be one of {', '.join(COLOURS)}"
        raise ValueError(message)
    return name


def networks(value: object) -> tuple[Network, ...]:
    """Take addresses and networks."""
    try:
        return tuple(ipaddress.ip_network(word) for word in words(value))
    except ValueError:
        message = "must be addresses or networks such as 10.0.0.0/8, with commas between"
        raise ValueError(message) from None


def header(value: object) -> str:
    """Take the name of a header, or none."""
    name = text(value)
    if name and not re.fullmatch(r"[A-Za-z0-9-]{1,64}", name):
        message = "must be the name of a header such as X-Forwarded-User"
        raise ValueError(message)
    return name


def issuer(value: object) -> str:
    """Take the address of an OpenID provider, or none; what is not encrypted only on this host."""
    url = text(value)
    here = re.fullmatch(r"http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(/[^\s?#]*)?", url)
    if url and not here and not re.fullmatch(r"https://[^/\s?#@]+(/[^\s?#]*)?", url):
        message = "must be an address such as https://id.example.com/"
        raise ValueError(message)
    return url


def provider_roles(value: object) -> tuple[tuple[str, str], ...]:
    """Read pairs of a value and a role: of a text, or of a mapping."""
    if isinstance(value, str):
        pairs = [each.rpartition("=")[::2] for each in words(value)]
    else:
        pairs = list(cast("Any", getattr(value, "items", lambda: value))())
    found = tuple((text(each), text(role)) for each, role in pairs)
    if any(not each or role not in ROLES[1:] for each, role in found):
        message = f"must be values with roles: ops=operator,platform=admin; {', '.join(ROLES[1:])}"
        raise ValueError(message)
    return found


def role(value: object) -> str:
    """Take one of `ROLES`."""
    name = text(value)
    if name not in ROLES:
        message = f"must be one of {', '.join(ROLES)}"
        raise ValueError(message)
    return name


def filled(value: object) -> str:
    """Take a text that is not empty."""
    found = text(value)
    if not found:
        message = "must not be empty"
        raise ValueError(message)
    return found


def namespace(value: object) -> str:
    """Take what the names of keys may begin with."""
    found = filled(value)
    if problem := complaint(found):
        raise ValueError(problem)
    return found


def place(value: object) -> Path | None:
    """Take a path, or none."""
    path = "" if value is None else text(value)
    return Path(path).expanduser() if path else None


def place_or(usual: Callable[[], Path]) -> Callable[[object], Path | None]:
    """Make a check that turns yes into the usual place and no into none; all else is a path."""

    def check(value: object) -> Path | None:
        word = "" if value is None else text(value)
        if word.lower() in _YES:
            return usual()
        return None if word.lower() in _NO else Path(word).expanduser()

    return check
