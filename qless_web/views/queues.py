"""Queues: all of them, and one with its statistics and its jobs in each state."""

from __future__ import annotations

from http import HTTPStatus

from flask import Blueprint, Response, abort, jsonify, request

from qless_core import reads
from qless_core.reads import Slice
from qless_web import minutes
from qless_web.console import current
from qless_web.presenters import problems, queue_stats, queues
from qless_web.presenters.paging import part_of
from qless_web.remembered import asked_page
from qless_web.rendering import render
from qless_web.triage.deploys import deploys

blueprint = Blueprint("queues", __name__)

#: The JSON address lists as many queues as anyone has.
_ALL = Slice(0, 100_000)


@blueprint.get("/queues")
def index() -> Response:
    """List the queues, by name or by what there is most of."""
    match = request.args.get("q", "").strip()
    order = queues.order_of(request.args.get("sort"))
    number = asked_page()
    found, hour = current().read(
        reads.queue_counts(part_of(number), match=match, order=order), minutes.of_hour()
    )
    return render(queues.queues_page(found, hour, match=match, order=order, number=number))


@blueprint.get("/queues.json")
def index_data() -> Response:
    """Give the counts of all queues, at the original's address."""
    found = current().read(reads.queue_counts(_ALL))
    return jsonify([queues.counts_data(each) for each in found.rows])


@blueprint.get("/queues/<name:queue>")
@blueprint.get("/queues/<name:queue>/<tab>")
def show(queue: str, tab: str = "stats") -> Response:
    """Show one queue: its statistics, its jobs in one state, or its recurring jobs."""
    if tab not in queues.TABS:
        abort(HTTPStatus.NOT_FOUND, f"A queue has no tab “{tab}”, but {', '.join(queues.TABS)}.")
    return _stats(queue) if tab == "stats" else _jobs(queue, tab)


def _stats(queue: str) -> Response:
    day = queue_stats.day_of(request.args.get("date"))
    here = current()
    found, done, marks = here.read(
        reads.queue(queue, day, days=queue_stats.DAYS), minutes.of_day(queue), deploys()
    )
    if not queues.exists(found):
        return _unknown(queue)
    stats = queue_stats.queue_stats(found, done, day, here.now, marks)
    return render(queues.stats_page(found, stats))


def _jobs(queue: str, tab: str) -> Response:
    number = asked_page()
    found, listed = current().read(
        reads.queue(queue), reads.queue_jobs(queue, tab, part_of(number))
    )
    if not queues.exists(found):
        return _unknown(queue)
    return render(queues.jobs_page(found, tab, listed, number))


@blueprint.get("/queues/<name:queue>.json")
def show_data(queue: str) -> Response:
    """Give the counts of one queue, at the original's address; those of an unknown one are 0."""
    found = current().read(reads.queue_counts(Slice(0, 1), only=(queue,)))
    return jsonify(queues.counts_data(found.rows[0]))


def _unknown(queue: str) -> Response:
    page = problems.problem(
        HTTPStatus.NOT_FOUND,
        f"There is no queue called “{queue}”.",
        "A queue begins with the first job that is put into it, and is gone when it is forgotten.",
    )
    return render(page, HTTPStatus.NOT_FOUND)
