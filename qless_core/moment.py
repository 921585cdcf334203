"""Moments: epoch seconds wherever one is meant, as a number or as a datetime."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

from qless_core.errors import BadArgument


def moment_of(at: Any, delay: float | None = None) -> float | None:  # noqa: ANN401 - whatever was given
    """Give epoch seconds of a moment that is given as such or as a datetime; None where none is.

    Raises:
        BadArgument: it is no moment, a datetime that knows no time zone, or beside a delay.

    """
    if at is None:
        return None
    if delay is not None:
        problem = f"a job takes a delay or a moment, not both: {delay!r} and {at!r}"
        raise BadArgument(problem)
    if isinstance(at, dt.datetime) and at.utcoffset() is not None:
        return at.timestamp()
    if isinstance(at, int | float) and not isinstance(at, bool) and math.isfinite(at):
        return at
    problem = f"a moment is epoch seconds or a datetime that knows its time zone, not {at!r}"
    raise BadArgument(problem)
