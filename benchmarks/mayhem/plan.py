"""Which jobs there are to be: made of a seed alone, so that a run can be done again."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Part of all jobs that may run at most once.
ONCE = 0.2
#: Part of all jobs that wait for another one.
DEPENDS = 0.1
#: Part of all jobs that are scheduled, and for how many seconds at most.
DELAYED, LATEST_S = 0.1, 3.0
#: Seconds that the longest job takes.
LONGEST_S = 0.2
#: How far back a job may be that another one waits for.
REACH = 20

#: The most jobs that are put at once.
MOST_AT_ONCE = 40

#: Where the classes are.
MODULE = "benchmarks.mayhem.jobs"
#: Classes of jobs, and how many in a hundred are of each.
MIX = {"Quick": 40, "Slow": 45, "Fails": 5, "Returns": 5, "Moves": 5}


@dataclass(frozen=True)
class Planned:
    """A job to be put.

    Attributes:
        jid: what it is called.
        klass: of those in `jobs.py`.
        data: what it works on.
        options: of the put.

    """

    jid: str
    klass: str
    data: dict[str, Any]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def is_once(self) -> bool:
        """Whether it may run at most once."""
        return self.options.get("retries") == 0

    @property
    def runs(self) -> int:
        """How often it is begun where nothing is killed."""
        return 2 if self.klass in {"Returns", "Moves"} else 1

    @property
    def arguments(self) -> dict[str, Any]:
        """What a put takes."""
        return {
            "klass": f"{MODULE}.{self.klass}",
            "data": self.data,
            "jid": self.jid,
            **self.options,
        }


def bunches(seed: int, jobs: Sequence[Planned]) -> list[Sequence[Planned]]:
    """Divide jobs into bunches that are put at once."""
    chance = random.Random(f"bunches {seed}")  # noqa: S311 - to be done again
    found, start = [], 0
    while start < len(jobs):
        end = start + chance.randint(1, MOST_AT_ONCE)
        found.append(jobs[start:end])
        start = end
    return found


def plan(seed: int, count: int) -> list[Planned]:
    """Make up so many jobs."""
    chance = random.Random(seed)  # noqa: S311 - to be done again
    made: list[Planned] = []
    for number in range(count):
        (klass,) = chance.choices([*MIX], [*MIX.values()])
        options: dict[str, Any] = {}
        if klass not in {"Returns", "Moves"} and chance.random() < ONCE:
            options["retries"] = 0
        if made and chance.random() < DEPENDS:
            options["depends"] = [chance.choice(made[-REACH:]).jid]
        elif chance.random() < DELAYED:
            options["delay"] = round(chance.uniform(0, LATEST_S), 2)
        data = {"seconds": round(chance.uniform(0, LONGEST_S), 3)} if klass == "Slow" else {}
        made.append(Planned(f"job-{number}", klass, data, options))
    return made
