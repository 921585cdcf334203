"""Failures: the groups, what is alike in one, and its jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from qless_core import reads
from qless_core.reads import Listing
from qless_core.reads.rows import MESSAGE_HEAD
from qless_web import indexed
from qless_web.api.entries import JOB, JobEntry, job_entry
from qless_web.api.params import Param
from qless_web.api.route import Page, Route, address, answer, listed, shown
from qless_web.console import current
from qless_web.triage import clusters as alike
from qless_web.triage.inbox import View, inbox, pasts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flask import Response

    from qless_core.reads import Slice
    from qless_web.triage.inbox import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of failures."""

    group: str
    url: Annotated[str, "Where its jobs are."]
    count: int
    first_seen: Annotated[float | None, "When the oldest job in it failed, epoch seconds."]
    last_seen: Annotated[float | None, "When the newest job in it failed, epoch seconds."]
    rate: Annotated[
        int | None, "Failures in the fuller of the last two hours; null without the index."
    ]
    fold: Annotated[str, "`acknowledged` or `muted`; empty where it is neither, or is back."]
    assignee: Annotated[str, "Whose it is; empty for nobody's."]
    newest_jid: str
    newest_klass: str
    newest_queue: str
    newest_message: Annotated[str, "Its first 4,000 characters."]


@listed(
    Route(
        name="failures",
        rule="/failures",
        family="failures",
        answers=Page[Group],
        example=Group(
            group="shop-Timeout",
            url="/api/v1/failures/shop-Timeout/jobs",
            count=4812,
            first_seen=1798740000.0,
            last_seen=1798761631.0,
            rate=112,
            fold="",
            assignee="kim",
            newest_jid="order-12",
            newest_klass="shop.Charge",
            newest_queue="orders",
            newest_message="no answer in 30 s",
        ),
    )
)
def groups(part: Slice) -> Page[Group]:
    """List the groups of failures, those with the most jobs first."""
    here = current()
    pasts = indexed.ask(lambda index: pasts_of(index, here.client.clock.now()))
    found = here.read(inbox(View(part=part, show="all", pasts=pasts, choose=_largest)))
    return Page.of(Listing(found.rows, found.shown, part.offset), _group)


def _largest(all_of_them: Sequence[Standing]) -> Sequence[Standing]:
    return sorted(all_of_them, key=lambda each: (-each.count, each.name))


def _group(found: Standing) -> Group:
    return Group(
        group=found.name,
        url=address("failedJobs", group=found.name),
        count=found.count,
        first_seen=found.first_seen,
        last_seen=found.last_seen,
        rate=found.past.rate if found.past else None,
        fold=found.handling.fold if found.is_folded else "",
        assignee=found.handling.assignee,
        newest_jid=found.newest_jid,
        newest_klass=found.newest_klass,
        newest_queue=found.newest_queue,
        newest_message=found.newest_message[:MESSAGE_HEAD],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Jobs of a group whose messages are alike."""

    pattern: Annotated[str, "What the messages have in common; `#` stands for what varies."]
    count: int
    example_jid: Annotated[str, "The job that failed last."]
    first_seen: Annotated[float | None, "When the first of them failed, epoch seconds."]
    last_seen: Annotated[float | None, "When the last of them failed, epoch seconds."]


@shown(
    Route(
        name="failureClusters",
        rule="/failures/clusters",
        family="failures",
        answers=tuple[Cluster, ...],
        example=(
            Cluster(
                pattern="no answer from # in # s",
                count=3120,
                example_jid="order-12",
                first_seen=1798740000.0,
                last_seen=1798761631.0,
            ),
        ),
        params=(
            Param(
                name="group",
                required=True,
                help="The name of the group.",
                example="shop-Timeout",
            ),
        ),
    )
)
def clusters(group: str) -> Response:
    """List what is alike in a group, the most first; headers say whether that is all of it."""
    here = current()
    found = indexed.ask(lambda index: alike.of_index(index, group, here.client.clock.now()))
    if found is None:
        found = alike.of_look(here.read(alike.look(group, alike.FARTHEST)), here.now)
    response = answer(tuple(_cluster(each) for each in found.rows))
    response.headers["Qless-Complete"] = "true" if found.complete else "false"
    response.headers["Qless-Covered"] = str(found.covered)
    return response


def _cluster(found: alike.Cluster) -> Cluster:
    return Cluster(
        pattern=found.pattern,
        count=found.count,
        example_jid=found.example_jid,
        first_seen=found.first_seen,
        last_seen=found.last_seen,
    )


@listed(
    Route(
        name="failedJobs",
        rule="/failures/<name:group>/jobs",
        family="failures",
        answers=Page[JobEntry],
        example=JOB,
    )
)
def jobs(group: str, part: Slice) -> Page[JobEntry]:
    """List the jobs of a group, the newest failure first; none where there is no such group."""
    return Page.of(current().read(reads.failure_jobs(group, part)), job_entry)
