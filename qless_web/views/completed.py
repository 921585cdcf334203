"""Completed jobs."""

from __future__ import annotations

from flask import Blueprint, Response, request

from qless_core import reads
from qless_web.console import current
from qless_web.presenters import completed
from qless_web.presenters.paging import part_of
from qless_web.presenters.tables import order_of
from qless_web.remembered import asked_page
from qless_web.rendering import render

blueprint = Blueprint("completed", __name__)


@blueprint.get("/completed")
def index() -> Response:
    """List completed jobs, newest first or oldest first."""
    number = asked_page()
    order = order_of(request.args.get("sort"), completed.ORDERS)
    found, options = current().read(
        reads.completed(part_of(number), oldest=order == "oldest"), reads.settings()
    )
    return render(completed.completed_page(found, options, number, order))
