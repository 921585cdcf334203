"""Tags, and the jobs with one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response, redirect, request, url_for

from qless_core import reads
from qless_web import htmx
from qless_web.console import current
from qless_web.presenters import tags
from qless_web.presenters.by_state import state_of
from qless_web.presenters.paging import part_of
from qless_web.presenters.tables import order_of
from qless_web.remembered import asked_page
from qless_web.rendering import render

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as Answer

blueprint = Blueprint("tags", __name__)


@blueprint.get("/tags")
def index() -> Response:
    """List tags, most used first, or by name."""
    number = asked_page()
    order = order_of(request.args.get("sort"), tags.ORDERS)
    found = current().read(reads.tags(part_of(number), named=order == "name"))
    return render(tags.tags_page(found, number, order))


@blueprint.get("/tag/<name:tag>")
def show(tag: str) -> Response:
    """List the jobs with a tag."""
    number = asked_page()
    state = state_of(request.args.get("state"))
    found = current().read(reads.tagged(tag, part_of(number), state))
    page = tags.tag_page(tag, found, state, number)
    # A page that is open when the last job loses the tag is told so as any other change.
    return render(page, 200 if found.members or htmx.is_partial() else 404)


@blueprint.get("/tag")
def named() -> Response | Answer:
    """List the jobs with the tag of `?tag=`, the original's address; without one, all tags."""
    tag = request.args.get("tag")
    return redirect(url_for("tags.index")) if tag is None else show(tag)
