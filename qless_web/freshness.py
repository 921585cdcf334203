"""How much of its primary a replica has, by what both say of themselves from time to time."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from qless_core.reads import Position

#: Positions of the primary that are remembered, for a replica that has not come as far.
_MOST = 120


class Freshness:
    """What is known of a replica. Times are monotonic seconds of this process.

    Attributes:
        has_all_until: all that the primary did before then, the replica has.
        why_not: why it must not be read, whatever it has; "" where it may.

    """

    def __init__(self) -> None:
        self.has_all_until = -math.inf
        self.why_not = ""
        self._stream = ""
        #: The last offset that the replica is known to have.
        self._offset = 0
        self._ahead: deque[tuple[float, int]] = deque(maxlen=_MOST)

    def told(self, at: float, primary: Position, replica: Position) -> None:
        """Take in what both said.

        Args:
            at: before the primary was asked.
            primary: where it was.
            replica: where it was after that.

        """
        if primary.silence:
            self.why_not = f"the primary does not tell how far it is: {primary.silence}"
            return
        if primary.stream != self._stream:
            # Another primary need not have all that the one before had.
            self._stream, self._offset, self.has_all_until = primary.stream, 0, -math.inf
            self._ahead.clear()
        self._ahead.append((at, primary.offset))
        self.why_not = self.doubt(replica)
        if self.why_not:
            return
        self._offset = replica.offset
        while self._ahead and self._ahead[0][1] <= replica.offset:
            self.has_all_until, _ = self._ahead.popleft()

    def doubt(self, replica: Position) -> str:
        """Say why what was read along with this position cannot be relied on; "" where it can."""
        if replica.silence:
            return f"it does not tell how far it is: {replica.silence}"
        if replica.role != "slave":
            return "it is no replica"
        if not replica.is_linked:
            return "its link to the primary is down"
        if replica.stream != self._stream:
            return "it follows another primary"
        return "it lost what it had" if replica.offset < self._offset else ""
