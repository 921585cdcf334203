"""Workers: all that were seen, and one with the jobs it holds."""

from __future__ import annotations

from http import HTTPStatus

from flask import Blueprint, Response, request

from qless_core import reads
from qless_web.console import current
from qless_web.presenters import problems, workers
from qless_web.presenters.paging import part_of
from qless_web.presenters.tables import order_of
from qless_web.remembered import asked_page
from qless_web.rendering import render

blueprint = Blueprint("workers", __name__)


@blueprint.get("/workers")
def index() -> Response:
    """List the workers by name, so that they stay where they are, or as was asked for."""
    match = request.args.get("q", "").strip()
    number = asked_page()
    order = order_of(request.args.get("sort"), workers.ORDERS)
    found = current().read(reads.workers(part_of(number), match=match, grouped=True, order=order))
    return render(workers.workers_page(found, match=match, number=number, order=order))


@blueprint.get("/workers/<name:worker>")
def show(worker: str) -> Response:
    """Show one worker and the jobs it holds."""
    number = asked_page()
    found = current().read(reads.worker(worker, part_of(number)))
    if not found.known:
        page = problems.problem(
            HTTPStatus.NOT_FOUND,
            f"There is no worker called “{worker}”.",
            "One that was not seen for a day is forgotten; one that lives comes back by itself.",
        )
        return render(page, HTTPStatus.NOT_FOUND)
    return render(workers.worker_page(found, number))
