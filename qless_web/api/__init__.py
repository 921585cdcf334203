"""`/api/v1`: everything that the pages show and do, for programs.

One module for each family of what is read; what can be done is declared in `qless_web.actions`.
"""

from __future__ import annotations

from flask import Response, request

from qless_web import problem
from qless_web.api import (
    acting,
    alerts,
    audit,
    completed,
    config,
    events,
    failures,
    jobs,
    openapi,
    operations,
    overview,
    queues,
    recurring,
    search,
    stats,
    tags,
    tracked,
    trash,
    workers,
)
from qless_web.api.route import blueprint

__all__ = [
    "alerts",
    "audit",
    "blueprint",
    "completed",
    "config",
    "events",
    "failures",
    "jobs",
    "openapi",
    "operations",
    "overview",
    "queues",
    "recurring",
    "search",
    "stats",
    "tags",
    "tracked",
    "trash",
    "workers",
]

acting.declare()


@blueprint.errorhandler(problem.ApiProblem)
def refused(error: problem.ApiProblem) -> Response:
    """Answer with a problem."""
    kind = problem.named(error.kind)
    response = problem.answer(error.status, error.detail, kind=kind, more=error.more)
    response.headers.update(error.headers)
    return response


@blueprint.after_request
def varies(response: Response) -> Response:
    """Tell caches that what is answered depends on who asks."""
    if request.headers.get("Authorization"):
        response.vary.add("Authorization")
    return response
