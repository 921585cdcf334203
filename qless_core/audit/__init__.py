"""The audit: what in the database does not fit together, and how to put it right."""

from __future__ import annotations

from qless_core.audit.finding import Finding
from qless_core.audit.kinds import HOWS, KINDS, Kind
from qless_core.audit.report import AuditReport, Tally

__all__ = ["HOWS", "KINDS", "AuditReport", "Finding", "Kind", "Tally"]
