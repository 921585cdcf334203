"""Somebody whom a proxy has signed in: believed where the request comes from one of ours."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Request

    from qless_web.checks import Network


@dataclass(frozen=True, slots=True)
class Proxy:
    """What is believed of whom.

    Attributes:
        header: in which a proxy says who it has signed in.
        trusted: where proxies are.

    """

    header: str
    trusted: tuple[Network, ...]

    def name(self, request: Request) -> str:
        """Give the name that a proxy of ours says; "" where none says any."""
        return request.headers.get(self.header, "").strip() if self._is_ours(request) else ""

    def _is_ours(self, request: Request) -> bool:
        # Where forwarded headers are believed, the neighbour's own address is kept beside them.
        told = request.environ.get("werkzeug.proxy_fix.orig") or request.environ
        try:
            neighbour = ipaddress.ip_address(str(told.get("REMOTE_ADDR") or "").partition("%")[0])
        except ValueError:
            return False
        if isinstance(neighbour, ipaddress.IPv6Address) and neighbour.ipv4_mapped:
            neighbour = neighbour.ipv4_mapped
        return any(neighbour in network for network in self.trusted)
