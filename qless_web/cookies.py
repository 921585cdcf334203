"""The cookies of sessions and of sign-ins under way: how browsers keep them, and forget them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from flask import request, url_for

from qless_web.accounts import attempt
from qless_web.accounts.sessions import COOKIE
from qless_web.console import current
from qless_web.security import sign_in_root

if TYPE_CHECKING:
    from werkzeug.wrappers import Response

    from qless_web.accounts.attempt import Attempt
    from qless_web.accounts.sessions import Session


#: Bytes of the cookie of one sign-in under way, and of those of all: browsers drop one of more
#: than 4,096 without a word, and servers refuse a line of more than 8,190.
_LONGEST: Final = 3_072
_ALL: Final = 6_144


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


def keep_attempt(response: Response, began: Attempt) -> None:
    """Let the browser keep a sign-in until it is back; no other pages are told it.

    What is too long to come back to is left out, and the oldest sign-ins make room.
    """
    sessions = current().console.accounts.sessions
    if sessions is None:
        return
    value = attempt.write(sessions.keys, began)
    if len(value) > _LONGEST:
        value = attempt.write(sessions.keys, replace(began, wanted=url_for("overview.index")))
    response.set_cookie(
        began.cookie,
        value,
        max_age=attempt.LASTS_S,
        path=url_for("sign_in.index"),
        secure=request.is_secure,
        httponly=True,
        samesite="Lax",
    )
    room = _ALL - len(value)
    for name in attempt.under_way(sessions.keys, request.cookies):
        room -= len(name) + len(request.cookies[name])
        if room < 0:
            _forget_attempt(response, name)


def forget_attempt(response: Response, began: Attempt) -> None:
    """Let the browser forget a sign-in that is over."""
    _forget_attempt(response, began.cookie)


def _forget_attempt(response: Response, name: str) -> None:
    response.delete_cookie(
        name,
        path=url_for("sign_in.index"),
        secure=request.is_secure,
        httponly=True,
        samesite="Lax",
    )


def _path() -> str:
    return f"{sign_in_root()}/"
