"""About this console and the server it looks at."""

from __future__ import annotations

import platform
from importlib.metadata import version

from flask import Blueprint, Response

from qless_core import reads
from qless_web.console import current
from qless_web.presenters import about
from qless_web.presenters.frame import running_version
from qless_web.rendering import render

blueprint = Blueprint("about", __name__)

_PARTS = ("flask", "jinja2", "redis", "gunicorn")


@blueprint.get("/about")
def index() -> Response:
    """Show versions, the server, and what this console may do."""
    here = current()
    page = about.about_page(
        here.read(reads.server()),
        versions={
            "qless": running_version() or "from a checkout",
            **{part: version(part) for part in _PARTS},
            "htmx": about.HTMX,
            "Python": platform.python_version(),
        },
        redis_url=here.client.safe_url,
        namespace=here.client.namespace,
    )
    return render(page)
