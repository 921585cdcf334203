"""What people decide about a group of failures, and when something was deployed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core import reads
from qless_core.errors import BadArgument
from qless_web import indexed
from qless_web.actions import timing
from qless_web.actions.action import AskAgain, action
from qless_web.actions.field import DATE, LATEST, Field
from qless_web.actions.form import spellings
from qless_web.actions.outcome import Outcome
from qless_web.console import current
from qless_web.presenters import ask, ask_handling
from qless_web.triage import deploys
from qless_web.triage.handling import (
    LONGEST_NAME,
    LONGEST_NOTE,
    MOST_GROUPS,
    Facts,
    Fold,
    Handling,
    NoRoom,
    Part,
    folded,
    handlings,
    save,
)
from qless_web.triage.inbox import pasts_of, patterns_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_web.actions.form import Form
    from qless_web.presenters.ask import Subject

_NOTE = Field(
    name="note",
    required=False,
    help="What others should know, up to 2,000 characters. Where it is left out, the note stays.",
    longest=LONGEST_NOTE,
    example="pay-3 is down, see the incident",
)


def _now(group: str) -> Handling:
    """Look how a group is handled."""
    return current().read(handlings()).get(group, Handling())


def _keep(group: str, handling: Handling, parts: Sequence[Part], said: str) -> Outcome:
    """Keep these parts of how a group is handled from now on, and tell of it."""
    try:
        save(current().client, group, handling, parts)
    except NoRoom:
        text = f"Nothing was done: {MOST_GROUPS:,} groups are noted, which is the most."
        return Outcome(text=text, tone="error", status=409)
    return Outcome(text=said, done=(group,))


def _text(form: Form, name: str, most: int) -> str:
    """Read a text.

    Raises:
        BadArgument: it is too long.

    """
    text = form.get(name).strip()
    if len(text) > most:
        problem = f"The field “{name}” has {len(text):,} characters; {most:,} are the most."
        raise BadArgument(problem)
    return text


def _noted(form: Form) -> str | None:
    """Read what is noted beside something else; None where that stays as it is.

    A question comes with the note that was there when it was asked, which may be another by now:
    it is written only where it was changed.
    """
    note = _text(form, "note", LONGEST_NOTE)
    if not form.has("note") or (form.has("noted") and note in spellings(form.get("noted").strip())):
        return None
    return note


def _who() -> str:
    return current().identity.title[:LONGEST_NAME]


# -- Folded, and opened again


def _facts(group: str) -> Facts | None:
    """Look at a group as it is now; None where it has no jobs."""
    here = current()
    jobs = here.read(reads.failure_jobs(group, reads.Slice(0, 1))).total
    found = indexed.ask(
        lambda index: (pasts_of(index, here.now).groups.get(group), patterns_in(index, group))
    )
    past, patterns = found or (None, None)
    return Facts(jobs, past.hours if past else None, patterns) if jobs else None


def _fold(form: Form, group: str, fold: Fold, done: str) -> Outcome:
    facts = _facts(group)
    if facts is None:
        text = f"Nothing has failed in {group}; nothing was done."
        return Outcome(text=text, tone="warning", status=404)
    note = _noted(form)
    handling = folded(Handling(note=note or ""), fold, facts, by=_who(), at=current().now)
    parts: tuple[Part, ...] = ("fold",) if note is None else ("fold", "note")
    return _keep(group, handling, parts, f"{done} {group}.")


@action(
    "acknowledge_group",
    "/failed/<name:group>/acknowledge",
    permission="operate",
    subject=ask.of_group,
    ask=lambda _form, group: ask_handling.acknowledge(group, _now(group)),
    takes=(_NOTE,),
)
def acknowledge_group(form: Form, group: str) -> Outcome:
    """Fold a group, because somebody is on it."""
    return _fold(form, group, "acknowledged", "Acknowledged")


@action(
    "mute_group",
    "/failed/<name:group>/mute",
    permission="operate",
    subject=ask.of_group,
    ask=lambda _form, group: ask_handling.mute(group, _now(group)),
    takes=(_NOTE,),
)
def mute_group(form: Form, group: str) -> Outcome:
    """Fold a group, because nothing needs to be done."""
    return _fold(form, group, "muted", "Muted")


@action(
    "reopen_group",
    "/failed/<name:group>/reopen",
    permission="operate",
    subject=ask.of_group,
    ask=lambda _form, group: ask_handling.reopen(group),
)
def reopen_group(_form: Form, group: str) -> Outcome:
    """List a group among the open ones again."""
    return _keep(group, Handling(), ("fold",), f"Opened {group} again.")


# -- Whose it is, and what was noted


@action(
    "assign_group",
    "/failed/<name:group>/assign",
    permission="operate",
    subject=ask.of_group,
    ask=lambda _form, group: ask_handling.assign(group, _now(group), _who()),
    takes=(
        Field(
            name="assignee",
            required=False,
            help="Whose it is, up to 100 characters; nobody's where it is left out.",
            longest=LONGEST_NAME,
            example="kim",
        ),
    ),
)
def assign_group(form: Form, group: str) -> Outcome:
    """Say whose a group is."""
    whose = _text(form, "assignee", LONGEST_NAME)
    said = f"{group} is {whose}'s now." if whose else f"{group} is nobody's now."
    return _keep(group, Handling(assignee=whose), ("assignee",), said)


@action(
    "note_group",
    "/failed/<name:group>/note",
    permission="operate",
    subject=ask.of_group,
    ask=lambda _form, group: ask_handling.note(group, _now(group)),
    takes=(
        Field(
            name="note",
            required=False,
            help="What others should know, up to 2,000 characters; none, where it is left out.",
            longest=LONGEST_NOTE,
            example="pay-3 is down, see the incident",
        ),
    ),
)
def note_group(form: Form, group: str) -> Outcome:
    """Note something about a group."""
    handling = Handling(note=_text(form, "note", LONGEST_NOTE))
    said = "Noted it about" if handling.note else "Dropped the note about"
    return _keep(group, handling, ("note",), f"{said} {group}.")


# -- Deploys


def _of_failures(**_path: str) -> Subject:
    return ask.of_failures()


@action(
    "mark_deploy",
    "/deploys",
    permission="operate",
    subject=_of_failures,
    ask=lambda form: ask_handling.deploy(form.get("name")),
    takes=(
        Field(
            name="name",
            help="What was deployed, up to 200 characters.",
            longest=deploys.LONGEST_NAME,
            example="v42",
        ),
        Field(
            name="at",
            kind="moment",
            required=False,
            help="When: epoch seconds, or a date and time; now, where it is left out.",
            pattern=f"^{DATE}$",
            example=1798761600.0,
        ),
    ),
)
def mark_deploy(form: Form) -> Outcome:
    """Mark a deploy: from then on what fails can be told from what failed before."""
    if form.guarded and not form.has("name"):
        raise AskAgain
    here = current()
    name = _text(form, "name", deploys.LONGEST_NAME)
    if not name:
        problem = "The field “name” is missing: what was deployed."
        raise BadArgument(problem)
    told = form.get("at").strip()
    deploy = deploys.Deploy(name, _moment(told) if told else here.now, _who())
    deploys.mark(here.client, deploy)
    return Outcome(text=f"Marked the deploy {name}.", done=(name,), on={"deploy": name})


def _moment(text: str) -> float:
    """Read a moment: epoch seconds, or a date and time."""
    try:
        found = float(text)
    except ValueError:
        return timing.moment(text)
    if not 0 <= found <= LATEST:
        problem = f"“{text[:40]}” is no moment: epoch seconds go up to {LATEST:,.0f}."
        raise BadArgument(problem)
    return found
