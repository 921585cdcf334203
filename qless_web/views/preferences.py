"""How pages look to this reader: a form, and what it sends. Nothing of it is in Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

from flask import Blueprint, Response, make_response, redirect, request, url_for

from qless_web.preferences import COOKIE
from qless_web.presenters.page import Flash
from qless_web.presenters.preferences import preferences_page
from qless_web.remembered import cookie_path, preferences, remember
from qless_web.rendering import render_anyway, set_flash
from qless_web.security import local_path

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as Answer

blueprint = Blueprint("preferences", __name__)


@blueprint.get("/preferences")
def index() -> Response:
    """Show what can be chosen."""
    return render_anyway(
        preferences_page(preferences(), back=_back(request.args.get("return_to", "")))
    )


@blueprint.post("/preferences")
def change() -> Response | Answer:
    """Remember what came along, and go back; whatever did not come along stays as it was."""
    back = _back(request.form.get("return_to", ""))
    try:
        chosen = preferences().changed(dict(request.form.lists()))
    except ValueError as error:
        return render_anyway(preferences_page(preferences(), problem=str(error), back=back), 422)
    response = make_response(redirect(_as_chosen(back) or url_for("preferences.index"), 303))
    remember(response, chosen)
    if "theme" in request.form:
        set_flash(response, Flash("These choices are kept in this browser."))
    return response


@blueprint.post("/preferences/forget")
def forget() -> Answer:
    """Go back to what everybody sees who chose nothing."""
    response = make_response(redirect(url_for("preferences.index"), 303))
    response.delete_cookie(COOKIE, path=cookie_path())
    set_flash(response, Flash("Nothing is chosen any more."))
    return response


def _back(return_to: str) -> str:
    return local_path(return_to, request.script_root) or ""


def _as_chosen(back: str) -> str:
    """Let the address to go back to name no other size than the one that was just chosen."""
    if "size" not in request.form or not back:
        return back
    parts = urlsplit(back)
    query = parse_qsl(parts.query, keep_blank_values=True)
    kept = [(name, value) for name, value in query if name not in {"size", "page"}]
    return parts.path + (f"?{urlencode(kept)}" if kept else "")
