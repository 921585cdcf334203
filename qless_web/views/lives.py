"""Several jobs on one axis: a group of failures, a cluster of it, or a chain."""

from __future__ import annotations

from flask import Blueprint, Response, abort, request

from qless_web import indexed
from qless_web.console import current
from qless_web.presenters import lives as pages
from qless_web.rendering import render
from qless_web.triage import clusters, lives

blueprint = Blueprint("lives", __name__)


@blueprint.get("/failed/<name:group>/timeline")
def group(group: str) -> Response:
    """Draw the newest jobs of a group, or of a cluster of it, on one axis."""
    here = current()
    cluster = request.args.get("cluster", "")[:40]
    jids = _of(group, cluster)
    found = here.read(lives.of_jobs(jids) if jids else lives.of_group(group))
    return render(pages.group_lives(group, found, here.now), 200 if found else 404)


def _of(group: str, cluster: str) -> list[str] | None:
    """Give the newest jobs of a cluster; None where nobody knows them, or none was asked for."""
    if not cluster:
        return None
    return indexed.ask(lambda index: clusters.jids_of(index, group, cluster, 0, lives.MOST)[2])


@blueprint.get("/jobs/<name:jid>/timeline")
def chain(jid: str) -> Response:
    """Draw a job with those it waits for, and those that wait for it, on one axis."""
    here = current()
    found = here.read(lives.of_chain(jid))
    if not any(each.jid == jid for each in found):
        abort(404, f"There is no job {jid}.")
    return render(pages.chain_lives(jid, found, here.now))
