"""Cron expressions: when something is to happen, in the time of a place.

The script knows neither: it is told moments, and this module computes them.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from cronsim import CronSim, CronSimError

from qless_core.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Names of whole expressions, as other crons have them.
NAMED: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
#: The longest expression that is read, characters.
LONGEST: Final = 500
#: The runs to come that one plan has at most: of a job for each minute, those of eight hours.
AHEAD: Final = 500
#: The runs to come that one plan has at least, however far ahead.
AT_LEAST: Final = 2
#: How far ahead a plan goes, seconds: what is planned keeps the rules for summer time of today.
HORIZON_S: Final = 7 * 86400
#: The missed runs that one plan has at most; the next plan goes on behind them.
OWED: Final = 1000


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression in a time zone.

    Five fields as in Debian's cron: minute, hour, day of the month, month, day of the week; or six,
    with seconds first. When clocks are put forward, what is due in the hour that is left out comes
    right after it; when they are put back, it comes once, but what is due every minute or hour,
    whose field begins with `*`, goes on through both.

    `@yearly`, `@monthly`, `@weekly`, `@daily` and `@hourly` stand for such fields.

    Attributes:
        expression: the fields, one blank between them.
        timezone: a name of the IANA time zone database; a `ZoneInfo` may be given.

    Raises:
        BadArgument: the expression cannot be read or never comes, or there is no such time zone.

    """

    expression: str
    timezone: str = "UTC"

    def __post_init__(self) -> None:
        text: object = self.expression
        if not isinstance(text, str) or len(text) > LONGEST:
            problem = f"a cron expression must be text of at most {LONGEST} characters"
            raise BadArgument(problem)
        object.__setattr__(self, "expression", _spelled(text))
        object.__setattr__(self, "timezone", name_of(self.timezone))
        _zone(self.timezone)
        if next(self.after(0), None) is None:
            problem = f"the cron expression {text!r} never comes"
            raise BadArgument(problem)

    @property
    def words(self) -> str:
        """What the expression says, in plain English, without the time zone.

        >>> Cron("*/5 8-17 * * 1-5").words
        'Every fifth minute from 08:00 through 17:59 on Monday through Friday'
        """
        return CronSim(self.expression, dt.datetime.fromtimestamp(0, dt.UTC)).explain()

    def after(self, moment: float) -> Iterator[int]:
        """Give the runs after a moment, epoch seconds, one by one and without end."""
        last = moment
        start = dt.datetime.fromtimestamp(int(moment), _zone(self.timezone))
        try:
            for run in CronSim(self.expression, start):
                # An hour that comes twice is named once: seen from its second pass, it is past.
                when = int(run.timestamp())
                if when > last:
                    last = when
                    yield when
        except CronSimError as error:
            reason = str(error)
            problem = f"{self.expression!r} is no cron expression: {reason[:1].lower()}{reason[1:]}"
            raise BadArgument(problem) from error

    def plan(self, after: float, now: float, backlog: int = 0) -> list[int]:
        """List the runs after a moment: those owed by now, then some to come.

        Args:
            after: where the plan before this one ended, epoch seconds.
            now: epoch seconds.
            backlog: how many missed runs are made up for, besides the last one; 0 for all.

        Returns:
            Epoch seconds, ascending. Of the runs owed no more than `OWED`, the oldest first, and
            then none to come.

        """
        start = self._start(after, now, min(backlog + 1, OWED)) if backlog > 0 else after
        runs: list[int] = []
        ahead = 0
        for run in self.after(start):
            if run > now:
                ahead += 1
                if ahead > AHEAD or (ahead > AT_LEAST and run > now + HORIZON_S):
                    break
            elif len(runs) == OWED:
                break
            runs.append(run)
        return runs

    def _start(self, after: float, now: float, count: int) -> float:
        """Find a moment after which so many runs, and no more, were due by now; or `after`.

        Looks back from now, further and further: there may be millions of runs before.
        """
        width = 3600
        while now - width > after:
            due = []
            for run in self.after(now - width):
                if run > now:
                    break
                due.append(run)
            if len(due) >= count:
                return due[-count] - 1
            width *= 4
        return after


def _spelled(text: str) -> str:
    """Give the fields of an expression, one blank between them.

    Raises:
        BadArgument: it is a name that stands for no fields.

    """
    fields = " ".join(text.split())
    if not fields.startswith("@"):
        return fields
    if fields.lower() in NAMED:
        return NAMED[fields.lower()]
    problem = f"{fields!r} is no cron expression: there are {', '.join(NAMED)}"
    raise BadArgument(problem)


def name_of(zone: str | dt.tzinfo) -> str:
    """Name a time zone; what is neither a name nor a zone is for `_zone` to refuse.

    Raises:
        BadArgument: it is a zone without a name, as a fixed offset.

    """
    if zone is dt.UTC:
        return "UTC"
    if not isinstance(zone, dt.tzinfo):
        return zone
    if name := getattr(zone, "key", None):
        return str(name)
    problem = f"a time zone needs a name, as Europe/Berlin: {zone!r} has none"
    raise BadArgument(problem)


def _zone(name: str) -> dt.tzinfo:
    """Find a time zone.

    Raises:
        BadArgument: there is none of that name, here.

    """
    if name == "UTC":
        return dt.UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, TypeError, ValueError, OSError) as error:
        known = "" if available_timezones() else "; this system has no time zones: install tzdata"
        problem = f"there is no time zone {name!r}{known}"
        raise BadArgument(problem) from error
