"""A whole list as one stream: read a stretch at a time, with as long a pause after each.

So an export keeps a few hundred jobs in memory whatever the list has, and takes at most half of
one connection. What is read first comes before the answer begins: where Redis is gone, that says
so.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from qless_core import reads
from qless_core.clock import REAL
from qless_core.reads.stretch import Source, stretch
from qless_web.presenters import export

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from qless_core.client import Client
    from qless_core.reads.stretch import Mark
    from qless_web.extensions import Extensions
    from qless_web.presenters.export import Line

log = logging.getLogger("qless.web")

#: Jobs that are read at once; fewer where their data comes along.
PAGE, PAGE_WITH_DATA = 250, 50

#: Seconds of the longest pause.
_LONGEST_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """What is written.

    Attributes:
        client: whose jobs they are.
        extensions: what may be shown of their data.
        now: the time that states are told by, epoch seconds.
        kind: `ndjson` or `csv`.
        with_data: whether the data of jobs comes along.

    """

    client: Client
    extensions: Extensions
    now: float
    kind: str
    with_data: bool = False

    def jobs(self, sources: Iterable[Source], columns: Sequence[str]) -> Iterator[bytes]:
        """Write the jobs of some lists, one after another."""
        return self._begun(self._pages(sources), columns)

    def rows(self, pages: Iterable[Sequence[Any]], columns: Sequence[str]) -> Iterator[bytes]:
        """Write rows that are read page by page."""
        lines = ([export.line(row, columns) for row in page] for page in pages)
        return self._begun(lines, columns)

    def _begun(self, pages: Iterator[Sequence[Line]], columns: Sequence[str]) -> Iterator[bytes]:
        first = next(pages, ())
        return self._written(chain((first,), pages), columns)

    def _written(self, pages: Iterable[Sequence[Line]], columns: Sequence[str]) -> Iterator[bytes]:
        write: Callable[..., bytes] = export.ndjson
        if self.kind == "csv":
            write = export.csv_lines
            yield export.csv_head(columns, with_data=self.with_data)
        try:
            for page in pages:
                if page:
                    yield write(page, columns, with_data=self.with_data)
        except Exception:
            # What was sent cannot be taken back: the transfer breaks off, and the client sees that.
            log.exception("an export broke off")
            raise

    def _pages(self, sources: Iterable[Source]) -> Iterator[Sequence[Line]]:
        size = PAGE_WITH_DATA if self.with_data else PAGE
        for source in sources:
            mark: Mark | None = None
            while True:
                began = REAL.monotonic()
                found = self._read(stretch(source, mark, size, with_data=self.with_data))
                took = REAL.monotonic() - began
                mark = found.mark
                yield self._lines(found.rows, found.data)
                if mark is None:
                    break
                REAL.wait(min(took, _LONGEST_S))

    def _lines(self, rows: Sequence[Any], data: Sequence[str | None]) -> list[Line]:
        found = data or (None,) * len(rows)
        return [
            export.line(
                row,
                export.columns_of(row),
                None if text is None else self.extensions.shown(row.klass, text),
            )
            for row, text in zip(rows, found, strict=True)
        ]

    def _read(self, plan: Any) -> Any:  # noqa: ANN401 - what the read finds
        _, (found,) = reads.run(self.client.redis, self.client.keys, (plan,), now=self.now)
        return found


def queue_sources(client: Client, queue: str, state: str, now: float) -> tuple[Source, ...]:
    """Give the lists of the jobs of a queue in a state, as `now` tells them apart.

    Raises:
        KeyError: there is no such state.

    """
    keys, past, ahead = client.keys, repr(now), f"({now!r}"
    return {
        "waiting": (
            Source(key=keys.work(queue), falling=True, timed=False),
            Source(key=keys.scheduled(queue), high=past),
        ),
        "running": (Source(key=keys.locks(queue), low=ahead),),
        "stalled": (Source(key=keys.locks(queue), high=past),),
        "scheduled": (Source(key=keys.scheduled(queue), low=ahead),),
        "depends": (Source(key=keys.depends(queue)),),
        "throttled": (Source(key=keys.throttled(queue)),),
        "recurring": (
            Source(key=keys.recur(queue), recurs="interval"),
            Source(key=keys.cron(queue), recurs="cron"),
        ),
    }[state]
