"""The trash: cancelled jobs that can still come back."""

from __future__ import annotations

from flask import Blueprint, Response, request

from qless_web.console import current
from qless_web.operations import trash as store
from qless_web.presenters import trash
from qless_web.presenters.paging import page_number
from qless_web.rendering import render

blueprint = Blueprint("trash", __name__)


@blueprint.get("/trash")
def index() -> Response:
    """List what was cancelled of late, and of one operation the jobs."""
    here = current()
    keep_s = here.settings.trash_hours * 3_600
    chosen = request.args.get("operation", "")
    number = page_number(request.args.get("page"))
    found, jobs = here.read(
        store.resting(keep_s),
        store.jobs_of(chosen, (number - 1) * number.size, number.size),
    )
    return render(trash.trash_page(found, chosen, jobs, number, here.settings.trash_hours))
