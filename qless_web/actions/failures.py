"""What is done to a whole group of failures, or to all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qless_core import reads
from qless_core.failures import COUNTED
from qless_web.actions import chunks, operating, targets
from qless_web.actions.action import action
from qless_web.actions.outcome import Outcome, about, by_operation, emptied
from qless_web.console import current
from qless_web.operations.options import Options
from qless_web.operations.selection import Selection
from qless_web.presenters import ask, ask_failures
from qless_web.presenters.page import Link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qless_core.bulk import Seen
    from qless_core.records import Report
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


def _to_all(form: Form, group: str, verb: str, done: str, queue: str = "") -> Outcome:
    """Do something to a whole group: in the background where it is large, else at once.

    Args:
        form: from whoever asked.
        group: the group.
        verb: what.
        done: what happens to the jobs, as "Retried".
        queue: where all of them go; "" for each into its own.

    """
    if begun := _in_background(form, group, verb, queue):
        return begun
    who, how = operating.asked(form), Options(queue=queue)
    made = operating.whole(verb, _chosen(form, group), who, how, patient=form.patient)
    outcome = replace(by_operation(done, made), gone=emptied(made.report))
    return outcome if made.is_over else _left_to_others(outcome)


def _left_to_others(outcome: Outcome) -> Outcome:
    """Tell that the background goes on with what there was no time for."""
    return replace(
        outcome,
        text=f"{outcome.text} The others are done in the background.",
        tone="info",
        again=Link("operations.show", {"operation": outcome.operation}),
        operations=(outcome.operation,),
    )


def _in_background(form: Form, group: str, verb: str, queue: str = "") -> Outcome | None:
    """Let an operation do what is done to a large group; None where the group is small.

    Whoever waits to the end, as the original's programs do, waits.
    """
    if form.patient or _size(group) <= AT_ONCE:
        return None
    how = Options(queue=queue)
    return operating.begin(verb, _chosen(form, group), how, operating.asked(form))


def _chosen(form: Form, group: str) -> Selection:
    """Choose a group as somebody saw it."""
    seen = form.seen().get(group)
    return Selection(
        group=group,
        newest=seen.newest if seen else "",
        count=seen.count if seen else 0,
        asked=seen.when if seen else 0,
    )


def _size(group: str) -> int:
    return current().client.commands.failed_group(group, 0, 1).total


@_on_group("retry", "operate", ask_failures.retry)
def retry_group(form: Form, group: str) -> Outcome:
    """Put all jobs of a group back to work, each in its own queue."""
    return _to_all(form, group, "retry", "Retried")


@_on_group("move", "operate", ask_failures.move, takes=(targets.QUEUE,))
def move_group(form: Form, group: str) -> Outcome:
    """Put all jobs of a group to work in one queue."""
    queue = targets.queue(form)
    return _to_all(form, group, "move", f"Moved to {queue}:", queue)


@_on_group("cancel", "destroy", ask_failures.cancel)
def cancel_group(form: Form, group: str) -> Outcome:
    """Remove all jobs of a group, but those that others wait for; they rest in the trash."""
    return _to_all(form, group, "cancel", "Cancelled")


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
    report, finished = chunks.as_far_as_time_allows(_every_group(form), patient=form.patient)
    outcome = about("Retried", report)
    return outcome if finished else outcome.unfinished(Link("act.unfail_all"))


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
