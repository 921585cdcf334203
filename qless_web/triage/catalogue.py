"""The index as the console knows it: whether there is one, what it tells, and who keeps it."""

from __future__ import annotations

import contextlib
import sqlite3
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from qless_web.settings import state_folder
from qless_web.triage import completing
from qless_web.triage.index import Index, NoIndex, bound
from qless_web.triage.searching import Search
from qless_web.triage.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core.client import Client
    from qless_web.settings import Settings
    from qless_web.triage.entry import Shown
    from qless_web.triage.query import Node
    from qless_web.triage.searching import Found

#: Seconds after which an index that nobody keeps any more is not asked.
STALE_S: Final = 3_600.0
_OFF: Final = "the setting `index` turns it off"
#: Jobs with a jid that begins so, at most.
_BEGINNINGS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How the index stands.

    Attributes:
        jobs: how many are in it.
        total: how many there are in Redis, about.
        is_complete: whether all have been read once.
        as_of: until when it is up to date, epoch seconds; None where there is none.
        why_not: why it is not used; "" where it is.

    """

    jobs: int = 0
    total: int = 0
    is_complete: bool = False
    as_of: float | None = None
    why_not: str = ""

    def lag(self, now: float) -> float | None:
        """Seconds that it is behind."""
        return None if self.as_of is None else max(0.0, now - self.as_of)


class Answer(NamedTuple):
    """What was found, and how the index stands."""

    found: Found
    status: Status


class Catalogue:
    """The index of one console.

    Args:
        client: whose jobs it holds.
        settings: `index`, `index_rate` and `state_dir` count.
        shown: gives data as it may be shown; None where all of it may. Such an index is a file of
            its own, so that none with what is hidden counts.

    """

    def __init__(self, client: Client, settings: Settings, shown: Shown | None = None) -> None:
        self._is_on = settings.index
        folder = settings.state_dir or state_folder()
        whose = f"{client.namespace}\0hidden" if shown else client.namespace
        self._index = Index.of(folder, client.safe_url, whose)
        self._writer = Writer(client, self._index, settings.index_rate, shown)

    def start(self) -> None:
        """Keep the index, or stand by, on a thread of this process; after a fork, in the child."""
        if self._is_on:
            self._writer.start()

    def close(self) -> None:
        """Keep it no more; safe in a signal handler."""
        self._writer.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection that can only read, of an index whatever its age.

        Raises:
            NoIndex: it is off, there is none, it is damaged, or cannot be read for now.

        """
        if not self._is_on:
            raise NoIndex(_OFF)
        try:
            with self._index.reading() as connection:
                yield connection
        except sqlite3.Error as error:
            raise NoIndex(str(error)) from error

    @contextlib.contextmanager
    def _asked(self, now: float) -> Iterator[tuple[sqlite3.Connection, Status]]:
        with self.reading() as connection:
            status = _status(connection, now)
            if status.why_not:
                raise NoIndex(status.why_not)
            yield connection, status

    def status(self, now: float) -> Status:
        """Say how the index stands; `now` in epoch seconds."""
        try:
            with self.reading() as connection:
                return _status(connection, now)
        except NoIndex as error:
            return Status(why_not=self._writer.trouble or error.why)

    def search(self, node: Node | None, *, now: float, offset: int, count: int) -> Answer:
        """Search it.

        Args:
            node: what is looked for.
            now: epoch seconds.
            offset: how many to skip.
            count: how many to give at most.

        Raises:
            NoIndex: there is none that can be asked.

        """
        with self._asked(now) as (connection, status):
            return Answer(Search(connection, node, now).page(offset, count), status)

    def every(self, node: Node | None, now: float) -> list[str]:
        """Give the jids of all that it finds, however many.

        Raises:
            NoIndex: there is none that can be asked, or it has not read all jobs yet.

        """
        with self._asked(now) as (connection, status):
            if not status.is_complete:
                read = f"it has read {status.jobs:,} of about {status.total:,} jobs so far"
                raise NoIndex(read)
            return list(Search(connection, node, now).every())

    def beginning(self, text: str, now: float) -> tuple[tuple[str, str], ...]:
        """Find jobs whose jid begins so, each with its class.

        Raises:
            NoIndex: there is none that can be asked.

        """
        with self._asked(now) as (connection, _):
            rows = connection.execute(
                "SELECT jid, name FROM jobs JOIN names ON names.id = jobs.klass "
                "WHERE jid >= CAST(:low AS TEXT) AND jid < CAST(:low AS TEXT) || char(1114111) "
                "ORDER BY jid LIMIT :most",
                {"low": bound(text), "most": _BEGINNINGS},
            )
            return tuple(rows.fetchall())

    def complete(self, query: str) -> list[str]:
        """Give whole queries that what was typed may become."""
        try:
            with self.reading() as connection:
                return completing.complete(connection, query)
        except NoIndex:
            return completing.complete(None, query)


def _status(connection: sqlite3.Connection, now: float) -> Status:
    told = dict(connection.execute("SELECT name, value FROM meta"))
    as_of = told.get("as_of")
    if as_of is None:
        return Status(why_not="it is being begun")
    status = Status(
        jobs=int(told.get("jobs", 0)),
        total=int(told.get("total", 0)),
        is_complete=bool(told.get("complete")),
        as_of=float(as_of),
    )
    if (status.lag(now) or 0) > STALE_S:
        return replace(status, why_not="nobody has kept it for more than an hour")
    return status
