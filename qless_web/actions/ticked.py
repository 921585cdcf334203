"""What is done to the jobs that were ticked in a list."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from qless_core import reads
from qless_web.actions import operating, targets
from qless_web.actions.action import action
from qless_web.actions.outcome import Outcome, by_operation
from qless_web.console import current
from qless_web.operations.options import Options
from qless_web.presenters import ask, ask_jobs
from qless_web.presenters import ask_words as words
from qless_web.presenters.jobs import HELD

if TYPE_CHECKING:
    from collections.abc import Callable

    from qless_core.records import Involved
    from qless_web.actions.form import Form
    from qless_web.presenters.ask import AskPage


def _sorted(form: Form, fits: Callable[[str], bool]) -> tuple[list[Involved], Counter[str]]:
    """Give the ticked jobs whose state fits, and count the others by why they do not."""
    closure, jids = targets.ticked(form)
    found = [job for job in closure.jobs if job.jid in set(jids)]
    left = Counter(job.state for job in found if not fits(job.state))
    if closure.missing:
        left["gone"] = len(closure.missing)
    return [job for job in found if fits(job.state)], left


def _group(form: Form) -> tuple[tuple[str, str], ...]:
    return (("group", form.get("group")),) if form.get("group") else ()


# -- Retry


def _ask_retry(form: Form) -> AskPage:
    chosen, left = _sorted(form, lambda state: state == "failed")
    return ask_jobs.ticked(
        "Retry",
        "act.retry_jobs",
        chosen,
        left,
        question=f"Retry {words.jobs(len(chosen))}, each into its own queue?",
        consequences=(words.RENEWED,),
        fields=_group(form),
    )


@action(
    "retry_jobs",
    "/ticked/retry",
    permission="operate",
    subject=ask.of_ticked,
    ask=_ask_retry,
    confirms=True,
    takes=(targets.JIDS,),
)
def retry_jobs(form: Form) -> Outcome:
    """Put the ticked jobs that are still failed back to work, each in its own queue."""
    jobs = [(jid, "failed") for jid, _ in targets.named(form)]
    done = operating.at_once("retry", jobs, targets.group(form), operating.asked(form))
    return by_operation("Retried", done)


# -- Move


def _ask_move(form: Form) -> AskPage:
    chosen, left = _sorted(form, lambda state: state not in HELD)
    queues = current().read(reads.queue_names())
    return ask_jobs.ticked(
        "Move",
        "act.move_jobs",
        chosen,
        left,
        question=f"Move {words.jobs(len(chosen))} to which queue?",
        consequences=(words.RENEWED_THERE,),
        fields=_group(form),
        inputs=(ask_jobs.queue_input(queues, form.get("queue")),),
    )


@action(
    "move_jobs",
    "/ticked/move",
    permission="operate",
    subject=ask.of_ticked,
    ask=_ask_move,
    confirms=True,
    takes=(targets.JIDS, targets.QUEUE),
)
def move_jobs(form: Form) -> Outcome:
    """Put the ticked jobs that are as they were shown to work in one queue."""
    queue = targets.queue(form)
    jobs = [(jid, targets.wanted(state) or targets.AT_REST) for jid, state in targets.named(form)]
    how = Options(queue=queue)
    done = operating.at_once("move", jobs, targets.group(form), operating.asked(form), how)
    return by_operation(f"Moved to {queue}:", done)


# -- Cancel


def _ask_cancel(form: Form) -> AskPage:
    closure, jids = targets.ticked(form)
    return ask_jobs.cancel_ticked(closure, jids, form.get("group"))


@action(
    "cancel_jobs",
    "/ticked/cancel",
    permission="destroy",
    subject=ask.of_ticked,
    ask=_ask_cancel,
    confirms=True,
    takes=(targets.JIDS,),
)
def cancel_jobs(form: Form) -> Outcome:
    """Remove the ticked jobs, and those shown that wait for them; they rest in the trash."""
    jids = form.all("jids")
    jobs = targets.shown(form, jids) if form.guarded else [(jid, "") for jid in jids]
    done = operating.at_once("cancel", jobs, targets.group(form), operating.asked(form))
    return by_operation("Cancelled", done)
