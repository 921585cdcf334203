"""Questions about options: what one is to be, whether it is forgotten, or changed back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core.options import option_of
from qless_web.formatting import isolated
from qless_web.presenters.ask import AskPage, Input, Subject, ask_page
from qless_web.presenters.page import Ask, Crumb, Link

if TYPE_CHECKING:
    from qless_web.option_changes import Change

#: Longer values are told by their beginning.
_VALUE = 200

_HOME = Link("config.index")


def of_option(option: str) -> Subject:
    """Ask about an option."""
    crumbs = (Crumb("Config", _HOME), Crumb(isolated(option)))
    return Subject(nav="config", name=option, link=_HOME, crumbs=crumbs)


def of_options() -> Subject:
    """Ask about all options."""
    crumbs = (Crumb("Config", _HOME),)
    return Subject(nav="config", name="options", link=_HOME, crumbs=crumbs)


def said(value: str | None) -> str:
    """Say what is stored."""
    if value is None:
        return "not set"
    return f"“{value if len(value) <= _VALUE else value[: _VALUE - 1] + '…'}”"


def set_one(option: str, stored: str | None, value: str | None) -> AskPage:
    """Ask what an option is to be.

    Args:
        option: its name.
        stored: what is stored; None for nothing.
        value: what was typed already; None for nothing.

    """
    known = option_of(option)
    default = "" if known is None or known.default is None else str(known.default)
    hint = ""
    if known is not None:
        unit = f"In {known.unit}" if known.unit else "Text"
        hint = f"{unit}; by default {default}." if default else f"{unit}; by default not set."
    asked = Ask(
        verb="Set",
        count=1,
        noun="option",
        question=f"What is {isolated(option)} to be?",
        link=Link("act.set_option", {"option": option}),
        consequences=(
            *((known.help,) if known else ("It means nothing to qless.",)),
            f"It is {said(stored)}. A change counts at once, for every worker.",
        ),
        fields=(("expected", "1"), ("shown", stored or "")),
    )
    shown = (stored or "") if value is None else value
    field = Input(kind="text", label="Value", name="value", value=shown, hint=hint)
    return ask_page(asked, of_option(option), inputs=(field,))


def unset_one(option: str, stored: str | None) -> AskPage:
    """Ask whether an option is to be as by default."""
    known = option_of(option)
    default = "nothing" if known is None or known.default is None else str(known.default)
    asked = Ask(
        verb="Unset",
        count=0 if stored is None else 1,
        noun="option",
        question=f"Unset {isolated(option)}?"
        if stored is not None
        else f"{isolated(option)} is not set.",
        link=Link("act.unset_option", {"option": option}),
        consequences=()
        if stored is None
        else (f"It is {said(stored)}. Then the default counts: {default}.",),
        fields=(("expected", "1"), ("shown", stored or "")),
    )
    return ask_page(asked, of_option(option))


def undo(last: Change | None, why: str) -> AskPage:
    """Ask whether the last change is taken back; None, and why, where it cannot be."""
    link = Link("act.undo_option")
    if last is None:
        asked = Ask(verb="Undo", count=0, noun="change", question=why, link=link)
    else:
        asked = Ask(
            verb="Undo",
            count=1,
            noun="change",
            question=f"Take the last change of {isolated(last.option)} back?",
            link=link,
            consequences=(f"It is {said(last.now)}, and will be {said(last.was)} again.",),
            fields=(("expected", "1"), ("shown", f"{last.at!r}")),
        )
    return ask_page(asked, of_options())
