"""Menus of jobs in lists: those that differ in nothing but the jid are drawn once for a page.

A menu takes as long as all else in a row. What it offers depends on the state of the job and on who
reads, and its addresses differ in one word, as `addresses` has it.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from flask import g
from markupsafe import Markup

from qless_web.addresses import PLAIN
from qless_web.formatting import short_jid
from qless_web.presenters.page import Link

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qless_web.presenters.page import Action

    #: The macro `menu`.
    Draw = Callable[[Sequence[Action], str], Any]

#: They stand for a jid and for what is shown of it, and no page can hold them otherwise.
_JID, _SHORT = (f"mark-{secrets.token_hex(8)}" for _ in range(2))

_ALL_BUT_THE_JID: Final = attrgetter("link.endpoint", "text", "icon", "asks", "danger", "fields")
_LABEL: Final = "Actions for {}"


def job_menu(draw: Draw, actions: Sequence[Action], jid: str) -> Markup:
    """Draw the menu of a job.

    Args:
        draw: draws the menu of actions with a label.
        actions: what can be done to it.
        jid: whose they are.

    """
    values = {"jid": jid}
    if not PLAIN.fullmatch(jid) or any(each.link.values != values for each in actions):
        return Markup(draw(actions, _LABEL.format(short_jid(jid))))  # noqa: S704 - the macro escapes
    drawn = g.setdefault("qless_menus", {})
    kind = tuple(map(_ALL_BUT_THE_JID, actions))
    if kind not in drawn:
        marked = [replace(each, link=Link(each.link.endpoint, {"jid": _JID})) for each in actions]
        drawn[kind] = str(draw(marked, _LABEL.format(_SHORT)))
    text = drawn[kind].replace(_JID, jid).replace(_SHORT, short_jid(jid))
    return Markup(text)  # noqa: S704 - the macro escapes, and a plain jid needs none
