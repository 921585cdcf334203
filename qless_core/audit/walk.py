"""The walk over the whole database: steps of a few milliseconds each, findings as they come.

What is kept meanwhile: the subjects that one step left over; 8 bytes for each job of a long failure
group (40 while they are sorted); the jids of jobs that both wait for others and are waited for.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from qless_core import wire
from qless_core.audit.finding import Finding
from qless_core.audit.kinds import kind_of
from qless_core.audit.rings import rings
from qless_core.errors import ForeignData

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qless_core.commands import Commands
    from qless_core.records import AuditStep

#: Keys that one step of the scan is to meet, about: some hundred microseconds of the server's time.
STEP: Final = 100

#: The bounds of what SCAN is asked for: it also passes over keys of others.
SCANNED: Final = (10, 5000)

#: Entries that one step of a set is to meet; subjects that are looked at in one call.
ENTRIES: Final = 100
SUBJECTS: Final = 100

#: Jobs of a failure group from which on the group is read first, to know whom it lists.
LONG: Final = 100

#: Jids of a failure group that are read at once.
PAGE: Final = 2000

#: Findings that are remembered, to tell of none twice; SCAN may give a key more than once.
REMEMBERED: Final = 100_000

Subject = tuple[str, ...]


class Walk:
    """One walk. Iterating does it, once.

    Attributes:
        keys: how many keys and entries were met so far.

    """

    def __init__(self, commands: Commands) -> None:
        self.keys = 0
        self._commands = commands
        self._left: deque[Subject] = deque()
        self._links: dict[str, tuple[str, ...]] = {}
        self._met: set[int] = set()
        self._listed = array("q")

    def __iter__(self) -> Iterator[Finding]:
        yield from self._read_groups()
        cursor, count = "0", STEP
        while True:
            step = self._commands.audit_scan(cursor, count)
            yield from self._take(step)
            yield from self._settle()
            count = _next_count(count, step.keys)
            cursor = step.cursor
            if cursor == "0":
                break
        for ring in rings(self._links):
            self._left.append(("ring", *ring))
        yield from self._settle()

    def _take(self, step: AuditStep) -> Iterator[Finding]:
        """Tell of what a step found, and note what it left."""
        self.keys += step.keys
        self._left.extend(step.left)
        self._links |= step.links
        for kind, note, subject in step.found:
            yield from self._tell(kind, note, subject)

    def _tell(self, kind: str, note: str, subject: Subject) -> Iterator[Finding]:
        mark = hash((kind, subject))
        if mark in self._met:
            return
        if len(self._met) < REMEMBERED:
            self._met.add(mark)
        yield Finding(kind_of(kind), subject, note, self._commands)

    def _settle(self) -> Iterator[Finding]:
        """Look at what steps left over, until nothing is."""
        looks: list[Subject] = []
        while self._left or looks:
            while self._left and len(looks) < SUBJECTS:
                match self._left.popleft():
                    case ("walk", place, name):
                        yield from self._walk(place, name)
                    case ("data", jid):
                        yield from self._read_data(jid)
                    case ("failed", jid, group) if self._is_listed(group, jid):
                        pass
                    case subject:
                        looks.append(subject)
            if looks:
                yield from self._take(self._commands.audit_look(*looks))
                looks = []

    def _walk(self, place: str, name: str) -> Iterator[Finding]:
        cursor = "0"
        while True:
            step = self._commands.audit_walk(place, name, cursor, ENTRIES)
            yield from self._take(step)
            cursor = step.cursor
            if cursor == "0":
                return

    def _read_data(self, jid: str) -> Iterator[Finding]:
        """Read a long text here: the server would stand still meanwhile."""
        record = self._commands.get(jid)
        if record is None:
            return
        try:
            record.data.encode()
        except UnicodeEncodeError:
            yield from self._tell("not-utf8", "its data has bytes that are no text", ("job", jid))
        try:
            wire.loads(record.data)
        except ValueError as error:
            yield from self._tell("odd-data", f"its data is not JSON: {error}", ("job", jid))

    # Failure groups

    def _read_groups(self) -> Iterator[Finding]:
        """Note whom the long groups list: to look for each job in such a list takes too long."""
        listed = array("q")
        try:
            counts = self._commands.failed()
        except ForeignData:
            counts = {}  # Then each job is looked for, which takes longer.
        groups = [name for name, count in counts.items() if count > LONG]
        for group in groups:
            for jids in self._pages(group):
                listed.extend(hash((group, jid)) for jid in jids)
        self._listed = array("q", sorted(listed))
        twice = {one for one, other in pairwise(self._listed) if one == other}
        for group in groups if twice else ():
            for jids in self._pages(group):
                self._left.extend(
                    ("twice", group, jid) for jid in jids if hash((group, jid)) in twice
                )
        yield from self._settle()

    def _pages(self, group: str) -> Iterator[Sequence[str]]:
        start = 0
        while jids := self._commands.failed_group(group, start, PAGE).jids:
            yield jids
            start += PAGE

    def _is_listed(self, group: str, jid: str) -> bool:
        mark = hash((group, jid))
        at = bisect_left(self._listed, mark)
        return at < len(self._listed) and self._listed[at] == mark


def _next_count(count: int, met: int) -> int:
    """Choose what to ask SCAN for next, so that a step meets about as many keys as it should."""
    if met > 2 * STEP:
        count //= 2
    elif met < STEP // 2:
        count *= 2
    return max(SCANNED[0], min(count, SCANNED[1]))
