"""Where an alert may be sent: to an address of the world outside, which is the one connected to.

A webhook is an address that somebody wrote into a form, and this machine may reach what they may
not. So a name is looked up once, every address that it has is looked at, and one of these is used.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from urllib.parse import SplitResult

#: Characters of an address.
LONGEST = 1_000

#: Networks whose addresses stand for others, which may be anywhere; and one that a cloud answers
#: from this machine.
_DETOURS = tuple(
    map(
        ipaddress.ip_network,
        (
            *("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"),
            *("192.88.99.0/24", "168.63.129.16/32"),
        ),
    )
)

#: The bits by which an IPv6 address says that it stands for an IPv4 address of its network.
_ISATAP, _MARK = 0xFDFFFFFF, 0x5EFE

_PORTS = {"http": 80, "https": 443}


class Refused(Exception):  # noqa: N818 - it says what was done
    """Raised where nothing is sent to; the message says why, without the address."""


class Target(NamedTuple):
    """Where to connect to, and what to ask for there."""

    scheme: str
    host: str
    port: int
    path: str
    #: The address that was looked at, as text.
    ip: str


def complaint(url: str) -> str:
    """Say what a webhook's address must be; "" where it is that."""
    parts = _parts(url)
    if parts is None or parts.scheme not in _PORTS or not parts.hostname:
        return f"an address as https://hooks.example.com/…, of at most {LONGEST:,} characters"
    if parts.username is not None or parts.password is not None:
        return "an address without a user before the host"
    return ""


def target(url: str, *, private: bool) -> Target:
    """Look up where an address leads to.

    Args:
        url: it.
        private: whether it may lead to this machine and to networks of one's own.

    Raises:
        Refused: it leads nowhere, or where it may not.

    """
    parts = _parts(url)
    if complaint(url) or parts is None:
        message = "that is no address of a webhook"
        raise Refused(message)
    port, host = parts.port or _PORTS[parts.scheme], parts.hostname or ""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        message = f"the host {host[:100]} is not known"
        raise Refused(message) from None
    addresses = [str(each[4][0]) for each in found]
    if not private and not all(map(is_outside, addresses)):
        message = (
            f"{host[:100]} is on this machine or in a network of one's own; "
            "the setting alerts_private allows that"
        )
        raise Refused(message)
    path = parts.path or "/"
    return Target(
        parts.scheme, host, port, f"{path}?{parts.query}" if parts.query else path, addresses[0]
    )


def is_outside(text: str) -> bool:
    """Say whether an address is one of the world outside.

    >>> [is_outside(each) for each in ("8.8.8.8", "10.1.2.3", "::ffff:127.0.0.1", "fe80::1%eth0")]
    [True, False, False, False]
    """
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            address = address.ipv4_mapped
        elif address.is_site_local or int(address) >> 32 & _ISATAP == _MARK:
            return False
    if any(address in network for network in _DETOURS):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _parts(url: str) -> SplitResult | None:
    if len(url) > LONGEST or not re.fullmatch(r"[\x21-\x5b\x5d-\x7e]+", url):
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts
