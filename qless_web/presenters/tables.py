"""Queues and groups of failures as rows: on their own pages and on the overview."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_web.formatting import tilde
from qless_web.presenters import named
from qless_web.presenters.charts import state_bar
from qless_web.presenters.jobs import group_link, queue_link
from qless_web.presenters.message import telling
from qless_web.presenters.page import Action, Link
from qless_web.presenters.rows import GroupRow, QueueRow
from qless_web.presenters.throughput import spark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_core.reads.failures import FailureGroup
    from qless_core.reads.queues import QueueSummary
    from qless_web.minutes import LastHour

#: The states of jobs in a queue, in the order of its tabs; the bar of a queue shows these.
QUEUE_STATES = ("waiting", "running", "stalled", "scheduled", "depends")

#: Characters of the newest message that the row of a group shows.
_MESSAGE = 180


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a column that orders the list.

    Attributes:
        key: which column.
        text: its word.
        link: the list in this order.
        is_current: the list is in this order.
        title: what the column counts, when its word does not say it.
        ascending: this order begins with the least, the first or the oldest.

    """

    key: str
    text: str
    link: Link
    is_current: bool
    title: str = ""
    ascending: bool = False


def headings(link: Link, order: str, *known: tuple[str, str, bool]) -> dict[str, Heading]:
    """Return the headings of a list that can be ordered.

    Args:
        link: the list, with its filters.
        order: what it is ordered by.
        known: key, word, and whether the order is ascending; the first is the usual one.

    """
    plain = known[0][0]
    return {
        key: Heading(
            key=key,
            text=text,
            link=link if key == plain else link.also(sort=key),
            is_current=key == order,
            ascending=ascending,
        )
        for key, text, ascending in known
    }


def order_of(text: str | None, known: Sequence[str]) -> str:
    """Read `?sort=`: what a list cannot be ordered by is the first that it can.

    >>> [order_of(each, ("count", "name")) for each in ("name", "x", None)]
    ['name', 'count', 'count']
    """
    return text if text is not None and text in known else known[0]


def queue_rows(
    queues: Sequence[QueueSummary], hour: LastHour, *, full: int = 0
) -> tuple[QueueRow, ...]:
    """Return the rows of queues, their bars to one scale: that of the largest, or of `full`."""
    largest = max([full, *(each.total for each in queues)])
    return tuple(queue_row(each, hour, largest) for each in queues)


def queue_row(queue: QueueSummary, hour: LastHour, full: int) -> QueueRow:
    """Return the row of one queue; `full` jobs fill the whole bar."""
    return QueueRow(
        name=queue.name,
        link=queue_link(queue.name),
        waiting=queue.waiting,
        running=queue.running,
        stalled=queue.stalled,
        scheduled=queue.scheduled,
        depends=queue.depends,
        recurring=queue.recurring,
        failed=queue.failures_today,
        paused=queue.paused,
        oldest=queue.next_since,
        bar=state_bar(state_counts(queue), full=full),
        spark=spark(hour.of(queue.name)),
        actions=(pause_action(queue.name, paused=queue.paused),),
    )


def state_counts(queue: QueueSummary) -> tuple[tuple[str, int], ...]:
    """Return the numbers of a queue's jobs by state, in the order of `QUEUE_STATES`."""
    return tuple((state, getattr(queue, state)) for state in QUEUE_STATES)


def pause_action(name: str, *, paused: bool) -> Action:
    """Return what stops workers from taking jobs of a queue, or lets them again."""
    if paused:
        return Action(
            text="Unpause", link=Link("act.unpause_queue", {"queue": name}), icon="unpause"
        )
    return Action(text="Pause", link=Link("act.pause_queue", {"queue": name}), icon="pause")


def group_rows(groups: Sequence[FailureGroup], failed: int) -> tuple[GroupRow, ...]:
    """Return the rows of groups; `failed` is the number of failed jobs in all groups."""
    shown = named.distinct(group.name for group in groups)
    return tuple(_group_row(group, shown[group.name], failed) for group in groups)


def _group_row(group: FailureGroup, shown: str, failed: int) -> GroupRow:
    return GroupRow(
        name=group.name,
        shown=shown,
        link=group_link(group.name),
        count=group.count,
        # Counted a moment apart, so that the part may exceed the whole.
        share=group.count / max(failed, group.count),
        message=telling(group.newest_message, group.name, _MESSAGE),
        klass=group.newest_klass,
        queue=group.newest_queue,
        queue_link=queue_link(group.newest_queue) if group.newest_queue else None,
        last=group.last_seen,
        actions=group_actions(group.name),
    )


def group_actions(group: str) -> tuple[Action, ...]:
    """Return what can be done to all jobs of a group."""
    values = {"group": group}
    return (
        Action(text="Retry", link=Link("act.retry_group", values), icon="retry", asks=True),
        Action(text="Move", link=Link("act.move_group", values), icon="move", asks=True),
        Action(
            text="Retry with options",
            link=Link("act.prepare_operation", {"action": "retry", "failed": tilde(group)}),
            icon="operations",
            asks=True,
        ),
        Action(
            text="Cancel",
            link=Link("act.cancel_group", values),
            icon="cancel",
            asks=True,
            danger=True,
        ),
    )
