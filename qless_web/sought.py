"""What a search of this request finds: by the index, or where there is none by a walk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_core import reads
from qless_core.reads.beginnings import SHORTEST
from qless_core.reads.rows import listed
from qless_web.console import current
from qless_web.triage.index import NoIndex
from qless_web.triage.query import parse
from qless_web.triage.scanning import scan
from qless_web.triage.searching import REACH

if TYPE_CHECKING:
    from qless_core.reads import JobRow, Slice
    from qless_web.triage.query import Node
    from qless_web.triage.searching import Certainty, Facet


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What was found, but for the jobs themselves.

    Attributes:
        jids: a part of it, the newest first; of a walk, in the order of the lists.
        total: how many there are, as far as is known.
        certainty: of the total.
        facets: what they have in common.
        sampled: of how many jobs the facets tell.
        is_complete: whether every job was looked at.
        as_of: until when what was looked at is up to date; None for now.
        covered: of a walk, how many jobs have been looked at by now; else how many the index has.
        of: how many there are.
        next: where to go on; None where that was all.
        why_walked: why the index was not asked; "" where it was.

    """

    jids: tuple[str, ...]
    total: int
    certainty: Certainty
    facets: tuple[Facet, ...] = ()
    sampled: int = 0
    is_complete: bool
    as_of: float | None = None
    covered: int
    of: int
    next: int | None
    why_walked: str = ""


def seeking(query: str, part: Slice) -> reads.Plan[tuple[Sought, tuple[JobRow, ...]]]:
    """Plan a search together with the rows of what it finds, in three round trips at most.

    Raises:
        BadQuery: the query makes no sense.

    """
    node = parse(query)
    try:
        return _listed(_by_index(node, part))
    except NoIndex as error:
        return _walked(node, part, error.why)


def _by_index(node: Node | None, part: Slice) -> Sought:
    """Ask the index.

    Raises:
        NoIndex: there is none to ask.

    """
    here = current()
    now = here.client.clock.now()
    found, status = here.index.search(node, now=now, offset=part.offset, count=part.count)
    end = part.offset + part.count
    last = found.total if found.certainty == "exact" and found.sampled == found.total else REACH
    return Sought(
        jids=found.jids,
        total=found.total,
        certainty=found.certainty,
        facets=found.facets,
        sampled=found.sampled,
        is_complete=status.is_complete and found.is_whole,
        as_of=status.as_of,
        covered=status.jobs,
        of=max(status.jobs, status.total),
        next=end if found.jids and end < min(last, found.total) else None,
    )


@reads.read
def _listed(scope: reads.Scope, found: Sought) -> reads.Read[tuple[Sought, tuple[JobRow, ...]]]:
    return found, (yield from listed(scope, found.jids))


@reads.read
def _walked(
    scope: reads.Scope, node: Node | None, part: Slice, why: str
) -> reads.Read[tuple[Sought, tuple[JobRow, ...]]]:
    here = current()
    found = yield from scan(
        node,
        now=here.client.clock.now(),
        start=part.offset,
        count=part.count,
        shown=here.extensions.hiding,
    )(scope)
    sought = Sought(
        jids=found.jids,
        total=len(found.jids),
        certainty="exact" if part.offset == 0 and found.is_over else "at least",
        is_complete=found.is_over,
        covered=found.covered,
        of=found.of,
        next=found.next,
        why_walked=why,
    )
    return sought, found.rows


def beginning(text: str) -> tuple[tuple[str, str], ...]:
    """Find jobs whose jid begins so, each with its class; none where there is no index."""
    here = current()
    # A list shortens a jid so, and it is copied with the mark.
    jid = text.removesuffix("…")
    if len(jid) < SHORTEST:
        return ()
    try:
        return here.index.beginning(jid, here.client.clock.now())
    except NoIndex:
        return ()
