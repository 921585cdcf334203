"""Help that needs no Redis: what each key does."""

from __future__ import annotations

from flask import Blueprint, Response

from qless_web.presenters.keys import keys_page
from qless_web.rendering import render_anyway

blueprint = Blueprint("keys", __name__)


@blueprint.get("/help/keys")
def index() -> Response:
    """List all keys, and switch them off or on."""
    return render_anyway(keys_page())
