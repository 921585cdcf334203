"""Saved views: addresses of the console with a name."""

from __future__ import annotations

from flask import Blueprint, Response

from qless_web import saved_views
from qless_web.console import current
from qless_web.presenters.views import views_page
from qless_web.rendering import render

blueprint = Blueprint("views", __name__)


@blueprint.get("/views")
def index() -> Response:
    """List the saved views; the frame has read them already."""
    return render(views_page(current().views, saved_views.MOST))
