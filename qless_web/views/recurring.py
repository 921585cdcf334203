"""The recurring jobs of all queues, and what became of the runs of one."""

from __future__ import annotations

from flask import Blueprint, Response, abort

from qless_core import reads
from qless_web.console import current
from qless_web.presenters import recurring
from qless_web.presenters.paging import part_of
from qless_web.remembered import asked_page
from qless_web.rendering import render

blueprint = Blueprint("recurring", __name__)


@blueprint.get("/recurring")
def index() -> Response:
    """List the recurring jobs of all queues, the next to run first."""
    number = asked_page()
    found = current().read(reads.recurring(part_of(number)))
    return render(recurring.list_page(found, number))


@blueprint.get("/jobs/<name:jid>/runs")
def runs(jid: str) -> Response:
    """List the jobs that a recurring job made, the newest first."""
    number = asked_page()
    found = current().read(reads.runs(jid, part_of(number)))
    if found is None:
        abort(404, f"There is no recurring job {jid}.")
    return render(recurring.runs_page(jid, found, number))
