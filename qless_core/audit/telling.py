"""What `qless audit` says: in words for people, in JSON for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qless_core.audit.finding import Finding
    from qless_core.audit.repairs import Mending, Repair
    from qless_core.audit.report import AuditReport, Tally


class Voice(Protocol):
    """How things are said; each line as it comes."""

    def finding(self, finding: Finding) -> str:
        """Say one finding."""

    def repair(self, repair: Repair) -> str:
        """Say what was done about a finding, or would be."""

    def end(self, report: AuditReport, *, rehearsed: bool) -> Iterator[str]:
        """Say what was found, kind by kind; this ends the walk."""


class Words:
    """For people."""

    def finding(self, finding: Finding) -> str:
        """Say one finding."""
        return f"{finding.kind.id}: {finding}"

    def repair(self, repair: Repair) -> str:
        """Say what was done about a finding, or would be."""
        finding, outcome = repair.finding, repair.outcome
        if outcome is None:
            return f"would {repair.how} {finding.where} ({finding.kind.id}: {finding.note})"
        did = outcome.what if outcome.done else f"left alone, as {outcome.what}"
        return f"{finding.kind.id}: {finding.where}: {did}"

    def end(self, report: AuditReport, *, rehearsed: bool) -> Iterator[str]:
        """Say what was found, kind by kind; this ends the walk."""
        for tally in report.tallies:
            yield from self._kind(tally)
            yield ""
        faults = sum(tally.count for tally in report.tallies if tally.kind.is_fault)
        found = f"{faults:,} fault{'s' * (faults != 1)}" if faults else "No fault"
        yield f"{found} found; {report.keys:,} keys and entries looked at."
        if rehearsed:
            yield "Nothing was changed: say --yes to do it."

    def _kind(self, tally: Tally) -> Iterator[str]:
        kind = tally.kind
        yield f"{kind.id}: {tally.count:,}{'' if kind.is_fault else ' (no fault)'}"
        yield f"  {kind.says}"
        for finding in tally.examples:
            yield f"  - {finding}"
        if tally.count > len(tally.examples):
            yield f"  - and {tally.count - len(tally.examples):,} more"
        if kind.repairs:
            offered = (f"{how} (default)" if how == kind.default else how for how in kind.repairs)
            yield f"  repairs: {', '.join(offered)}"


class Json:
    """For programs: a JSON object on each line."""

    def finding(self, finding: Finding) -> str:
        """Say one finding."""
        return json.dumps(_finding(finding))

    def repair(self, repair: Repair) -> str:
        """Say what was done about a finding, or would be; `what` is null for the latter."""
        outcome = repair.outcome
        said = {"how": repair.how, "done": bool(outcome and outcome.done)}
        return json.dumps(_finding(repair.finding) | said | {"what": outcome and outcome.what})

    def end(self, report: AuditReport, *, rehearsed: bool) -> Iterator[str]:
        """Say what was found, kind by kind; this ends the walk."""
        kinds = [_kind(tally) for tally in report.tallies]
        yield json.dumps(
            {"clean": report.is_clean, "keys": report.keys, "rehearsed": rehearsed}
            | {"kinds": kinds}
        )


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind.id,
        "where": finding.where,
        "note": finding.note,
        "jid": finding.jid,
        "subject": list(finding.subject),
    }


def _kind(tally: Tally) -> dict[str, Any]:
    kind = tally.kind
    return {
        "kind": kind.id,
        "says": kind.says,
        "is_fault": kind.is_fault,
        "count": tally.count,
        "examples": [_finding(finding) for finding in tally.examples],
        "repairs": list(kind.repairs),
        "default": kind.default or None,
    }


def told(mending: Mending, voice: Voice, *, each: bool, does: bool) -> Iterator[str]:
    """Audit, repair or rehearse, and say so line by line.

    Args:
        mending: what is to be repaired, maybe nothing.
        voice: how it is said.
        each: whether every finding is said, where nothing is to be repaired.
        does: whether repairs are done.

    """
    if mending.plan:
        for repair in mending.repair() if does else mending.rehearse():
            yield voice.repair(repair)
    elif each:
        for finding in mending.last.findings:
            yield voice.finding(finding)
    yield from voice.end(mending.last, rehearsed=bool(mending.plan) and not does)
