"""What is done to a whole group of failures, or to all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qless_core import bulk, reads
from qless_core.failures import COUNTED
from qless_core.records import Report
from qless_web.actions import chunks, operating, targets
from qless_web.actions.action import action
from qless_web.actions.outcome import Outcome, about, emptied
from qless_web.console import current
from qless_web.operations.options import Options
from qless_web.operations.selection import Selection
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


#: Jobs of a group that are acted on while somebody waits; more are left to an operation.
AT_ONCE = 5_000


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


def _in_background(form: Form, group: str, verb: str, queue: str = "") -> Outcome | None:
    """Let an operation do what is done to a large group; None where the group is small.

    Whoever waits to the end, as the original's programs do, waits.
    """
    seen = form.seen().get(group)
    if form.patient or _size(group) <= AT_ONCE:
        return None
    chosen = Selection(
        group=group,
        newest=seen.newest if seen else "",
        count=seen.count if seen else 0,
        asked=seen.when if seen else 0,
    )
    return operating.begin(verb, chosen, Options(queue=queue), operating.asked(form))


def _size(group: str) -> int:
    return current().client.commands.failed_group(group, 0, 1).total


@_on_group("retry", "operate", ask_failures.retry)
def retry_group(form: Form, group: str) -> Outcome:
    """Put all jobs of a group back to work, each in its own queue."""
    if begun := _in_background(form, group, "retry"):
        return begun
    reports = current().client.failures.retry(group, seen=form.seen().get(group))
    return _tell("Retried", reports, form, Link("act.retry_group", {"group": group}), group)


@_on_group("move", "operate", ask_failures.move, takes=(targets.QUEUE,))
def move_group(form: Form, group: str) -> Outcome:
    """Put all jobs of a group to work in one queue."""
    queue = targets.queue(form)
    if begun := _in_background(form, group, "move", queue=queue):
        return begun
    reports = current().client.failures.retry(group, queue, seen=form.seen().get(group))
    again = Link("act.move_group", {"group": group, "queue": queue})
    return _tell(f"Moved to {queue}:", reports, form, again, group)


@_on_group("cancel", "destroy", ask_failures.cancel)
def cancel_group(form: Form, group: str) -> Outcome:
    """Remove all jobs of a group, but those that others wait for; they rest in the trash."""
    if begun := _in_background(form, group, "cancel"):
        return begun
    reports = _cancelled(form, group)
    return _tell("Cancelled", reports, form, Link("act.cancel_group", {"group": group}), group)


def _cancelled(form: Form, group: str) -> Iterator[Report]:
    """Cancel what was shown of a group, a chunk at a time."""
    commands = current().client.commands
    for jids in bulk.tail(commands, group, form.seen().get(group)):
        yield operating.cancel([(jid, "failed") for jid in jids], group, operating.asked(form))


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
    large = [] if form.patient else _large(form)
    begun = [each for group in large if (each := _in_background(form, group, "retry"))]
    if begun:
        text = f"{len(begun)} groups are retried in the background; the smaller ones wait."
        done = tuple(jid for each in begun for jid in each.done)
        again = Link("operations.index")
        return Outcome(text=text, tone="info", done=done, operations=done, again=again)
    return _tell("Retried", _every_group(form), form, Link("act.unfail_all"))


def _large(form: Form) -> list[str]:
    """Give the groups of those that were shown that have more jobs than are done at once."""
    counts = current().client.failures.groups
    shown = form.seen()
    return [
        group
        for group, count in counts.items()
        if count > AT_ONCE and (group in shown or not shown)
    ]


def _every_group(form: Form) -> Iterator[Report]:
    """Retry the groups that were shown; all that there are where none was."""
    failures = current().client.failures
    shown: dict[str, Seen | None] = {**form.seen()}
    for group, seen in (shown or dict.fromkeys(failures.groups)).items():
        yield from failures.retry(group, seen=seen)
