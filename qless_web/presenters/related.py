"""The jobs that one job waits for, and those that wait for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_web.presenters import jobs
from qless_web.presenters.page import Action, Link

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.reads.job import JobDetail, Related

#: Jobs listed on each side of a dependency, those that failed first; the graph's page has more.
RELATED = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedJob:
    """A job that this one waits for, or that waits for it; ``state`` "" when it is gone."""

    jid: str
    klass: str
    state: str
    link: Link
    blocks: bool = False
    undepend: Action | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RelatedJobs:
    """Jobs on one side of a dependency: those shown, and how many there are."""

    shown: tuple[RelatedJob, ...]
    total: int
    undepend_all: Action | None = None

    @property
    def more(self) -> int:
        """How many are not shown."""
        return max(0, self.total - len(self.shown))

    @property
    def blocking(self) -> int:
        """How many of those shown failed or are gone: they come first."""
        return sum(1 for each in self.shown if each.blocks)


def dependencies(found: JobDetail) -> RelatedJobs:
    """Return the jobs that a job waits for, or waited for."""
    waits = found.row.state == "depends"
    jid = found.row.jid
    every = Action(
        text="Undepend all",
        link=Link("act.undepend_job", {"jid": jid}),
        icon="undepend",
        asks=True,
    )
    return _related(
        found.dependencies,
        found.dependencies_total,
        waiting=jid if waits else None,
        undepend_all=every if waits and found.dependencies_total > 1 else None,
    )


def dependents(found: JobDetail) -> RelatedJobs:
    """Return the jobs that wait for a job."""
    return _related(found.dependents, found.dependents_total)


def _related(
    found: Iterable[Related],
    total: int,
    *,
    waiting: str | None = None,
    undepend_all: Action | None = None,
) -> RelatedJobs:
    rows = [
        RelatedJob(
            jid=each.jid,
            klass=each.klass,
            state=each.state,
            link=jobs.job_link(each.jid),
            blocks=waiting is not None and each.state in jobs.BLOCKING,
            undepend=None if waiting is None else _undepend(waiting, each.jid),
        )
        for each in found
    ]
    rows.sort(key=lambda each: (each.state not in jobs.BLOCKING, each.state == "complete"))
    return RelatedJobs(
        shown=tuple(rows[:RELATED]), total=max(total, len(rows)), undepend_all=undepend_all
    )


def _undepend(jid: str, dependency: str) -> Action:
    return Action(
        text="Undepend",
        link=Link("act.undepend_job", {"jid": jid, "dependency": dependency}),
        asks=True,
    )
