"""The port, taken before anything else, so that a port in use is one sentence on the terminal.

It listens at once: two that only bind to a port share it, and the later one to listen would fail
where nobody expects it any more. Browsers that come early wait instead of being turned away.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
from typing import TYPE_CHECKING

from qless_web.process.errors import StartError
from qless_web.process.holder import holder_of
from qless_web.settings import SettingError

if TYPE_CHECKING:
    from qless_web.settings import Settings

#: Connections that may wait to be taken in; the system may allow fewer.
WAITING = 2048


def listen(settings: Settings) -> socket.socket:
    """Return a socket that listens on the host and port of the settings.

    Raises:
        SettingError: the host is not this machine's own, and nobody said that it may be.
        StartError: the host is not known, or the port is taken.

    """
    family, address = _resolve(settings.host, settings.port)
    is_guarded = settings.has_sign_in or settings.allow_anonymous
    if not is_guarded and not ipaddress.ip_address(address[0]).is_loopback:
        message = (
            f"{settings.host} is not a loopback address and there is no sign-in: whoever reaches "
            "the port could change every job; make users (qless-web user add NAME) and say "
            "--users-file, or --allow-anonymous if that is meant"
        )
        raise SettingError(message)
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(WAITING)
    except OSError as error:
        listener.close()
        message = f"port {settings.port} of {settings.host} cannot be used: {error.strerror}"
        if error.errno == errno.EADDRINUSE and (pid := holder_of(settings.port)):
            message = f"{message}, by pid {pid}"
        raise StartError(message) from error
    return listener


def address_of(listener: socket.socket, prefix: str) -> str:
    """Return the address a browser opens, as http://127.0.0.1:5678/."""
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}{prefix}/"


def _resolve(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        message = f"the host {host} is not known: {error.strerror}"
        raise StartError(message) from error
    # A name may stand for an IPv4 and an IPv6 address; browsers and proxies expect the former.
    found.sort(key=lambda entry: entry[0] != socket.AF_INET)
    family, _, _, _, address = found[0]
    return family, (str(address[0]), int(address[1]))
