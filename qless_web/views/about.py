"""About this console and the server it looks at."""

from __future__ import annotations

import platform
import tomllib
from importlib.metadata import version
from pathlib import Path

from flask import Blueprint, Response

from qless_core import reads
from qless_web.console import current
from qless_web.formatting import UNKNOWN, isolated
from qless_web.presenters import about
from qless_web.presenters.frame import running_version
from qless_web.rendering import render

blueprint = Blueprint("about", __name__)

_PARTS = ("flask", "jinja2", "redis", "gunicorn")


@blueprint.get("/about")
def index() -> Response:
    """Show versions, the server, and what this console may do."""
    here = current()
    here.at_primary = True  # what is told of the server is told of where the jobs are
    who, extensions = here.identity, here.extensions
    reading = about.reading_line(here.console.reading.standing())
    project = _checkout()
    page = about.about_page(
        here.read(reads.server()),
        versions={
            "qless": running_version() or f"{_version_of(project)}, from a checkout",
            **{part: version(part) for part in _PARTS},
            "htmx": about.HTMX,
            "Python": platform.python_version(),
        },
        console={
            "Redis": isolated(here.client.safe_url),
            "namespace": isolated(here.client.namespace),
            **({"pages read": reading} if reading else {}),
            "index": about.index_line(here.index.status(here.now), here.now),
            "you": about.who_line(who.title, who.grant, is_known=bool(here.console.accounts)),
            "data": about.data_line(extensions),
            "added": about.added_line(extensions),
        },
        from_checkout=project is not None,
        metrics=here.settings.metrics,
    )
    return render(page)


def _checkout() -> Path | None:
    """Find the project that this runs from; None where the package is installed."""
    folder = Path(__file__).parents[2]
    return folder if (folder / "docs" / "reference").is_dir() else None


def _version_of(project: Path | None) -> str:
    if project is None:
        return UNKNOWN
    return str(tomllib.loads((project / "pyproject.toml").read_text())["project"]["version"])
