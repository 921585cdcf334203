"""Every key that does something: the dialog, the help page and the browser read this table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from qless_web.presenters.page import Page


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One thing that keys do.

    Attributes:
        does: what the browser's script calls it; "" where browsers do it by themselves.
        keys: each of them does it, as `KeyboardEvent.key` names it.
        shown: how they are written, where that is not the same.
        means: what it does, in a few words.

    """

    does: str
    keys: tuple[str, ...]
    means: str
    shown: tuple[str, ...] = ()

    @property
    def caps(self) -> tuple[str, ...]:
        """What to print on the keys."""
        return self.shown or self.keys


EVERYWHERE = (
    Key(does="palette", keys=(), shown=("Ctrl K", "⌘ K"), means="find a command or a name"),
    Key(does="search", keys=("/",), means="search"),
    Key(does="help", keys=("?",), means="these keys"),
    Key(does="density", keys=("d",), means="denser rows, or less dense"),
    Key(does="", keys=("Escape",), shown=("Esc",), means="close what is open"),
)

LISTS = (
    Key(does="next", keys=("j",), means="next row"),
    Key(does="previous", keys=("k",), means="previous row"),
    Key(does="open", keys=("o", "Enter"), means="open the row"),
    Key(does="tick", keys=("x",), means="tick the row; with Shift and a click, all between"),
    Key(
        does="retry", keys=("r",), means="retry what is ticked, or the row, or what the page shows"
    ),
    Key(does="cancel", keys=("c",), means="cancel it; this asks first"),
)

#: What comes before the letter of a place.
GO = Key(does="go", keys=("g",), means="go to a place, by its letter")

GROUPS = (("Everywhere", EVERYWHERE), ("In lists", LISTS))


@dataclass(frozen=True, kw_only=True)
class KeysPage(Page):
    """All keys as a page of its own."""

    template: ClassVar[str] = "help/keys.html"


def keys_page() -> KeysPage:
    """Return the page."""
    return KeysPage(title="Keys", nav="")
