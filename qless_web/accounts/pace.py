"""How often one address may change something: counted by each process for itself.

In memory, as nothing is to be written, and no Redis asked, for somebody who is turned away.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

from qless_web.accounts.household import household

#: Seconds over which changes are counted, and addresses that are told apart within that time.
WINDOW_S = 60.0
MOST_ADDRESSES = 10_000


@dataclass(slots=True)
class Pace:
    """Counts the changes of one stretch of time, by address."""

    _counts: dict[str, int] = field(default_factory=dict)
    _began: float = float("-inf")
    _lock: Lock = field(default_factory=Lock)

    def wait_s(self, address: str, most: int, monotonic: float) -> float:
        """Count a change.

        Args:
            address: that it comes from.
            most: how many may be in a minute.
            monotonic: seconds from some fixed point.

        Returns:
            The seconds to wait before the next; 0.0 where this one may go on.

        """
        address = household(address)
        with self._lock:
            if monotonic - self._began >= WINDOW_S:
                self._counts.clear()
                self._began = monotonic
            # Beyond so many addresses all others count as one: a flood of them gains nothing.
            known = address in self._counts or len(self._counts) < MOST_ADDRESSES
            name = address if known else ""
            count = self._counts[name] = self._counts.get(name, 0) + 1
            return max(1.0, self._began + WINDOW_S - monotonic) if count > most else 0.0
