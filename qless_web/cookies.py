"""The cookies of sessions and of sign-ins under way: how browsers keep them, and forget them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import request

from qless_web.accounts import attempt
from qless_web.accounts.sessions import COOKIE
from qless_web.console import current
from qless_web.security import sign_in_root

if TYPE_CHECKING:
    from werkzeug.wrappers import Response

    from qless_web.accounts.attempt import Attempt
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


def keep_attempt(response: Response, began: Attempt, back: str) -> None:
    """Let the browser keep a sign-in until it is back at that path; no other address is told it."""
    sessions = current().console.accounts.sessions
    if sessions is not None:
        response.set_cookie(
            began.cookie,
            attempt.write(sessions.keys, began),
            max_age=attempt.LASTS_S,
            path=back,
            secure=request.is_secure,
            httponly=True,
            samesite="Lax",
        )


def forget_attempt(response: Response, began: Attempt, back: str) -> None:
    """Let the browser forget a sign-in that is over."""
    response.delete_cookie(
        began.cookie, path=back, secure=request.is_secure, httponly=True, samesite="Lax"
    )


def _path() -> str:
    return f"{sign_in_root()}/"
