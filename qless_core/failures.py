"""`client.failures`: failed jobs by group, and how to bring them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core.job import JobPage, read_jobs

if TYPE_CHECKING:
    from qless_core.client import Client


class Failures:
    """The failed jobs of every queue."""

    def __init__(self, client: Client) -> None:
        self._client = client

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
        return self._client.commands.unfail(queue, group, count)
