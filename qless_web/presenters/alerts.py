"""Alerts: the page that lists them, and what is asked before one is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from qless_web.alerts.rules import KINDS, MOST, SHAPES
from qless_web.formatting import count, duration, isolated
from qless_web.presenters.ask import AskPage, Input, Subject, ask_page
from qless_web.presenters.page import Action, Ask, Crumb, EmptyState, Link, Page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_web.alerts.keeping import Kept
    from qless_web.alerts.rules import Rule

#: Kinds whose number is of seconds.
_OF_SECONDS = frozenset({"queue-age", "paused"})

#: How long a silence lasts that nobody says more about.
_USUAL_SILENCE = "1h"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRow:
    """One alert.

    Attributes:
        name: what it is called.
        rule: what it looks at, in words.
        state: `ok`, `pending`, `firing`, `unknown`, or `silent`.
        text: what is the case, or why nobody can say.
        since: since when, epoch seconds; None where that is not known.
        goes_to: where it is told, without what may be secret.
        sent_at: when somebody was last told, epoch seconds; None for never.
        problem: why that did not work; "" where it did.
        silent_until: until when nothing is told; None where it is told.
        is_fixed: whether it is from a file.
        actions: what can be done to it.

    """

    name: str
    rule: str
    state: str
    text: str
    since: float | None
    goes_to: str
    sent_at: float | None
    problem: str
    silent_until: float | None
    is_fixed: bool
    actions: tuple[Action, ...]


@dataclass(frozen=True, kw_only=True)
class AlertsPage(Page):
    """All of them.

    Attributes:
        rows: those that go off first.
        firing: how many do.
        most: how many there can be.
        add: makes one.
        every: how often somebody looks; "" where this console does not.
        empty: what to show where there are none.

    """

    template: ClassVar[str] = "alerts/index.html"

    rows: tuple[AlertRow, ...]
    firing: int
    most: int
    add: Action
    every: str
    empty: EmptyState | None


def alerts_page(found: Kept, every_s: float | None) -> AlertsPage:
    """Return the page; `every_s` is None where this console does not look."""
    rows = sorted((_row(rule, found) for rule in found.rules), key=_urgency)
    return AlertsPage(
        title="Alerts",
        nav="alerts",
        topics=("alerts",),
        rows=tuple(rows),
        firing=sum(1 for row in rows if row.state == "firing"),
        most=MOST,
        add=Action(text="Add an alert", link=Link("act.save_alert"), icon="add", asks=True),
        every="" if every_s is None else duration(every_s),
        empty=None if rows else _NONE,
    )


_ORDER = ("firing", "pending", "unknown", "silent", "ok")


def _urgency(row: AlertRow) -> tuple[int, str]:
    return _ORDER.index(row.state), row.name.casefold()


def _row(rule: Rule, found: Kept) -> AlertRow:
    status, silent = found.status(rule.name), found.is_silent(rule.name)
    state = status.state if status.state in _ORDER else "unknown"
    return AlertRow(
        name=rule.name,
        rule=in_words(rule),
        state="silent" if silent else state,
        text=status.text,
        since=status.since or None,
        goes_to=rule.goes_to,
        sent_at=status.sent_at or None,
        problem=status.problem,
        silent_until=found.silences.get(rule.name) if silent else None,
        is_fixed=rule.is_fixed,
        actions=tuple(_actions(rule, silent=silent)),
    )


def _actions(rule: Rule, *, silent: bool) -> list[Action]:
    here = {"alert": rule.name}
    hush = Link("act.silence_alert", here)
    found = [
        Action(text="Send a test", link=Link("act.try_alert", here), icon="log"),
        Action(text="Tell again", link=hush, icon="alerts", fields=(("for", "0"),))
        if silent
        else Action(text="Silence", link=hush, icon="pause", asks=True),
    ]
    if not rule.is_fixed:
        change = Link("act.save_alert", {"name": rule.name})
        forget = Link("act.forget_alert", here)
        found += [
            Action(text="Change", link=change, icon="config", asks=True),
            Action(text="Forget", link=forget, icon="forget", asks=True, danger=True),
        ]
    return found


def in_words(rule: Rule) -> str:
    """Say what a rule looks at.

    >>> from qless_web.alerts.rules import Rule
    >>> in_words(Rule(name="a", kind="queue-age", of="mail*", above=600, lasts_s=60))
    'the next job of a queue waits too long: mail*, above 10 min, for 1 min'
    """
    kind = KINDS[rule.kind]
    parts = [f"all {kind.of}" if rule.of == "*" else rule.of] if kind.of else []
    if rule.kind == "no-workers":
        parts.append(f"{count(rule.above)} or fewer")
    else:
        number = duration(rule.above) if rule.kind in _OF_SECONDS else count(rule.above)
        parts.append(f"above {number}")
    if rule.lasts_s:
        parts.append(f"for {duration(rule.lasts_s)}")
    return f"{kind.text}: {', '.join(parts)}"


# -- Questions


def subject() -> Subject:
    """Name the place of what is asked about alerts."""
    link = Link("alerts.index")
    return Subject(nav="alerts", name="an alert", link=link, crumbs=(Crumb("Alerts", link),))


def save(known: Rule | None, given: Mapping[str, str]) -> AskPage:
    """Ask what an alert is to be.

    Args:
        known: the one that is changed; None for a new one.
        given: what was filled in already, by field.

    """
    stands = {
        "name": known.name if known else "",
        "kind": known.kind if known else "queue-age",
        "of": known.of if known else "*",
        "above": str(known.above) if known else "",
        "lasts_s": str(known.lasts_s) if known else "0",
        "url": "",
        "shape": known.shape if known else "json",
    } | dict(given)
    verb = "Change" if known else "Add"
    question = Ask(
        verb=verb,
        count=1,
        noun="alert",
        question=f"{verb} the alert {known.name}" if known else "Add an alert",
        link=Link("act.save_alert"),
        consequences=(
            "It is told once when it goes off, and once more when all is well again.",
            "One with the same name is replaced.",
        ),
        fields=(("expected", "1"),),
    )
    return ask_page(question, subject(), inputs=_inputs(stands, known))


def _inputs(stands: Mapping[str, str], known: Rule | None) -> tuple[Input, ...]:
    kinds = tuple((name, kind.text) for name, kind in KINDS.items())
    usual = "; ".join(f"{name}: {kind.usual} {kind.unit}" for name, kind in KINDS.items())
    where = f"Empty keeps {known.goes_to}" if known else "As https://hooks.example.com/…"
    return (
        Input(kind="text", label="Name", name="name", value=stands["name"]),
        Input(kind="choice", label="When", name="kind", value=stands["kind"], options=kinds),
        Input(
            kind="text",
            label="Queues or groups",
            name="of",
            value=stands["of"],
            hint=f"A pattern: {isolated('mail*')}, or * for all.",
            required=False,
        ),
        Input(
            kind="text",
            label="Above",
            name="above",
            value=stands["above"],
            hint=f"Unless you say another number: {usual}.",
            required=False,
        ),
        Input(
            kind="text",
            label="For so many seconds",
            name="lasts_s",
            value=stands["lasts_s"],
            required=False,
        ),
        Input(
            kind="text",
            label="Webhook",
            name="url",
            value=stands["url"],
            hint=f"{where}. It is shown to nobody again.",
            required=known is None,
        ),
        Input(
            kind="choice",
            label="In the form of",
            name="shape",
            value=stands["shape"],
            options=tuple((each, {"json": "JSON", "slack": "Slack"}[each]) for each in SHAPES),
        ),
    )


def forget(name: str) -> AskPage:
    """Ask whether to forget an alert."""
    told = "Nothing is told of it any more, not even that all is well again."
    return _about(name, "Forget", "act.forget_alert", told, danger=True)


def test(name: str, goes_to: str) -> AskPage:
    """Ask whether to send a test."""
    told = f"A message that says it is a test goes to {goes_to}, once."
    return _about(name, "Test", "act.try_alert", told)


def silence(name: str, given: str = "") -> AskPage:
    """Ask how long nothing is to be told of an alert."""
    lasts = Input(
        kind="text",
        label="For",
        name="for",
        value=given or _USUAL_SILENCE,
        hint="As 30m, 2h or 3d; 0 ends a silence.",
    )
    told = "It goes on being looked at. What is still so afterwards is told then."
    return _about(name, "Silence", "act.silence_alert", told, inputs=(lasts,))


def _about(
    name: str,
    verb: str,
    endpoint: str,
    consequence: str,
    *,
    danger: bool = False,
    inputs: tuple[Input, ...] = (),
) -> AskPage:
    question = Ask(
        verb=verb,
        count=1,
        noun="alert",
        question=f"{verb} the alert {name}?",
        link=Link(endpoint, {"alert": name}),
        consequences=(consequence,),
        fields=(("expected", "1"),),
        danger=danger,
    )
    return ask_page(question, subject(), inputs=inputs)


_NONE = EmptyState(
    kind="nothing-yet",
    title="No alert yet",
    text="An alert looks at the age of queues, failures, workers, stalled jobs or paused queues, "
    "and tells a webhook once when something is wrong, and once more when all is well again.",
)
