"""Failures over time as small bars. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_web.formatting import count

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Pixels.
_WIDTH, _HEIGHT = 80, 20


@dataclass(frozen=True, slots=True)
class Rate:
    """Bars for the parts of a time, and the same in a sentence."""

    width: int
    height: int
    path: str
    label: str


def rate(counts: Sequence[int], time: str) -> Rate:
    """Return bars for counts that follow one another; `time` says which time they are of.

    >>> rate((0, 4, 2), "last day").label
    'last day: 6 failures, 4 at most in a part of 3'
    """
    most = max(counts, default=0)
    step = _WIDTH / max(1, len(counts))
    bars = []
    for place, each in enumerate(counts):
        if each:
            tall = max(1, round((_HEIGHT - 2) * each / most))
            bars.append(f"M{step * place:.1f} {_HEIGHT}v-{tall}h{step - 0.8:.1f}v{tall}z")
    total = sum(counts)
    noun = "failure" if total == 1 else "failures"
    most_of = f", {count(most)} at most in a part of {len(counts)}" if total else ""
    return Rate(_WIDTH, _HEIGHT, "".join(bars), f"{time}: {count(total)} {noun}{most_of}")
