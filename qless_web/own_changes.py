"""Whoever has just changed something sees it: a cookie says so to whichever process is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from flask import request

from qless_web.console import CHANGED_COOKIE, READING, current
from qless_web.reading import LONGEST_LAG_S
from qless_web.remembered import cookie_path

if TYPE_CHECKING:
    from flask import Flask, Response

#: Seconds after which every replica that is read has what was changed.
_KEPT_S: Final = int(LONGEST_LAG_S) + 2


def install(app: Flask) -> None:
    """Note every request that may have changed something."""
    app.after_request(_note)


def _note(response: Response) -> Response:
    here = current()
    if request.method in READING:
        return response
    here.console.reading.changed()
    if not here.settings.read_url:
        return response
    response.set_cookie(
        CHANGED_COOKIE,
        "1",
        max_age=_KEPT_S,
        path=cookie_path(),
        secure=request.is_secure,
        httponly=True,
        samesite="Strict",
    )
    return response
