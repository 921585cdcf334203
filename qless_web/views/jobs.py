"""One job or recurring job, and its data byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response, abort, request, url_for

from qless_core import reads
from qless_core.options import option_of
from qless_core.reads.job import RecurringDetail
from qless_web import disclosure, indexed
from qless_web.console import current
from qless_web.formatting import tilde
from qless_web.presenters import copies, data_page, job, recurring
from qless_web.presenters import graph as graphs
from qless_web.presenters.paging import page_number
from qless_web.rendering import render
from qless_web.triage.fellows import fellows
from qless_web.triage.narrowing import narrowed

if TYPE_CHECKING:
    from qless_core.reads.job import JobDetail
    from qless_core.reads.relatives import Relatives

blueprint = Blueprint("jobs", __name__)


@blueprint.get("/jobs/<name:jid>")
def show(jid: str) -> Response:
    """Show one job, or one recurring job."""
    here = current()
    found, relatives, options = here.read(reads.job(jid), reads.relatives(jid), reads.settings())
    if found is None:
        kept_s, kept = (_number(name, options) for name in ("jobs-history", "jobs-history-count"))
        return render(job.missing_page(jid, kept_s, int(kept)), 404)
    if isinstance(found, RecurringDetail):
        return render(recurring.recurring_page(disclosure.detail(found), here.now))
    return render(job.job_page(disclosure.detail(found), _around(found, relatives), here.now))


def _around(found: JobDetail, relatives: Relatives | None) -> job.Around:
    """Find what is known besides the job: its relatives, and what the index has of its class."""
    row = found.row
    return job.Around(
        relatives=relatives,
        query=narrowed("", "klass", row.klass) if row.klass else "",
        fellows=indexed.ask(lambda index: fellows(index, row.klass, row.jid)),
    )


@blueprint.get("/jobs/<name:jid>/as/<form>")
def copy(jid: str, form: str) -> Response:
    """Give a job as text: code that puts it again, or a report."""
    make = _COPIES.get(form)
    text = make(jid) if make else None
    if text is None:
        abort(404, f"There is no job {jid}, or it cannot be had as {form}.")
    return _plain(text)


def _python(jid: str) -> str | None:
    client = current().client
    found = disclosure.original(jid)
    if found is None:
        return None
    return copies.python(found.job, found.data, client.safe_url, client.namespace)


def _curl(jid: str) -> str | None:
    found = disclosure.original(jid)
    if found is None:
        return None
    address = url_for("api.putJob", queue=found.job.queue, _external=True)
    has_tokens = bool(current().settings.api_token_file)
    return copies.curl(found.job, found.data, address, has_tokens=has_tokens)


def _markdown(jid: str) -> str | None:
    found = current().read(reads.job(jid))
    if found is None or isinstance(found, RecurringDetail):
        return None
    address = url_for("jobs.show", jid=jid, _external=True)
    return copies.markdown(disclosure.detail(found), current().now, address)


_COPIES = {"python": _python, "curl": _curl, "markdown": _markdown}


@blueprint.get("/jobs/<name:jid>/graph")
def graph(jid: str) -> Response:
    """Draw the jobs that one waits for, and those that wait for it."""
    found = current().read(reads.relatives(jid))
    if found is None:
        abort(404, f"There is no job {jid}.")
    return render(graphs.graph_page(found))


@blueprint.get("/jobs/<name:jid>/data")
def data(jid: str) -> Response:
    """Give a job's data, or the part `?at=` of it: as text, or with `?download=1` as a file."""
    found = disclosure.original(jid)
    if found is None:
        abort(404, f"There is no job {jid}.")
    at = request.args.get("at", "")
    text = data_page.part_of(found.data, at) if at else found.data
    if text is None:
        abort(404, f"The data of job {jid} has no {at}.")
    return _plain(text, jid if request.args.get("download") else "")


@blueprint.get("/jobs/<name:jid>/data/tree")
def tree(jid: str) -> Response:
    """Show a job's data folded: the part `?at=` of it, and where `?find=` is in all of it."""
    found = disclosure.original(jid)
    if found is None:
        abort(404, f"There is no job {jid}.")
    at, word = request.args.get("at", ""), request.args.get("find", "")
    number = int(page_number(request.args.get("page")))
    page = data_page.data_page(jid, found.job.klass, found.data, at=at, number=number, word=word)
    if page is None:
        abort(404, f"The data of job {jid} has no {at}.")
    return render(page)


@blueprint.get("/jobs/<name:jid>/failure")
def failure(jid: str) -> Response:
    """Give the message of a job's failure whole."""
    text = current().read(reads.failure_message(jid))
    if text is None:
        abort(404, f"Job {jid} has no failure.")
    return _plain(text)


def _plain(text: str, jid: str = "") -> Response:
    """Answer with text as it is in Redis; with a jid as a JSON file named after it."""
    kind = "application/json" if jid else "text/plain; charset=utf-8"
    response = Response(text.encode(errors="surrogateescape"), content_type=kind)
    if jid:
        name = f"{tilde(jid)[:100]}.json"
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _number(name: str, options: dict[str, str]) -> float:
    known = option_of(name)
    return float((known.read(options.get(name)) if known else None) or 0)
