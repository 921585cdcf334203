"""Every component in every state on one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint

from qless_web.console import current
from qless_web.presenters.patterns import patterns
from qless_web.rendering import render

if TYPE_CHECKING:
    from flask import Response

blueprint = Blueprint("patterns", __name__)


@blueprint.get("/patterns")
def show() -> Response:
    """Show the components."""
    return render(patterns(current().now))
