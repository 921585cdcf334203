"""How a job came to have no retries left, of its history: what tells such failures apart. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Items at the end of a history that tell a fate: more than the attempts of nearly every job.
NEWEST = 60

_ALL_LOST = "each lock ran out"
_SOME_LOST = "some locks ran out, some runs were given back"
_GIVEN_BACK = "each run was given back"


class Fate(NamedTuple):
    """What a history says of the runs of a job.

    Attributes:
        worker: the last that ran it; "" where none is known.
        text: how its runs ended, in words; "" where nothing is known.

    """

    worker: str = ""
    text: str = ""


def fate_of(items: Iterable[str]) -> Fate:
    """Read the fate of a job from the newest items of its history, oldest first, as stored.

    >>> fate_of(['[1,"popped",{"worker":"w-1"}]', '[9,"timed-out"]'])
    Fate(worker='w-1', text='each lock ran out')
    """
    worker, runs, lost = "", 0, 0
    warned = False
    for what, more in map(_item, items):
        if what == "popped":
            worker = str(more.get("worker") or "")
            runs += 1
            warned = False
        elif what == "timed-out" and runs and not warned:
            # A run is warned once, and again by hand.
            warned = True
            lost += 1
    if not runs:
        return Fate()
    return Fate(worker, _ALL_LOST if lost == runs else _SOME_LOST if lost else _GIVEN_BACK)


def _item(text: str) -> tuple[str, dict[str, Any]]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return "", {}
    if not isinstance(found, list) or len(found) < 2:  # noqa: PLR2004 - when and what
        return "", {}
    more = found[2] if len(found) > 2 else {}  # noqa: PLR2004 - and what goes with it
    return str(found[1]), more if isinstance(more, dict) else {}
