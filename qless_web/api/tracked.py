"""Tracked jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core import reads
from qless_web.api.entries import JOB
from qless_web.api.route import Route, listed
from qless_web.api.states import STATE, StatePage, page_of, wanted
from qless_web.console import current

if TYPE_CHECKING:
    from qless_core.reads import Slice


@listed(
    Route(
        name="tracked",
        rule="/tracked",
        family="tracked",
        answers=StatePage,
        example=JOB,
        params=(STATE,),
    )
)
def tracked(part: Slice, state: str) -> StatePage:
    """List the tracked jobs, those that need attention first."""
    return page_of(current().read(reads.tracked(part, wanted(state))))
