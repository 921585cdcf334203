"""What is asked of each shard: reads of its own pages, with the addresses of what they name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flask import url_for

from qless_core import reads
from qless_core.reads import Slice
from qless_web.addresses import link_url
from qless_web.console import current
from qless_web.presenters.search import hits
from qless_web.presenters.shards import GLANCE, At, Glance, Hits, Part
from qless_web.sought import seeking

if TYPE_CHECKING:
    from qless_core.reads.failures import FailureGroup
    from qless_core.reads.queues import QueueSummary
    from qless_core.reads.workers import WorkerSummary


@dataclass(frozen=True, slots=True)
class Wanted:
    """A part of a list of all shards.

    Attributes:
        most: how many of each shard may be in it.
        match: a part of the names that are wanted; "" for any.
        order: what the list is ordered by, where one may choose.

    """

    most: int = field(default=GLANCE)
    match: str = ""
    order: str = "name"

    @property
    def part(self) -> Slice:
        """The part of one shard's list."""
        return Slice(0, self.most)


def glance() -> Glance:
    """Count what there is, and look at the longest queues and the largest groups."""
    here = current()
    queues, groups = here.read(
        reads.queue_counts(Slice(0, GLANCE), order="waiting"),
        reads.failure_groups(Slice(0, GLANCE)),
    )
    return Glance(
        counts=here.counts,
        where=here.client.safe_url,
        queues=tuple(map(_queue, queues.rows)),
        groups=tuple(map(_group, groups.rows)),
    )


def queues(wanted: Wanted) -> Part[QueueSummary]:
    """List queues."""
    here = current()
    found = here.read(reads.queue_counts(wanted.part, match=wanted.match, order=wanted.order))
    return Part(tuple(map(_queue, found.rows)), found.total, here.now)


def failures(wanted: Wanted) -> Part[FailureGroup]:
    """List groups of failures."""
    here = current()
    found = here.read(reads.failure_groups(wanted.part))
    return Part(tuple(map(_group, found.rows)), found.total, here.now)


def workers(wanted: Wanted) -> Part[WorkerSummary]:
    """List workers, their children left out."""
    here = current()
    found = here.read(reads.workers(wanted.part, match=wanted.match, grouped=True))
    rows = tuple(At(url_for("workers.show", worker=each.name), each) for each in found.rows)
    return Part(rows, found.total, here.now)


def search(query: str, part: Slice) -> Hits:
    """Look for what a word names, and for the jobs that a query matches.

    Raises:
        BadQuery: the query makes no sense.

    """
    here = current()
    named, (sought, rows) = here.read(reads.anything(query), seeking(query, part))
    return Hits(
        named=tuple(At(link_url(each.link), each.kind) for each in hits(query, named)),
        jobs=tuple(At(url_for("jobs.show", jid=row.jid), row) for row in rows if not row.gone),
        total=sought.total,
        certainty=sought.certainty,
        walked=not sought.is_complete,
        address=url_for("search.index", q=query),
        now=here.now,
    )


def job(jid: str) -> str:
    """Give the address of a job; "" where it is not on this shard."""
    found = current().read(reads.anything(jid))
    return url_for("jobs.show", jid=jid) if found.job or found.recurring else ""


def _queue(found: QueueSummary) -> At[QueueSummary]:
    return At(url_for("queues.show", queue=found.name), found)


def _group(found: FailureGroup) -> At[FailureGroup]:
    return At(url_for("failures.group", group=found.name), found)
