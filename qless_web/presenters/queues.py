"""The list of queues, and the page of one queue with a tab for each state of its jobs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, cast

from qless_core.options import option_of
from qless_core.reads.queues import ORDERS
from qless_web.formatting import count, duration, isolated
from qless_web.presenters import jobs, paging
from qless_web.presenters.page import Action, Crumb, EmptyState, Link, Page, Pager, Tab, pager
from qless_web.presenters.tables import (
    QUEUE_STATES,
    Heading,
    pause_action,
    queue_rows,
    state_counts,
)

if TYPE_CHECKING:
    from qless_core.reads import JobRow as Snapshot
    from qless_core.reads import Listing
    from qless_core.reads import RecurringRow as RecurringSnapshot
    from qless_core.reads.queues import QueueDetail, QueueSummary
    from qless_web.minutes import LastHour
    from qless_web.presenters.queue_stats import QueueStats
    from qless_web.presenters.rows import JobRow, QueueRow

#: The tabs of a queue, in order.
TABS = ("stats", *QUEUE_STATES, "throttled", "recurring")

#: What a list of each tab shows of a job beside it, and the heading of its time.
_COLUMNS: dict[str, tuple[tuple[str, ...], str]] = {
    "waiting": (("tags", "priority", "retries", "at"), "Put"),
    "running": (("worker", "tags", "retries", "at"), "Lock ends"),
    "stalled": (("worker", "tags", "retries", "at"), "Lock ended"),
    "scheduled": (("tags", "priority", "retries", "at"), "Due"),
    "depends": (("tags", "priority", "retries", "at"), "Put"),
    "throttled": (("tags", "priority", "retries", "at"), "Put"),
}

_MOMENTS: dict[str, jobs.Moment] = {
    "waiting": "put",
    "running": "lock",
    "stalled": "lock",
    "scheduled": "due",
    "depends": "put",
    "throttled": "put",
}


@dataclass(frozen=True, kw_only=True)
class QueuesPage(Page):
    """All queues.

    Attributes:
        rows: the queues of this page.
        pages: where the other ones are.
        headings: what the list can be ordered by.
        total: how many queues there are, with this filter.
        match: what their names must contain.
        order: what they are ordered by.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "queues/index.html"

    rows: tuple[QueueRow, ...]
    pages: Pager
    headings: dict[str, Heading]
    total: int
    match: str
    order: str
    empty: EmptyState | None


_TITLES = {
    "failures": "times that a job failed today (UTC)",
    "oldest": "when the job that is next was put: how long it waits",
}
_WORDS = {"name": "Queue", "failures": "Failed today", "oldest": "Next put"}


def order_of(text: str | None) -> str:
    """Read `?sort=`: what nothing can be ordered by is `name`."""
    return text if text in ORDERS else "name"


def queues_page(
    found: Listing[QueueSummary], hour: LastHour, *, match: str, order: str, number: int
) -> QueuesPage:
    """Return page `number` of the queues whose names contain `match`, in an order."""
    query = [
        (key, value) for key, value in (("q", match), ("sort", order)) if value != _DEFAULT[key]
    ]
    pages = pager(Link("queues.index"), number=number, total=found.total, query=query)
    return QueuesPage(
        title="Queues",
        nav="queues",
        topics=("queues",),
        rows=queue_rows(found.rows, hour),
        pages=pages,
        headings={key: _heading(key, match, order) for key in ("name", *ORDERS)},
        total=found.total,
        match=match,
        order=order,
        empty=paging.beyond(pages, number) or _no_queues(found.total, match),
    )


_DEFAULT = {"q": "", "sort": "name"}


def _heading(key: str, match: str, order: str) -> Heading:
    values = {
        name: value for name, value in (("q", match), ("sort", key)) if value != _DEFAULT[name]
    }
    return Heading(
        key=key,
        text=_WORDS.get(key, key.capitalize()),
        link=Link("queues.index", values),
        is_current=key == order,
        title=_TITLES.get(key, ""),
        ascending=key in {"name", "oldest"},
    )


def _no_queues(total: int, match: str) -> EmptyState | None:
    if total:
        return None
    if match:
        return EmptyState(
            kind="no-match",
            title=f"No queue has “{isolated(match)}” in its name",
            link=Link("queues.index"),
            link_text="Show all queues",
        )
    return EmptyState(
        kind="nothing-yet",
        title="No queues yet",
        text="A queue begins with the first job that is put into it.",
        command=jobs.PUT_COMMAND,
    )


@dataclass(frozen=True, kw_only=True)
class QueuePage(Page):
    """One queue, one tab of it.

    Attributes:
        name: the queue.
        paused: workers get no jobs from it.
        waiting: how many jobs wait, for the sentence about the pause.
        pause: what pauses or unpauses it.
        put: what puts a job into it.
        tabs: with counts; `tab` is the one shown.
        facts: the options that apply to it, each as a sentence of a few words.
        stats: the statistics, on their tab.
        rows: the jobs of this page, on the tab of a state.
        recurring: the recurring jobs of this page, on theirs.
        columns: of the list of jobs.
        at: the heading of its time.
        pages: where the other jobs are; None on the tab of statistics.
        verbs: what can be done to ticked jobs.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "queues/show.html"

    name: str
    paused: bool
    waiting: int
    pause: Action
    put: Action
    tabs: tuple[Tab, ...]
    tab: str
    facts: tuple[str, ...]
    stats: QueueStats | None = None
    rows: tuple[JobRow, ...] = ()
    recurring: tuple[jobs.RecurringRow, ...] = ()
    columns: tuple[str, ...] = ()
    at: str = ""
    pages: Pager | None = None
    verbs: tuple[jobs.TickedVerb, ...] = ()
    empty: EmptyState | None = None


def exists(queue: QueueDetail) -> bool:
    """Say whether there is anything to show of a queue: it is known, or something is left of it."""
    counts = queue.counts
    return queue.known or counts.paused or bool(counts.total or counts.recurring or queue.stats)


def stats_page(queue: QueueDetail, stats: QueueStats) -> QueuePage:
    """Return the tab of a queue's statistics."""
    return replace(_around(queue, "stats"), stats=stats)


def jobs_page(
    queue: QueueDetail,
    tab: str,
    found: Listing[Snapshot] | Listing[RecurringSnapshot],
    number: int,
) -> QueuePage:
    """Return page `number` of the tab of a state, or of the recurring jobs."""
    name = queue.counts.name
    pages = pager(tab_link(name, tab), number=number, total=found.total)
    empty = paging.beyond(pages, number, "tab") or (None if found.total else _empty(tab, queue))
    around = replace(_around(queue, tab), pages=pages, empty=empty)
    if tab == "recurring":
        rows = cast("tuple[RecurringSnapshot, ...]", found.rows)
        return replace(around, recurring=jobs.recurring_rows(rows))
    columns, at = _COLUMNS[tab]
    return replace(
        around,
        rows=jobs.job_rows(cast("tuple[Snapshot, ...]", found.rows), moment=_MOMENTS[tab]),
        columns=columns,
        at=at,
        verbs=jobs.ticked_verbs(tab),
    )


def _around(queue: QueueDetail, tab: str) -> QueuePage:
    counts = queue.counts
    return QueuePage(
        title=isolated(counts.name),
        nav="queues",
        crumbs=(Crumb("Queues", Link("queues.index")), Crumb(isolated(counts.name))),
        topics=("queues", f"queue:{counts.name}"),
        name=counts.name,
        paused=counts.paused,
        waiting=counts.waiting,
        pause=pause_action(counts.name, paused=counts.paused),
        put=Action(
            text="Put a job",
            link=Link("act.put_job", {"queue": counts.name}),
            icon="add",
            asks=True,
        ),
        tabs=_tabs(counts, tab),
        tab=tab,
        facts=_facts(queue),
    )


def tab_link(name: str, tab: str) -> Link:
    """Return the place of a tab; that of the statistics is the queue's own."""
    if tab == TABS[0]:
        return jobs.queue_link(name)
    return Link("queues.show", {"queue": name, "tab": tab})


def _tabs(counts: QueueSummary, current: str) -> tuple[Tab, ...]:
    name = counts.name
    numbers = {**dict(state_counts(counts)), "throttled": counts.throttled}
    # Most queues have no throttle: the tab is there where it has something to show.
    limited = ("throttled",) if counts.throttled or current == "throttled" else ()
    return (
        Tab(key="stats", text="Stats", link=tab_link(name, "stats")),
        *(
            Tab(
                key=state,
                text=state.capitalize(),
                link=tab_link(name, state),
                count=numbers[state],
                state=state,
            )
            for state in (*QUEUE_STATES, *limited)
        ),
        Tab(
            key="recurring",
            text="Recurring",
            link=tab_link(name, "recurring"),
            count=counts.recurring,
            state="recurring",
        ),
    )


def _facts(queue: QueueDetail) -> tuple[str, ...]:
    own = _number("<queue>-heartbeat", queue.heartbeat, None)
    shared = _number("heartbeat", queue.shared_heartbeat, 60)
    grace = _number("grace-period", queue.grace_period, 10)
    limit = int(_number("<queue>-max-concurrency", queue.max_concurrency, 0) or 0)
    return (
        f"a lock lasts {duration(shared if own is None else own)}"
        + ("" if own is None else " (set for this queue)"),
        f"grace period {duration(grace)}",
        f"at most {count(limit)} at once" if limit > 0 else "no limit to how many run at once",
    )


def _number(name: str, stored: str | None, default: float | None) -> float | None:
    option = option_of(name)
    found = option.read(stored) if option and stored is not None else None
    return default if found is None else float(found)


def _empty(tab: str, queue: QueueDetail) -> EmptyState:
    name = queue.counts.name
    title, text, good = _EMPTIES[tab]
    return EmptyState(
        kind="nothing-wrong" if good else "nothing-yet",
        title=title.format(name=isolated(name)),
        text=text,
    )


#: Title, text, and whether it is good that there is nothing.
_EMPTIES = {
    "waiting": ("Nothing waits in {name}", "Every job that was put has been taken up.", True),
    "running": (
        "Nothing of {name} is running",
        "Jobs appear here while a worker holds them.",
        False,
    ),
    "stalled": (
        "No job of {name} has stalled",
        "A job stalls when its worker goes silent: its lock runs out before it completes or fails.",
        True,
    ),
    "scheduled": (
        "Nothing is scheduled in {name}",
        "Jobs that are put with a delay wait here until they are due.",
        False,
    ),
    "depends": (
        "No job of {name} waits for another",
        "Jobs that depend on others wait here until those complete.",
        False,
    ),
    "throttled": (
        "No throttle keeps back a job of {name}",
        "Jobs wait here while as many run as one of their throttles allows.",
        True,
    ),
    "recurring": (
        "Nothing recurs in {name}",
        "A recurring job puts jobs of its class into the queue, by interval or cron expression.",
        False,
    ),
}


def counts_data(queue: QueueSummary) -> dict[str, str | int | bool]:
    """Return the counts of a queue as the original's JSON addresses give them."""
    return {
        "name": queue.name,
        **dict(state_counts(queue)),
        **({"throttled": queue.throttled} if queue.throttled else {}),
        "recurring": queue.recurring,
        "paused": queue.paused,
    }
