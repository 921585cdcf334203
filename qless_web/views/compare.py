"""What stands out in failed jobs against completed ones, and two jobs side by side."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from flask import Blueprint, Response, request

from qless_core import reads
from qless_core.reads.job import JobDetail
from qless_web import disclosure, indexed
from qless_web.console import current
from qless_web.presenters import compare
from qless_web.rendering import render
from qless_web.triage import comparing
from qless_web.triage.leaves import leaves, parsed

blueprint = Blueprint("compare", __name__)


@blueprint.get("/failed/<name:group>/compare")
def group(group: str) -> Response:
    """Show what stands out in a group of failures, or in a cluster of it."""
    here = current()
    cluster, klass = request.args.get("cluster", "")[:40], request.args.get("klass", "")
    shown = here.extensions.shown
    sides = indexed.ask(lambda index: comparing.sides_of(index, group, cluster, klass))
    if sides is None:
        cluster = ""  # nobody knows what is of it
        sides, found = here.read(comparing.newest(group, klass, shown))
    else:
        found = here.read(comparing.samples([*sides.failed, *sides.completed], shown))
    made = comparing.compared(
        sides.klass,
        [found[jid] for jid in sides.failed if jid in found],
        [found[jid] for jid in sides.completed if jid in found],
    )
    query_for = partial(comparing.query_for, group=group)
    return render(compare.standing_out_page(group, cluster, sides.classes, made, query_for))


@blueprint.get("/compare")
def jobs() -> Response:
    """Show two jobs side by side: `?a=` and `?b=` are their jids."""
    a, b = (request.args.get(name, "").strip() for name in "ab")
    one, other = current().read(reads.job(a), reads.job(b))
    page = compare.pair_page(a, b, _side(one), _side(other))
    return render(page, 404 if page.missing else 200)


def _side(found: Any) -> compare.Side | None:  # noqa: ANN401 - a job, a recurring one, or none
    if not isinstance(found, JobDetail):
        return None
    shown = disclosure.detail(found)
    values: dict[str, list[str]] = {}
    for path, value in leaves(parsed(shown.data or "")):
        values.setdefault(path, []).append(
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        )
    return compare.Side(shown, {path: ", ".join(each)[:500] for path, each in values.items()})
