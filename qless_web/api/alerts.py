"""Alerts: what is looked at, and what it has come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from qless_core.reads import Listing
from qless_web.alerts import keeping
from qless_web.api.route import Page, Route, listed
from qless_web.console import current

if TYPE_CHECKING:
    from qless_core.reads import Slice
    from qless_web.alerts.keeping import Kept
    from qless_web.alerts.rules import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """An alert."""

    name: str
    kind: Annotated[str, "What it looks at, as `queue-age`."]
    of: Annotated[str, "A pattern of queues or groups."]
    above: Annotated[int, "It goes off above this; `no-workers` where there are no more."]
    lasts_s: Annotated[int, "Seconds for which that must be so."]
    shape: Annotated[str, "`json` or `slack`."]
    goes_to: Annotated[str, "Where it is told: scheme and host alone."]
    is_fixed: Annotated[bool, "Whether it is from a file, and changed there."]
    state: Annotated[str, "`ok`, `pending`, `firing` or `unknown`."]
    since: Annotated[float | None, "Since when, epoch seconds."]
    text: Annotated[str, "What is the case; empty where all is well."]
    names: Annotated[tuple[str, ...], "The queues or groups it is about, the worst first."]
    sent_at: Annotated[float | None, "When a message was last sent, epoch seconds."]
    problem: Annotated[str, "Why it was not told; empty where it was."]
    silent_until: Annotated[float | None, "Until when nothing is told of it."]


@listed(
    Route(
        name="alerts",
        rule="/alerts",
        family="alerts",
        answers=Page[Alert],
        example=Alert(
            name="Mail is late",
            kind="queue-age",
            of="mail*",
            above=600,
            lasts_s=60,
            shape="slack",
            goes_to="https://hooks.example.com/…",
            is_fixed=False,
            state="firing",
            since=1798761660.5,
            text="mail: the next job has been waiting for 14 min.",
            names=("mail",),
            sent_at=1798761661.0,
            problem="",
            silent_until=None,
        ),
    )
)
def alerts(part: Slice) -> Page[Alert]:
    """List the alerts: those of the file first, then by name."""
    here = current()
    watching = here.console.watching
    found = here.read(keeping.kept(watching.fixed if watching else ()))
    rows = tuple(part.of(found.rules))
    listing = Listing(rows, len(found.rules), part.offset)
    return Page.of(listing, lambda rule: _alert(rule, found))


def _alert(rule: Rule, found: Kept) -> Alert:
    status = found.status(rule.name)
    return Alert(
        name=rule.name,
        kind=rule.kind,
        of=rule.of,
        above=rule.above,
        lasts_s=rule.lasts_s,
        shape=rule.shape,
        goes_to=rule.goes_to,
        is_fixed=rule.is_fixed,
        state=status.state,
        since=status.since or None,
        text=status.text,
        names=status.names,
        sent_at=status.sent_at or None,
        problem=status.problem,
        silent_until=found.silences[rule.name] if found.is_silent(rule.name) else None,
    )
