"""Whether the rules hold: what has to be read for them, and what each finds in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from qless_core import reads
from qless_core.reads.plan import Read, Scope, call, read, together
from qless_web import minutes
from qless_web.formatting import count, duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from qless_core.reads.failures import FailureGroup
    from qless_core.reads.frame import FrameCounts
    from qless_core.reads.queues import QueueSummary
    from qless_web.alerts.rules import Rule
    from qless_web.minutes import LastHour

#: Queues and groups that are looked at, and the minutes of a rate.
REACH: Final = 1_000
RATE_MINUTES: Final = 5

#: Kinds that each read is for.
_OF_QUEUES = frozenset({"queue-age", "failure-rate", "stalled"})


@dataclass(frozen=True, slots=True)
class Seen:
    """What was read, all at one time."""

    now: float
    queues: tuple[QueueSummary, ...]
    groups: tuple[FailureGroup, ...]
    hour: LastHour
    around: FrameCounts
    #: Since when each paused queue is known to be so, epoch seconds.
    paused: Mapping[str, float]


class Finding(NamedTuple):
    """What a rule finds: None where nobody can say; else the names, the worst first."""

    names: tuple[str, ...] | None
    text: str = ""

    @property
    def is_bad(self) -> bool | None:
        """Whether it goes off; None where nobody can say."""
        return None if self.names is None else bool(self.text)


@read
def seen(scope: Scope, rules: Iterable[Rule], paused: Mapping[str, float]) -> Read[Seen]:
    """Read what some rules need, and nothing else.

    Args:
        scope: given by `run`.
        rules: those that are to be looked at.
        paused: since when queues are known to be paused; those that are seen so first, now.

    """
    kinds = {rule.kind for rule in rules}
    whole = reads.Slice(0, REACH)
    plans = {
        "around": reads.frame(probe=False),
        **({"queues": reads.queue_counts(whole)} if kinds & _OF_QUEUES else {}),
        **({"groups": reads.failure_groups(whole)} if "failures" in kinds else {}),
        **({"hour": minutes.of_hour()} if "failure-rate" in kinds else {}),
        **({"paused": _names_paused()} if "paused" in kinds else {}),
    }
    found = dict(
        zip(plans, (yield from together([plan(scope) for plan in plans.values()])), strict=True)
    )
    queues = found["queues"].rows if "queues" in found else ()
    return Seen(
        now=scope.now,
        queues=queues,
        groups=found["groups"].rows if "groups" in found else (),
        hour=found.get("hour", minutes.LastHour({}, scope.now)),
        around=found["around"],
        paused={name: paused.get(name, scope.now) for name in found.get("paused", ())},
    )


@read
def _names_paused(scope: Scope) -> Read[tuple[str, ...]]:
    """Give the names of paused queues, also of such that have no job."""
    (names,) = yield [call("smembers", scope.keys.paused_queues)]
    return tuple(sorted(names or ()))


def find(rule: Rule, sight: Seen) -> Finding:
    """Say what a rule finds in what was read."""
    return _FINDERS[rule.kind](rule, sight)


def _worst(
    rule: Rule, found: Iterable[tuple[float, str]], words: Callable[[float], str]
) -> Finding:
    """Tell of those above the number, the worst first; `words` says the worst."""
    over = sorted((each for each in found if each[0] > rule.above), reverse=True)
    if not over:
        return Finding(())
    most, name = over[0]
    others = f", and {len(over) - 1} more" if len(over) > 1 else ""
    return Finding(tuple(each for _, each in over), f"{name}: {words(most)}{others}.")


def _age(rule: Rule, sight: Seen) -> Finding:
    found = [
        (sight.now - each.next_since, each.name)
        for each in sight.queues
        if each.next_since is not None and not each.paused and rule.fits(each.name)
    ]
    return _worst(rule, found, lambda most: f"the next job has been waiting for {duration(most)}")


def _failures(rule: Rule, sight: Seen) -> Finding:
    found = [(float(each.count), each.name) for each in sight.groups if rule.fits(each.name)]
    return _worst(rule, found, lambda most: f"{count(int(most))} failed jobs")


def _rate(rule: Rule, sight: Seen) -> Finding:
    names = [each.name for each in sight.queues if rule.fits(each.name)]
    if not any(sight.hour.rows.values()):
        return Finding(None)
    found = []
    for name in names:
        last = [each for each in sight.hour.of(name).counts[-RATE_MINUTES:] if each]
        found.append((float(sum(each.failures for each in last)), name))
    return _worst(
        rule, found, lambda most: f"{count(int(most))} failures in {RATE_MINUTES} minutes"
    )


def _workers(rule: Rule, sight: Seen) -> Finding:
    if sight.around.workers > rule.above:
        return Finding(())
    many = sight.around.workers
    return Finding((), "No worker is at work." if not many else f"Only {many} at work.")


def _stalled(rule: Rule, sight: Seen) -> Finding:
    found = [(float(each.stalled), each.name) for each in sight.queues if rule.fits(each.name)]
    return _worst(rule, found, lambda most: f"{count(int(most))} stalled")


def _paused(rule: Rule, sight: Seen) -> Finding:
    found = [(sight.now - since, name) for name, since in sight.paused.items() if rule.fits(name)]
    return _worst(rule, found, lambda most: f"paused for {duration(most)} or longer")


_FINDERS: Final[dict[str, Callable[[Rule, Seen], Finding]]] = {
    "queue-age": _age,
    "failures": _failures,
    "failure-rate": _rate,
    "no-workers": _workers,
    "stalled": _stalled,
    "paused": _paused,
}
