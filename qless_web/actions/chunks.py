"""Work that may take long, done as far as there is time for it in one request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core import bulk
from qless_web.console import current

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core.records import Report

#: Seconds that a request works before it answers and asks whether to go on.
BUDGET_S = 15.0


def as_far_as_time_allows(reports: Iterator[Report], *, patient: bool) -> tuple[Report, bool]:
    """Work until all is done or the time is up.

    Args:
        reports: does a chunk each time it is asked for a report.
        patient: whether to work to the end instead.

    Returns:
        What was done, and whether that was all.

    """
    clock = current().client.clock
    deadline = clock.monotonic() + BUDGET_S
    gathered: list[Report] = []
    for report in reports:
        gathered.append(report)
        if not patient and clock.monotonic() >= deadline:
            return bulk.total(gathered), False
    return bulk.total(gathered), True
