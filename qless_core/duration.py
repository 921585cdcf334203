"""Durations: seconds wherever one is meant, as a number or as a timedelta."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any, overload

from qless_core.errors import BadArgument
from qless_core.options import as_number

if TYPE_CHECKING:
    from typing import TypeAlias

    #: Seconds, or a timedelta.
    Duration: TypeAlias = float | dt.timedelta


@overload
def seconds_of(what: str, duration: Duration) -> float: ...


@overload
def seconds_of(what: str, duration: Duration | None) -> float | None: ...


def seconds_of(what: str, duration: Any) -> float | None:
    """Give the seconds of a duration; None where none is given.

    Args:
        what: what it is called, for the message.
        duration: a number of seconds (also as text), or a timedelta.

    Raises:
        BadArgument: it is something else, or not finite.

    """
    if duration is None:
        return None
    told = duration.total_seconds() if isinstance(duration, dt.timedelta) else duration
    seconds = None if isinstance(told, bool) else as_number(told)
    if seconds is None:
        problem = f"{what} must be a number of seconds or a timedelta, got {duration!r}"
        raise BadArgument(problem)
    return told if isinstance(told, int | float) and told is duration else seconds
