"""What templates ask of whoever reads the page: who it is, and which buttons are theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_web.access import DECLARED
from qless_web.console import current

if TYPE_CHECKING:
    from flask import Flask

    from qless_web.accounts.identity import Identity
    from qless_web.presenters.page import Link

#: Said in a button where nobody may change anything.
READ_ONLY = "read-only"

#: What the endpoints of actions begin with.
_ACT = "act."


def install(app: Flask) -> None:
    """Let templates ask."""
    app.jinja_env.globals |= {"hint": hint, "refusal": refusal, "reader": reader}


def reader() -> Identity:
    """Give who reads the page."""
    return current().identity


def hint(link: Link) -> str:
    """Say in two or three words why the reader may not do what a link does; "" where they may."""
    name = link.endpoint.removeprefix(_ACT)
    permission = DECLARED.get(name)
    if permission is None:
        return ""
    here = current()
    theirs = here.identity.hint(permission, name, _queues(link))
    if here.console.access.refusal(permission) or (here.console.rights.reason and not theirs):
        return READ_ONLY
    return theirs


def refusal(link: Link) -> str:
    """Say the same in half a sentence."""
    name = link.endpoint.removeprefix(_ACT)
    permission = DECLARED.get(name)
    return current().refusal(permission, name, _queues(link)) if permission else ""


def _queues(link: Link) -> tuple[str, ...]:
    queue = link.values.get("queue")
    return (queue,) if isinstance(queue, str) else ()
