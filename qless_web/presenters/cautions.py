"""What about the server endangers jobs, or misleads who looks, in sentences for every page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_web.formatting import duration

if TYPE_CHECKING:
    from qless_web.reading import Standing

#: Seconds that clocks may differ by; requests take a while, too.
_SKEW_S = 5.0


def cautions(eviction: str, skew: float, replica: Standing) -> tuple[str, ...]:
    """Return what there is to say.

    Args:
        eviction: what the server does when its memory is full; "" where that never happens.
        skew: seconds by which the clock of this machine is ahead of the server's.
        replica: how things stand with the replica to read at.

    """
    return tuple(filter(None, (_evicts(eviction), _differs(skew), _misses(replica))))


def _evicts(policy: str) -> str:
    if policy in {"", "noeviction"}:
        return ""
    return (
        f"When its memory is full this server drops keys ({policy}), and jobs with them: "
        "set maxmemory-policy to noeviction."
    )


def _differs(skew: float) -> str:
    """Say how clocks differ.

    >>> _differs(-120.4)[:67], _differs(4)
    ('The clock of this console is 2 min behind the clock of Redis. Jobs,', '')
    """
    if abs(skew) < _SKEW_S:
        return ""
    side = "ahead of" if skew > 0 else "behind"
    return (
        f"The clock of this console is {duration(round(abs(skew)))} {side} the clock of Redis."
        " Jobs, and all times here, go by Redis; programs on this machine that say a time of their"
        " own are off by as much."
    )


def _misses(replica: Standing) -> str:
    if not replica.why_not:
        return ""
    return (
        f"Pages read at the primary, not at the replica {replica.where}: {replica.why_not}. "
        "What they show is right."
    )
