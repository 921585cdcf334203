"""What this reader chose, from the cookie of the request, and back into it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import g, request

from qless_web.preferences import COOKIE, Preferences, size_of
from qless_web.presenters.paging import page_number

if TYPE_CHECKING:
    from flask import Response

    from qless_web.presenters.page import PageNumber

#: Seconds that a browser keeps it: a year, begun anew with each change.
_KEPT_S = 365 * 86_400


def preferences() -> Preferences:
    """Give what this reader chose."""
    kept: Preferences | None = g.get("qless_preferences")
    if kept is None:
        kept = g.qless_preferences = Preferences.read(request.cookies.get(COOKIE, ""))
    return kept


def remember(response: Response, chosen: Preferences) -> None:
    """Let the browser keep what was chosen; its script may read it and change the theme."""
    response.set_cookie(
        COOKIE,
        chosen.text,
        max_age=_KEPT_S,
        path=cookie_path(),
        secure=request.is_secure,
        samesite="Lax",
    )


def cookie_path() -> str:
    """Give the path below which this console's cookies count."""
    return (request.script_root or "") + "/"


def asked_page() -> PageNumber:
    """Read which page of a list is asked for; `?size=` counts more than what was chosen."""
    named = size_of(request.args.get("size"))
    return page_number(
        request.args.get("page"), size=named or preferences().size, named=named is not None
    )
