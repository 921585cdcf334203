"""When scheduled jobs are due: now, or at another time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from qless_core.errors import BadArgument
from qless_web.actions import due, targets
from qless_web.actions.action import AskAgain, action
from qless_web.actions.form import Form
from qless_web.actions.outcome import Outcome, about, one
from qless_web.console import current
from qless_web.formatting import short_jid
from qless_web.presenters import ask, ask_jobs
from qless_web.presenters import ask_words as words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_core.records import Involved
    from qless_web.presenters.ask import AskPage

_DUE = "A worker may take it as soon as it is due; retries, data, priority and tags stay."


def _when(form: Form) -> Mapping[str, Any]:
    """Read when they are to be due.

    Raises:
        BadArgument: it makes no sense, or both or none is given; of the API.
        AskAgain: the same, of a form, which is then filled in anew.

    """
    try:
        return _given(form)
    except BadArgument as error:
        # Where nothing came along, the button was meant to ask.
        if form.guarded:
            raise AskAgain(str(error) if form.has("delay") or form.has("at") else "") from error
        raise


def _given(form: Form) -> Mapping[str, Any]:
    if found := due.when(form):
        return found
    problem = "Say either how long from now, or the moment."
    raise BadArgument(problem)


def _no(job: Involved, verb: str, endpoint: str) -> AskPage | None:
    """Say that a job is not scheduled; None where it is."""
    if job.state == "scheduled":
        return None
    reason = f"{ask_jobs.job_name(job)} is not scheduled: {words.why(job.state)}."
    return ask_jobs.nothing(verb, job.jid, endpoint, reason)


# -- One


def _ask_run(_form: Form, jid: str) -> AskPage:
    job = targets.look_at_job(jid)
    return _no(job, "Run", "act.run_job") or ask_jobs.simple(
        ask_jobs.job_name(job), jid, verb="Run", endpoint="act.run_job", consequences=(_DUE,)
    )


@action("run_job", "/jobs/<name:jid>/run", permission="operate", subject=ask.of_job, ask=_ask_run)
def run_job(_form: Form, jid: str) -> Outcome:
    """Let a scheduled job be due now."""
    report = current().client.commands.reschedule((jid,), delay_s=0)
    return one(jid, report, f"{short_jid(jid)} is due now.")


def _ask_reschedule(form: Form, jid: str) -> AskPage:
    job = targets.look_at_job(jid)
    return _no(job, "Reschedule", "act.reschedule_job") or ask_jobs.simple(
        ask_jobs.job_name(job),
        jid,
        verb="Reschedule",
        endpoint="act.reschedule_job",
        question=f"When is {ask_jobs.job_name(job)} to be due?",
        consequences=(_DUE,),
        inputs=ask_jobs.when_inputs(form.get("delay"), form.get("at")),
    )


@action(
    "reschedule_job",
    "/jobs/<name:jid>/reschedule",
    permission="operate",
    subject=ask.of_job,
    ask=_ask_reschedule,
    takes=(due.WHEN,),
)
def reschedule_job(form: Form, jid: str) -> Outcome:
    """Let a scheduled job be due at another time."""
    when = _when(form)
    report = current().client.commands.reschedule((jid,), **when)
    return one(jid, report, f"{short_jid(jid)} is due {due.told(when)}.")


# -- Ticked ones


def _ticked(form: Form) -> tuple[list[Involved], Counter[str]]:
    """Give the ticked jobs that are scheduled, and count the others by why they are not."""
    named = form.all("jids") or tuple(jid for jid, _ in form.targets())
    closure, jids = targets.ticked(Form({"jids": named}))
    found = [job for job in closure.jobs if job.jid in set(jids)]
    left = Counter(job.state for job in found if job.state != "scheduled")
    if closure.missing:
        left["gone"] = len(closure.missing)
    return [job for job in found if job.state == "scheduled"], left


def _jids(form: Form) -> list[str]:
    return list(dict.fromkeys(jid for jid, _ in targets.named(form)))


def _ask_run_ticked(form: Form) -> AskPage:
    chosen, left = _ticked(form)
    question = f"Run {words.jobs(len(chosen))} now?"
    return ask_jobs.ticked(
        "Run", "act.run_jobs", chosen, left, question=question, consequences=(_DUE,)
    )


@action(
    "run_jobs",
    "/ticked/run",
    permission="operate",
    subject=ask.of_ticked,
    ask=_ask_run_ticked,
    confirms=True,
    takes=(targets.JIDS,),
)
def run_jobs(form: Form) -> Outcome:
    """Let the ticked jobs that are scheduled be due now."""
    return about("Due now:", current().client.commands.reschedule(_jids(form), delay_s=0))


def _ask_reschedule_ticked(form: Form) -> AskPage:
    chosen, left = _ticked(form)
    return ask_jobs.ticked(
        "Reschedule",
        "act.reschedule_jobs",
        chosen,
        left,
        question=f"When are {words.jobs(len(chosen))} to be due?",
        consequences=(_DUE,),
        inputs=ask_jobs.when_inputs(form.get("delay"), form.get("at")),
    )


@action(
    "reschedule_jobs",
    "/ticked/reschedule",
    permission="operate",
    subject=ask.of_ticked,
    ask=_ask_reschedule_ticked,
    confirms=True,
    takes=(targets.JIDS, due.WHEN),
)
def reschedule_jobs(form: Form) -> Outcome:
    """Let the ticked jobs that are scheduled be due at another time."""
    when = _when(form)
    report = current().client.commands.reschedule(_jids(form), **when)
    return about(f"Due {due.told(when)}:", report)
