"""Failures: the groups, what is alike in one, and its jobs."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from flask import Blueprint, Response, jsonify, request

from qless_core import reads
from qless_core.reads import Listing
from qless_web import htmx, indexed
from qless_web.console import current
from qless_web.presenters import failures
from qless_web.presenters import inbox as pages
from qless_web.presenters.clusters import FEW, MOST, Chosen, clustering
from qless_web.presenters.paging import part_of
from qless_web.remembered import asked_page
from qless_web.rendering import render
from qless_web.triage import clusters as alike
from qless_web.triage import inbox as groups
from qless_web.triage.handling import Handling, handlings
from qless_web.triage.runbooks import runbook_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from qless_core.reads import JobRow, Slice

blueprint = Blueprint("failures", __name__)


@blueprint.get("/failed")
def index() -> Response:
    """List the groups of failures: those that are open, or as the address says."""
    here = current()
    number = asked_page()
    wish = _wish(is_plain=False)
    told = indexed.ask(lambda index: _of_index(index, wish, part_of(number)))
    why_not = ""
    if told is None:
        why_not = here.index.status(here.client.clock.now()).why_not or "it is being filled"
        wish = _wish(is_plain=True)
        told = here.read(groups.inbox(_view(wish, part_of(number)))), {}
    asked = pages.Asked(
        wish=wish,
        new=request.args.get("new", ""),
        number=number,
        failed=here.counts.failed,
        now=here.now,
        why_not=why_not,
        runbooks=partial(runbook_of, runbooks=here.settings.runbooks),
    )
    return render(pages.failures_page(*told, asked))


def _wish(*, is_plain: bool) -> groups.Wish:
    show = request.args.get("show", "")
    now = current().client.clock.now()
    return groups.Wish(
        show=cast("groups.Show", show if show in pages.SHOWS else "open"),
        order=cast("groups.Order", pages.ordered(request.args.get("sort"), is_plain=is_plain)),
        since=None if is_plain else pages.since_of(request.args.get("new"), now),
    )


def _view(wish: groups.Wish, part: Slice) -> groups.View:
    return groups.View(part=part, show=wish.show, choose=groups.chooser(wish))


def _of_index(
    index: sqlite3.Connection, wish: groups.Wish, part: Slice
) -> tuple[groups.Inbox, Mapping[str, groups.Touched]]:
    here = current()
    new = groups.new_since(index, wish.since) if wish.since is not None else None
    view = groups.View(
        part=part,
        show=wish.show,
        pasts=groups.pasts_of(index, here.client.clock.now()),
        patterns=partial(groups.patterns_in, index),
        choose=groups.chooser(wish, new=new, spread=groups.spread(index, wish.order)),
    )
    found = here.read(groups.inbox(view))
    return found, {row.name: groups.touched(index, row.name) for row in found.rows}


@blueprint.get("/failed.json")
def counts() -> Response:
    """Say how many jobs each group has, as the original did."""
    return jsonify(current().read(reads.failure_counts()))


@blueprint.get("/failed/<name:group>")
def group(group: str) -> Response:
    """List the jobs of a group, or of one of its clusters, newest first."""
    here = current()
    number = asked_page()
    seen = indexed.ask(lambda index: _seen_in(index, group, part_of(number)))
    seen = seen or _looked_at(group, part_of(number))
    around = failures.Around(
        count=seen.total,
        failed=here.counts.failed,
        handling=seen.handling,
        runbook=runbook_of(group, here.settings.runbooks),
        clustering=clustering(
            seen.clusters, group, seen.total, seen.chosen, farthest=alike.FARTHEST
        ),
        cluster=seen.chosen.key,
    )
    page = failures.group_page(group, seen.jobs, around, number)
    # A page that is open when its group becomes empty is told so as any other change.
    return render(page, 200 if seen.total or htmx.is_partial() else 404)


class _Seen(NamedTuple):
    """A group as a page of it needs it."""

    total: int
    jobs: Listing[JobRow]
    handling: Handling
    clusters: alike.Clusters
    chosen: Chosen


def _chosen() -> Chosen:
    look = request.args.get("look", "")
    return Chosen(
        key=request.args.get("cluster", "")[:40],
        all_of_them=request.args.get("patterns") == "all",
        look=min(alike.FARTHEST, int(look)) if re.fullmatch("[0-9]{1,6}", look) else alike.LOOK,
    )


def _seen_in(index: sqlite3.Connection, group: str, part: Slice) -> _Seen:
    """See a group with the help of the index."""
    here, chosen = current(), _chosen()
    most = MOST if chosen.all_of_them else FEW
    clusters = alike.of_index(index, group, here.client.clock.now(), most=most)
    if not chosen.key:
        jobs, known = here.read(reads.failure_jobs(group, part), handlings())
        return _Seen(jobs.total, jobs, known.get(group, Handling()), clusters, chosen)
    pattern, total, jids = alike.jids_of(index, group, chosen.key, part.offset, part.count)
    first = reads.Slice(0, 1)
    rows, listed, known = here.read(
        alike.rows_of(jids), reads.failure_jobs(group, first), handlings()
    )
    those = tuple(row for row in rows if row.failure_group == group)
    jobs = Listing(those, total if those or not jids else 0, part.offset)
    chosen = replace(chosen, pattern=pattern)
    return _Seen(listed.total, jobs, known.get(group, Handling()), clusters, chosen)


def _looked_at(group: str, part: Slice) -> _Seen:
    """See a group without an index."""
    here, chosen = current(), _chosen()
    jobs, look, known = here.read(
        reads.failure_jobs(group, part), alike.look(group, chosen.look), handlings()
    )
    total = jobs.total
    if chosen.key:
        pattern, jobs = alike.rows_in(look, chosen.key, part, here.now)
        chosen = replace(chosen, pattern=pattern)
    clusters = alike.of_look(look, here.now)
    return _Seen(total, jobs, known.get(group, Handling()), clusters, chosen)
