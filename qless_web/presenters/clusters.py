"""The clusters of a group of failures: what is alike in it, as rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_web.formatting import count
from qless_web.presenters.jobs import group_link, job_link
from qless_web.presenters.rates import Rate, rate

if TYPE_CHECKING:
    from qless_web.presenters.page import Link
    from qless_web.triage.clusters import Cluster, Clusters

#: Clusters that a page shows at first, and at most.
FEW, MOST = 10, 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRow:
    """A cluster; ``share`` is of the group as far as it was looked at, in 0..1."""

    key: str
    pattern: str
    link: Link
    count: int
    share: float
    rate: Rate
    first: float | None
    last: float | None
    example: Link
    example_jid: str
    is_current: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering:
    """What is alike in a group.

    Attributes:
        rows: the clusters, the largest first.
        total: how many there are.
        more: where all of them are; None where they are all here.
        note: what they are of, where that is not all of the group.
        further: a look at more of the group; None where there is none.
        pattern: of the cluster that was chosen; "" for none.
        whole: the group without that choice.

    """

    rows: tuple[ClusterRow, ...]
    total: int
    more: Link | None
    note: str
    further: Link | None
    pattern: str
    whole: Link


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What the address of a group says of its clusters.

    Attributes:
        key: of the cluster whose jobs are listed; "" for all.
        pattern: of that; "" where there is none with that key.
        all_of_them: whether all clusters are to be shown.
        look: how many failures a look may read.

    """

    key: str = ""
    pattern: str = ""
    all_of_them: bool = False
    look: int = 0


def clustering(
    found: Clusters, group: str, jobs: int, chosen: Chosen, *, farthest: int
) -> Clustering:
    """Return the clusters of a group of so many jobs; a look reads at most `farthest`."""
    link = group_link(group)
    shown = found.rows[: MOST if chosen.all_of_them else FEW]
    is_partial = not found.complete and found.as_of is None
    further = min(farthest, max(chosen.look, 1) * 4) if is_partial else 0
    return Clustering(
        rows=tuple(_row(each, found, link, chosen) for each in shown),
        total=found.total,
        more=None if len(shown) == found.total or chosen.all_of_them else link.also(patterns="all"),
        note=_note(found, jobs, is_partial=is_partial),
        further=link.also(look=further) if is_partial and further > chosen.look else None,
        pattern=chosen.pattern,
        whole=link,
    )


def _row(each: Cluster, found: Clusters, link: Link, chosen: Chosen) -> ClusterRow:
    return ClusterRow(
        key=each.key,
        pattern=each.pattern or "(no message)",
        link=link.also(cluster=each.key),
        count=each.count,
        share=each.count / max(1, found.covered),
        rate=rate(each.slots, "since the first failure"),
        first=each.first_seen,
        last=each.last_seen,
        example=job_link(each.example_jid),
        example_jid=each.example_jid,
        is_current=each.key == chosen.key,
    )


def _note(found: Clusters, jobs: int, *, is_partial: bool) -> str:
    if is_partial:
        return f"Of the newest {count(found.covered)} of {count(jobs)} jobs."
    if found.as_of is not None and found.covered != jobs:
        return f"Of {count(found.covered)} jobs that are in the index; {count(jobs)} are there."
    return ""
