"""The page an operator leaves open: what needs attention, then everything at a glance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from qless_web.formatting import UNKNOWN, count, duration, head, size
from qless_web.presenters import jobs
from qless_web.presenters.attention import Attention, attention
from qless_web.presenters.charts import Bars, state_bar
from qless_web.presenters.page import EmptyState, Link, Page
from qless_web.presenters.tables import (
    QUEUE_STATES,
    group_rows,
    queue_rows,
)
from qless_web.presenters.throughput import Throughput, throughput
from qless_web.presenters.worker_rows import WorkerRow, worker_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_core.reads.failures import FailureGroup
    from qless_core.reads.frame import FrameCounts
    from qless_core.reads.lists import TrackedStates
    from qless_core.reads.overview import Overview
    from qless_core.reads.queues import QueueSummary
    from qless_core.reads.server import ServerFacts
    from qless_web.minutes import LastHour, Minutes
    from qless_web.presenters.rows import GroupRow, QueueRow
    from qless_web.triage.deploys import Deploy

#: Queues that the overview lists; where there are more, those with the most jobs.
QUEUES = 25

#: Groups that the overview lists, and newest failures beside them.
GROUPS = 8
NEWEST = 6

#: Lines of one kind that the head of the page shows.
_LINES = 4

#: Characters of a failure's message.
_MESSAGE = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A sum over everything: its word, its number, whose colour it has, where it leads."""

    text: str
    count: int
    state: str
    link: Link


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestFailure:
    """The newest failure of a group."""

    jid: str
    klass: str
    link: Link
    group: str
    group_link: Link
    message: str
    at: float | None


@dataclass(frozen=True, kw_only=True)
class OverviewPage(Page):
    """Everything at a glance.

    Attributes:
        attention: what somebody should look at, the worst first.
        more_attention: how many more such things there are.
        figures: sums over all queues.
        queues: the queues, by name.
        queues_total: how many there are in all.
        queues_empty: what to show when there are none.
        throughput: what was done in the last day, by minute.
        states: the words of the bars.
        groups: groups of failures, the largest first.
        groups_total: how many there are.
        failed_total: how many jobs are failed.
        newest: the newest failures.
        workers: workers that live, by name.
        workers_total: how many of them there are.
        tracked: how many tracked jobs are in each state; "gone" for those no longer there.
        tracked_bar: the same to scale.
        tracked_total: how many there are.
        tracked_covered: how many of them, the newest, were looked at.
        tags: those used most, with how often.
        tags_total: how many there are.
        server: the server in a few figures; nothing where it does not tell.

    """

    template: ClassVar[str] = "overview/index.html"

    attention: tuple[Attention, ...]
    more_attention: int
    figures: tuple[Figure, ...]
    queues: tuple[QueueRow, ...]
    queues_total: int
    queues_empty: EmptyState | None
    throughput: Throughput
    states: tuple[str, ...]
    groups: tuple[GroupRow, ...]
    groups_total: int
    failed_total: int
    newest: tuple[NewestFailure, ...]
    workers: tuple[WorkerRow, ...]
    workers_total: int
    tracked: tuple[tuple[str, int, Link], ...]
    tracked_bar: Bars
    tracked_total: int
    tracked_covered: int
    tags: tuple[tuple[str, int, Link], ...]
    tags_total: int
    server: tuple[tuple[str, str], ...]


class Done(NamedTuple):
    """What was done: by all queues in the last day, by each in the last hour, and by deploys."""

    day: Minutes
    hour: LastHour
    deploys: tuple[Deploy, ...] = ()


def overview_page(
    found: Overview, around: FrameCounts, done: Done, server: ServerFacts
) -> OverviewPage:
    """Return the page.

    Args:
        found: everything at a glance.
        around: the counts around it, which say the time, and the sums over everything.
        done: what was done of late.
        server: what it is and how it is, as far as it tells.

    """
    now = around.now
    kinds = attention(found.queues.rows, found.groups.rows, found.workers.total, now)
    lines = tuple(each for kind in kinds for each in kind[:_LINES])
    tracked = _tracked(found.tracked)
    return OverviewPage(
        title="Overview",
        nav="overview",
        topics=("queues", "failures", "workers", "tracked", "tags", "completed"),
        attention=lines,
        more_attention=sum(map(len, kinds)) - len(lines),
        figures=_figures(found, around),
        queues=queue_rows(_shown(found.queues.rows), done.hour),
        throughput=throughput(done.day, done.deploys),
        queues_total=found.queues.total,
        queues_empty=None if found.queues.total else _BEGIN,
        states=QUEUE_STATES,
        groups=group_rows(found.groups.rows[:GROUPS], around.failed),
        groups_total=found.groups.total,
        failed_total=around.failed,
        newest=_newest(found.groups.rows),
        workers=worker_rows(found.workers.rows),
        workers_total=found.workers.total,
        tracked=tracked,
        tracked_bar=state_bar((state, number) for state, number, _ in tracked),
        tracked_total=found.tracked.members,
        tracked_covered=found.tracked.covered,
        tags=tuple((tag, number, jobs.tag_link(tag)) for tag, number in found.tags.rows),
        tags_total=found.tags.total,
        server=_server(server),
    )


def _figures(found: Overview, around: FrameCounts) -> tuple[Figure, ...]:
    def total(state: str) -> int:
        return sum(getattr(queue, state) for queue in found.queues.rows)

    return (
        *(
            Figure(
                text=state.capitalize(),
                count=total(state),
                state=state,
                link=Link("queues.index", {"sort": state}),
            )
            for state in (*QUEUE_STATES, "recurring")
        ),
        Figure(text="Failed", count=around.failed, state="failed", link=Link("failures.index")),
        Figure(
            text="Completed", count=around.completed, state="complete", link=Link("completed.index")
        ),
    )


def _shown(queues: Sequence[QueueSummary]) -> list[QueueSummary]:
    busiest = sorted(queues, key=lambda each: (-each.total, -each.failures_today, each.name))
    return sorted(busiest[:QUEUES], key=lambda each: each.name)


def _newest(groups: Sequence[FailureGroup]) -> tuple[NewestFailure, ...]:
    seen = [each for each in groups if each.newest_jid and each.last_seen is not None]
    latest = sorted(seen, key=lambda each: (-(each.last_seen or 0), each.name))[:NEWEST]
    return tuple(
        NewestFailure(
            jid=each.newest_jid or "",
            klass=each.newest_klass,
            link=jobs.job_link(each.newest_jid or ""),
            group=each.name,
            group_link=jobs.group_link(each.name),
            message=head(each.newest_message, _MESSAGE),
            at=each.last_seen,
        )
        for each in latest
    )


def _tracked(found: TrackedStates) -> tuple[tuple[str, int, Link], ...]:
    known = [(state, found.states.get(state, 0), state) for state in jobs.STATES]
    gone = ("gone", found.states.get("", 0), "gone")
    return tuple(
        (word, number, Link("tracked.index", {"state": key}))
        for word, number, key in (*known, gone)
        if number
    )


#: What is said of a server that is no primary.
_REPLICA = {"slave": ", a replica"}


def _server(server: ServerFacts) -> tuple[tuple[str, str], ...]:
    if server.silence:
        return ()
    limit = server.memory_limit_bytes
    return (
        (f"{server.product}{_REPLICA.get(server.role, '')}", server.version or UNKNOWN),
        ("memory", size(server.memory_bytes) + (f" of {size(limit)}" if limit else "")),
        ("clients", count(server.clients)),
        ("up for", duration(server.uptime_s)),
    )


_BEGIN = EmptyState(
    kind="nothing-yet",
    title="No queues yet",
    text="A queue begins with the first job that is put into it.",
    command=jobs.PUT_COMMAND,
)
