"""Questions about operations: what is to be done to many jobs, and to an operation itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_web.presenters import ask_words as words
from qless_web.presenters import operation_words
from qless_web.presenters.ask import AskPage, Input, Subject, ask_page
from qless_web.presenters.ask_jobs import queue_input
from qless_web.presenters.page import Ask, Crumb, Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qless_web.operations.operation import Operation
    from qless_web.operations.verbs import Verb


def of_operations() -> Subject:
    """Ask about a new operation."""
    link = Link("operations.index")
    crumbs = (Crumb("Operations", link),)
    return Subject(nav="operations", name="many jobs", link=link, crumbs=crumbs)


def of_operation(operation: str) -> Subject:
    """Ask about an operation."""
    link = Link("operations.show", {"operation": operation})
    crumbs = (Crumb("Operations", Link("operations.index")), Crumb(operation[:8], link))
    return Subject(nav="operations", name="an operation", link=link, crumbs=crumbs)


def of_trash() -> Subject:
    """Ask about jobs in the trash."""
    link = Link("trash.index")
    return Subject(nav="operations", name="the trash", link=link, crumbs=(Crumb("Trash", link),))


def nothing_chosen(why: str) -> AskPage:
    """Say that there is nothing to act on, and why."""
    asked = Ask(verb="Preview", count=0, question=why, link=Link("act.prepare_operation"))
    return ask_page(asked, of_operations())


def prepare(
    verb: Verb,
    selection: Mapping[str, object],
    count: int,
    *,
    fields: Sequence[tuple[str, str]],
    queues: Sequence[str],
) -> AskPage:
    """Ask how something is to be done to many jobs; what it would do is shown before it starts.

    Args:
        verb: what.
        selection: to which jobs, in words by kind.
        count: how many there are, as far as is known.
        fields: what brings the selection back.
        queues: all queues there are.

    """
    if not count:
        return nothing_chosen(f"There is no job {operation_words.chosen(selection)}.")
    asked = Ask(
        verb="Preview",
        count=count,
        question=f"{verb.text} {words.jobs(count)} {operation_words.chosen(selection)}: how?",
        link=Link("act.prepare_operation"),
        consequences=("Nothing is done yet: the next page shows exactly what would be.",),
        fields=(("action", verb.name), ("expected", str(count)), *fields),
        harmless=True,
    )
    return ask_page(asked, of_operations(), inputs=_inputs(verb, queues))


def _inputs(verb: Verb, queues: Sequence[str]) -> Iterable[Input]:
    for name in verb.options:
        if name == "queue":
            needed = "queue" in verb.needs
            found = queue_input(queues)
            hint = found.hint if needed else "Empty: each into its own."
            yield Input(
                kind="text",
                label="Queue",
                name="queue",
                hint=hint,
                options=found.options if needed else (),
                required=needed,
            )
        elif name in _INPUTS:
            yield _INPUTS[name]
    yield Input(kind="text", label="Note", name="note", hint="For the audit: why.", required=False)


_NO_YES = (("", "No"), ("yes", "Yes"))

_INPUTS = {
    "delay": Input(
        kind="text",
        label="Delay",
        name="delay",
        hint="Seconds, or as 90s, 15m, 2h, 1d. Empty: at once.",
        required=False,
    ),
    "rate": Input(
        kind="text",
        label="Jobs a second",
        name="rate",
        hint="Empty: as fast as it does no harm.",
        required=False,
    ),
    "stop_percent": Input(
        kind="text",
        label="Stop when so many percent fail again",
        name="stop_percent",
        hint="Of those that have ended since, once there are 20. Empty: never.",
        required=False,
    ),
    "canary": Input(
        kind="text",
        label="So many first, then wait",
        name="canary",
        hint="See how they fare, and go on with one button. Empty: all at once.",
        required=False,
    ),
    "priority": Input(
        kind="number",
        label="Priority",
        name="priority",
        value="0",
        hint="The higher, the sooner; among equals the first put goes first.",
    ),
    "tags": Input(kind="lines", label="Tags", name="tags", hint="One on each line."),
    "set": Input(
        kind="lines",
        label="Fields to change",
        name="set",
        hint='One on each line, as user_id: 42 or "to": "kim". What is no JSON is taken as text. '
        "A field that a job does not have is added to it; a name with dots is one name.",
        required=False,
    ),
    "data": Input(
        kind="lines",
        label="Or the whole data",
        name="data",
        hint="JSON, the same for all of them.",
        required=False,
    ),
    "retry": Input(
        kind="choice",
        label="Retry those that failed, after that",
        name="retry",
        options=_NO_YES,
        required=False,
    ),
    "dependents": Input(
        kind="choice",
        label="Cancel the jobs that wait for them, too",
        name="dependents",
        options=_NO_YES,
        hint="No: those that others wait for are left out.",
        required=False,
    ),
}


def about(operation: Operation, verb: str, endpoint: str, consequence: str) -> AskPage:
    """Ask whether to do something to an operation."""
    asked = Ask(
        verb=verb,
        count=1,
        noun="operation",
        question=f"{verb}: {operation_words.title(operation)}?",
        link=Link(endpoint, {"operation": operation.id}),
        consequences=(consequence,),
        fields=(("expected", "1"),),
    )
    return ask_page(asked, of_operation(operation.id))


def restore(operation: str, targets: Sequence[tuple[str, str]], all_: int) -> AskPage:
    """Ask whether to bring jobs back from the trash.

    Args:
        operation: what cancelled them.
        targets: the fields that name them; none: all.
        all_: how many it cancelled.

    """
    count = len(targets) or all_
    asked = Ask(
        verb="Restore",
        count=count,
        question=f"Restore {words.jobs(count)} with everything they had?",
        link=Link("act.restore_jobs", {"operation": operation}),
        consequences=("Those that are back already, or no longer kept, are left out.",),
        fields=(("expected", str(count)), *targets),
    )
    return ask_page(asked, of_trash())
