"""Everything at a glance: what the first page shows, in the round trips of its longest part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_core.reads.failures import FailureGroup, failure_groups
from qless_core.reads.lists import TrackedStates, tags, tracked_states
from qless_core.reads.plan import Read, Scope, Slice, read, together
from qless_core.reads.queues import ORDERED_AT_MOST, QueueSummary, queue_counts
from qless_core.reads.workers import WorkerSummary, workers

if TYPE_CHECKING:
    from qless_core.reads.rows import Listing

#: The largest groups, among which the newest failures are looked for.
LARGEST_GROUPS = 40
_WORKERS = 8
_TAGS = 16


@dataclass(frozen=True, slots=True)
class Overview:
    """Queues by name, the largest groups of failures, workers that live, tracked jobs, tags."""

    queues: Listing[QueueSummary]
    groups: Listing[FailureGroup]
    workers: Listing[WorkerSummary]
    tracked: TrackedStates
    tags: Listing[tuple[str, int]]


@read
def overview(scope: Scope) -> Read[Overview]:
    """Look at everything, the first of each."""
    found = yield from together(
        [
            queue_counts(Slice(0, ORDERED_AT_MOST))(scope),
            failure_groups(Slice(0, LARGEST_GROUPS))(scope),
            workers(Slice(0, _WORKERS), alive=True, grouped=True)(scope),
            tracked_states()(scope),
            tags(Slice(0, _TAGS))(scope),
        ]
    )
    return Overview(*found)
