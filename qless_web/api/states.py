"""Lists of jobs in every state, of which one state can be asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from qless_web.api.entries import JobEntry, job_entry
from qless_web.api.params import Param
from qless_web.api.route import Page
from qless_web.console import current
from qless_web.presenters.by_state import ORDER, state_of

if TYPE_CHECKING:
    from qless_core.reads.lists import StateListing

STATE = Param(
    name="state",
    kind="choice",
    choices=("any", *ORDER),
    default="any",
    help="Keep the jobs in one state; `gone`: those that no longer exist.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatePage(Page[JobEntry]):
    """A part of a list of jobs in every state, those that need attention first."""

    states: Annotated[dict[str, int], "Jobs in each state; `gone`: those that no longer exist."]
    counted: Annotated[int, "Among how many of the newest jobs the states were counted."]
    members: Annotated[int, "How many jobs the list has, whatever state was asked for."]


def wanted(state: str) -> str | None:
    """Give the state to keep as a read takes it."""
    return None if state == "any" else state_of(state)


def page_of(found: StateListing) -> StatePage:
    """Make a part of a list of what was read."""
    return StatePage(
        items=tuple(map(job_entry, found.rows)),
        total=found.total,
        as_of=current().now,
        states={state or "gone": number for state, number in sorted(found.states.items())},
        counted=found.covered,
        members=found.members,
    )
