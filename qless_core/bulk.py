"""Work on more jobs than one call of the script may take: in chunks, each job checked in Redis.

A chunk takes milliseconds, so that others have their turn between two of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from qless_core.records import Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from qless_core.commands import Commands

#: Jobs in one call of the script.
CHUNK: Final = 100

#: Jids read at once from the end of a group.
WINDOW: Final = 10_000


def total(reports: Iterable[Report]) -> Report:
    """Put the reports of all chunks together."""
    done: list[str] = []
    left: dict[str, str] = {}
    emptied: list[str] = []
    for report in reports:
        done.extend(report.done)
        left.update(report.left)
        emptied.extend(report.emptied)
    return Report(tuple(done), left, tuple(emptied))


def in_chunks(
    act: Callable[[Sequence[tuple[str, str]]], Report], wanted: Sequence[tuple[str, str]]
) -> Iterator[Report]:
    """Act on jobs that are named, a chunk at a time.

    Args:
        act: does it to some of them.
        wanted: jids with the states they may be in, as `Commands.bulk_move` takes them.

    """
    for start in range(0, len(wanted), CHUNK):
        yield act(wanted[start : start + CHUNK])


@dataclass(frozen=True, slots=True)
class Seen:
    """How a failure group was when somebody looked.

    Attributes:
        count: how many jobs it listed.
        newest: the newest of them.
        when: the moment, epoch seconds.

    """

    count: int
    newest: str
    when: float


def tail(commands: Commands, group: str, seen: Seen | None = None) -> Iterator[Sequence[str]]:
    """Walk the jids of a failure group from its oldest on, while others take some and add some.

    New failures come in at the other end, so what was there at the beginning is met once, and
    what comes later is not.

    Args:
        commands: reads the group.
        group: which.
        seen: the group as somebody saw it: only what was there then is met. Where its newest job
            has left, the moment of each failure decides.

    """
    left, before = _bounds(commands, group, seen)
    depth = WINDOW
    met: set[str] = set()
    while left > 0:
        start = max(0, commands.failed_group(group, 0, 0).total - depth)
        found = commands.failed_group(group, start, depth).jids
        fresh = [jid for jid in reversed(found) if jid not in met]
        if not fresh and start == 0:
            return
        if len(fresh) < depth // 2:
            depth *= 2  # What was met and stayed lies at this end, too: look beyond it.
        fresh = fresh[:left]
        left -= len(fresh)
        met.update(fresh)
        for at in range(0, len(fresh), CHUNK):
            chunk = fresh[at : at + CHUNK]
            yield chunk if before is None else _failed_by(commands, chunk, before)


def _bounds(commands: Commands, group: str, seen: Seen | None) -> tuple[int, float | None]:
    """Give how many jobs from the oldest on were seen, and the moment that decides, if one must."""
    if seen is None:
        return commands.failed_group(group, 0, 0).total, None
    head = commands.failed_group(group, 0, WINDOW)
    if seen.newest in head.jids:
        return head.total - head.jids.index(seen.newest), None
    return min(seen.count, head.total), seen.when


def _failed_by(commands: Commands, jids: Sequence[str], moment: float) -> list[str]:
    """Leave out jobs that failed after a moment, or may have: failures tell whole seconds."""
    later = {
        job.jid for job in commands.multiget(*jids) if job.failure and job.failure.when + 1 > moment
    }
    return [jid for jid in jids if jid not in later]
