"""Rows that more than one family of pages lists: jobs, queues, groups of failures.

Plain data for the macros of ``templates/macros/tables.html``; a missing value is None and shows
as a dash, a zero shows as a faint 0. Instants are epoch seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qless_web.presenters.charts import Bars, Sparkline
    from qless_web.presenters.page import Action, Link


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """One job in a list.

    ``at`` is the instant that matters in this list and ``at_word`` says what it is ("put",
    "failed", "due", "lock ends"). ``note`` is one more line of words, as a failure's message.
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
    tracked: bool = False
    gone: bool = False
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRow:
    """One queue: its counts by state, the bar of them, the age of what waits longest.

    ``bar`` is `charts.state_bar` of the same counts; ``oldest`` the put instant of the oldest
    waiting job.
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
    trend: Sparkline | None = None
    note: str = ""
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """One group of failures: how many, its share of all in 0..1, when the last one came."""

    name: str
    link: Link
    count: int
    share: float
    last: float | None = None
    message: str = ""
    trend: Sparkline | None = None
    actions: tuple[Action, ...] = ()
