"""What an alert is about, when it goes off, and where it is sent. Plain values, checked."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from qless_core.errors import BadArgument
from qless_core.masking import masked
from qless_web.alerts.address import complaint

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Alerts that are kept, and characters of a name and of a pattern.
MOST: Final = 50
LONGEST_NAME: Final = 60
LONGEST_PATTERN: Final = 200

#: The greatest number that something can be above, and the longest it can have to last, seconds.
HIGHEST: Final = 1_000_000_000
LONGEST_S: Final = 86_400


class Kind(NamedTuple):
    """One thing to look at.

    Attributes:
        text: what it is called.
        of: what its pattern is about; "" where it takes none.
        unit: what its number counts.
        usual: the number, where none is given.

    """

    text: str
    of: str
    unit: str
    usual: int


KINDS: Final[dict[str, Kind]] = {
    "queue-age": Kind("the next job of a queue waits too long", "queues", "seconds", 300),
    "failures": Kind("a group of failures grows", "groups", "failed jobs", 100),
    "failure-rate": Kind("jobs fail too often", "queues", "failures in five minutes", 20),
    "no-workers": Kind("too few workers", "", "workers, or fewer", 0),
    "stalled": Kind("jobs have lost their workers", "queues", "stalled jobs", 0),
    "paused": Kind("a queue is paused too long", "queues", "seconds", 3_600),
}

SHAPES: Final = ("json", "slack")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One alert.

    Attributes:
        name: what it is called.
        kind: one of `KINDS`.
        of: a pattern of queues or groups, as `mail*`.
        above: it goes off where something is above this; `no-workers` where it is not.
        lasts_s: seconds for which that must be so before anybody is told.
        url: where it is told: nobody is shown all of it, as it may hold a secret.
        shape: `json`, or `slack` for what Slack and those like it take.
        is_fixed: whether it comes from a file, so that no page changes it.

    """

    name: str
    kind: str
    of: str = "*"
    above: int = 0
    lasts_s: int = 0
    url: str = ""
    shape: str = "json"
    is_fixed: bool = False

    def __repr__(self) -> str:
        return f"Rule({self.name!r}, {self.kind!r}, of={self.of!r}, url={self.goes_to!r})"

    @property
    def goes_to(self) -> str:
        """Where it is told, without what may be secret."""
        scheme, _, rest = masked(self.url).partition("://")
        return f"{scheme}://{rest.split('/')[0].split('?')[0].rpartition('@')[2]}/…"

    def fits(self, name: str) -> bool:
        """Say whether it is about a queue or group of that name."""
        return fnmatchcase(name, self.of)

    @property
    def text(self) -> str:
        """Write it down for Redis."""
        fields = asdict(self)
        del fields["is_fixed"], fields["name"]
        return json.dumps(fields)


def checked(name: str, given: Mapping[str, Any], *, is_fixed: bool = False) -> Rule:
    """Make a rule of what somebody wrote.

    Args:
        name: what it is to be called.
        given: its fields by name; values may be text.
        is_fixed: whether it comes from a file.

    Raises:
        BadArgument: something makes no sense; the message says what.

    """
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise BadArgument(_said("name", f"a text of at most {LONGEST_NAME} characters"))
    kind = str(given.get("kind", ""))
    if kind not in KINDS:
        raise BadArgument(_said("kind", f"one of {', '.join(KINDS)}"))
    of = str(given.get("of") or "*").strip() or "*"
    if len(of) > LONGEST_PATTERN:
        raise BadArgument(_said("of", f"a pattern of at most {LONGEST_PATTERN} characters"))
    shape = str(given.get("shape") or "json")
    if shape not in SHAPES:
        raise BadArgument(_said("shape", " or ".join(SHAPES)))
    url = str(given.get("url") or "").strip()
    if why := complaint(url):
        raise BadArgument(_said("url", why))
    return Rule(
        name=name,
        kind=kind,
        of=of,
        above=_whole("above", given.get("above"), KINDS[kind].usual, HIGHEST),
        lasts_s=_whole("lasts_s", given.get("lasts_s"), 0, LONGEST_S),
        url=url,
        shape=shape,
        is_fixed=is_fixed,
    )


def stored(name: str, text: str) -> Rule | None:
    """Read a rule as Redis has it; None where it is none."""
    try:
        found = json.loads(text)
        return checked(name, cast("dict[str, Any]", found)) if isinstance(found, dict) else None
    except (ValueError, RecursionError, BadArgument):
        return None


def _whole(name: str, given: object, usual: int, highest: int) -> int:
    text = str(usual if given in (None, "") else given).strip()
    if isinstance(given, bool) or not re.fullmatch(r"[0-9]{1,10}", text) or int(text) > highest:
        raise BadArgument(_said(name, f"a whole number from 0 to {highest:,}"))
    return int(text)


def _said(name: str, wanted: str) -> str:
    return f"The field “{name}” must be {wanted}; nothing was done."
