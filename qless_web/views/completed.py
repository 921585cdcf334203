"""Completed jobs."""

from __future__ import annotations

from flask import Blueprint, Response

from qless_core import reads
from qless_web.console import current
from qless_web.presenters import completed
from qless_web.presenters.paging import part_of
from qless_web.remembered import asked_page
from qless_web.rendering import render

blueprint = Blueprint("completed", __name__)


@blueprint.get("/completed")
def index() -> Response:
    """List completed jobs, newest first."""
    number = asked_page()
    found, options = current().read(reads.completed(part_of(number)), reads.settings())
    return render(completed.completed_page(found, options, number))
