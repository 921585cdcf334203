"""Names for the command palette: a read of lists that have an end, and nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response, redirect, request, url_for

from qless_core import reads
from qless_web import htmx
from qless_web.console import current
from qless_web.presenters.palette import palette_page
from qless_web.rendering import render

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as Answer

blueprint = Blueprint("palette", __name__)

#: Characters of a word that are looked for.
_MOST = 200


@blueprint.get("/palette")
def names() -> Response | Answer:
    """Give what `?q=` may mean, for the list below the search box; as a page that is the search."""
    query = request.args.get("q", "").strip()[:_MOST]
    if not htmx.is_partial():
        return redirect(url_for("search.index", q=query))
    found, alike = current().read(reads.anything(query), reads.similar(query))
    return render(palette_page(query, found, alike))
