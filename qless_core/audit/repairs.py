"""Repairing what the audit finds: which kinds, how, and again until nothing more can be done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from qless_core.audit.finding import checked
from qless_core.audit.kinds import BY_ID, KINDS
from qless_core.audit.report import AuditReport
from qless_core.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from qless_core.audit.finding import Finding
    from qless_core.commands import Commands
    from qless_core.records import Outcome

#: Walks at most: what one repair brings to light, the next walk finds.
WALKS: Final = 5

#: Repairs in one call of the script: it takes a millisecond or two.
AT_ONCE: Final = 20


@dataclass(frozen=True, slots=True)
class Repair:
    """What was done about a finding, or would be."""

    finding: Finding
    how: str
    #: None while it is only planned.
    outcome: Outcome | None = None


def planned(words: Sequence[str]) -> dict[str, str]:
    """Read what is to be repaired: kinds by their id, each with how.

    Args:
        words: `KIND`, `KIND=HOW` or `all`: every kind that has a default, by that.

    Raises:
        BadArgument: there is no such kind, or it has no such repair.

    """
    plan: dict[str, str] = {}
    if "all" in words:
        plan = {kind.id: kind.default for kind in KINDS if kind.default}
    for word in words:
        if word == "all":
            continue
        name, _, how = word.partition("=")
        kind = BY_ID.get(name)
        if kind is None:
            problem = f"there is no kind of fault {name!r}: {', '.join(BY_ID)}"
            raise BadArgument(problem)
        plan[name] = checked(kind, how or None)
    return plan


class Mending:
    """Repairs what one walk finds, walk after walk.

    Attributes:
        last: the report of the last walk: what is left.
        plan: the kinds that are repaired, each with how.

    """

    def __init__(self, commands: Commands, plan: Mapping[str, str]) -> None:
        self.last = AuditReport(commands)
        self._commands = commands
        self.plan = plan

    def rehearse(self) -> Iterator[Repair]:
        """Tell what would be done, doing nothing."""
        for finding in self.last.findings:
            if how := self.plan.get(finding.kind.id):
                yield Repair(finding, how)

    def repair(self) -> Iterator[Repair]:
        """Do it, and tell of each; ends with a walk that found nothing more to do."""
        for _ in range(WALKS):
            self.last = AuditReport(self._commands)
            did = False
            for repair in self._walk():
                did = did or bool(repair.outcome and repair.outcome.done)
                yield repair
            if not did:
                return
        self.last = AuditReport(self._commands)

    def _walk(self) -> Iterator[Repair]:
        """Repair what one walk finds, several of a kind in one call."""
        waiting: dict[str, list[Finding]] = {}
        for finding in self.last.findings:
            kind = finding.kind
            if kind.id not in self.plan:
                continue
            some = waiting.setdefault(kind.id, [])
            some.append(finding)
            if kind.is_gradual or len(some) == AT_ONCE:
                yield from self._repaired(waiting.pop(kind.id))
        for some in waiting.values():
            yield from self._repaired(some)

    def _repaired(self, findings: Sequence[Finding]) -> Iterator[Repair]:
        kind = findings[0].kind
        how = self.plan[kind.id]
        if kind.is_gradual:
            outcomes = [finding.repair(how) for finding in findings]
        else:
            subjects = [finding.subject for finding in findings]
            outcomes = self._commands.audit_repair(kind.id, how, *subjects)
        for finding, outcome in zip(findings, outcomes, strict=True):
            yield Repair(finding, how, outcome)
