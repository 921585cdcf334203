"""What an operation is called, how it stands and what it will do, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_web.formatting import duration, isolated
from qless_web.operations.verbs import VERBS
from qless_web.presenters import ask_words as words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_web.operations.operation import Operation

#: For each state its word, and the state of a job whose colour it has.
STATES: dict[str, tuple[str, str]] = {
    "draft": ("not started", "scheduled"),
    "queued": ("queued", "waiting"),
    "running": ("running", "running"),
    "paused": ("paused", "paused"),
    "stopped": ("stopped", "stalled"),
    "done": ("done", "complete"),
}

_WHY = {
    "canary": "The first ones are done. See how they fare, and go on with the rest.",
    "failing": "It stopped by itself: too many have failed again.",
    "lost": "It stopped by itself: the list of its jobs is gone.",
}

#: The order in which options are told.
_TOLD = (
    ("queue", "into {}"),
    ("delay", "after {}"),
    ("priority", "to {}"),
    ("tags", "{}"),
    ("set", "fields {}"),
    ("data", "data of {}"),
    ("retry", "and retry them"),
    ("dependents", "with all that wait for them"),
    ("rate", "{} a second"),
    ("stop_percent", "stopping when more than {} % fail again"),
    ("canary", "{} first"),
)


def chosen(selection: Mapping[str, object]) -> str:
    r"""Say which jobs were meant.

    >>> chosen({"group": "mail-Timeout"}), chosen({"jids": 3}), chosen({"q": "queue:mail"})
    ('of \u2068mail-Timeout\u2069', 'by name', 'found by “\u2068queue:mail\u2069”')
    """
    if "group" in selection:
        return f"of {isolated(str(selection['group']))}"
    if "q" in selection:
        return f"found by “{isolated(str(selection['q']))}”"
    return "of an operation" if "operation" in selection else "by name"


def title(operation: Operation) -> str:
    """Name an operation: "Retry 4,812 jobs of mail-Timeout", and "Undo: " before it."""
    jobs = words.jobs(operation.total)
    if operation.action != "undo":
        return f"{operation.verb.text} {jobs} {chosen(operation.selection)}"
    undone = VERBS.get(str(operation.selection.get("undoes")))
    if not undone:  # made before that was noted
        return f"Undo what was done to {jobs}"
    return f"Undo: {undone.text} {jobs} {chosen(operation.selection)}"


def options(operation: Operation) -> str:
    """Tell the options of an operation in one line; "" where there are none."""
    told = operation.told
    parts = []
    for name, sentence in _TOLD:
        if name in told:
            text = str(told[name])
            parts.append(sentence.format(duration(float(text)) if name == "delay" else text))
    return ", ".join(parts)


def new_queue(operation: Operation) -> str:
    """Say that the queue that jobs go into is a new one; "" where it is not."""
    name = operation.new_queue
    return f"There is no queue “{isolated(name)}” yet: it is a new one." if name else ""


def why(operation: Operation) -> str:
    """Say why it rests, where nobody said so; "" otherwise."""
    return _WHY.get(operation.why, "")


def excluded(operation: Operation) -> str:
    """Say how many jobs are left out, and why; "" where none is."""
    return words.left_out(operation.excluded)


def fare(operation: Operation) -> str:
    """Say how those fare that it put to work; "" where nobody looked."""
    if not operation.ended_again:
        return ""
    failed = operation.failed_again
    share = round(100 * failed / operation.ended_again)
    return (
        f"Of {operation.ended_again:,} that have ended since, {failed:,} failed again: {share} %."
    )
