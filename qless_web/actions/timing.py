"""Lengths of time and moments, as people write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from qless_core.errors import BadArgument

_UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)\s*(min|[smhdw]?)(?=[\s0-9]|$)\s*", re.ASCII)

#: The longest time, and the latest moment, that make sense: some thirty years, and the year 5138.
LONGEST_S = 1_000_000_000
LATEST = 1e11


def seconds(text: str, what: str) -> float:
    """Read a length of time.

    >>> seconds("90", "delay"), seconds("15 min", "delay"), seconds("1d 2h30m", "delay")
    (90, 900, 95400)

    Raises:
        BadArgument: it is none.

    """
    rest, total = text.strip(), 0.0
    while rest and (found := _PART.match(rest)):
        total += float(found[1]) * _UNITS[found[2]]
        rest = rest[found.end() :]
    if rest or not text.strip() or total > LONGEST_S:
        problem = (
            f"“{text[:40]}” is no {what}: it must be seconds, or a time such as 90s, 15m, 2h or 1d."
        )
        raise BadArgument(problem)
    return int(total) if total.is_integer() else total


def is_moment(text: str) -> bool:
    """Say whether a text begins as a date does, and so is meant as no length of time.

    >>> is_moment("2026-12-24T18:00"), is_moment("20m")
    (True, False)
    """
    return bool(re.match(r"\s*[0-9]{4}-", text, re.ASCII))


def moment(text: str) -> float:
    """Read a date and time, in UTC unless it says where.

    >>> moment("2026-12-24T18:00"), moment("2026-12-24 18:00+01:00")
    (1798135200.0, 1798131600.0)

    Raises:
        BadArgument: it is none.

    """
    try:
        told = datetime.fromisoformat(text.strip())
        found = (told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        found = -1
    if not 0 <= found <= LATEST:
        problem = (
            f"“{text[:40]}” is no moment: it must be a date and time such as 2026-12-24T18:00,"
            " in UTC unless it names an offset."
        )
        raise BadArgument(problem)
    return found
