"""Recurring jobs: all of them; of one when it makes its next job, what it makes, what it made."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

from qless_core.cron import Cron
from qless_core.errors import BadArgument
from qless_web.formatting import count, duration, isolated, short_jid
from qless_web.presenters import jobs, named, paging, words
from qless_web.presenters.facts import Data, Fact, Tag, data, tags
from qless_web.presenters.page import Action, Crumb, EmptyState, Link, Page, Pager, pager
from qless_web.presenters.why import Why
from qless_web.presenters.words import sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.reads import Everywhere, Listing, Run
    from qless_core.reads.job import RecurringDetail
    from qless_core.reads.rows import RecurringRow

#: Runs to come that the page of a recurring job shows.
UPCOMING = 5

#: Queues whose changes a list of all queues hears of at once; it hears of the others by and by.
_HEARD = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One job that a recurring job made. Instants are epoch seconds.

    Attributes:
        due: when it was put, which is when it was due.
        started: when a worker took it last.
        took: seconds from there to its end.
        gone: the job is no longer there: it was removed, or has completed and expired.

    """

    jid: str
    link: Link
    state: str
    due: float | None
    started: float | None
    took: float | None
    gone: bool


def run_rows(runs: Iterable[Run]) -> tuple[RunRow, ...]:
    """Return the rows of a list of runs."""
    return tuple(
        RunRow(
            jid=run.row.jid,
            link=jobs.job_link(run.row.jid),
            state=run.row.state,
            due=run.due,
            started=run.started,
            took=None if run.ended is None or run.started is None else run.ended - run.started,
            gone=run.row.gone,
        )
        for run in runs
    )


def runs_link(jid: str) -> Link:
    """Return the place of all runs of a recurring job."""
    return Link("recurring.runs", {"jid": jid})


def upcoming(row: RecurringRow, now: float) -> tuple[float, ...]:
    """Return when the next runs are; none where it is paused, or nobody can tell."""
    if row.paused or row.next_run is None:
        return ()
    if row.cron:
        try:
            # The first one is planned already; those that follow are not, or may be changed.
            runs = Cron(row.cron, row.timezone).after(max(now, row.next_run - 1))
            return tuple(islice(runs, UPCOMING))
        except (BadArgument, ValueError, OverflowError):
            return ()
    if row.interval is None or row.interval <= 0:
        return ()
    first = row.next_run + row.owed * row.interval
    return tuple(first + n * row.interval for n in range(UPCOMING))


@dataclass(frozen=True, kw_only=True)
class RecurringListPage(Page):
    """The recurring jobs of all queues.

    Attributes:
        rows: those of this page, the next to run first.
        pages: where the others are.
        total: how many there are.
        partly: what is not listed, in a sentence; "" where all is.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "recurring/index.html"

    rows: tuple[jobs.RecurringRow, ...]
    pages: Pager
    total: int
    partly: str
    empty: EmptyState | None


def list_page(found: Everywhere[RecurringRow], number: int) -> RecurringListPage:
    """Return page `number` of the recurring jobs of all queues."""
    pages = pager(Link("recurring.index"), number=number, total=found.total)
    queues = dict.fromkeys(row.queue for row in found.rows)
    return RecurringListPage(
        title="Recurring",
        nav="recurring",
        topics=("queues", *(f"queue:{name}" for name in list(queues)[:_HEARD])),
        rows=jobs.recurring_rows(found.rows),
        pages=pages,
        total=found.whole,
        partly=paging.partly(found.whole, found.total, "the next to run"),
        empty=paging.beyond(pages, number) or (None if found.whole else _NONE),
    )


_NONE = EmptyState(
    kind="nothing-yet",
    title="Nothing recurs",
    text="A recurring job puts jobs of its class into its queue, by interval or cron expression.",
    command='queue.cron("shop.jobs.Report", {}, "0 6 * * 1-5", timezone="Europe/Berlin")',
)


@dataclass(frozen=True, kw_only=True)
class RunsPage(Page):
    """What became of the jobs that a recurring job made.

    Attributes:
        rows: those of this page, the newest first.
        pages: where the others are.
        total: how many it has made.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "recurring/runs.html"

    rows: tuple[RunRow, ...]
    pages: Pager
    total: int
    empty: EmptyState | None


def runs_page(jid: str, found: Listing[Run], number: int) -> RunsPage:
    """Return page `number` of the runs of a recurring job."""
    pages = pager(runs_link(jid), number=number, total=found.total)
    none = EmptyState(kind="nothing-yet", title="It has made no jobs yet")
    return RunsPage(
        title=f"Runs of {isolated(short_jid(jid))}",
        nav="recurring",
        crumbs=(
            Crumb("Recurring", Link("recurring.index")),
            Crumb(isolated(short_jid(jid)), jobs.job_link(jid)),
            Crumb("Runs"),
        ),
        topics=(f"job:{jid}",),
        rows=run_rows(found.rows),
        pages=pages,
        total=found.total,
        empty=paging.beyond(pages, number) or (None if found.total else none),
    )


@dataclass(frozen=True, kw_only=True)
class RecurringPage(Page):
    """One recurring job.

    Attributes:
        jid: whole.
        klass: the class of the jobs it makes.
        paused: whether its queue is, or it is itself.
        held: whether it is paused itself.
        why: one sentence about its next run.
        facts: what it is, line by line.
        tags: the tags of the jobs it makes.
        add_tag: what puts another one on; the form field is `tag`.
        actions: what can be done.
        data: what its jobs work on.
        upcoming: when its next runs are, epoch seconds.
        runs: what became of its newest jobs.
        all_runs: where the others are; None where these are all.

    """

    template: ClassVar[str] = "recurring/show.html"

    jid: str
    klass: str
    paused: bool
    held: bool
    why: Why
    facts: tuple[Fact, ...]
    tags: tuple[Tag, ...]
    add_tag: Action
    actions: tuple[Action, ...]
    data: Data
    upcoming: tuple[float, ...]
    runs: tuple[RunRow, ...]
    all_runs: Link | None


def recurring_page(found: RecurringDetail, now: float) -> RecurringPage:
    """Return the page of a recurring job as it was read at `now`."""
    row = found.row
    return RecurringPage(
        title=isolated(f"{row.klass} {short_jid(row.jid)}"),
        nav="recurring",
        crumbs=(
            Crumb("Queues", Link("queues.index")),
            Crumb(isolated(named.short(row.queue, 40)), jobs.queue_link(row.queue)),
            Crumb("Recurring", jobs.queue_link(row.queue).also(tab="recurring")),
            Crumb(isolated(short_jid(row.jid))),
        ),
        topics=(f"job:{row.jid}", f"queue:{row.queue}"),
        jid=row.jid,
        klass=row.klass,
        paused=found.paused or row.paused,
        held=row.paused,
        why=_why(found, now),
        facts=tuple(_facts(found)),
        tags=tags(row.jid, row.tags),
        add_tag=Action(text="Add", link=Link("act.add_tag", {"jid": row.jid}), icon="add"),
        actions=jobs.but_priority(jobs.recurring_actions(row.jid, paused=row.paused)),
        data=data(row.jid, found.data, found.data_bytes),
        upcoming=upcoming(row, now),
        runs=run_rows(found.runs),
        all_runs=runs_link(row.jid) if row.count > len(found.runs) else None,
    )


def _why(found: RecurringDetail, now: float) -> Why:
    row = found.row
    stuck = None if row.paused else _stuck(row)
    if stuck is not None or (row.next_run is None and not row.paused):
        return stuck or Why(sentence("It is in no queue, so it makes no jobs."), "error")
    if row.paused:
        return Why(
            sentence("It is paused, so it makes no jobs until it is unpaused. What falls due "
                     "meanwhile is passed over."),
            "warning",
        )  # fmt: skip
    if found.paused:
        queue = sentence("Queue ", words.queue(row.queue), " is paused, so it makes no jobs")
        return Why((*queue, *sentence(_owed(row, "; ") + ".")), "warning")
    if row.next_run is not None and row.next_run <= now:
        due = sentence("It was due ", words.past(row.next_run), ": the next pop of ")
        return Why((*due, words.queue(row.queue), *sentence(f" makes {_made(row)}.")))
    return Why(sentence("Makes its next job ", words.coming(row.next_run), ", at the pop that "
                        "follows."))  # fmt: skip


def _stuck(row: RecurringRow) -> Why | None:
    """Say why it makes no jobs, where that lies in its own definition."""
    if row.cron and row.next_run is None:
        return Why(
            sentence("None of its runs is planned: clients that pop plan them, within a minute. "
                     "If it stays so, its expression or time zone cannot be read there."),
            "warning",
        )  # fmt: skip
    if not row.cron and (row.interval is None or row.interval <= 0):
        return Why(
            sentence("Its interval makes no sense, so that it never makes jobs as it should: "
                     "cancel it, or give it another one."),
            "error",
        )  # fmt: skip
    return None


def _made(row: RecurringRow) -> str:
    made = makes(row)
    return "one job" if made == 1 else f"up to {count(made)} jobs, one for each run missed"


def _owed(row: RecurringRow, before: str) -> str:
    return f"{before}{count(row.owed)} are owed" if row.owed else ""


def makes(row: RecurringRow) -> int:
    """Return how many of the jobs it owes a pop makes: a backlog caps them."""
    return min(row.owed, row.backlog + 1) if row.backlog > 0 else row.owed


def _facts(found: RecurringDetail) -> Iterable[Fact]:
    row = found.row
    yield Fact(term="jid", words=sentence(words.Part(text=row.jid, kind="mono jid-fact")))
    yield Fact(term="Queue", words=sentence(words.queue(row.queue),
                                            " (paused)" if found.paused else None))  # fmt: skip
    if row.cron:
        yield Fact(term="Cron", words=sentence(words.Part(text=row.cron, kind="mono")))
        if jobs.explained(row.cron):
            yield Fact(term="In words", words=sentence(jobs.explained(row.cron)))
        yield Fact(term="Time zone", words=sentence(row.timezone))
    else:
        yield Fact(term="Interval", words=sentence(every(row.interval)))
    if row.next_run is not None:
        yield Fact(term="Next run", words=sentence(words.coming(row.next_run)))
    if row.last_run is not None:
        yield Fact(term="Last run", words=sentence(words.past(row.last_run)))
    yield Fact(term="Owed", words=sentence(_debt(row)))
    yield Fact(term="Made so far", words=sentence(count(row.count)))
    yield Fact(term="Backlog", words=sentence(_backlog(row.backlog)))
    yield Fact(
        term="Priority",
        words=sentence(str(row.priority)),
        action=Action(
            text="Change", link=Link("act.set_priority", {"jid": row.jid}), icon="", asks=True
        ),
    )
    yield Fact(term="Retries", words=sentence(count(row.retries)))


def every(interval: float | None) -> str:
    """Say how often.

    >>> every(60), every(1), every(86400), every(90), every(None)
    ('every minute', 'every second', 'every day', 'every 1 min 30 s', 'unknown')
    >>> every(0), every(-60)
    ('0 s: makes no sense', '-60 s: makes no sense')
    """
    if interval is None:
        return "unknown"
    if interval <= 0:
        return f"{interval:g} s: makes no sense"
    named_ = {1: "second", 60: "minute", 3600: "hour", 86_400: "day", 604_800: "week"}
    return f"every {named_.get(interval) or duration(interval)}"  # type: ignore[call-overload]  # a float finds its int


def _debt(row: RecurringRow) -> str:
    if not row.owed:
        return "0"
    made = makes(row)
    if made < row.owed:
        return f"{count(row.owed)}, of which the backlog lets {count(made)} be made"
    return count(row.owed)


def _backlog(backlog: int) -> str:
    if backlog <= 0:
        return "no limit: each missed run gives a job"
    return f"at most {count(backlog)} missed runs give a job"
