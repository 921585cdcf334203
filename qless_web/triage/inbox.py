"""The groups of failures as an inbox: how many, since when, how fast, and what they touch.

Redis says which groups there are, how many jobs each has, and its newest and oldest failure. The
index says how they fell into hours, and which classes, queues and hosts are among them.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from qless_core.options import as_number
from qless_core.reads.plan import Read, Scope, call, read, together
from qless_core.reads.rows import failure_of
from qless_web.triage.clusters import key_of, number_of
from qless_web.triage.deploys import Deploy, deploys
from qless_web.triage.handling import Facts, Handling, back, handlings
from qless_web.triage.schema import GROUP, KLASS, QUEUE, WORKER
from qless_web.triage.tallies import HOUR_MS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    from qless_core.reads import Slice

#: Hours that are counted apart.
HOURS: Final = 24

#: Names of each kind that are told of a group.
NAMED: Final = 3

Order = Literal["count", "name", "first", "last", "rate", "classes", "queues", "hosts"]
Show = Literal["open", "acknowledged", "muted", "all"]


class Names(NamedTuple):
    """The names that most jobs of a group have, each with how many, and how many there are."""

    most: tuple[tuple[str, int], ...] = ()
    total: int = 0


class Touched(NamedTuple):
    """What the jobs of a group have: classes, queues, and hosts of workers."""

    classes: Names = Names()
    queues: Names = Names()
    hosts: Names = Names()


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What the index knows of a group. Instants are epoch seconds.

    Attributes:
        number: of the group in the index.
        first: when the first failed, of those that are failed now.
        last: when the last did.
        hours: failures by the hour up to now, the last is under way.

    """

    number: int
    first: float
    last: float
    hours: tuple[int, ...] = (0,) * HOURS

    @property
    def rate(self) -> int:
        """Failures in the last hour, as far as whole hours tell: the fuller of the last two."""
        return max(self.hours[-2:])


@dataclass(frozen=True, slots=True)
class Pasts:
    """What the index knows of all groups, by name."""

    groups: Mapping[str, Past]
    as_of: float | None
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A group of failures. Instants are epoch seconds; None where nobody knows."""

    name: str
    count: int
    newest_jid: str = ""
    newest_klass: str = ""
    newest_queue: str = ""
    newest_message: str = ""
    first_seen: float | None = None
    last_seen: float | None = None
    handling: Handling = field(default_factory=Handling)
    #: Why it is no longer folded, though somebody folded it; "" where that is not so.
    back: str = ""
    past: Past | None = None

    @property
    def is_folded(self) -> bool:
        """Whether it is acknowledged or muted, and not back."""
        return bool(self.handling.fold) and not self.back


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """A part of the groups, and what stands around them.

    Attributes:
        rows: the groups of this part.
        shown: how many groups this view of them has.
        counts: how many groups each view has, and those that are all.
        deploys: the markers of deploys, the latest first.

    """

    rows: tuple[Standing, ...]
    shown: int
    counts: Mapping[Show, int]
    deploys: tuple[Deploy, ...] = ()


# -- Of the index

# The first and the last hour of a group are found; all between them need not be read.
_PASTS: Final = """
SELECT name, id, (SELECT first FROM hours WHERE grp = id ORDER BY hour LIMIT 1) AS first,
  (SELECT last FROM hours WHERE grp = id ORDER BY hour DESC LIMIT 1)
FROM names WHERE kind = ? AND first IS NOT NULL
"""
# Hours of one group lie side by side, those of one hour do not.
_HOURS: Final = """
SELECT grp, hour, count FROM names CROSS JOIN hours
WHERE kind = ? AND grp = names.id AND hour > ? AND hour <= ?
"""
_AFFECTED: Final = """
SELECT kind, name, count FROM affected WHERE grp = ? AND name != '' ORDER BY kind, count DESC, name
"""
_NEW: Final = """
SELECT p.grp, p.pattern FROM patterns p
WHERE (SELECT since FROM jobs j INDEXED BY jobs_grp WHERE j.grp = p.grp AND j.pattern = p.id
  ORDER BY since LIMIT 1) >= ?
"""


def pasts_of(connection: sqlite3.Connection, now: float) -> Pasts:
    """Give what the index knows of all groups."""
    facts = dict(connection.execute("SELECT name, value FROM meta"))
    end = int(now * 1000) // HOUR_MS
    hours: dict[int, list[int]] = defaultdict(lambda: [0] * HOURS)
    for grp, hour, count in connection.execute(_HOURS, (GROUP, end - HOURS, end)):
        hours[grp][hour - end - 1] = count
    groups = {
        name: Past(number=grp, first=first / 1000, last=last / 1000, hours=tuple(hours[grp]))
        for name, grp, first, last in connection.execute(_PASTS, (GROUP,))
    }
    return Pasts(groups, as_number(facts.get("as_of")), bool(facts.get("complete")))


def touched(connection: sqlite3.Connection, group: str) -> Touched:
    """Give the classes, queues and hosts of a group."""
    most: dict[int, list[tuple[str, int]]] = {KLASS: [], QUEUE: [], WORKER: []}
    for kind, name, count in connection.execute(_AFFECTED, (number_of(connection, group),)):
        most[kind].append((name, count))
    return Touched(*(Names(tuple(names[:NAMED]), len(names)) for names in most.values()))


#: The kinds of names that the inbox can be ordered by the number of.
SPREADS: Final = {"classes": KLASS, "queues": QUEUE, "hosts": WORKER}


def spread(connection: sqlite3.Connection, order: Order) -> dict[str, int]:
    """Count the classes, queues or hosts of each group, where that is the order."""
    kind = SPREADS.get(order)
    if kind is None:
        return {}
    found = connection.execute(
        "SELECT n.name, count(*) FROM affected a JOIN names n ON n.id = a.grp "
        "WHERE a.kind = ? AND a.name != '' GROUP BY a.grp",
        (kind,),
    )
    return dict(found.fetchall())


def patterns_in(connection: sqlite3.Connection, group: str) -> frozenset[str]:
    """Give the keys of all patterns that a group has, or had."""
    found = connection.execute(
        "SELECT pattern FROM patterns WHERE grp = ?", (number_of(connection, group),)
    )
    return frozenset(key_of(pattern) for (pattern,) in found)


def new_since(connection: sqlite3.Connection, since: float) -> dict[str, int]:
    """Count, by group, the patterns of which nothing had failed before then."""
    names = dict(connection.execute("SELECT id, name FROM names WHERE kind = ?", (GROUP,)))
    found: dict[str, int] = defaultdict(int)
    for grp, _ in connection.execute(_NEW, (int(since * 1000),)):
        found[names[grp]] += 1
    return dict(found)


# -- Of Redis


class _Ends(NamedTuple):
    """How many jobs a group has, and the jids of the newest and the oldest."""

    jobs: int
    newest: str
    oldest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Which groups an inbox lists, and how.

    Attributes:
        part: which of them.
        show: the open ones, the acknowledged, the muted, or all.
        pasts: what the index knows of them; None without one.
        patterns: gives the keys of the patterns of a group; it is asked for folded ones alone.
        choose: filters the groups of a view, each by itself, and puts them in order.

    """

    part: Slice
    show: Show = "open"
    pasts: Pasts | None = None
    patterns: Callable[[str], frozenset[str] | None] = lambda _group: None
    choose: Callable[[Sequence[Standing]], Sequence[Standing]] = tuple


@read
def inbox(scope: Scope, view: View) -> Read[Inbox]:
    """Read a part of the groups, in three batches.

    Of groups that the index knows only those are asked for their ends that may be in that part.
    """
    pasts = view.pasts.groups if view.pasts else {}
    found, sizes, handled, marked = yield from together(
        [_groups(scope), _sizes(scope, list(pasts)), handlings()(scope), deploys()(scope)]
    )
    new = sorted(set(found) - pasts.keys())

    def standings(counts: Mapping[str, int]) -> list[Standing]:
        return [
            _standing(group, counts[group], handled.get(group), pasts.get(group), view, scope.now)
            for group in counts
            if counts[group] and group in found
        ]

    old = standings(sizes)
    # As many as are new may come before those.
    first = max(0, view.part.offset - len(new))
    near = view.choose(_views(old)[view.show])[first : view.part.offset + view.part.count]
    ends = yield from _ends(scope, [*new, *(each.name for each in near)])
    views = _views(old + standings({group: ends[group].jobs for group in new}))
    chosen = view.choose(views[view.show])
    rows = yield from _told(scope, view.part.of(chosen), ends)
    return Inbox(
        rows=rows,
        shown=len(chosen),
        counts={name: len(those) for name, those in views.items()},
        deploys=marked,
    )


def _groups(scope: Scope) -> Read[Sequence[str]]:
    (found,) = yield [call("smembers", scope.keys.failures)]
    return found or ()


def _sizes(scope: Scope, groups: Sequence[str]) -> Read[dict[str, int]]:
    counts = yield [call("llen", scope.keys.failed(group)) for group in groups]
    return {group: count or 0 for group, count in zip(groups, counts, strict=True)}


def _ends(scope: Scope, groups: Sequence[str]) -> Read[dict[str, _Ends]]:
    keys = scope.keys
    replies = yield [
        each
        for group in groups
        for each in (
            call("llen", keys.failed(group)),
            call("lindex", keys.failed(group), 0),
            call("lindex", keys.failed(group), -1),
        )
    ]
    triples = zip(replies[::3], replies[1::3], replies[2::3], strict=True)
    return {
        group: _Ends(count or 0, newest or "", oldest or "")
        for group, (count, newest, oldest) in zip(groups, triples, strict=True)
    }


def _standing(
    group: str, count: int, known: Handling | None, past: Past | None, view: View, now: float
) -> Standing:
    handling = known or Handling()
    why = ""
    if handling.fold:
        facts = Facts(count, past.hours if past else None, view.patterns(group))
        why = back(handling, facts, now)
    return Standing(
        name=group,
        count=count,
        first_seen=past.first if past else None,
        last_seen=past.last if past else None,
        handling=handling,
        back=why,
        past=past,
    )


def _views(standings: Sequence[Standing]) -> dict[Show, list[Standing]]:
    views: dict[Show, list[Standing]] = {"open": [], "acknowledged": [], "muted": []}
    for each in standings:
        views[each.handling.fold if each.is_folded and each.handling.fold else "open"].append(each)
    return {**views, "all": list(standings)}


def _told(
    scope: Scope, shown: Sequence[Standing], ends: Mapping[str, _Ends]
) -> Read[tuple[Standing, ...]]:
    """Add to groups what their newest and their oldest failure say."""
    keys = scope.keys
    replies = yield [
        each
        for row in shown
        for each in (
            call("hmget", keys.job(ends[row.name].newest), ["klass", "queue", "failure"]),
            call("hget", keys.job(ends[row.name].oldest), "failure"),
        )
    ]
    return tuple(
        _with(row, ends[row.name], newest or [None] * 3, oldest)
        for row, newest, oldest in zip(shown, replies[::2], replies[1::2], strict=True)
    )


def _with(row: Standing, ends: _Ends, newest: Sequence[str | None], oldest: str | None) -> Standing:
    klass, queue, failure = newest
    last, first = failure_of(failure), failure_of(oldest)
    return replace(
        row,
        newest_jid=ends.newest,
        newest_klass=klass or "",
        newest_queue=queue or "",
        newest_message=str(last.get("message") or ""),
        # The list is truer than the index, and newer.
        first_seen=as_number(first.get("when")) or row.first_seen,
        last_seen=as_number(last.get("when")) or row.last_seen,
    )


# -- Which, and in what order


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a reader wants to see of the groups.

    Attributes:
        show: which view.
        order: by what.
        since: only what is new since then, epoch seconds; None for all.

    """

    show: Show = "open"
    order: Order = "count"
    since: float | None = None


def chooser(
    wish: Wish, *, new: Mapping[str, int] | None = None, spread: Mapping[str, int] | None = None
) -> Callable[[Sequence[Standing]], Sequence[Standing]]:
    """Make what chooses groups as a reader wishes.

    Args:
        wish: of the reader.
        new: patterns of each group that are new since then.
        spread: how many classes, queues or hosts each group has, where that is the order.

    """

    def choose(groups: Sequence[Standing]) -> Sequence[Standing]:
        kept = groups
        if wish.since is not None:
            kept = [
                each for each in groups if is_new(each, wish.since) or (new or {}).get(each.name)
            ]
        return sorted(kept, key=lambda each: (-_weight(each, wish.order, spread or {}), each.name))

    return choose


def is_new(standing: Standing, since: float) -> bool:
    """Say whether nothing of a group that is failed now had failed before then."""
    return standing.first_seen is not None and standing.first_seen >= since


def _weight(each: Standing, order: Order, spread: Mapping[str, int]) -> float:
    weights: dict[Order, float | None] = {
        "count": each.count,
        "first": each.first_seen,
        "last": each.last_seen,
        "rate": each.past.rate if each.past else 0,
    }
    return weights.get(order, spread.get(each.name)) or 0
