"""Server-side options."""

from __future__ import annotations

from flask import Blueprint, Response

from qless_core import reads
from qless_web import option_changes
from qless_web.console import current
from qless_web.presenters import config
from qless_web.rendering import render

blueprint = Blueprint("config", __name__)


@blueprint.get("/config")
def index() -> Response:
    """Show every option with its meaning, its default, and what was set."""
    stored, changes = current().read(reads.settings(), option_changes.changes())
    return render(config.config_page(stored, changes))
