"""The console: a WSGI app over a qless client, that can be mounted anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qless_web.app import count_minutes, create_app, keep_index, run_operations, watch_alerts
    from qless_web.servers import create_servers

__all__ = [
    "count_minutes",
    "create_app",
    "create_servers",
    "keep_index",
    "run_operations",
    "watch_alerts",
]


def __getattr__(name: str) -> object:
    """Import the app when it is asked for: the command and the demo's crew start without it."""
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from qless_web import app, servers  # noqa: PLC0415 - as said above

    return getattr(servers if name == "create_servers" else app, name)
