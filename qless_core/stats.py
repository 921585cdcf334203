"""Statistics of a queue by day: how long jobs waited and ran, how many failed."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from qless_core.records import LAYOUT, STARTS, Bin, Histogram, QueueStats, Timing

if TYPE_CHECKING:
    from qless_core.client import Client

__all__ = ["LAYOUT", "STARTS", "Bin", "Histogram", "QueueStats", "Stats", "Timing"]


class Stats:
    """`client.stats`: the statistics of any queue on any day."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __repr__(self) -> str:
        return f"<Stats of {self._client!r}>"

    def get(self, queue: str, day: float | dt.date | dt.datetime | None = None) -> QueueStats:
        """Read the statistics of a queue.

        Args:
            queue: its name.
            day: the day in UTC, as a date or any moment of it; today when not given.

        """
        moment = self._client.now() if day is None else _moment(day)
        return self._client.commands.stats(queue, moment)


def _moment(day: float | dt.date | dt.datetime) -> float:
    """Give an instant of a day, epoch seconds; a time without a zone is UTC."""
    if isinstance(day, dt.datetime):
        return (day if day.tzinfo else day.replace(tzinfo=dt.UTC)).timestamp()
    if isinstance(day, dt.date):
        return dt.datetime.combine(day, dt.time(), dt.UTC).timestamp()
    return day
