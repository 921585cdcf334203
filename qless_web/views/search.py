"""The search box: from a word to what it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response, redirect, request

from qless_core import reads
from qless_web import htmx
from qless_web.console import current
from qless_web.presenters import search
from qless_web.rendering import link_url, render

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as Answer

blueprint = Blueprint("search", __name__)

#: Characters of a word that are looked for; no name that is typed is longer.
_MOST = 4_000


@blueprint.get("/search")
def index() -> Response | Answer:
    """Go to what the word names; where that is nothing, or several things, list what there is."""
    query = request.args.get("q", "")[:_MOST]
    word = query.strip()
    found, trimmed, alike = current().read(
        reads.anything(query), reads.anything(word), reads.similar(word)
    )
    exact = search.hits(query, found) or search.hits(word, trimmed)
    if len(exact) == 1 and not htmx.is_partial():
        return redirect(link_url(exact[0].link))
    return render(search.search_page(query, exact, alike))
