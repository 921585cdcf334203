"""Rows that more than one family of pages lists: jobs, queues, groups of failures.

Plain data for the macros of ``templates/macros/tables.html``; a missing value is None and shows
as a dash, a zero shows as a faint 0. Instants are epoch seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qless_web.presenters.charts import Bars
    from qless_web.presenters.page import Action, Link
    from qless_web.presenters.throughput import Spark


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """One job in a list.

    ``at`` is the instant that matters in this list and ``at_word`` says what it is ("put",
    "failed", "due", "lock ends"). ``note`` is one more line of words, as a failure's message;
    ``group`` is that of its failure.
    ``gone`` marks a jid whose job is no longer there: the rest of the row is dashes.
    """

    jid: str
    link: Link
    klass: str = ""
    state: str = ""
    queue: str = ""
    queue_link: Link | None = None
    worker: str = ""
    worker_link: Link | None = None
    tags: tuple[tuple[str, Link], ...] = ()
    priority: int = 0
    retries: int | None = None
    remaining: int | None = None
    at: float | None = None
    at_word: str = ""
    note: str = ""
    group: str = ""
    tracked: bool = False
    gone: bool = False
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRow:
    """One queue: its counts by state, the bar of them, the age of what waits longest.

    ``bar`` is `charts.state_bar` of the same counts; ``oldest`` the put instant of the oldest
    waiting job; ``spark`` what was done in the last hour.
    """

    name: str
    link: Link
    waiting: int
    running: int
    stalled: int
    scheduled: int
    depends: int
    recurring: int
    failed: int | None = None
    paused: bool = False
    oldest: float | None = None
    bar: Bars | None = None
    spark: Spark | None = None
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """One group of failures.

    ``name`` is whole, ``shown`` is what fits a row and tells it from the others. ``share`` is its
    part of all failed jobs, in 0..1. ``message`` is the line of the newest failure that says most;
    ``klass`` and ``queue`` are those of the newest too, and ``last`` is when it failed.
    """

    name: str
    shown: str
    link: Link
    count: int
    share: float
    message: str = ""
    klass: str = ""
    queue: str = ""
    queue_link: Link | None = None
    last: float | None = None
    actions: tuple[Action, ...] = ()
