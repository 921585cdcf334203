"""Failures: the groups, and the jobs in one."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify

from qless_core import reads
from qless_web import htmx
from qless_web.console import current
from qless_web.presenters import failures
from qless_web.presenters.paging import part_of
from qless_web.remembered import asked_page
from qless_web.rendering import render

blueprint = Blueprint("failures", __name__)


@blueprint.get("/failed")
def index() -> Response:
    """List the groups of failures, those with the most jobs first."""
    here = current()
    number = asked_page()
    found = here.read(reads.failure_groups(part_of(number)))
    return render(failures.failures_page(found, here.counts.failed, number))


@blueprint.get("/failed.json")
def counts() -> Response:
    """Say how many jobs each group has, as the original did."""
    return jsonify(current().read(reads.failure_counts()))


@blueprint.get("/failed/<name:group>")
def group(group: str) -> Response:
    """List the jobs of a group, newest first."""
    here = current()
    number = asked_page()
    found = here.read(reads.failure_jobs(group, part_of(number)))
    page = failures.group_page(group, found, here.counts.failed, number)
    # A page that is open when its group becomes empty is told so as any other change.
    return render(page, 200 if found.total or htmx.is_partial() else 404)
