"""One recurring job: when it makes its next job, what it makes, and what can be done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.formatting import count, duration, short_jid
from qless_web.presenters import jobs, named, words
from qless_web.presenters.job import Data, Fact, Tag, data, tags
from qless_web.presenters.page import Action, Crumb, Link, Page
from qless_web.presenters.why import Why
from qless_web.presenters.words import sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_core.reads.job import RecurringDetail
    from qless_core.reads.rows import RecurringRow
    from qless_web.presenters.rows import JobRow


@dataclass(frozen=True, kw_only=True)
class RecurringPage(Page):
    """One recurring job.

    Attributes:
        jid: whole.
        klass: the class of the jobs it makes.
        paused: whether its queue is.
        why: one sentence about its next run.
        facts: what it is, line by line.
        tags: the tags of the jobs it makes.
        add_tag: what puts another one on; the form field is `tag`.
        actions: what can be done.
        data: what its jobs work on.
        last: the job it made last, if it is still there.

    """

    template: ClassVar[str] = "recurring/show.html"

    jid: str
    klass: str
    paused: bool
    why: Why
    facts: tuple[Fact, ...]
    tags: tuple[Tag, ...]
    add_tag: Action
    actions: tuple[Action, ...]
    data: Data
    last: JobRow | None


def recurring_page(found: RecurringDetail, now: float) -> RecurringPage:
    """Return the page of a recurring job as it was read at `now`."""
    row = found.row
    return RecurringPage(
        title=f"{row.klass} {short_jid(row.jid)}",
        nav="queues",
        crumbs=(
            Crumb("Queues", Link("queues.index")),
            Crumb(named.short(row.queue, 40), jobs.queue_link(row.queue)),
            Crumb("Recurring", jobs.queue_link(row.queue).also(tab="recurring")),
            Crumb(short_jid(row.jid)),
        ),
        topics=(f"job:{row.jid}", f"queue:{row.queue}"),
        jid=row.jid,
        klass=row.klass,
        paused=found.paused,
        why=_why(found, now),
        facts=tuple(_facts(found)),
        tags=tags(row.jid, row.tags),
        add_tag=Action(text="Add", link=Link("act.add_tag", {"jid": row.jid}), icon="add"),
        actions=jobs.but_priority(jobs.recurring_actions(row.jid)),
        data=data(row.jid, found.data, found.data_bytes),
        last=None if found.last is None else jobs.job_row(found.last, named=True),
    )


def _why(found: RecurringDetail, now: float) -> Why:
    row = found.row
    stuck = _stuck(row)
    if stuck is not None or row.next_run is None:
        return stuck or Why(sentence("It is in no queue, so it makes no jobs."), "error")
    if found.paused:
        queue = sentence("Queue ", words.queue(row.queue), " is paused, so it makes no jobs")
        return Why((*queue, *sentence(_owed(row, "; ") + ".")), "warning")
    if row.next_run <= now:
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
        yield Fact(term="Time zone", words=sentence(row.timezone))
    else:
        yield Fact(term="Interval", words=sentence(every(row.interval)))
    if row.next_run is not None:
        yield Fact(term="Next run", words=sentence(words.coming(row.next_run)))
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
