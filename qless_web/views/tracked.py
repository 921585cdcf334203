"""Tracked jobs."""

from __future__ import annotations

from flask import Blueprint, Response, request

from qless_core import reads
from qless_web.console import current
from qless_web.presenters import tracked
from qless_web.presenters.by_state import state_of
from qless_web.presenters.paging import part_of
from qless_web.remembered import asked_page
from qless_web.rendering import render

blueprint = Blueprint("tracked", __name__)


@blueprint.get("/track")
def index() -> Response:
    """List tracked jobs, those that need attention first."""
    number = asked_page()
    state = state_of(request.args.get("state"))
    found = current().read(reads.tracked(part_of(number), state))
    return render(tracked.tracked_page(found, state, number))
