"""Failures: the groups, and the jobs in one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from qless_core import reads
from qless_core.reads.rows import MESSAGE_HEAD
from qless_web.api.entries import JOB, JobEntry, job_entry
from qless_web.api.route import Page, Route, address, listed
from qless_web.console import current

if TYPE_CHECKING:
    from qless_core.reads import Slice
    from qless_core.reads.failures import FailureGroup


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of failures."""

    group: str
    url: Annotated[str, "Where its jobs are."]
    count: int
    last_seen: Annotated[float | None, "When the newest job in it failed, epoch seconds."]
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
            last_seen=1798761631.0,
            newest_jid="order-12",
            newest_klass="shop.Charge",
            newest_queue="orders",
            newest_message="no answer in 30 s",
        ),
    )
)
def groups(part: Slice) -> Page[Group]:
    """List the groups of failures, those with the most jobs first."""
    return Page.of(current().read(reads.failure_groups(part)), _group)


def _group(found: FailureGroup) -> Group:
    return Group(
        group=found.name,
        url=address("failedJobs", group=found.name),
        count=found.count,
        last_seen=found.last_seen,
        newest_jid=found.newest_jid or "",
        newest_klass=found.newest_klass,
        newest_queue=found.newest_queue,
        newest_message=found.newest_message[:MESSAGE_HEAD],
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
