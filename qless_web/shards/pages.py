"""The pages of all shards: what each has in one list, every row with the name of its shard."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote, urlencode

from flask import Response, make_response, redirect, render_template, request

from qless_core.reads import Slice
from qless_web import htmx
from qless_web.lanes import Lanes
from qless_web.presenters import queues as of_one
from qless_web.presenters import shards
from qless_web.presenters.paging import page_number
from qless_web.presenters.servers import place
from qless_web.shards import questions
from qless_web.shards.asking import Answers, Asking, TurnedAway
from qless_web.shards.questions import Wanted
from qless_web.triage.query import BadQuery, parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flask import Flask
    from werkzeug.wrappers import Response as Answer

T = TypeVar("T")

#: Characters of a query that are looked for.
_MOST = 4_000


def install(home: Flask, consoles: Mapping[str, Flask]) -> None:
    """Let an application show all shards on common pages.

    Args:
        home: the application.
        consoles: that of each shard, by its name.

    """
    pages = Pages(Asking(consoles, Lanes()))
    for address, endpoint, view in (
        ("/", "servers", pages.overview),
        ("/queues", "queues", pages.queues),
        ("/failed", "failed", pages.failures),
        ("/workers", "workers", pages.workers),
        ("/search", "search", pages.search),
        ("/jobs/<name:jid>", "job", pages.job),
    ):
        home.add_url_rule(address, endpoint, view)
    home.register_error_handler(TurnedAway, _turned_away)


class Pages:
    """The views."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking

    def overview(self) -> Response:
        """Show all shards, the longest queues and the largest groups of failures."""
        told = self._asking.ask(questions.glance, "/")
        places = {name: place(request.script_root, name) for name in self._asking.consoles}
        return _render(shards.overview_page(told.found, told.silent, places), told)

    def queues(self) -> Response:
        """List the queues of all shards."""
        match, order = _match(), of_one.order_of(request.args.get("sort"))
        number = _number()
        told = self._asking.ask(partial(questions.queues, _wanted(number, match, order)))
        page = shards.queues_page(told.found, told.silent, number=number, match=match, order=order)
        return _render(page, told)

    def failures(self) -> Response:
        """List the groups of failures of all shards."""
        number = _number()
        told = self._asking.ask(partial(questions.failures, _wanted(number)), "/failed")
        return _render(shards.failures_page(told.found, told.silent, number=number), told)

    def workers(self) -> Response:
        """List the workers of all shards."""
        match, number = _match(), _number()
        told = self._asking.ask(partial(questions.workers, _wanted(number, match)), "/workers")
        page = shards.workers_page(told.found, told.silent, number=number, match=match)
        return _render(page, told)

    def search(self) -> Response:
        """List what a word names and the jobs that match, on all shards."""
        query = request.args.get("q", "")[:_MOST].strip()
        if not query:
            return _render(shards.SearchPage(query=""), Answers({}, {}))
        try:
            parse(query)
        except BadQuery as error:
            return _render(shards.SearchPage(query=query, problem=error.problem), Answers({}, {}))
        part = Slice(0, shards.SIZE)
        told = self._asking.ask(partial(questions.search, query, part), "/search")
        return _render(shards.search_page(query, told.found, told.silent), told)

    def job(self, jid: str) -> Response | Answer:
        """Go to a job, on whichever shard it is."""
        told = self._asking.ask(partial(questions.job, jid), "/search")
        rows = [shards.Row(name, where, jid) for name, where in told.found.items() if where]
        if len(rows) == 1:
            return redirect(rows[0].address, 303)
        page = shards.JobPage(jid=jid, rows=tuple(rows), silent=told.silent)
        return _render(page, told, 300 if rows else 404)


def _render(page: shards.ShardsPage, told: Answers[T], status: int = 200) -> Response:
    response = make_response(render_template(page.template, page=page, frame=page), status)
    for cookie in told.cookies:
        response.headers.add("Set-Cookie", cookie)
    return response


def _match() -> str:
    return request.args.get("q", "").strip()


def _number() -> int:
    return page_number(request.args.get("page"), size=shards.SIZE)


def _wanted(number: int, match: str = "", order: str = "name") -> Wanted:
    return Wanted(min(number * shards.SIZE, shards.REACH), match, order)


def _turned_away(turned: TurnedAway) -> Response:
    """Pass a console's answer on; who is to sign in there comes back to this page."""
    response = turned.response
    if "Location" in response.headers:
        response.headers["Location"] = _and_back(response.headers["Location"])
    if htmx.goes_to(response):
        htmx.go_to(response, _and_back(htmx.goes_to(response)))
    return response


def _and_back(address: str) -> str:
    """Let an address that leads back to a page of a console lead back to this one."""
    where, _, asked = address.partition("?")
    if not asked.startswith("next="):
        return address
    query = request.query_string.decode("ascii", errors="replace")
    here = quote(request.script_root + request.path, safe="/~") + (f"?{query}" if query else "")
    return f"{where}?{urlencode({'next': here})}"
