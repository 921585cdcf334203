"""How often which durations occurred, in bins that grow from a second to a day."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

#: How many bins of which width, in seconds: 60 seconds, 59 minutes, 23 hours, 6 days.
LAYOUT: Final = ((60, 1), (59, 60), (23, 3600), (6, 86400))


def _starts() -> tuple[int, ...]:
    """List where each bin begins: second 0 first, then minute 1, hour 1 and day 1."""
    starts = [*range(LAYOUT[0][0])]
    for count, width in LAYOUT[1:]:
        starts += [step * width for step in range(1, count + 1)]
    return tuple(starts)


#: Where each bin begins, seconds; a bin ends where the next begins, the last never.
STARTS: Final = _starts()


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin of a histogram.

    Attributes:
        start: its shortest duration, seconds.
        end: the shortest duration of the next bin, seconds; None for the last.
        count: how many jobs fell into it.

    """

    start: int
    end: int | None
    count: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """How often which durations occurred, in bins that grow from a second to a day."""

    counts: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[Bin]:
        ends = (*STARTS[1:], None)
        for start, end, count in zip(STARTS, ends, self.counts, strict=False):
            yield Bin(start, end, count)

    @property
    def total(self) -> int:
        """How many durations were counted."""
        return sum(self.counts)

    def percentile(self, percent: float) -> float | None:
        """Estimate the duration, seconds, that so many percent do not exceed.

        Within a bin durations are taken to be spread evenly. None when nothing was counted.
        """
        wanted = self.total * percent / 100
        if not self.total:
            return None
        before = 0
        for bin_ in self:
            if bin_.count and before + bin_.count >= wanted:
                width = 0 if bin_.end is None else bin_.end - bin_.start
                return bin_.start + width * max(0.0, wanted - before) / bin_.count
            before += bin_.count
        return float(STARTS[-1])
