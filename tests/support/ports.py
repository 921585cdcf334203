"""Ports for servers of tests and benchmarks."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack
from typing import Final

#: Below those that the system gives to whoever connects somewhere: such a port may be taken by an
#: outgoing connection between the look and the start of a server.
_RANGE: Final = range(20_000, 32_000)
_TRIES: Final = 100


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Find ports that nobody listens on, all at once, so that they differ."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found: list[int] = []
    with ExitStack() as stack:
        for port in random.SystemRandom().sample(_RANGE, count * _TRIES):
            probe = stack.enter_context(socket.socket(family))
            try:
                probe.bind((host, port))
            except OSError:
                continue
            found.append(port)
            if len(found) == count:
                return found
    message = f"no {count} ports of {_RANGE} are free on {host}"
    raise OSError(message)


def free_port(host: str = "127.0.0.1") -> int:
    """Find a port that nobody listens on."""
    return free_ports(1, host)[0]
