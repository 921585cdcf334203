"""Alerts: what is looked at, what it has come to, and whom that is told."""

from __future__ import annotations

from flask import Blueprint, Response

from qless_web.alerts import keeping
from qless_web.console import current
from qless_web.presenters.alerts import alerts_page
from qless_web.rendering import render

blueprint = Blueprint("alerts", __name__)


@blueprint.get("/alerts")
def index() -> Response:
    """List the alerts."""
    here = current()
    watching = here.console.watching
    found = here.read(keeping.kept(watching.fixed if watching else ()))
    looks = here.settings.alerts and not here.settings.read_only
    return render(alerts_page(found, here.settings.alerts_every_s if looks else None))
