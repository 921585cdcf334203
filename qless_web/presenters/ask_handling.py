"""Questions about how a group of failures is handled, and about a deploy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_web.formatting import isolated
from qless_web.presenters.ask import AskPage, Input, ask_page, of_failures, of_group
from qless_web.presenters.page import Ask, Link

if TYPE_CHECKING:
    from qless_web.triage.handling import Handling

_BACK = (
    "It is back by itself when it fails in a new way, or at more than twice the rate of the "
    "busiest hour before (and ten more)."
)

_NOTE_HINT = "What others should know; up to 2,000 characters."


def _asked(
    group: str,
    verb: str,
    endpoint: str,
    question: str,
    consequences: tuple[str, ...],
    inputs: tuple[Input, ...] = (),
) -> AskPage:
    # What was noted when it was asked: a note that was not changed is not written again.
    noted = tuple(("noted", each.value) for each in inputs if each.name == "note")
    asked = Ask(
        verb=verb,
        count=1,
        noun="group",
        question=question,
        link=Link(endpoint, {"group": group}),
        consequences=consequences,
        fields=(("expected", "1"), *noted),
    )
    return ask_page(asked, of_group(group), inputs=inputs)


def _note(handling: Handling, *, required: bool = False) -> Input:
    return Input(
        kind="lines",
        label="Note",
        name="note",
        value=handling.note,
        hint=_NOTE_HINT,
        required=required,
        rows=3,
    )


def acknowledge(group: str, handling: Handling) -> AskPage:
    """Ask whether to acknowledge a group."""
    return _asked(
        group,
        "Acknowledge",
        "act.acknowledge_group",
        f"Acknowledge {isolated(group)}?",
        ("It leaves the open groups: somebody is on it. Its jobs stay as they are.", _BACK),
        (_note(handling),),
    )


def mute(group: str, handling: Handling) -> AskPage:
    """Ask whether to mute a group."""
    return _asked(
        group,
        "Mute",
        "act.mute_group",
        f"Mute {isolated(group)}?",
        ("It leaves the open groups: nothing needs to be done. Its jobs stay as they are.", _BACK),
        (_note(handling),),
    )


def reopen(group: str) -> AskPage:
    """Ask whether to open a group again."""
    return _asked(
        group,
        "Reopen",
        "act.reopen_group",
        f"Open {isolated(group)} again?",
        ("It is listed among the open groups. Its note and whose it is stay.",),
    )


def assign(group: str, handling: Handling, asker: str) -> AskPage:
    """Ask whose a group is; `asker` is suggested."""
    whose = Input(
        kind="text",
        label="Whose it is",
        name="assignee",
        value=handling.assignee or asker,
        hint="A name; blank for nobody.",
        required=False,
    )
    return _asked(
        group,
        "Assign",
        "act.assign_group",
        f"Whose is {isolated(group)}?",
        ("Everybody who uses this console sees it.",),
        (whose,),
    )


def note(group: str, handling: Handling) -> AskPage:
    """Ask what to note about a group."""
    return _asked(
        group,
        "Note",
        "act.note_group",
        f"What is to be noted about {isolated(group)}?",
        ("Everybody who uses this console sees it. A blank note is none.",),
        (_note(handling),),
    )


def deploy(name: str) -> AskPage:
    """Ask what was deployed, and when."""
    asked = Ask(
        verb="Mark",
        count=1,
        noun="deploy",
        question="Mark which deploy?",
        link=Link("act.mark_deploy"),
        consequences=("Failures can then be looked at by what is new since it.",),
        fields=(("expected", "1"),),
    )
    inputs = (
        Input(kind="text", label="Name", name="name", value=name, hint="A version, as v42."),
        Input(
            kind="moment",
            label="When",
            name="at",
            hint="In UTC; now, where it is left empty.",
            required=False,
        ),
    )
    return ask_page(asked, of_failures(), inputs=inputs)
