"""How people handle a group of failures: acknowledged, muted, whose it is, and what they noted.

One hash under `web:triage:`, written by actions alone, with a bounded number of groups. What is
decided apart is a field of its own, so that people who decide two things at once lose neither.

A folded group comes back by itself when it fails faster than before or in another way. That is
found out when somebody looks, of what was noted when it was folded: nothing needs to run meanwhile.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from qless_core.options import as_number, as_whole
from qless_core.reads.plan import Read, Scope, read
from qless_web.sending import call, send

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from qless_core.client import Client
    from qless_core.keys import Keys

Fold = Literal["", "acknowledged", "muted"]
#: What is decided apart: whether it is folded, with all that goes with that; what was noted; whose
#: it is. Each is a field `<part>:<group>` of the hash.
Part = Literal["fold", "note", "assignee"]
PARTS: Final[tuple[Part, ...]] = ("fold", "note", "assignee")

#: Groups that are noted at most, characters of a note and of who it is assigned to, and patterns.
MOST_GROUPS: Final = 1_000
LONGEST_NOTE: Final = 2_000
LONGEST_NAME: Final = 100
MOST_PATTERNS: Final = 200

#: A folded group comes back when it fails at more than this many times the rate of the busiest hour
#: before, and this many more.
TIMES: Final = 2
MORE: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Handling:
    """How a group is handled. Instants are epoch seconds.

    Attributes:
        fold: acknowledged, muted, or "" for neither.
        by: who folded it; at: when.
        note: what was noted.
        assignee: whose it is; "" for nobody's.
        count: jobs that it had when it was folded.
        rate: failures in the busiest hour of the day before that.
        patterns: the keys of the patterns that it had; None where they were not known, or too many.

    """

    fold: Fold = ""
    by: str = ""
    at: float = 0.0
    note: str = ""
    assignee: str = ""
    count: int = 0
    rate: int = 0
    patterns: tuple[str, ...] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to be kept."""
        return not (self.fold or self.note or self.assignee)

    def stored(self, part: Part) -> str:
        """Write a part of it; "" where there is nothing to be kept."""
        if part != "fold":
            return self.note if part == "note" else self.assignee
        if not self.fold:
            return ""
        folded = {
            "fold": self.fold,
            "by": self.by,
            "at": self.at,
            "count": self.count,
            "rate": self.rate,
            "patterns": self.patterns,
        }
        return json.dumps(folded, separators=(",", ":"))


class Facts(NamedTuple):
    """What is known of a group now.

    Attributes:
        jobs: how many it has.
        hours: failures by the hour up to now, the last is under way; None where nobody counted.
        patterns: the keys of its patterns; None where nobody looked.

    """

    jobs: int
    hours: tuple[int, ...] | None = None
    patterns: frozenset[str] | None = None


def key(keys: Keys) -> str:
    """Name the hash."""
    return keys.web("triage:groups")


@read
def handlings(scope: Scope) -> Read[dict[str, Handling]]:
    """Read how each group is handled, in one batch."""
    (found,) = yield [call("hgetall", key(scope.keys))]
    parts: dict[str, dict[str, str]] = defaultdict(dict)
    for field, text in (found or {}).items():
        part, group = _split(field)
        parts[group][part] = text
    return {group: parsed(texts) for group, texts in parts.items()}


def _split(field: str) -> tuple[str, str]:
    part, _, group = field.partition(":")
    return part, group


def parsed(texts: Mapping[str, str]) -> Handling:
    """Read what was stored, by part; whatever makes no sense says nothing."""
    try:
        found = json.loads(texts.get("fold") or "{}")
    except (ValueError, RecursionError):
        found = {}
    told = Handling(note=texts.get("note", ""), assignee=texts.get("assignee", ""))
    fold = found.get("fold") if isinstance(found, dict) else None
    if fold not in {"acknowledged", "muted"}:
        return told
    patterns = found.get("patterns")
    return replace(
        told,
        fold=fold,
        by=_said(found.get("by")),
        at=as_number(found.get("at")) or 0.0,
        count=as_whole(found.get("count")) or 0,
        rate=as_whole(found.get("rate")) or 0,
        patterns=tuple(map(str, patterns)) if isinstance(patterns, list) else None,
    )


def _said(found: Any) -> str:  # noqa: ANN401 - whatever JSON says
    return found if isinstance(found, str) else ""


# -- What folds, and what comes back


def folded(before: Handling, fold: Fold, facts: Facts, *, by: str, at: float) -> Handling:
    """Fold a group as it is now."""
    patterns = facts.patterns
    return replace(
        before,
        fold=fold,
        by=by,
        at=at,
        count=facts.jobs,
        rate=max(facts.hours or (0,)),
        patterns=None
        if patterns is None or len(patterns) > MOST_PATTERNS
        else tuple(sorted(patterns)),
    )


def back(handling: Handling, facts: Facts, now: float) -> str:
    """Say why a folded group is back, in words; "" while it stays folded.

    >>> calm = Handling(fold="muted", at=0.0, count=10, rate=5, patterns=("a",))
    >>> back(calm, Facts(12, (0, 7), frozenset("a")), 3600.0)
    ''
    >>> back(calm, Facts(40, (0, 30), frozenset("a")), 3600.0)
    '30 failed in an hour, 5 at most before'
    >>> back(calm, Facts(12, (0, 7), frozenset("ab")), 3600.0)
    'it fails in a way that is new'
    """
    if facts.patterns is not None and handling.patterns is not None:
        new = len(facts.patterns - set(handling.patterns))
        if new:
            return "it fails in a way that is new" if new == 1 else f"it fails in {new:,} new ways"
    hour = _an_hour(handling, facts, now)
    if hour > max(TIMES * handling.rate, handling.rate + MORE):
        return f"{hour:,} failed in an hour, {handling.rate:,} at most before"
    return ""


def _an_hour(handling: Handling, facts: Facts, now: float) -> int:
    """Give failures in an hour: the fuller of the last two, or what came since it was folded."""
    if facts.hours is not None:
        since = max(1, int(now // 3600) - int(handling.at // 3600) + 1)
        return max(facts.hours[-min(2, since) :], default=0)
    hours = max(1.0, (now - handling.at) / 3600)
    return int(max(0, facts.jobs - handling.count) / hours)


# -- Writing


class NoRoom(Exception):  # noqa: N818 - it says what is the case
    """Raised where as many groups are noted as there is room for."""


def save(client: Client, group: str, handling: Handling, parts: Collection[Part] = PARTS) -> None:
    """Keep these parts of how a group is handled, and leave the others as they are.

    Raises:
        NoRoom: too many groups are noted, and all of them have failures.
        QlessError: Redis cannot be reached, or refused.

    """
    where = key(client.keys)
    texts = {f"{part}:{group}": handling.stored(part) for part in parts}
    gone = [field for field, text in texts.items() if not text]
    kept = {field: text for field, text in texts.items() if text}
    if kept:
        _make_room(client, group)
    send(
        client,
        *([call("hset", where, mapping=kept)] if kept else []),
        *([call("hdel", where, *gone)] if gone else []),
    )


def _make_room(client: Client, group: str) -> None:
    """Forget groups without failures, where there is no room for another."""
    where = key(client.keys)
    (number,) = send(client, call("hlen", where))
    if (number or 0) < MOST_GROUPS:
        return
    fields, failing = send(client, call("hkeys", where), call("smembers", client.keys.failures))
    noted = {_split(field)[1] for field in fields or ()}
    if group in noted or len(noted) < MOST_GROUPS:
        return
    gone = [field for field in fields if _split(field)[1] not in (failing or ())]
    if not gone:
        raise NoRoom
    send(client, call("hdel", where, *gone))
