"""Alerts are made, changed, tried, silenced and forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core.errors import BadArgument
from qless_web.actions.action import AskAgain, action
from qless_web.actions.field import Field
from qless_web.actions.outcome import Outcome
from qless_web.actions.timing import seconds
from qless_web.alerts import keeping, turning, webhook
from qless_web.alerts.address import LONGEST
from qless_web.alerts.rules import (
    HIGHEST,
    KINDS,
    LONGEST_NAME,
    LONGEST_PATTERN,
    LONGEST_S,
    MOST,
    SHAPES,
    checked,
)
from qless_web.console import current
from qless_web.presenters import alerts

if TYPE_CHECKING:
    from qless_web.actions.form import Form
    from qless_web.alerts.keeping import Kept
    from qless_web.alerts.rules import Rule
    from qless_web.presenters.ask import AskPage, Subject

#: What programs are told of an address: that of a host, with no user before it.
_URL = (
    r"^https?://[A-Za-z0-9][A-Za-z0-9.-]*"
    r"(?::(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}))?(?:/[!-\[\]-~]*)?$"
)

_FIELDS = ("kind", "of", "above", "lasts_s", "url", "shape")


def _subject(**_path: str) -> Subject:
    return alerts.subject()


def _kept() -> Kept:
    here = current()
    fixed = here.console.watching.fixed if here.console.watching else ()
    return here.read(keeping.kept(fixed))


# -- Made and changed


def _ask_save(form: Form) -> AskPage:
    known = _kept().find(form.get("name")) if form.get("name") else None
    given = {name: form.get(name) for name in ("name", *_FIELDS) if form.has(name)}
    return alerts.save(known, given)


@action(
    "save_alert",
    "/alerts/save",
    permission="administer",
    subject=_subject,
    ask=_ask_save,
    takes=(
        Field(
            name="name",
            help="What to call it; one with that name is replaced.",
            longest=LONGEST_NAME,
            example="Mail",
        ),
        Field(
            name="kind",
            help="What to look at, as `queue-age`.",
            choices=tuple(KINDS),
            example="queue-age",
        ),
        Field(
            name="of",
            help="A pattern of queues or groups.",
            default="*",
            longest=LONGEST_PATTERN,
            example="mail*",
        ),
        Field(
            name="above",
            help="It goes off above this number.",
            kind="whole",
            required=False,
            lowest=0,
            highest=HIGHEST,
            example=600,
        ),
        Field(
            name="lasts_s",
            help="Seconds for which that must be so.",
            kind="whole",
            required=False,
            default=0,
            lowest=0,
            highest=LONGEST_S,
        ),
        Field(
            name="url",
            help="Where to tell it; that of the alert of this name where it is left out.",
            required=False,
            pattern=_URL,
            longest=LONGEST,
            example="https://hooks.example.com/T0/B0",
        ),
        Field(name="shape", help="`json` or `slack`.", default="json", choices=SHAPES),
    ),
)
def save_alert(form: Form) -> Outcome:
    """Make an alert, or change it."""
    try:
        rule = _rule(form)
    except BadArgument as error:
        if not form.guarded:
            raise
        # Where nothing came along, the button was meant to ask.
        raise AskAgain(str(error) if form.has("name") else "") from error
    if not current().ask(keeping.save(rule)):
        problem = f"There are {MOST} alerts, which is the most: forget one first."
        raise BadArgument(problem)
    return Outcome(text=f"Saved the alert {rule.name}.", done=(rule.name,), on={"alert": rule.name})


def _rule(form: Form) -> Rule:
    """Read a rule.

    Raises:
        BadArgument: it makes no sense, or a file has one of that name.

    """
    given = {name: form.get(name) for name in _FIELDS}
    known = _kept().find(" ".join(form.get("name").split()))
    if known and known.is_fixed:
        problem = f"The alert {known.name} is from a file: change it there."
        raise BadArgument(problem)
    if known and not given["url"]:
        given["url"] = known.url
    return checked(form.get("name"), given)


def _ask_forget(_form: Form, alert: str) -> AskPage:
    return alerts.forget(alert)


@action(
    "forget_alert",
    "/alerts/<name:alert>/forget",
    permission="administer",
    subject=_subject,
    ask=_ask_forget,
)
def forget_alert(_form: Form, alert: str) -> Outcome:
    """Forget an alert; nothing is told of it any more, not even that all is well."""
    if not current().ask(keeping.forget(alert)):
        return _missing(alert)
    return Outcome(text=f"Forgot the alert {alert}.", done=(alert,))


# -- Tried and silenced


def _ask_test(_form: Form, alert: str) -> AskPage:
    rule = _kept().find(alert)
    return alerts.test(alert, rule.goes_to if rule else "nowhere")


@action(
    "try_alert",
    "/alerts/<name:alert>/test",
    permission="administer",
    subject=_subject,
    ask=_ask_test,
)
def try_alert(_form: Form, alert: str) -> Outcome:
    """Send a message that says it is a test, to where the alert is told."""
    here = current()
    rule = _kept().find(alert)
    if rule is None:
        return _missing(alert)
    watching = here.console.watching
    console = watching.called(here.counts.application) if watching else ""
    body = turning.trial(rule, here.now, console).body(rule.shape)
    told = webhook.send(rule.url, body, private=here.settings.alerts_private)
    if told.problem:
        text = f"Nothing was told to {rule.goes_to}: {told.problem}."
        return Outcome(text=text, tone="error", status=502)
    return Outcome(text=f"Sent a test to {rule.goes_to}.", done=(alert,))


def _ask_silence(form: Form, alert: str) -> AskPage:
    return alerts.silence(alert, form.get("for"))


@action(
    "silence_alert",
    "/alerts/<name:alert>/silence",
    permission="operate",
    subject=_subject,
    ask=_ask_silence,
    takes=(
        Field(
            name="for",
            help="How long, at most 30 days: seconds, as text, or a time such as `90s`, `15m`, "
            "`2h`, `1d`; 0 ends a silence.",
            pattern=r"^(?:[0-9]{1,6}s?|[0-9]{1,4}m|[0-9]{1,2}h|[12]?[0-9]d|30d)$",
            example="2h",
        ),
    ),
)
def silence_alert(form: Form, alert: str) -> Outcome:
    """Tell nothing of an alert for a while; 0 ends that."""
    try:
        lasts = _lasts(form.text("for", "how long, as 2h; 0 ends a silence"))
    except BadArgument as error:
        if not form.guarded:
            raise
        raise AskAgain(str(error) if form.has("for") else "") from error
    here = current()
    if _kept().find(alert) is None:
        return _missing(alert)
    here.ask(keeping.hush(alert, here.now + lasts if lasts else 0.0))
    text = f"Nothing is told of {alert} for now." if lasts else f"{alert} is told of again."
    return Outcome(text=text, done=(alert,))


def _lasts(text: str) -> float:
    """Read how long.

    Raises:
        BadArgument: it is no such time.

    """
    lasts = seconds(text, "time")
    if lasts > 30 * LONGEST_S:
        problem = "A silence lasts 30 days at most; nothing was done."
        raise BadArgument(problem)
    return lasts


def _missing(alert: str) -> Outcome:
    return Outcome(text=f"There is no alert called {alert}.", tone="warning", status=404)
