"""Work on more jobs than one call of the script may take: in chunks, each job checked in Redis.

A chunk takes milliseconds, so that others have their turn between two of them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from qless_core.records import Report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from qless_core.commands import Commands

#: Jobs in one call of the script.
CHUNK: Final = 200

#: Jids read at once from the end of a group.
WINDOW: Final = 10_000

#: Jobs whose state is looked at in one call: the read of a hash field each.
COUNTED_AT_ONCE: Final = 5_000


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


def tail(
    commands: Commands, group: str, *, most: int | None = None, newest: str = ""
) -> Iterator[Sequence[str]]:
    """Walk the jids of a failure group from its oldest on, while others take some and add some.

    New failures come in at the other end, so what was there at the beginning is met once, and
    what comes later is not.

    Args:
        commands: reads the group.
        group: which.
        most: how many jids there were when somebody looked; by default all that are there now.
        newest: the newest of them then; nothing beyond it is met while it is there.

    """
    length = commands.failed_group(group, 0, 0).total
    left = length if most is None else min(most, length)
    depth = WINDOW
    met: set[str] = set()
    while left > 0:
        start = max(0, commands.failed_group(group, 0, 0).total - depth)
        found = commands.failed_group(group, start, depth).jids
        fresh = [jid for jid in reversed(found) if jid not in met]
        if newest in fresh:
            fresh = fresh[: fresh.index(newest) + 1]
            left = len(fresh)
        if not fresh and start == 0:
            return
        if len(fresh) < depth // 2:
            depth *= 2  # What was met and stayed lies at this end, too: look beyond it.
        fresh = fresh[:left]
        left -= len(fresh)
        met.update(fresh)
        for at in range(0, len(fresh), CHUNK):
            yield fresh[at : at + CHUNK]


def states(commands: Commands, group: str, length: int) -> dict[str, int]:
    """Count the states of the jobs that a failure group lists; `gone` is one of them."""
    found: Counter[str] = Counter()
    for start in range(0, length, COUNTED_AT_ONCE):
        found.update(commands.bulk_states(group, start, COUNTED_AT_ONCE))
    return dict(found)
