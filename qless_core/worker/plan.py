"""What a worker was made to do, as all of its threads and children share it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from qless_core.errors import BadArgument
from qless_core.worker.reserving import Ordered

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qless_core.worker.performing import Middleware
    from qless_core.worker.reserving import Order

#: The most jobs that may be taken ahead: more are a long reply, and a long lock for the last.
MOST_AHEAD: Final = 1000
#: The most seconds of anything: a year. The system waits for no time without end.
MOST_S: Final = 366 * 86400


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a worker was made to do.

    Attributes:
        queues: names and patterns.
        order: in which the queues are asked.
        interval: seconds to wait for a job before one looks anew; waiting ends with the first one.
        prefetch: how many jobs are taken at once, at most.
        middleware: what goes around each job, the outermost first.
        grace: seconds that a job has to end that is told to stop.
        burst: whether to end when nothing is left, running or due.
        jobs_per_child: how many jobs a child runs before another one takes its place; None for any.
        child_age_s: seconds after which another one takes its place, when it has run its job.
        child_memory: bytes of memory from which on another one takes its place.
        on_fork: what each child calls first, to close what it inherited.

    Raises:
        BadArgument: one of them makes no sense.

    """

    queues: tuple[str, ...]
    order: Order | type[Order] = Ordered
    interval: float = 60.0
    prefetch: int = 1
    middleware: tuple[Middleware, ...] = ()
    grace: float = 5.0
    burst: bool = False
    jobs_per_child: int | None = None
    child_age_s: float | None = None
    child_memory: int | None = None
    on_fork: Sequence[Callable[[], object]] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.prefetch <= MOST_AHEAD:
            _refuse("prefetch", f"from 1 to {MOST_AHEAD}", self.prefetch)
        if not 0 < self.interval <= MOST_S:
            _refuse("interval", f"seconds above 0, and at most {MOST_S}", self.interval)
        if not 0 <= self.grace <= MOST_S:
            _refuse("grace", f"seconds from 0 to {MOST_S}", self.grace)
        for name in ("jobs_per_child", "child_age_s", "child_memory"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                _refuse(name, "above 0, or None", value)


def _refuse(name: str, wanted: str, got: object) -> None:
    problem = f"{name} must be {wanted}, got {got!r}"
    raise BadArgument(problem)
