"""Redis, as the index asks it: plain reads, at a bounded rate that yields to whom is busy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from qless_core import reads
from qless_core.clock import REAL, SERVER
from qless_core.reads.packed import answers
from qless_web.triage.entry import entries, packed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_core.client import Client
    from qless_core.reads import Plan
    from qless_web.triage.entry import Entry, Shown

T = TypeVar("T")

#: Jobs a second below which the rate never falls, and how it falls and rises.
_LEAST, _LESS, _MORE = 200.0, 0.5, 1.1
#: How many times as long as usual a read takes where Redis, or the way there, is busy.
_SLOW = 4.0
#: What it costs to compare a jid, in jobs that are read.
_LOOK = 0.2
#: What is the usual changes slowly.
_MEMORY = 0.02

#: Jobs from which on it pays to pack commands by hand.
_PACKED: Final = 100


class Source:
    """Reads for the index.

    Args:
        client: whose jobs are read.
        rate: jobs a second at most; 0 for as many as there can be.
        shown: gives data as it may be shown; None where all of it may.

    """

    def __init__(self, client: Client, rate: int, shown: Shown | None = None) -> None:
        self.client = client
        self._shown = shown
        self._most = float(rate)
        self._rate = float(rate)
        self._usual = 0.0
        #: When the next jobs may be read, on the monotonic clock.
        self._free_at = 0.0
        #: Jobs that were read so far.
        self.jobs_read = 0

    @property
    def is_bounded(self) -> bool:
        """Whether there is a rate to be kept."""
        return self._most > 0

    def read(self, plan: Plan[T]) -> tuple[float, T]:
        """Read something small; answers the time, epoch seconds, and what was found.

        Raises:
            QlessError: Redis could not be asked.

        """
        stamp = self.client.clock.stamp()
        now = None if stamp == SERVER else float(stamp)
        scope, (found,) = reads.run(self.client.redis, self.client.keys, [plan], now=now)
        return scope.now, found

    def entries(self, jids: Sequence[str]) -> list[tuple[str, Entry | None]]:
        """Read jobs, and note what that costs.

        Raises:
            QlessError: Redis could not be asked.

        """
        if not jids:
            return []
        began = REAL.monotonic()
        plan = entries(jids, self._shown, replies=self._replies(jids))
        _, ([*found],) = reads.run(self.client.redis, self.client.keys, [plan], now=0.0)
        self._note(len(jids), REAL.monotonic() - began)
        return list(zip(jids, found, strict=True))

    def _replies(self, jids: Sequence[str]) -> list[Any] | None:
        """Ask for the fields of jobs; None where that must be done with more care.

        Commands that are packed by hand take a third of the time.
        """
        if len(jids) < _PACKED:
            return None
        commands = packed(self.client.keys, jids)
        return answers(self.client.redis, commands, 2 * len(jids))

    def looked_at(self, count: int) -> None:
        """Note that so many jids were compared: that costs something, too."""
        if self.is_bounded:
            self._spend(count * _LOOK)

    def pause(self) -> float:
        """Say for how many seconds nothing may be read."""
        return max(0.0, self._free_at - REAL.monotonic()) if self.is_bounded else 0.0

    def _note(self, count: int, took: float) -> None:
        self.jobs_read += count
        if not self.is_bounded:
            return
        each = took / count
        usual = self._usual or each
        slow = count >= 100 and each > _SLOW * usual  # noqa: PLR2004 - a few tell nothing
        self._rate = (
            max(_LEAST, self._rate * _LESS) if slow else min(self._most, self._rate * _MORE)
        )
        self._usual = min(each, usual) if each < usual else usual + _MEMORY * (each - usual)
        self._spend(count)

    def _spend(self, count: float) -> None:
        self._free_at = max(self._free_at, REAL.monotonic()) + count / self._rate
