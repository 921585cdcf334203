"""How long to wait before the next attempt: longer each time, and never all at once."""

from __future__ import annotations

import random
from typing import Final

#: Seconds to wait at first when Redis is away, and at most; doubled from one to the other.
FIRST_WAIT_S: Final = 0.25
LONGEST_WAIT_S: Final = 15.0


class Backoff:
    """The waits between attempts in a row that fail.

    Args:
        first: the longest that the first wait may be, in seconds.
        longest: what the waits grow up to, doubling.

    """

    def __init__(self, first: float = FIRST_WAIT_S, longest: float = LONGEST_WAIT_S) -> None:
        self.first = first
        self.longest = longest
        #: Attempts that failed in a row, as `next` was told.
        self.failed = 0

    def delay(self, attempt: int) -> float:
        """Give the seconds to wait after so many earlier failures (0 for the first).

        Anything between a half and the whole of what it has come to, so that many who lost the
        same server do not come back at the same moment.
        """
        whole = min(self.longest, self.first * 2.0 ** min(attempt, 30))
        return whole * random.uniform(0.5, 1.0)  # noqa: S311 - to spread load, not to keep a secret

    def next(self) -> float:
        """Give the seconds to wait after one more failure."""
        wait = self.delay(self.failed)
        self.failed += 1
        return wait

    def reset(self) -> None:
        """Begin anew, after a success."""
        self.failed = 0
