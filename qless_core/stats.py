"""Statistics of a queue by day: how long jobs waited and ran, how many failed."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from qless_core.errors import BadArgument
from qless_core.options import as_number

if TYPE_CHECKING:
    from typing import TypeAlias

    from qless_core.client import Client
    from qless_core.records import QueueStats

    #: A date, also as text (`2026-11-30`), a datetime, or epoch seconds.
    Day: TypeAlias = float | str | dt.date | dt.datetime


class Stats:
    """`client.stats`: the statistics of any queue on any day."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __repr__(self) -> str:
        return f"<Stats of {self._client!r}>"

    def get(self, queue: str, day: Day | None = None) -> QueueStats:
        """Read the statistics of a queue.

        Args:
            queue: its name.
            day: the day in UTC, as a date (also as text, `2026-11-30`) or any moment of it, a
                datetime or epoch seconds; today when not given.

        Raises:
            BadArgument: it is no day.

        """
        moment = self._client.now() if day is None else _moment(day)
        return self._client.commands.stats(queue, moment)


def _moment(day: Day) -> float:
    """Give an instant of a day, epoch seconds; a time without a zone is UTC.

    Raises:
        BadArgument: it is no day.

    """
    if isinstance(day, str):
        day = _read(day)
    if isinstance(day, dt.datetime):
        return (day if day.tzinfo else day.replace(tzinfo=dt.UTC)).timestamp()
    if isinstance(day, dt.date):
        return dt.datetime.combine(day, dt.time(), dt.UTC).timestamp()
    if isinstance(day, bool) or as_number(day) is None:
        raise _no_day(day)
    return day


def _read(day: str) -> dt.datetime:
    try:
        return dt.datetime.fromisoformat(day)
    except ValueError:
        raise _no_day(day) from None


def _no_day(day: object) -> BadArgument:
    return BadArgument(
        f"a day is a date (also as text, as 2026-11-30), a datetime or epoch seconds, not {day!r}"
    )
