"""The audit: who changed what, when and from where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from qless_web import trail
from qless_web.api.params import Param
from qless_web.api.route import Route, shown
from qless_web.console import current
from qless_web.presenters.audit import PLACE


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One thing that was done, or tried."""

    id: Annotated[str, "Where it stands in the audit."]
    when: Annotated[float, "Epoch seconds."]
    who: Annotated[str, "Who did it; empty where nobody knows."]
    address: Annotated[str, "Where from."]
    action: str
    on: Annotated[dict[str, str], "What it was done to, by kind."]
    outcome: Literal["done", "failed", "refused"]
    counts: Annotated[dict[str, int], "How many jobs: `done`, and by reason."]
    why: Annotated[str, "What a refusal or an error said."]
    note: str
    request: Annotated[str, "The name of the request in the log."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """A part of the audit."""

    items: tuple[Record, ...]
    total: Annotated[int, "How many records there are, wanted or not."]
    looked_at: Annotated[int, "How many of them were looked at for this part."]
    next: Annotated[str | None, "What to give as `behind` for older ones; null at the end."]


_EXAMPLE = Record(
    id="1798761600250-0",
    when=1798761600.25,
    who="dana",
    address="10.0.0.7",
    action="retry_group",
    on={"group": "shop-Timeout"},
    outcome="done",
    counts={"done": 4809, "gone": 3},
    why="",
    note="",
    request="7d9f0a6e4c1b4a0f8d2f1c3b5a697887",
)


@shown(
    Route(
        name="audit",
        rule="/audit",
        family="audit",
        answers=Records,
        example=Records(items=(_EXAMPLE,), total=1, looked_at=1, next=None),
        params=(
            Param(
                name="limit",
                kind="whole",
                default=50,
                help="How many to give at most.",
                example=100,
            ),
            Param(
                name="behind",
                help="Where to go on: `next` of the part before.",
                pattern=PLACE,
                example="1798761600250-0",
            ),
            Param(name="text", help="Anywhere in the record, in letters of any size."),
            Param(name="who", help="Who did it.", example="dana"),
            Param(name="action", help="What was done.", example="retry_group"),
            Param(
                name="outcome",
                kind="choice",
                choices=("done", "failed", "refused"),
                help="What came of it.",
            ),
        ),
    )
)
def audit(limit: int, behind: str | None, **asked: str | None) -> Records:
    """List what was changed through the console and its API, the newest first."""
    wanted = trail.Wanted(**{name: value or "" for name, value in asked.items()})
    found = current().read(trail.newest(wanted, limit, behind or ""))
    return Records(
        items=tuple(_record(entry) for entry in found.entries),
        total=found.total,
        looked_at=found.looked,
        next=found.next or None,
    )


def _record(entry: trail.Entry) -> Record:
    return Record(
        id=entry.id,
        when=entry.when,
        who=entry.who,
        address=entry.address,
        action=entry.action,
        on=dict(entry.on),
        outcome=entry.outcome,  # type: ignore[arg-type]  # as it was written
        counts=dict(entry.counts),
        why=entry.why,
        note=entry.note,
        request=entry.request,
    )
