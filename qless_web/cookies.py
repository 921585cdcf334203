"""The cookie of a session: how a browser is told to keep it, and to forget it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import request

from qless_web.accounts.sessions import COOKIE
from qless_web.console import current

if TYPE_CHECKING:
    from werkzeug.wrappers import Response

    from qless_web.accounts.sessions import Session


def keep(response: Response, session: Session) -> None:
    """Let the browser keep a session."""
    sessions = current().console.accounts.sessions
    if sessions is not None:
        response.set_cookie(
            COOKIE,
            sessions.write(session),
            path=_path(),
            secure=request.is_secure,
            httponly=True,
            samesite="Lax",
        )


def forget(response: Response) -> None:
    """Let the browser forget its session."""
    response.delete_cookie(
        COOKIE, path=_path(), secure=request.is_secure, httponly=True, samesite="Lax"
    )


def _path() -> str:
    return f"{request.script_root}/"
