"""The places of a forking worker's children, each with a name in which one after another works."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from qless_core.backoff import Backoff
from qless_core.worker.slate import Slate

if TYPE_CHECKING:
    from qless_core.worker.deaths import Death


@dataclass
class Process:
    """A child, as its parent sees it.

    Attributes:
        pid: its process.
        go: where it is told its slot; -1 when that is done.
        born: when it was told to begin, seconds of the monotonic clock.
        started: the same, epoch seconds.
        kill_at: when it is to be killed, if it is there still.
        is_told: whether it was told to end.
        line: which of the connections of its slot it uses; 0 for one of its own.
        turn: how often those before it in its slot had taken jobs.
        why: why it was killed by its parent; "" where it was not.

    """

    pid: int
    go: int = -1
    born: float = 0
    started: float = 0
    kill_at: float | None = None
    is_told: bool = False
    line: int = 0
    turn: int = 0
    why: str = ""


@dataclass
class Slot:
    """A place for a child.

    Attributes:
        number: from 0 on.
        name: in whose name its children hold jobs.
        slate: what its child notes there.
        child: who works there; None when nobody does.
        death: what is to be settled before another one may work there.
        start_at: when another one may begin, seconds of the monotonic clock.
        taken: jobs that were taken from the child, each with the turn in which it has it, and the
            moment at which it is killed.
        is_over: whether a burst is over here.

    """

    number: int
    name: str
    slate: Slate = field(default_factory=Slate)
    child: Process | None = None
    death: Death | None = None
    start_at: float = 0
    backoff: Backoff = field(default_factory=lambda: Backoff(first=0.5))
    taken: dict[tuple[str, int], float] = field(default_factory=dict)
    is_over: bool = False

    @property
    def is_at_work(self) -> bool:
        """Whether its child works: it takes jobs, or would."""
        return self.child is not None and self.slate.turn != self.child.turn

    @property
    def is_failing(self) -> bool:
        """Whether one child after another dies here before it works."""
        return self.backoff.failed > 0 and not self.is_at_work

    @property
    def is_free(self) -> bool:
        """Whether another child may work here."""
        return self.child is None and self.death is None and not self.is_over
