"""What `client.audit()` gives: the findings, as they come, and what they add up to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from qless_core.audit.kinds import KINDS, Kind
from qless_core.audit.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qless_core.audit.finding import Finding
    from qless_core.commands import Commands

#: Findings of each kind that a summary keeps.
EXAMPLES: Final = 3

#: The order in which kinds are told of.
_ORDER: Final = {kind.id: place for place, kind in enumerate(KINDS)}


@dataclass(slots=True)
class Tally:
    """How often a kind was found.

    Attributes:
        kind: which.
        count: how often.
        examples: the first findings of it.

    """

    kind: Kind
    count: int = 0
    examples: list[Finding] = field(default_factory=list)


class AuditReport:
    """A walk over the database: iterate `findings`, once, or ask for what they add up to.

    Nothing is done before that. Reading only: it may run beside workers, on a replica, and for a
    user who may only read.
    """

    def __init__(self, commands: Commands) -> None:
        self._walk = Walk(commands)
        self._tallies: dict[str, Tally] = {}
        self._findings = self._counted()

    @property
    def findings(self) -> Iterator[Finding]:
        """What is found, as it is found; each is told once."""
        return self._findings

    def __iter__(self) -> Iterator[Finding]:
        return self._findings

    @property
    def keys(self) -> int:
        """How many keys and entries were met so far."""
        return self._walk.keys

    @property
    def tallies(self) -> list[Tally]:
        """The kinds that were found, the graver first; this ends the walk."""
        exhaust(self._findings)
        return sorted(
            self._tallies.values(), key=lambda each: _ORDER.get(each.kind.id, len(_ORDER))
        )

    @property
    def counts(self) -> dict[str, int]:
        """How often each kind was found, by its id; this ends the walk."""
        return {each.kind.id: each.count for each in self.tallies}

    @property
    def is_clean(self) -> bool:
        """Whether nothing was found but what is only worth knowing; this ends the walk."""
        return not any(each.kind.is_fault for each in self.tallies)

    def _counted(self) -> Iterator[Finding]:
        for finding in self._walk:
            tally = self._tallies.setdefault(finding.kind.id, Tally(finding.kind))
            tally.count += 1
            if len(tally.examples) < EXAMPLES:
                tally.examples.append(finding)
            yield finding


def exhaust(findings: Iterable[Finding]) -> None:
    """Go through all of them, for what they leave behind."""
    for _ in findings:
        pass
