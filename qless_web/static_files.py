"""Static files: their addresses change with them, and they are kept for ever."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from flask import send_from_directory

from qless_web.addresses import form

if TYPE_CHECKING:
    from flask import Flask, Response

STATIC = Path(__file__).parent / "static"


def install(app: Flask) -> None:
    """Give the app its static files."""
    app.add_url_rule("/static/<version>/<path:filename>", "static", _static)
    # Browsers ask for it wherever no page names another, as beside JSON or plain text.
    app.add_url_rule("/favicon.ico", "favicon", _favicon)


def asset(filename: str) -> str:
    """Write the address of a static file."""
    # A page has forty. Their names are ours: they stand in an address as they are.
    return form("static", ("version", "filename")).format(static_version(), filename)


@cache
def static_version() -> str:
    """Digest all static files: modules import one another by relative path, so they go together."""
    digest = hashlib.sha256()
    for path in sorted(STATIC.rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(STATIC).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _favicon() -> Response:
    response = send_from_directory(STATIC, "favicon.ico")
    response.headers["Cache-Control"] = "public, max-age=86400"
    return response


def _static(version: str, filename: str) -> Response:
    response = send_from_directory(STATIC, filename)
    if version == static_version():
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    else:
        response.headers["Cache-Control"] = "no-cache"
    return response
