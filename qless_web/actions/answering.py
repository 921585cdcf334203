"""How an action answers: the next page with a message, or for htmx the message alone."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from flask import abort, make_response, redirect, request

from qless_web import htmx
from qless_web.addresses import link_url
from qless_web.presenters import ask
from qless_web.rendering import render, set_flash
from qless_web.security import local_path, split

if TYPE_CHECKING:
    from flask import Response

    from qless_web.actions.outcome import Outcome
    from qless_web.presenters.page import Link


def answer(outcome: Outcome, return_to: str, home: Link) -> Response:
    """Tell what was done.

    Args:
        outcome: that.
        return_to: the page that the action came from; "" when it does not say.
        home: the page of what the action is about.

    """
    asked_from = local_path(return_to, request.script_root)
    back = asked_from or link_url(home)
    elsewhere = _elsewhere(outcome, back)
    if htmx.is_partial():
        return _fragment(outcome, elsewhere)
    if outcome.status == 400 or (outcome.status > 400 and not asked_from):  # noqa: PLR2004 - HTTP's errors
        abort(outcome.status, outcome.text)
    response = make_response(redirect(elsewhere or back, 303))
    set_flash(response, outcome.flash)
    return response


def way_back(return_to: str, home: Link) -> str:
    """Give the page that a question leads back to: the one it was asked from, if that is ours."""
    asked_from = local_path(return_to, request.script_root)
    if asked_from:
        return asked_from
    came_from = split(request.headers.get("Referer", ""))
    if came_from is None:
        return link_url(home)
    path = came_from.path + (f"?{came_from.query}" if came_from.query else "")
    ours = came_from.netloc == request.host and came_from.path != request.script_root + request.path
    return (local_path(path, request.script_root) if ours else None) or link_url(home)


def _elsewhere(outcome: Outcome, back: str) -> str:
    """Give the page to go to in place of the one that the action came from; "" to stay."""
    if there := outcome.again or outcome.leads_to:
        return link_url(there)
    for page, instead in outcome.gone:
        if _path(back) == _path(link_url(page)):
            return link_url(instead)
    return ""


def _path(address: str) -> str:
    return urlsplit(address).path


def _fragment(outcome: Outcome, elsewhere: str) -> Response:
    if elsewhere:
        response = make_response("", 200)
        set_flash(response, outcome.flash)
        htmx.go_to(response, elsewhere)
        return response
    response = render(ask.toast(outcome.flash), outcome.status)
    htmx.changed(response)
    return response
