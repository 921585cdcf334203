"""Options are set, forgotten, and the last change of one is taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core import reads
from qless_core.errors import BadArgument
from qless_core.options import option_of, unknown
from qless_core.reads.names import NameDigest
from qless_web import option_changes
from qless_web.actions.action import AskAgain, action
from qless_web.actions.field import Field
from qless_web.actions.outcome import Outcome
from qless_web.console import current
from qless_web.formatting import tilde
from qless_web.option_changes import Change
from qless_web.presenters import ask_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qless_web.actions.form import Form
    from qless_web.presenters.ask import AskPage

_SHOWN = Field(
    name="shown",
    required=False,
    help="What is stored by now, as far as is known: nothing is done where it is something else.",
)

#: What a form sends for what is not set; no option can be set to it.
_UNSET = ""


def _stored() -> Mapping[str, str]:
    return current().read(reads.settings())


def _known(option: str, stored: Mapping[str, str]) -> str:
    """Give the name of an option, or of what else is stored; a very long one came as its digest.

    Raises:
        BadArgument: it is neither.

    """
    if isinstance(option, NameDigest):
        option = next((name for name in stored if tilde(name) == tilde(option)), option)
    if option_of(option) is None and option not in stored:
        problem = unknown(option).replace("`qless config` lists them", "the page Config lists them")
        raise BadArgument(problem)
    return option


def _is_missing(form: Form, option: str, stored: Mapping[str, str]) -> bool:
    """Say whether a program names an option that there is not; people are told in another way."""
    try:
        _known(option, stored)
    except BadArgument:
        return not form.guarded
    return False


def _missing(option: str) -> Outcome:
    text = f"There is no option “{option[:100]}”; nothing was done."
    return Outcome(text=text, tone="warning", status=404)


def _must_be_as_shown(form: Form, was: str | None) -> None:
    """Let nobody change what somebody else has changed meanwhile.

    Raises:
        AskAgain: that is so.

    """
    if form.has("shown") and form.get("shown") != (was or _UNSET):
        told = f"it is “{was}” now" if was is not None else "it is not set now"
        problem = f"Somebody has changed it since you looked: {told}; nothing was done."
        raise AskAgain(problem)


def _change(option: str, was: str | None, now: str | None, *, undoes: bool = False) -> None:
    """Store it, or forget it, and keep who did so."""
    here = current()
    if now is None:
        del here.client.config[option]
    else:
        here.client.config.set(option, now, force=True)
    cut = option_changes.LONGEST
    change = Change(
        at=here.now,
        who=here.identity.title,
        address=here.identity.address,
        option=option,
        was=None if was is None else was[:cut],
        now=None if now is None else now[:cut],
        undoes=undoes,
    )
    option_changes.note(here.client, change)


# -- Set


def _ask_set(form: Form, option: str) -> AskPage:
    stored = _stored()
    option = _known(option, stored)
    value = form.get("value") if form.has("value") else None
    return ask_options.set_one(option, stored.get(option), value)


@action(
    "set_option",
    "/config/<name:option>/set",
    permission="administer",
    subject=ask_options.of_option,
    ask=_ask_set,
    takes=(
        Field(
            name="value",
            help="What to store: a number as text, or text, as the option needs.",
            example="120",
        ),
        _SHOWN,
    ),
)
def set_option(form: Form, option: str) -> Outcome:
    """Set an option; a value that makes no sense for it is refused with the reason."""
    stored = _stored()
    if _is_missing(form, option, stored):
        return _missing(option)
    option = _known(option, stored)
    was = stored.get(option)
    _must_be_as_shown(form, was)
    value = form.get("value").strip()
    try:
        if not value:
            problem = "The field “value” is missing: what to store."
            raise BadArgument(problem)  # noqa: TRY301 - refused as the client refuses
        if value == was:
            return Outcome(text=f"{option} is “{value}” already.", tone="info", done=(option,))
        _change(option, was, value)
    except BadArgument as error:
        if not form.guarded:
            raise
        raise AskAgain(str(error)) from error
    return Outcome(text=f"{option} is “{value}” now.", done=(option,), answer=value)


# -- Unset


def _ask_unset(_form: Form, option: str) -> AskPage:
    stored = _stored()
    option = _known(option, stored)
    return ask_options.unset_one(option, stored.get(option))


@action(
    "unset_option",
    "/config/<name:option>/unset",
    permission="administer",
    subject=ask_options.of_option,
    ask=_ask_unset,
    takes=(_SHOWN,),
)
def unset_option(form: Form, option: str) -> Outcome:
    """Forget what an option was set to, so that its default counts again."""
    stored = _stored()
    if _is_missing(form, option, stored):
        return _missing(option)
    option = _known(option, stored)
    was = stored.get(option)
    _must_be_as_shown(form, was)
    if was is None:
        return Outcome(text=f"{option} is not set.", tone="info", done=(option,))
    _change(option, was, None)
    return Outcome(text=f"{option} is as by default now.", done=(option,))


# -- Undo


def _last() -> tuple[Mapping[str, str], Sequence[Change]]:
    return current().read(reads.settings(), option_changes.changes(1))


def _why_not(stored: Mapping[str, str], changes: Sequence[Change]) -> str:
    """Say why the last change cannot be taken back; "" where it can."""
    if not changes:
        return "No change has been noted yet: there is nothing to take back."
    last = changes[0]
    there = stored.get(last.option)
    if (None if there is None else there[: option_changes.LONGEST]) != last.now:
        return f"{last.option} has been changed since by another program: it stays as it is."
    if any(value and len(value) >= option_changes.LONGEST for value in (last.was, last.now)):
        return f"What {last.option} was is too long to have been kept."
    return ""


def _ask_undo(_form: Form) -> AskPage:
    stored, changes = _last()
    why = _why_not(stored, changes)
    return ask_options.undo(None if why else changes[0], why)


@action(
    "undo_option",
    "/config/undo",
    permission="administer",
    subject=ask_options.of_options,
    ask=_ask_undo,
    takes=(
        Field(
            name="shown",
            required=False,
            help="When the change was made that is taken back, as the history has it: nothing is "
            "done where another one is the last by now.",
        ),
    ),
)
def undo_option(form: Form) -> Outcome:
    """Take the last change of an option back, unless it has been changed since."""
    stored, changes = _last()
    if why := _why_not(stored, changes):
        return Outcome(text=why, tone="warning", status=409)
    last = changes[0]
    if form.has("shown") and form.get("shown") != f"{last.at!r}":
        problem = "Another change has been made since you looked; nothing was done."
        raise AskAgain(problem)
    _change(last.option, last.now, last.was, undoes=True)
    told = "not set" if last.was is None else f"“{last.was}”"
    return Outcome(text=f"{last.option} is {told} again.", done=(last.option,), answer=last.was)
