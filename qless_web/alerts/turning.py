"""What a rule has come to, and whether that is to be told. No I/O."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, cast

from qless_web.alerts.message import Message

if TYPE_CHECKING:
    from dataclasses import Field

    from qless_web.alerts.looking import Finding
    from qless_web.alerts.rules import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What a rule has come to.

    Attributes:
        state: `ok`, `pending` (it has not lasted long enough), `firing` or `unknown`.
        since: since when, epoch seconds.
        text: what is the case, in a sentence; "" where all is well.
        names: what it is about, the worst first.
        told: the state that was last told, `firing` or `ok`.
        sent_at: when a message was last sent, or given up; 0.0 for never.
        problem: why that was not told; "" where it was.

    """

    state: str = "unknown"
    since: float = 0.0
    text: str = ""
    names: tuple[str, ...] = ()
    told: str = "ok"
    sent_at: float = 0.0
    problem: str = ""

    @property
    def stored(self) -> str:
        """Write it down for Redis."""
        return json.dumps(asdict(self))

    @classmethod
    def of(cls, text: str | None) -> Status:
        """Read what `stored` wrote; anything else is as if nothing was known."""
        try:
            found = cast("dict[str, Any]", json.loads(text or "{}"))
            return cls(**{field.name: _of_its_kind(field, found) for field in fields(cls)})
        except (ValueError, TypeError, RecursionError, AttributeError):
            return cls()


def _of_its_kind(field: Field[Any], found: dict[str, Any]) -> Any:  # noqa: ANN401 - as it is stored
    """Give the value of a field; what it is without one, where another kind of value is there."""
    given = found.get(field.name, field.default)
    if isinstance(field.default, tuple):
        return tuple(map(str, given))
    if isinstance(field.default, float):
        number = float(given)
        return number if math.isfinite(number) else field.default
    return str(given)


def turn(rule: Rule, before: Status, finding: Finding, now: float) -> Status:
    """Say what a rule has come to."""
    if finding.is_bad is None:
        return before
    if not finding.is_bad:
        since = before.since if before.state == "ok" else now
        return replace(before, state="ok", since=since, text="", names=())
    is_new = before.state not in {"pending", "firing"}
    since = now if is_new else before.since
    lasts = before.state == "firing" or now - since >= rule.lasts_s
    state = "firing" if lasts else "pending"
    names = (finding.names or ())[:10]
    return replace(before, state=state, since=since, text=finding.text, names=names)


def message(rule: Rule, status: Status, console: str) -> Message | None:
    """Give what is to be told; None where that has been told.

    Its id follows from what it says, so that to tell it is never noted down twice.
    """
    wanted = {"firing": "firing", "ok": "ok"}.get(status.state)
    if wanted is None or wanted == status.told:
        return None
    fires = wanted == "firing"
    return Message(
        id=f"{rule.name}:{wanted}:{status.since:.3f}",
        alert=rule.name,
        state="firing" if fires else "recovered",
        kind=rule.kind,
        text=status.text if fires else "All is well again.",
        names=status.names,
        since=status.since,
        console=console,
    )


def trial(rule: Rule, now: float, console: str) -> Message:
    """Give a message that only tries whether anybody hears it."""
    return Message(
        id=f"{rule.name}:test:{now:.3f}",
        alert=rule.name,
        state="test",
        kind=rule.kind,
        text="This is a test: somebody pressed a button in the console.",
        since=now,
        console=console,
    )
