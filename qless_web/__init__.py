"""The console: a WSGI app over a qless client, that can be mounted anywhere."""

from __future__ import annotations

from qless_web.app import create_app

__all__ = ["create_app"]
