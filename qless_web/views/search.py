"""The search box: from a word to what it names, and to the jobs that have it."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from flask import Blueprint, Response, jsonify, redirect, request

from qless_core import reads
from qless_core.reads import Slice
from qless_web import htmx
from qless_web.addresses import link_url
from qless_web.console import current
from qless_web.presenters import search
from qless_web.presenters.jobs import job_link
from qless_web.presenters.paging import part_of
from qless_web.remembered import asked_page
from qless_web.rendering import render
from qless_web.sought import beginning, seeking
from qless_web.triage.narrowing import chosen, narrowed
from qless_web.triage.query import BadQuery

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as Answer

    from qless_core.reads import JobRow, Plan, Read, Scope
    from qless_web.presenters.page import Link
    from qless_web.presenters.search import Hit, Jobs, Wrong
    from qless_web.sought import Sought

    #: What a search found, with its rows.
    Found = tuple[Sought, tuple[JobRow, ...]]

blueprint = Blueprint("search", __name__)

#: Characters of a query that are looked for.
_MOST: Final = 4_000
#: What a jid begins with that was made by qless, as lists show it.
_JID = re.compile(r"[0-9a-f]{8}[0-9a-f-]*…?")


@blueprint.get("/search")
def index() -> Response | Answer:
    """Go to what is named, or list what resembles it and the jobs that match."""
    query = request.args.get("q", "")[:_MOST]
    word = query.strip()
    if not query:
        return render(search.asking_page())
    plan, wrong = _seeking(query, word)
    found, trimmed, alike, sought = current().read(
        reads.anything(query), reads.anything(word), reads.similar(word), plan
    )
    exact = search.hits(query, found) or search.hits(word, trimmed)
    alike = replace(alike, jobs=beginning(word) or alike.jobs)
    goal = _goal(word, exact, alike.jobs)
    if goal and not htmx.is_partial():
        return redirect(link_url(goal))
    jobs = _jobs(query, *sought) if sought else None
    return render(search.search_page(query, exact, alike, jobs, wrong))


@blueprint.get("/search/complete")
def complete() -> Response:
    """Give queries that what was typed may become, as JSON."""
    return jsonify(current().index.complete(request.args.get("q", "")))


def _seeking(query: str, word: str) -> tuple[Plan[Found | None], Wrong | None]:
    """Plan to look for jobs; where the query makes no sense, say where."""
    try:
        return seeking(word, _part()) if word else _nothing(), None
    except BadQuery as error:
        lead = len(query) - len(query.lstrip())
        return _nothing(), search.wrong(query, error.problem, lead + error.position)


@reads.read
def _nothing(_scope: Scope) -> Read[None]:
    """Look for nothing."""
    yield from ()


def _part() -> Slice:
    """Say which part was asked for: a page, or of a walk where the step before ended."""
    number = asked_page()
    after = request.args.get("after", "")
    if re.fullmatch(r"[0-9]{1,18}", after, re.ASCII):
        return Slice(int(after), number.size)
    return part_of(number)


def _goal(word: str, exact: tuple[Hit, ...], jobs: tuple[tuple[str, str], ...]) -> Link | None:
    """Say where to go at once: to the one thing of this name, or the one job that begins so."""
    if len(exact) == 1:
        return exact[0].link
    if not exact and len(jobs) == 1 and _JID.fullmatch(word):
        return job_link(jobs[0][0])
    return None


def _jobs(query: str, sought: Sought, rows: tuple[JobRow, ...]) -> Jobs:
    word = query.strip()
    ways = search.Ways(chosen(word), partial(narrowed, word))
    return search.found_jobs(query, sought, rows, ways, asked_page(), current().now)
