"""Which jobs an operation is about: a failure group, a search, or jobs that are named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from qless_core.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Jobs that one request may name.
MOST_NAMED: Final = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Jobs to act on; one of `group`, `q` and `jids` says which.

    Attributes:
        group: all that failed in this group.
        q: all that this search finds.
        jids: these.
        newest: the newest job of the group that somebody saw; "" where nobody looked.
        count: how many jobs of the group they saw.
        asked: when they looked, epoch seconds; 0 where nobody did.

    """

    group: str | None = None
    q: str | None = None
    jids: tuple[str, ...] = ()
    newest: str = ""
    count: int = 0
    asked: float = 0

    def told(self) -> dict[str, Any]:
        """Give it in words by kind, for people and the audit."""
        if self.group is not None:
            return {"group": self.group}
        if self.q is not None:
            return {"q": self.q}
        return {"jids": len(self.jids)}


def read(given: object) -> Selection:
    """Read a selection from JSON.

    Raises:
        BadArgument: it is none.

    """
    if not isinstance(given, dict) or len(given) != 1:
        problem = "“selection” must be an object with one of “jids”, “group” and “q”."
        raise BadArgument(problem)
    ((kind, value),) = given.items()
    if kind == "jids":
        return Selection(jids=_jids(value))
    if kind not in ("group", "q"):
        problem = f"There is no selection by “{str(kind)[:100]}”, but by jids, group and q."
        raise BadArgument(problem)
    if not isinstance(value, str) or not value:
        problem = f"“{kind}” must be text that is not empty."
        raise BadArgument(problem)
    return Selection(group=value) if kind == "group" else Selection(q=value)


def of_form(fields: Mapping[str, Any]) -> Selection:
    """Read a selection from what a form brings: the first of the three that is there."""
    for kind in ("group", "q", "jids"):
        if fields.get(kind):
            return read({kind: list(fields[kind]) if kind == "jids" else fields[kind]})
    problem = "Nothing was chosen: tick some jobs, or choose a group or a search."
    raise BadArgument(problem)


def _jids(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_NAMED:
        problem = f"“jids” must be a list of 1 to {MOST_NAMED:,} texts."
        raise BadArgument(problem)
    for jid in value:
        if not isinstance(jid, str) or not jid:
            problem = "“jids” must be a list of texts that are not empty."
            raise BadArgument(problem)
    return tuple(dict.fromkeys(value))
