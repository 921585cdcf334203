"""The jobs around one: those it waits for, those that wait for it, and one step further.

Which jobs lie a step away is known only when the step before was read, so three round trips reach
two steps: what lies beyond is counted, not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from qless_core.options import as_number
from qless_core.reads.plan import Call, Read, Scope, call, read
from qless_core.reads.rows import CLUES, Clue, clue_of, scored, scores_calls

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Jobs that are read one step away, on each side.
NEAR = 24

#: Jobs that are read two steps away, on each side.
FAR = 32

#: Jobs that are read two steps away behind one that is a step away.
BEHIND_ONE = 8

Side = Literal["before", "after"]


@dataclass(frozen=True, slots=True)
class Relative:
    """One job of the graph. `state` as a pop would find it, "" when the job is gone.

    Two steps away one that is due is still told as scheduled: its queue is not asked.
    """

    jid: str
    klass: str
    queue: str
    state: str
    #: How far it is: -2 and -1 must complete before the job, 1 and 2 wait for it; 0 is itself.
    step: int
    #: For how many jobs it waits, and how many wait for it; those that are read and all others.
    waits_for: int
    blocks: int


@dataclass(frozen=True, slots=True)
class Relatives:
    """What is known around a job: the job itself first, then those nearest."""

    jobs: tuple[Relative, ...]
    #: Pairs of jids: the first must complete before the second.
    links: tuple[tuple[str, str], ...]


@read
def relatives(
    scope: Scope, jid: str, *, near: int = NEAR, far: int = FAR
) -> Read[Relatives | None]:
    """Read the jobs around one, or None when there is none by that jid.

    Args:
        scope: given by `run`.
        jid: the job in the middle.
        near: how many jobs to read one step away, on each side.
        far: how many to read two steps away, on each side.

    """
    found = _Found()
    own, before, after = yield [
        call("hmget", scope.keys.job(jid), _FIELDS),
        *(_members(scope, jid, side, near) for side in _SIDES),
    ]
    if not any(value is not None for value in own or ()):
        return None
    found.step_of[jid] = 0
    found.link(jid, "before", _named(before, near))
    found.link(jid, "after", _named(after, near))
    around = [each for each in found.step_of if each != jid]
    sides = [found.side_of(each) for each in around]
    replies = yield [
        *_counts(scope, [jid, *around]),
        *(call("hmget", scope.keys.job(each), _FIELDS) for each in around),
        *(
            _members(scope, each, side, BEHIND_ONE)
            for each, side in zip(around, sides, strict=True)
        ),
    ]
    found.counted([jid, *around], replies)
    found.told([jid, *around], [own, *replies[2 * len(around) + 2 : 3 * len(around) + 2]])
    for each, side, members in zip(around, sides, replies[3 * len(around) + 2 :], strict=True):
        found.link(each, side, _named(members, BEHIND_ONE), most=far)
    beyond = [each for each in found.step_of if each not in found.fields]
    unsure = scored(found.clues())
    replies = yield [
        *_counts(scope, beyond),
        *(call("hmget", scope.keys.job(each), _FIELDS) for each in beyond),
        *scores_calls(scope.keys, unsure),
    ]
    found.counted(beyond, replies)
    found.told(beyond, replies[2 * len(beyond) : 3 * len(beyond)])
    scores = zip(unsure, map(as_number, replies[3 * len(beyond) :]), strict=True)
    return found.relatives(dict(scores), scope.now)


_FIELDS = ("klass", *CLUES)

_SIDES: tuple[Side, Side] = ("before", "after")


def _members(scope: Scope, jid: str, side: Side, most: int) -> Call:
    keys = scope.keys
    of_side = keys.dependencies if side == "before" else keys.dependents
    return call("sscan", of_side(jid), 0, None, most)


def _named(reply: Any, most: int) -> list[str]:  # noqa: ANN401 - SSCAN's reply, or None for a foreign key
    return sorted(reply[1])[:most] if reply else []


def _counts(scope: Scope, jids: Iterable[str]) -> list[Call]:
    keys = scope.keys
    return [
        call("scard", of_side(jid))
        for jid in jids
        for of_side in (keys.dependencies, keys.dependents)
    ]


class _Found:
    """What is known so far."""

    def __init__(self) -> None:
        self.step_of: dict[str, int] = {}
        self.fields: dict[str, Sequence[str | None]] = {}
        self._counts: dict[str, tuple[int, int]] = {}
        self._links: dict[tuple[str, str], None] = {}

    def side_of(self, jid: str) -> Side:
        """Say on which side of the job in the middle one lies."""
        return "before" if self.step_of[jid] < 0 else "after"

    def link(
        self, jid: str, side: Side, members: Iterable[str], *, most: int | None = None
    ) -> None:
        """Take in the jobs that one waits for, or that wait for it, and where they lie."""
        step = self.step_of[jid] + (-1 if side == "before" else 1)
        there = sum(1 for each in self.step_of.values() if each == step)
        for each in members:
            if each not in self.step_of:
                if most is not None and there >= most:
                    continue
                self.step_of[each] = step
                there += 1
            self._links[(each, jid) if side == "before" else (jid, each)] = None

    def counted(self, jids: Sequence[str], replies: Sequence[Any]) -> None:
        """Take in how many jobs there are on both sides of each."""
        for at, jid in enumerate(jids):
            self._counts[jid] = (replies[2 * at] or 0, replies[2 * at + 1] or 0)

    def told(self, jids: Iterable[str], replies: Iterable[Sequence[str | None] | None]) -> None:
        """Take in what the jobs tell of themselves."""
        for jid, reply in zip(jids, replies, strict=True):
            self.fields[jid] = reply or [None] * len(_FIELDS)

    def clues(self) -> dict[str, Clue]:
        """Give what the jobs read so far tell of their states."""
        return {jid: clue_of(fields[1:]) for jid, fields in self.fields.items()}

    def relatives(self, scores: dict[str, float | None], now: float) -> Relatives:
        """Give everything, the nearest first."""
        clues = self.clues()
        jobs = tuple(
            Relative(
                jid=jid,
                klass=self.fields[jid][0] or "",
                queue=clues[jid].queue,
                state=clues[jid].state_now(due=scores.get(jid), lock=scores.get(jid), now=now),
                step=step,
                waits_for=self._counts[jid][0],
                blocks=self._counts[jid][1],
            )
            for jid, step in self.step_of.items()
        )
        return Relatives(jobs, tuple(self._links))
