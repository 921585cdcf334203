"""What stands out in failed jobs against completed ones of the same class. Honest about numbers.

A value stands out where even the least share that it may have among the failed, by Wilson's bound,
is above the greatest that it may have among the completed.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from qless_core.reads.plan import Read, Scope, call, read
from qless_web.triage.clusters import key_of, number_of
from qless_web.triage.leaves import leaves, parsed
from qless_web.triage.narrowing import narrowed
from qless_web.triage.query import is_field
from qless_web.triage.schema import STATE, host_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Sequence

#: Jobs of each kind that are looked at, of the newest ones where there is no index, and fewer than
#: which say too little.
MOST: Final = 400
NEWEST: Final = 1_000
FEW: Final = 10

#: Bytes of data beyond which it is not read, items of a history, and characters of a value.
_LARGE: Final = 20_000
_ITEMS: Final = 20
_LONGEST: Final = 80

#: Standard deviations of the bounds: of many values that are compared, few stand out by chance.
_Z: Final = 3.0


class Trait(NamedTuple):
    """Something that a job has: its queue, its host, a tag, a value of its data."""

    kind: str
    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """How often something is there among the failed and among the completed.

    Attributes:
        trait: what.
        failed: how many of the failed have it.
        completed: how many of the completed do.
        least: the least share that it may have among the failed, by Wilson's bound.
        most: the greatest that it may have among the completed.

    """

    trait: Trait
    failed: int
    completed: int
    least: float
    most: float

    @property
    def stands_out(self) -> bool:
        """Whether that is no chance."""
        return self.least > self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What stands out.

    Attributes:
        klass: the class that was compared.
        failed: how many failed jobs were looked at.
        completed: how many completed ones.
        rows: what stands out, the most first.
        common: what most of the failed have, where nothing can be compared.
        newest: jids of the newest failed and the newest completed job; "" for none.

    """

    klass: str
    failed: int
    completed: int
    rows: tuple[Contrast, ...]
    common: tuple[Contrast, ...]
    newest: tuple[str, str] = ("", "")

    @property
    def is_enough(self) -> bool:
        """Whether there are enough to say something."""
        return self.failed >= FEW and self.completed >= FEW


def wilson(part: int, of: int, z: float = _Z) -> tuple[float, float]:
    """Give the bounds between which a share lies that was seen in `part` of so many.

    >>> [round(each, 2) for each in wilson(10, 10, 1.96)], wilson(0, 0)
    ([0.72, 1.0], (0.0, 1.0))
    """
    if not of:
        return 0.0, 1.0
    share, spread = part / of, z * z / of
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * sqrt(share * (1 - share) / of + spread / of / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


#: Fields of a search that find jobs by a trait of that kind.
_FIELDS: Final = {
    "queue": "queue",
    "host": "host",
    "tag": "tag",
    "priority": "priority",
}


def query_for(trait: Trait, group: str) -> str:
    """Give the search for the jobs of a group that have something; "" where there is none.

    >>> query_for(Trait("data", "user.id", "4711"), "orders-Timeout")
    'group:orders-Timeout data.user.id:4711'
    >>> query_for(Trait("key", "gift", "is there"), "orders-Timeout")
    'group:orders-Timeout data.gift:*'
    >>> query_for(Trait("runs", "runs", "3"), "orders-Timeout")
    ''
    """
    field = f"data.{trait.name}" if trait.kind in {"data", "key"} else _FIELDS.get(trait.kind, "")
    if not is_field(field) or len(trait.value) >= _LONGEST:  # that may be a beginning only
        return ""
    query = narrowed("", "group", group)
    if trait.kind == "key":
        return f"{query} {field}:*"
    return narrowed(query, field, trait.value)


def compared(
    klass: str, failed: Sequence[Sampled], completed: Sequence[Sampled], *, most: int = 30
) -> Comparison:
    """Compare jobs of a class."""
    having = Counter(trait for job in failed for trait in job.traits)
    others = Counter(trait for job in completed for trait in job.traits)
    contrasts = [
        Contrast(
            trait=trait,
            failed=count,
            completed=others[trait],
            least=wilson(count, len(failed))[0],
            most=wilson(others[trait], len(completed))[1],
        )
        for trait, count in having.items()
    ]
    outstanding = [each for each in contrasts if each.stands_out]
    outstanding.sort(key=lambda each: (each.most - each.least, each.trait))
    common = [each for each in contrasts if each.failed * 2 > len(failed)]
    common.sort(key=lambda each: (-each.failed, each.trait))
    return Comparison(
        klass=klass,
        failed=len(failed),
        completed=len(completed),
        rows=tuple(outstanding[:most]),
        common=tuple(common[:most]),
        newest=(failed[0].jid if failed else "", completed[0].jid if completed else ""),
    )


# -- Which jobs

# A class has far more jobs than a group: SQLite would go by that.
_NEWEST_FAILED: Final = """
SELECT jid FROM jobs INDEXED BY jobs_grp
WHERE grp = :grp AND (:pattern IS NULL OR pattern = :pattern) AND klass = :klass
ORDER BY since DESC LIMIT :most
"""
_CLASSES: Final = """
SELECT n.id, n.name, count(*) FROM jobs j JOIN names n ON n.id = j.klass
WHERE j.grp = :grp AND (:pattern IS NULL OR j.pattern = :pattern)
GROUP BY 1 ORDER BY 3 DESC LIMIT 20
"""
_COMPLETED: Final = """
SELECT jid FROM jobs WHERE klass = ? AND state = ? ORDER BY since DESC LIMIT ?
"""


class Sides(NamedTuple):
    """The jobs to be compared, the class of theirs, and all classes of the group."""

    klass: str
    classes: tuple[str, ...]
    failed: tuple[str, ...]
    completed: tuple[str, ...]


def sides_of(connection: sqlite3.Connection, group: str, cluster: str, klass: str) -> Sides:
    """Choose jobs by the index.

    Args:
        connection: as `Index.reading` lends it.
        group: of the failed ones.
        cluster: the key of the cluster that they are of; "" for all.
        klass: of both; that of most, where the group has none of this name.

    """
    grp = number_of(connection, group)
    found = connection.execute("SELECT id, pattern FROM patterns WHERE grp = ?", (grp,))
    pattern = next((id_ for id_, text in found if key_of(text) == cluster), -1) if cluster else None
    where = {"grp": grp, "pattern": pattern}
    classes = connection.execute(_CLASSES, where).fetchall()
    chosen = next((row for row in classes if row[1] == klass), classes[0] if classes else None)
    if chosen is None:
        return Sides("", (), (), ())
    number, name, _ = chosen
    failed = connection.execute(_NEWEST_FAILED, {**where, "klass": number, "most": MOST})
    completed = connection.execute(_COMPLETED, (number, STATE["complete"], MOST))
    return Sides(
        name,
        tuple(row[1] for row in classes),
        tuple(jid for (jid,) in failed),
        tuple(jid for (jid,) in completed),
    )


# -- What they have


@dataclass(frozen=True, slots=True)
class Sampled:
    """A job, and what it has."""

    jid: str
    klass: str
    traits: frozenset[Trait]


@read
def samples(
    scope: Scope, jids: Sequence[str], shown: Callable[[str, str], str]
) -> Read[dict[str, Sampled]]:
    """Read what jobs have, in two batches; those that are gone are left out."""
    keys = scope.keys
    replies = yield [
        each
        for jid in jids
        for each in (
            call("hmget", keys.job(jid), ["klass", "queue", "tags", "priority"]),
            call("hstrlen", keys.job(jid), "data"),
        )
    ]
    facts = dict(zip(jids, zip(replies[::2], replies[1::2], strict=True), strict=True))
    there = [jid for jid, (fields, _) in facts.items() if fields and fields[0] is not None]
    more = yield [
        each
        for jid in there
        for each in (
            call("lrange", keys.history(jid), -_ITEMS, -1),
            call("hget", keys.job(jid), "data" if (facts[jid][1] or 0) <= _LARGE else "klass"),
        )
    ]
    found = {}
    for jid, history, data in zip(there, more[::2], more[1::2], strict=True):
        fields, size = facts[jid]
        text = shown(fields[0], data or "") if (size or 0) <= _LARGE else ""
        traits = frozenset(_traits(fields, history or (), text))
        found[jid] = Sampled(jid, fields[0], traits)
    return found


@read
def newest(
    scope: Scope, group: str, klass: str, shown: Callable[[str, str], str]
) -> Read[tuple[Sides, dict[str, Sampled]]]:
    """Choose among the newest jobs, without an index, and read what they have: in three batches."""
    keys = scope.keys
    failed, completed = yield [
        call("lrange", keys.failed(group), 0, MOST - 1),
        call("zrevrange", keys.completed, 0, NEWEST - 1),
    ]
    found = yield from samples([*(failed or ()), *(completed or ())], shown)(scope)
    classes = Counter(found[jid].klass for jid in failed or () if jid in found)
    names = [name for name, _ in classes.most_common(20)]
    chosen = klass if klass in names else next(iter(names), "")

    def of(jids: Iterable[str]) -> tuple[str, ...]:
        return tuple(jid for jid in jids if jid in found and found[jid].klass == chosen)[:MOST]

    return Sides(chosen, tuple(names), of(failed or ()), of(completed or ())), found


def _traits(fields: Sequence[Any], history: Sequence[str], data: str) -> list[Trait]:
    _, queue, tags, priority = fields
    put, worker, runs = _past(history)
    traits = [
        Trait("queue", "queue", queue or put),
        Trait("host", "host", host_of(worker)),
        Trait("priority", "priority", priority or "0"),
        Trait("runs", "runs", str(runs)),
    ]
    traits += [Trait("tag", "tag", tag) for tag in _list(tags)]
    for path, value in leaves(parsed(data)):
        traits.append(Trait("data", path, _value(value)))
        traits.append(Trait("key", path, "is there"))
    return [trait for trait in traits if trait.value]


def _value(value: Any) -> str:  # noqa: ANN401 - whatever JSON says
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _list(text: str | None) -> list[str]:
    found = parsed(text or "")
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _past(history: Sequence[str]) -> tuple[str, str, int]:
    """Give the queue that a job was put into last, its last worker, and how often it was taken."""
    queue, worker, runs = "", "", 0
    for text in history:
        item = parsed(text)
        if not isinstance(item, list) or len(item) < 3 or not isinstance(item[2], dict):  # noqa: PLR2004 - when, what and more
            continue
        if item[1] == "put":
            queue = str(item[2].get("q") or "")
        elif item[1] == "popped":
            worker = str(item[2].get("worker") or "")
            runs += 1
    return queue, worker, runs
