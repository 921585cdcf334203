"""Addresses of links, made as Flask makes them, at a twentieth of the cost.

A list of a hundred rows has a thousand links. What differs between most of them is a plain word or
two, and Flask puts an address together from its parts each time. Here it does so once for each
kind of link, with marks in the places of the words.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from flask import current_app, g, request, url_for  # noqa: TID251 - what lists several servers has no console
from werkzeug.routing import BuildError

if TYPE_CHECKING:
    from qless_web.presenters.page import Link

#: Words that stand in an address as they are, whichever kind of segment that is, and in a page.
PLAIN: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
#: A mark is such a word itself.
_MARK: Final = "qless-mark-{}-"
#: Where an app keeps its forms, and how many: prefixes come with requests.
_KEPT_AS: Final = "qless_web addresses"
_MOST: Final = 2_000


def href(link: Link | str) -> str:
    """Write the address of a link; a ready address stays what it is."""
    return link if isinstance(link, str) else link_url(link)


def link_url(link: Link) -> str:
    """Write the address of a link."""
    values = link.values
    words = tuple(values.values())
    for word in words:
        if type(word) is not str or not PLAIN.fullmatch(word):
            break
    else:
        made = form(link.endpoint, tuple(values))
        if made:
            return made.format(*words)
    return url_for(link.endpoint, **dict[str, Any](values))


def form(endpoint: str, names: tuple[str, ...]) -> str:
    """Give an address with places for words; "" where words do not simply stand in its path."""
    known: dict[tuple[str, str, tuple[str, ...]], str]
    kept = g.get("qless_forms")  # one look at `g`, which costs more than the rest
    if kept is None:
        kept = current_app.extensions.setdefault(_KEPT_AS, {}), request.script_root
        g.qless_forms = kept
    known, prefix = kept
    key = (prefix, endpoint, names)
    made = known.get(key)
    if made is None:
        if len(known) >= _MOST:
            known.clear()
        made = known[key] = _made(endpoint, names)
    return made


def _made(endpoint: str, names: tuple[str, ...]) -> str:
    marks = [_MARK.format(at) for at in range(len(names))]
    try:
        made = url_for(endpoint, **dict[str, Any](zip(names, marks, strict=True)))
    except (BuildError, ValueError):
        return ""
    if endpoint.startswith(".") or "?" in made or any(made.count(mark) != 1 for mark in marks):
        return ""
    made = made.replace("{", "{{").replace("}", "}}")
    for at, mark in enumerate(marks):
        made = made.replace(mark, f"{{{at}}}")
    return made
