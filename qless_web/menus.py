"""Menus of rows: those that differ in nothing but the name of the row are drawn once for a page.

A menu takes as long as all else in a row. What it offers depends on the state of what it is for and
on who reads, and its addresses differ in one word, as `addresses` has it.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from flask import g
from markupsafe import Markup, escape

from qless_web.addresses import PLAIN
from qless_web.presenters.page import Link

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qless_web.presenters.page import Action

    #: The macro `menu`.
    Draw = Callable[[Sequence[Action], str], Any]

#: They stand for a name and for what is shown of it, and no page can hold them otherwise.
_NAME, _SHOWN = (f"mark-{secrets.token_hex(8)}" for _ in range(2))

_ALL_BUT_THE_NAME: Final = attrgetter("link.endpoint", "text", "icon", "asks", "danger", "fields")


def row_menu(
    draw: Draw, actions: Sequence[Action], kind: str, name: str, shown: str, what: str = ""
) -> Markup:
    """Draw the menu of a row.

    Args:
        draw: draws the menu of actions with a label.
        actions: what can be done to it.
        kind: what its name is in addresses: "jid" or "group", but not "queue", of which it depends
            what its reader may do.
        name: of the row.
        shown: what is shown of the name.
        what: a word before that.

    """
    label, values = f"Actions for {what}{{}}", {kind: name}
    if not PLAIN.fullmatch(name) or any(each.link.values != values for each in actions):
        return Markup(draw(actions, label.format(shown)))  # noqa: S704 - the macro escapes
    drawn = g.setdefault("qless_menus", {})
    alike = (label, *map(_ALL_BUT_THE_NAME, actions))
    if alike not in drawn:
        marked = [replace(each, link=Link(each.link.endpoint, {kind: _NAME})) for each in actions]
        drawn[alike] = str(draw(marked, label.format(_SHOWN)))
    text = drawn[alike].replace(_NAME, name).replace(_SHOWN, escape(shown))
    return Markup(text)  # noqa: S704 - the macro escapes, and a plain name needs none
