"""The first page: everything at a glance."""

from __future__ import annotations

from flask import Blueprint, Response

from qless_core import reads
from qless_web import minutes
from qless_web.console import current
from qless_web.presenters import overview
from qless_web.rendering import render
from qless_web.triage.deploys import deploys

blueprint = Blueprint("overview", __name__)


@blueprint.get("/")
def index() -> Response:
    """Show what needs attention, the queues, the failures, and who works."""
    here = current()
    found, server, day, hour, marks = here.read(
        reads.overview(), reads.server(), minutes.of_day(), minutes.of_hour(), deploys()
    )
    done = overview.Done(day, hour, marks)
    return render(overview.overview_page(found, here.counts, done, server))
