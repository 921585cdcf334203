"""The page of the audit: who changed what, when and from where."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.operations.operation import is_id
from qless_web.presenters import ask_words as words
from qless_web.presenters.operations import TABS, operation_link
from qless_web.presenters.page import EmptyState, Link, Page, Tab
from qless_web.trail import LOOKED_AT, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qless_web.trail import Entry, Found

#: Records on a page.
SIZE = 50

PLACE = r"[1-9][0-9]{0,14}-[0-9]{1,10}"

#: What is done to an operation, not to jobs.
_STEERS = frozenset(
    (
        *(f"{verb}_operation" for verb in ("prepare", "start", "pause", "resume", "stop", "undo")),
        "start_cancelling",
        "restore_jobs",
    )
)

#: For each outcome, the state of a job whose colour it has.
_COLOURS = {"done": "complete", "failed": "failed", "refused": "stalled"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """One thing that was done, or tried."""

    at: float
    who: str
    address: str
    action: str
    on: str
    link: Link | None
    outcome: str
    colour: str
    counts: str
    why: str
    note: str


@dataclass(frozen=True, kw_only=True)
class AuditPage(Page):
    """What was changed, the newest first.

    Attributes:
        rows: the records of this page.
        total: how many records there are, wanted or not.
        looked: what was looked at, in a sentence, where not all was; "" otherwise.
        wanted: what is looked for.
        days: for how many days records are kept.
        older: where those before the last of this page are; None at the end.
        newest: where the newest ones are; None where this is it.
        export: the same as a file.
        tabs: the pages around operations.
        empty: what to show where there are no rows.

    """

    template: ClassVar[str] = "audit/index.html"

    rows: tuple[AuditRow, ...]
    total: int
    looked: str
    wanted: Wanted
    days: int
    older: Link | None
    newest: Link | None
    export: Link
    tabs: tuple[Tab, ...]
    empty: EmptyState | None


def wanted(given: Mapping[str, str]) -> Wanted:
    """Read what is looked for from the query."""
    found = {name: given.get(name, "").strip()[:200] for name in ("who", "action", "outcome")}
    return Wanted(text=given.get("text", "").strip()[:200], **found)


def place(text: str) -> str:
    """Read the place in the stream to go on behind; "" where it is none."""
    return text if re.fullmatch(PLACE, text, re.ASCII) else ""


def audit_page(found: Found, wanted_: Wanted, behind: str, days: int) -> AuditPage:
    """Return a part of the audit."""
    asked = {
        name: value
        for name in ("text", "who", "action", "outcome")
        if (value := getattr(wanted_, name))
    }
    link = Link("audit.index", asked)
    looked = ""
    if not wanted_.is_any and found.next:
        looked = f"Among {min(found.looked, LOOKED_AT):,} records; older ones are on the next page."
    return AuditPage(
        title="Audit",
        nav="operations",
        rows=tuple(_row(entry) for entry in found.entries),
        total=found.total,
        looked=looked,
        wanted=wanted_,
        days=days,
        older=link.also(behind=found.next) if found.next else None,
        newest=link if behind else None,
        export=link.also(format="ndjson"),
        tabs=TABS,
        empty=None if found.entries else (_NONE if wanted_.is_any else _NO_MATCH),
    )


def _row(entry: Entry) -> AuditRow:
    return AuditRow(
        at=entry.when,
        who=entry.who,
        address=entry.address,
        action=entry.action,
        on=", ".join(f"{name} {value}" for name, value in entry.on.items()),
        link=_link(entry),
        outcome=entry.outcome,
        colour=_COLOURS.get(entry.outcome, "scheduled"),
        counts=_counts(entry),
        why=entry.why,
        note=entry.note,
    )


def _link(entry: Entry) -> Link | None:
    """Give the page of the operation that a record is about, where there may be one."""
    operation = entry.on.get("operation", "")
    return operation_link(operation) if is_id(operation) else None


def _counts(entry: Entry) -> str:
    if entry.action in _STEERS:  # one operation, which says of how many jobs
        return ""
    left = {name: number for name, number in entry.counts.items() if name != "done"}
    parts = [f"{entry.counts['done']:,} done"] if "done" in entry.counts else []
    return " · ".join([*parts, words.left_out(left, was=True)]).strip(" ·")


def line(entry: Entry) -> dict[str, object]:
    """Give a record as programs read it."""
    return {
        "id": entry.id,
        "when": entry.when,
        "who": entry.who,
        "from": entry.address,
        "action": entry.action,
        "on": dict(entry.on),
        "outcome": entry.outcome,
        "counts": dict(entry.counts),
        "why": entry.why,
        "note": entry.note,
        "request": entry.request,
    }


def lines(found: Found) -> Iterator[str]:
    """Write records as a line of JSON each."""
    for entry in found.entries:
        yield json.dumps(line(entry)) + "\n"


_NONE = EmptyState(
    kind="nothing-yet",
    title="Nothing was changed yet",
    text="Each change through the console or its API is noted here: who, when, what, and what came "
    "of it.",
)

_NO_MATCH = EmptyState(
    kind="no-match",
    title="No such record here",
    text="Nothing among the records that were looked at is as you ask.",
    link=Link("audit.index"),
    link_text="All records",
)
