"""What is done to a whole group of failures, or to all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qless_core import reads
from qless_core.failures import COUNTED
from qless_core.records import Report
from qless_web.actions import chunks, targets
from qless_web.actions.action import action
from qless_web.actions.outcome import Outcome, about, emptied
from qless_web.console import current
from qless_web.presenters import ask, ask_failures
from qless_web.presenters.page import Link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qless_core.bulk import Seen
    from qless_web.access import Permission
    from qless_web.actions.action import Action
    from qless_web.actions.field import Field
    from qless_web.actions.form import Form
    from qless_web.presenters.ask import AskPage


def _look(form: Form, group: str) -> ask_failures.Look:
    """Look at a group: what it lists, what is not failed among that, and all queues."""
    here = current()
    states = here.client.failures.states(group)
    newest, queues = here.read(
        reads.failure_jobs(group, reads.Slice(0, ask_failures.NAMED)), reads.queue_names()
    )
    odd = {state: number for state, number in states.items() if state != "failed"}
    return ask_failures.Look(
        group=group,
        listed=newest.total,
        newest=newest.rows,
        odd=odd,
        complete=newest.total <= COUNTED,
        queues=queues,
        queue=form.get("queue"),
        now=here.now,
    )


def _on_group(
    verb: str,
    permission: Permission,
    question: Callable[[ask_failures.Look], AskPage],
    takes: tuple[Field, ...] = (),
) -> Callable[[Callable[..., Outcome]], Action]:
    """Declare what is done to a whole group; `question` is asked about a look at it."""
    return action(
        f"{verb}_group",
        f"/failed/<name:group>/{verb}",
        permission=permission,
        subject=ask.of_group,
        ask=lambda form, group: question(_look(form, group)),
        confirms=True,
        takes=takes,
    )


def _tell(
    done: str, reports: Iterator[Report], form: Form, again: Link, group: str = ""
) -> Outcome:
    """Work as far as there is time, and tell of it.

    Args:
        done: what happens to the jobs, as "Retried".
        reports: does it.
        form: from whoever asked.
        again: the question that goes on where time was up.
        group: the group that is left without jobs if there were none; "" for no single one.

    """
    report, finished = chunks.as_far_as_time_allows(reports, patient=form.patient)
    outcome = about(done, report)
    if not finished:
        return outcome.unfinished(again)
    if group and not report.done and not report.left:
        return replace(outcome, gone=emptied(Report(emptied=(group,))))
    return outcome


@_on_group("retry", "operate", ask_failures.retry)
def retry_group(form: Form, group: str) -> Outcome:
    """Put all jobs of a group back to work, each in its own queue."""
    reports = current().client.failures.retry(group, seen=form.seen().get(group))
    return _tell("Retried", reports, form, Link("act.retry_group", {"group": group}), group)


@_on_group("move", "operate", ask_failures.move, takes=(targets.QUEUE,))
def move_group(form: Form, group: str) -> Outcome:
    """Put all jobs of a group to work in one queue."""
    queue = targets.queue(form)
    reports = current().client.failures.retry(group, queue, seen=form.seen().get(group))
    again = Link("act.move_group", {"group": group, "queue": queue})
    return _tell(f"Moved to {queue}:", reports, form, again, group)


@_on_group("cancel", "destroy", ask_failures.cancel)
def cancel_group(form: Form, group: str) -> Outcome:
    """Remove all jobs of a group for good, but those that others wait for."""
    reports = current().client.failures.cancel(group, seen=form.seen().get(group))
    return _tell("Cancelled", reports, form, Link("act.cancel_group", {"group": group}), group)


# -- All of them


def _ask_unfail_all(_form: Form) -> AskPage:
    here = current()
    found = here.read(reads.failure_groups(reads.Slice(0, ask_failures.GROUPS)))
    return ask_failures.unfail_all(found, here.now)


@action(
    "unfail_all",
    "/unfail",
    permission="operate",
    subject=ask.of_failures,
    ask=_ask_unfail_all,
    confirms=True,
)
def unfail_all(form: Form) -> Outcome:
    """Put everything that failed back to work, each job in its own queue."""
    return _tell("Retried", _every_group(form), form, Link("act.unfail_all"))


def _every_group(form: Form) -> Iterator[Report]:
    """Retry the groups that were shown; all that there are where none was."""
    failures = current().client.failures
    shown: dict[str, Seen | None] = {**form.seen()}
    for group, seen in (shown or dict.fromkeys(failures.groups)).items():
        yield from failures.retry(group, seen=seen)
