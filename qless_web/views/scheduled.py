"""The scheduled jobs of all queues."""

from __future__ import annotations

from flask import Blueprint, Response

from qless_core import reads
from qless_web.console import current
from qless_web.presenters import scheduled
from qless_web.presenters.paging import part_of
from qless_web.remembered import asked_page
from qless_web.rendering import render

blueprint = Blueprint("scheduled", __name__)


@blueprint.get("/scheduled")
def index() -> Response:
    """List the scheduled jobs of all queues, the next to be due first."""
    number = asked_page()
    found = current().read(reads.scheduled(part_of(number)))
    return render(scheduled.scheduled_page(found, number))
