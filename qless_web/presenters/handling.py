"""How a group of failures is handled, in words, and what can be decided about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_web.presenters.page import Action, Link

if TYPE_CHECKING:
    from qless_web.triage.handling import Handling


@dataclass(frozen=True, slots=True)
class Handled:
    """How a group is handled, in words."""

    fold: str
    by: str
    at: float
    assignee: str
    note: str
    back: str


def handled(handling: Handling, back: str) -> Handled | None:
    """Say how a group is handled; None where it is not."""
    if handling.is_empty:
        return None
    return Handled(handling.fold, handling.by, handling.at, handling.assignee, handling.note, back)


def handling_actions(group: str, handling: Handling) -> tuple[Action, ...]:
    """Return what can be decided about a group."""
    values = {"group": group}
    ways = [
        ("Acknowledge", "acknowledge_group", "check"),
        ("Mute", "mute_group", "pause"),
        ("Assign", "assign_group", "person"),
        ("Note", "note_group", "log"),
    ]
    if handling.fold:
        ways.append(("Reopen", "reopen_group", "unpause"))
    return tuple(
        Action(text=text, link=Link(f"act.{name}", values), icon=icon, asks=True)
        for text, name, icon in ways
    )
