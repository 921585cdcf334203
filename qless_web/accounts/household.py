"""Whose address it is, where addresses are counted: everybody has very many of IPv6."""

from __future__ import annotations

import ipaddress

#: Bits of an address that say in which network it is; who has one may take any address of it.
_NETWORK = 64


def household(address: str) -> str:
    """Give what all addresses of one network count as; any other text as it is.

    >>> household("2001:db8:1:2:3::4"), household("::ffff:10.0.0.1"), household("10.0.0.1")
    ('2001:db8:1:2::/64', '10.0.0.1', '10.0.0.1')
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(found, ipaddress.IPv6Address):
        return address
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found), _NETWORK), strict=False))
