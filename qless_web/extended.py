"""What templates ask of the host application's extensions, by what is on the page already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_web.console import current
from qless_web.extensions import Seen

if TYPE_CHECKING:
    from qless_web.extensions import Told
    from qless_web.presenters.job import JobPage
    from qless_web.presenters.rows import JobRow


def headings() -> tuple[str, ...]:
    """Give what stands above the added columns of lists of jobs."""
    return tuple(each.heading for each in current().extensions.columns)


def cells(row: JobRow) -> tuple[str, ...]:
    """Give what stands in them for a row; nothing for a job that is gone."""
    found = current().extensions
    if not found.columns:
        return ()
    if row.gone:
        return ("",) * len(found.columns)
    return found.cells(
        Seen(
            jid=row.jid,
            klass=row.klass,
            queue=row.queue,
            state=row.state,
            worker=row.worker,
            group=row.group,
            tags=tuple(tag for tag, _ in row.tags),
            priority=row.priority,
        )
    )


def job_links(page: JobPage) -> tuple[tuple[str, str], ...]:
    """Give text and address of the links of a job to other systems."""
    return current().extensions.job_links(page.seen)


def queue_links(queue: str) -> tuple[tuple[str, str], ...]:
    """Give text and address of the links of a queue to other systems."""
    return current().extensions.queue_links(queue)


def panels(page: JobPage) -> tuple[Told, ...]:
    """Give the panels of a job."""
    found = current().extensions
    return found.told(page.seen, page.data.text) if found.panels else ()


def said(key: str | None, text: str) -> str:
    """Say a value of the data in words; "" where the host says no more."""
    found = current().extensions
    return found.said(key, text) if key and found.formatters else ""


#: What templates call these.
GLOBALS = {
    "extra_headings": headings,
    "extra_cells": cells,
    "outside_of_job": job_links,
    "outside_of_queue": queue_links,
    "extra_panels": panels,
    "said": said,
}
