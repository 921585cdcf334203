"""Operations on many jobs: all of them, and one from its preview to its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response, abort, request

from qless_core import reads
from qless_web.console import current
from qless_web.operations import operation as store
from qless_web.operations import report
from qless_web.presenters import operations
from qless_web.presenters.paging import page_number
from qless_web.rendering import render

if TYPE_CHECKING:
    from qless_web.operations.operation import Operation

blueprint = Blueprint("operations", __name__)

#: Groups of failures that are suggested for a new operation.
_GROUPS = 50

#: Jobs that were left alone which the page of an operation names.
_NAMED = 25

_KINDS = {"ndjson": "application/x-ndjson", "csv": "text/csv; charset=utf-8"}


@blueprint.get("/operations")
def index() -> Response:
    """List the operations, the newest first."""
    number = page_number(request.args.get("page"))
    part = store.newest((number - 1) * number.size, number.size)
    (total, found), groups = current().read(part, reads.failure_groups(reads.Slice(0, _GROUPS)))
    names = [group.name for group in groups.rows]
    return render(operations.operations_page(total, found, number, names))


@blueprint.get("/operations/<name:operation>")
def show(operation: str) -> Response:
    """Show one operation: what it would do, how far it is, what became of its jobs."""
    kind = request.args.get("report", "")
    found, left = current().read(store.one(operation), report.left(operation, _NAMED))
    if found is None:
        abort(404, "There is no such operation: it may have been forgotten.")
    if kind in _KINDS:
        return _report(found, kind)
    return render(operations.operation_page(store.watched(current().client, found), left))


def _report(operation: Operation, kind: str) -> Response:
    told = report.entries(current().client, operation)
    lines = report.csv_lines(told) if kind == "csv" else report.ndjson(told)
    response = Response(lines, content_type=_KINDS[kind])
    name = f"operation-{operation.id}.{kind}"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
