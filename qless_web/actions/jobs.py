"""What is done to one job, or to one recurring job."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from qless_core import reads
from qless_core.errors import (
    JobNotFound,
    JobNotRunning,
    NotWaitingOnDependencies,
    RecurringJobNotFound,
)
from qless_core.records import Involved
from qless_web.actions import operating, targets
from qless_web.actions.action import action
from qless_web.actions.field import Field
from qless_web.actions.form import HIGHEST_PRIORITY, spellings
from qless_web.actions.outcome import Outcome, about, one
from qless_web.console import current
from qless_web.formatting import short_jid
from qless_web.presenters import ask, ask_jobs
from qless_web.presenters import ask_words as words
from qless_web.presenters.jobs import HELD
from qless_web.presenters.page import Link

if TYPE_CHECKING:
    from collections.abc import Callable

    from qless_core.records import Report
    from qless_web.actions.form import Form
    from qless_web.presenters.ask import AskPage

T = TypeVar("T")

#: Tags, each as it is: one text is one tag.
_TAGS = Field(
    name="tags", form="tag", kind="texts", highest=100, help="Tags, each as it is.", example=["vip"]
)

#: States that a job may be retried from: what is scheduled runs at once.
RETRIED_FROM = "failed,scheduled"


def _either(jid: str, job: Callable[[], T], recurring: Callable[[], T]) -> T:
    """Do it to the job of that jid, or to the recurring job.

    Raises:
        JobNotFound: there is neither.

    """
    try:
        return job()
    except JobNotFound:
        return _recurring(jid, recurring)


def _recurring(jid: str, act: Callable[[], T]) -> T:
    """Do it to the recurring job of that jid.

    Raises:
        JobNotFound: there is none, which was the last thing it could be.

    """
    try:
        return act()
    except RecurringJobNotFound:
        raise JobNotFound(jid) from None


# -- Retry


def _ask_retry(_form: Form, jid: str) -> AskPage:
    job = targets.look_at_job(jid)
    if job.state not in RETRIED_FROM.split(","):
        reason = f"{ask_jobs.job_name(job)} cannot be retried: {words.why(job.state)}."
        return ask_jobs.nothing("Retry", jid, "act.retry_job", reason)
    return ask_jobs.simple(
        ask_jobs.job_name(job),
        jid,
        verb="Retry",
        endpoint="act.retry_job",
        consequences=(f"It goes back to {job.queue} with its retries renewed.",),
    )


@action(
    "retry_job", "/jobs/<name:jid>/retry", permission="operate", subject=ask.of_job, ask=_ask_retry
)
def retry_job(_form: Form, jid: str) -> Outcome:
    """Put a failed or scheduled job back to work in its own queue, now."""
    report = current().client.commands.bulk_move("", "", [(jid, RETRIED_FROM)])
    return one(jid, report, words.sentence(f"Retried {short_jid(jid)}"))


# -- Cancel


def _ask_cancel(_form: Form, jid: str) -> AskPage:
    found = targets.look(jid)
    if isinstance(found, reads.RecurringRow):
        return ask_jobs.cancel_recurring(jid, found.klass)
    closure = current().client.commands.bulk_closure(jid)
    if closure.missing:
        raise JobNotFound(jid)
    return ask_jobs.cancel(closure, jid)


@action(
    "cancel_job",
    "/jobs/<name:jid>/cancel",
    permission="destroy",
    subject=ask.of_job,
    ask=_ask_cancel,
    confirms=True,
    takes=(
        Field(
            name="expected",
            kind="whole",
            required=False,
            default=1,
            highest=1_000_000,
            help="How many jobs go: this one, and all that wait for it. Nothing is done where it "
            "is another number.",
            example=1,
        ),
    ),
)
def cancel_job(form: Form, jid: str) -> Outcome:
    """Remove a job for good, with those that wait for it where they were shown."""
    found = targets.look(jid)
    if isinstance(found, reads.RecurringRow):
        return _end(jid)
    jobs = targets.shown(form, (jid,))
    done = operating.at_once("cancel", jobs, "", operating.asked(form))
    return replace(_cancelled(jid, found.queue, done.report), operation=done.operation)


def _end(jid: str) -> Outcome:
    """Remove a recurring job for good."""
    _recurring(jid, lambda: current().client.commands.unrecur(jid))
    text = words.sentence(f"Cancelled the recurring job {short_jid(jid)}")
    return Outcome(text=text, done=(jid,), gone=(_away(jid, ""),))


def _cancelled(jid: str, queue: str, report: Report) -> Outcome:
    """Tell of a job that was cancelled, and of those that waited for it."""
    if {*report.done, *report.left} == {jid}:
        outcome = one(jid, report, words.sentence(f"Cancelled {short_jid(jid)}"))
    else:
        outcome = about("Cancelled", report)
    away = (_away(jid, queue),) if jid in report.done else ()
    return replace(outcome, gone=(*away, *outcome.gone))


def _away(jid: str, queue: str) -> tuple[Link, Link]:
    """Lead from the page of a job that is no more to its queue, or to all of them."""
    home = Link("queues.show", {"queue": queue}) if queue else Link("queues.index")
    return Link("jobs.show", {"jid": jid}), home


# -- Move


def _ask_move(_form: Form, jid: str) -> AskPage:
    queues, row = current().read(reads.queue_names(), reads.job_row(jid))
    return ask_jobs.move(targets.seen(jid, row), jid, queues)


@action(
    "move_job",
    "/jobs/<name:jid>/move",
    permission="operate",
    subject=ask.of_job,
    ask=_ask_move,
    takes=(targets.QUEUE,),
)
def move_job(form: Form, jid: str) -> Outcome:
    """Put a job into another queue; a running one only where it was shown running."""
    queue = targets.queue(form)
    commands = current().client.commands
    report = commands.bulk_move("", queue, [(jid, targets.movable(form))])
    done = f"Moved {short_jid(jid)} to {queue}."
    if report.left.get(jid) != "gone":
        return one(jid, report, done)
    _recurring(jid, lambda: commands.recur_update(jid, queue=queue))
    return Outcome(text=done, done=(jid,))


# -- Priority


def _ask_priority(_form: Form, jid: str) -> AskPage:
    row = current().read(reads.job_row(jid))
    return ask_jobs.priority(targets.seen(jid, row), jid, row.priority if row else 0)


@action(
    "set_priority",
    "/jobs/<name:jid>/priority",
    permission="operate",
    subject=ask.of_job,
    ask=_ask_priority,
    takes=(
        Field(
            name="priority",
            kind="whole",
            lowest=-HIGHEST_PRIORITY,
            highest=HIGHEST_PRIORITY,
            help="The higher, the sooner.",
            example=10,
        ),
    ),
)
def set_priority(form: Form, jid: str) -> Outcome:
    """Change the priority of a job, or of those that a recurring job makes."""
    wanted = form.priority()
    commands = current().client.commands

    def recurring() -> int:
        commands.recur_update(jid, priority=wanted)
        return wanted

    now = _either(jid, lambda: commands.priority(jid, wanted), recurring)
    return Outcome(text=f"{short_jid(jid)} has priority {now}.", done=(jid,), answer=now)


# -- Tags


def _ask_tag(_form: Form, jid: str) -> AskPage:
    return ask_jobs.tag(targets.look(jid), jid)


@action(
    "add_tag",
    "/jobs/<name:jid>/tag",
    permission="operate",
    subject=ask.of_job,
    ask=_ask_tag,
    takes=(_TAGS,),
)
def add_tag(form: Form, jid: str) -> Outcome:
    """Add tags to a job, or to those that a recurring job makes."""
    tags = form.tags()
    commands = current().client.commands
    now = _either(
        jid, lambda: commands.tag("add", jid, *tags), lambda: commands.recur_tag(jid, *tags)
    )
    text = f"Tagged {short_jid(jid)} {', '.join(tags)}."
    return Outcome(text=text, done=(jid,), answer=now)


def _ask_untag(form: Form, jid: str) -> AskPage:
    return ask_jobs.untag(targets.look(jid), jid, form.get("tag"))


@action(
    "remove_tag",
    "/jobs/<name:jid>/untag",
    permission="operate",
    subject=ask.of_job,
    ask=_ask_untag,
    takes=(_TAGS,),
)
def remove_tag(form: Form, jid: str) -> Outcome:
    """Remove tags from a job, or from those that a recurring job makes."""
    tags = tuple(dict.fromkeys(each for tag in form.tags() for each in spellings(tag)))
    commands = current().client.commands
    now = _either(
        jid, lambda: commands.tag("remove", jid, *tags), lambda: commands.recur_untag(jid, *tags)
    )
    text = words.sentence(f"Removed {', '.join(form.tags())} from {short_jid(jid)}")
    return Outcome(text=text, done=(jid,), answer=now)


# -- Tracking


def _ask_track(_form: Form, jid: str) -> AskPage:
    return ask_jobs.simple(
        ask_jobs.job_name(targets.look_at_job(jid)), jid, verb="Track", endpoint="act.track_job"
    )


@action(
    "track_job", "/jobs/<name:jid>/track", permission="operate", subject=ask.of_job, ask=_ask_track
)
def track_job(_form: Form, jid: str) -> Outcome:
    """Begin to track a job."""
    is_new = current().client.track(jid)
    name = short_jid(jid)
    text = words.sentence(f"Tracking {name}" if is_new else f"{name} is tracked already")
    return Outcome(text=text, tone="done" if is_new else "info", done=(jid,))


def _ask_untrack(_form: Form, jid: str) -> AskPage:
    return ask_jobs.simple(short_jid(jid), jid, verb="Untrack", endpoint="act.untrack_job")


@action(
    "untrack_job",
    "/jobs/<name:jid>/untrack",
    permission="operate",
    subject=ask.of_job,
    ask=_ask_untrack,
)
def untrack_job(_form: Form, jid: str) -> Outcome:
    """Track a job no more, also one that is gone."""
    was = current().client.untrack(jid)
    name = short_jid(jid)
    text = words.sentence(f"No longer tracking {name}" if was else f"{name} is not tracked")
    return Outcome(text=text, tone="done" if was else "info", done=(jid,))


# -- What ends waiting


def _ask_time_out(_form: Form, jid: str) -> AskPage:
    job = targets.look_at_job(jid)
    if job.state not in HELD or not job.worker:
        reason = f"{ask_jobs.job_name(job)} has no lock to take away: {words.why(job.state)}."
        return ask_jobs.nothing("Time out", jid, "act.time_out_job", reason)
    return ask_jobs.time_out(job)


@action(
    "time_out_job",
    "/jobs/<name:jid>/timeout",
    permission="operate",
    subject=ask.of_job,
    ask=_ask_time_out,
    confirms=True,
)
def time_out_job(_form: Form, jid: str) -> Outcome:
    """Take the lock from the worker that runs a job, now."""
    try:
        current().client.commands.timeout(jid)
    except JobNotRunning as error:
        return one(jid, targets.untouched(jid, error.state), "")
    text = f"Timed out {short_jid(jid)}: its worker has lost it, and it is first in its queue."
    return Outcome(text=text, done=(jid,))


def _waits_for(jid: str, dependency: str) -> tuple[Involved, tuple[str, ...]]:
    """Give a job that waits for others, and those of them that are meant.

    Raises:
        JobNotFound: it is gone.
        NotWaitingOnDependencies: it waits for nothing, or not for that.

    """
    record = current().client.commands.get(jid)
    if record is None:
        raise JobNotFound(jid)
    if record.state != "depends":
        raise NotWaitingOnDependencies(jid, record.state)
    others = set(record.dependencies)
    dependency = next((each for each in spellings(dependency) if each in others), dependency)
    if dependency and dependency not in others:
        sentence = f"Job {jid} does not wait for {dependency} (any more)"
        raise NotWaitingOnDependencies(jid, record.state, sentence)
    meant = (dependency,) if dependency else tuple(record.dependencies)
    job = Involved(jid, record.klass, record.state, record.queue, record.worker)
    return job, meant


def _ask_undepend(form: Form, jid: str) -> AskPage:
    job, meant = _waits_for(jid, form.get("dependency"))
    return ask_jobs.undepend(job, meant, form.get("dependency"))


@action(
    "undepend_job",
    "/jobs/<name:jid>/undepend",
    permission="operate",
    subject=ask.of_job,
    ask=_ask_undepend,
    confirms=True,
    takes=(
        Field(
            name="dependency",
            required=False,
            help="The jid of the job to wait for no longer; without it, all of them.",
            example="order-12",
        ),
    ),
)
def undepend_job(form: Form, jid: str) -> Outcome:
    """Let a job wait no longer for another one, or, where none is named, for none at all."""
    dependency = form.get("dependency")
    _, meant = _waits_for(jid, dependency)
    current().client.commands.depends(jid, "off", *meant)
    others = short_jid(dependency) if dependency else words.jobs(len(meant))
    return Outcome(
        text=words.sentence(f"{short_jid(jid)} no longer waits for {others}"), done=(jid,)
    )
