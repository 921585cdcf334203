"""Completed jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core import reads
from qless_web.api.entries import JOB, JobEntry, job_entry
from qless_web.api.route import Page, Route, listed
from qless_web.console import current

if TYPE_CHECKING:
    from qless_core.reads import Slice


@listed(
    Route(
        name="completed",
        rule="/completed",
        family="completed",
        answers=Page[JobEntry],
        example=JOB,
    )
)
def completed(part: Slice) -> Page[JobEntry]:
    """List the completed jobs, the newest first, while they are kept."""
    return Page.of(current().read(reads.completed(part)), job_entry)
