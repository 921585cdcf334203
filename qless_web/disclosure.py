"""The one way from the data of a job to whoever looks: what may not be shown is hidden here.

Pages, the API, exports and forms ask here, never the reads alone; a test of the house compares.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from qless_core import reads
from qless_web.console import current

if TYPE_CHECKING:
    from qless_core.reads.job import JobDetail, RecurringDetail
    from qless_core.reads.original import Original

Detail = TypeVar("Detail", "JobDetail", "RecurringDetail")


@dataclass(frozen=True, slots=True)
class Shown:
    """A job as it may be shown.

    Attributes:
        job: as stored; of its data only `data` is to leave the console.
        data: as it may be shown.

    """

    job: Original
    data: str

    @property
    def is_whole(self) -> bool:
        """Whether nothing of the data is hidden."""
        return self.data == self.job.data


def detail(found: Detail) -> Detail:
    """Give what the page of a job shows, with the data as it may be shown."""
    if found.data is None:
        return found
    return replace(found, data=current().extensions.shown(found.row.klass, found.data))


def original(jid: str) -> Shown | None:
    """Read a job of either kind with its data whole; None where there is none by that jid."""
    found = current().read(reads.original(jid))
    return None if found is None else shown(found)


def shown(job: Original) -> Shown:
    """Give a job that was read as it may be shown."""
    return Shown(job, current().extensions.shown(job.klass, job.data))
