"""`client.failures`: failed jobs by group, and how to bring them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from qless_core import bulk
from qless_core.job import JobPage, read_jobs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core.bulk import Seen
    from qless_core.client import Client
    from qless_core.records import Report

#: Jobs of a group whose state is looked at: one call of the script, the read of a field each.
COUNTED: Final = 2_000


class Failures:
    """The failed jobs of every queue."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __repr__(self) -> str:
        return f"<Failures of {self._client!r}>"

    @property
    def groups(self) -> dict[str, int]:
        """Count the failed jobs by group."""
        return self._client.commands.failed()

    def jobs(self, group: str, start: int = 0, limit: int = 25) -> JobPage:
        """Read the jobs of a group, newest first, and say how many there are."""
        page = self._client.commands.failed_group(group, start, limit)
        return JobPage(page.total, read_jobs(self._client, page.jids))

    def unfail(self, group: str, queue: str, count: int = 25) -> int:
        """Put failed jobs, oldest first, back to work with their retries renewed.

        Args:
            group: which failures.
            queue: where the jobs go.
            count: how many at most.

        Returns:
            How many were moved.

        """
        moved = 0
        while moved < count:
            more = self._client.commands.unfail(queue, group, count - moved)
            if not more:
                break
            moved += more
        return moved

    def retry(self, group: str, queue: str = "", *, seen: Seen | None = None) -> Iterator[Report]:
        """Put all jobs of a group back to work, oldest first, with their retries renewed.

        Data, priority and tags stay. Each job is checked at the moment of acting; what fails in the
        group meanwhile is not touched. Nothing is done before the first report is asked for.

        Args:
            group: which failures.
            queue: where all of them go; by default each into its own queue.
            seen: the group as somebody saw it; what failed since is not touched.

        Returns:
            A report for each chunk, as they are done; `bulk.total` puts them together.

        """
        commands = self._client.commands
        for jids in bulk.tail(commands, group, seen):
            yield commands.bulk_move(group, queue, [(jid, "failed") for jid in jids])

    def cancel(self, group: str, *, seen: Seen | None = None) -> Iterator[Report]:
        """Remove all jobs of a group for good, oldest first, but those that others wait for.

        Args:
            group: which failures.
            seen: the group as somebody saw it; what failed since is not touched.

        Returns:
            A report for each chunk, as they are done; `bulk.total` puts them together.

        """
        commands = self._client.commands
        for jids in bulk.tail(commands, group, seen):
            yield commands.bulk_cancel(group, [(jid, "failed") for jid in jids])

    def states(self, group: str) -> dict[str, int]:
        """Count the states of the newest jobs that a group lists, at most `COUNTED`.

        They are `failed`, unless somebody meddled; `gone` where there is no such job any more.
        """
        return self._client.commands.bulk_states(group, 0, COUNTED)
