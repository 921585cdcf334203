"""The clusters of a group of failures: jobs whose messages have one pattern.

Of the index they are exact. Without one the newest failures are read, so many that the work is
bounded, and the answer says how many they were.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from qless_core.options import as_number
from qless_core.reads.plan import Read, Scope, call, read
from qless_core.reads.rows import FIELDS, Listing, failure_of, fields_of, job_rows, listed
from qless_web.triage.counted import Counted
from qless_web.triage.fates import NEWEST, Fate, fate_of
from qless_web.triage.index import bound
from qless_web.triage.patterns import is_exhausted, pattern_of
from qless_web.triage.schema import GROUP

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from qless_core.reads import JobRow, Slice

#: Parts of the time since the first failure that are counted apart.
SLOTS: Final = 24

#: Failures that a look without an index reads, by default and at most, and bytes of those.
LOOK: Final = 500
FARTHEST: Final = 5_000
MOST_BYTES: Final = 8_000_000

#: Clusters that are told of, the largest ones.
MOST: Final = 1_000

#: Groups whose clusters are kept as they were counted.
_KEPT: Final = 40
#: Digits of the milliseconds of a slot: with more of them, what was counted would hold for less.
_DIGITS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Jobs of a group whose messages are alike. Instants are epoch seconds.

    Attributes:
        pattern: what their messages have in common.
        count: how many there are.
        example_jid: that which failed last.
        first_seen: when the first failed, of those that are failed now.
        last_seen: when the last did.
        slots: how many failed in each part of the time of the whole, the oldest first.

    """

    pattern: str
    count: int
    example_jid: str
    first_seen: float | None
    last_seen: float | None
    slots: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """What names it in an address."""
        return key_of(self.pattern)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """The clusters of a group, the largest first. Instants are epoch seconds.

    Attributes:
        rows: at most so many as there is room for.
        total: how many there are.
        covered: jobs that were looked at; where it was all of them, counts are exact.
        start: when the first part of the slots begins.
        slot_s: how long each part is.
        as_of: when the index was last known to be right; None where Redis was asked.
        complete: whether nothing is left out.

    """

    rows: tuple[Cluster, ...] = ()
    total: int = 0
    covered: int = 0
    start: float = 0.0
    slot_s: float = 0.0
    as_of: float | None = None
    complete: bool = True


def key_of(pattern: str) -> str:
    """Name a pattern in an address."""
    return blake2b(pattern.encode(errors="surrogateescape"), digest_size=6).hexdigest()


# -- Of the index

_COUNTS: Final = """
SELECT j.pattern, count(*), min(j.since), max(j.since) FROM jobs j INDEXED BY jobs_grp
WHERE j.grp = ? GROUP BY j.pattern ORDER BY 2 DESC, 1
"""
_NEWEST: Final = """
SELECT jid FROM jobs INDEXED BY jobs_grp WHERE grp = ? AND pattern = ? ORDER BY since DESC LIMIT 1
"""
# A stretch of the index for each slot: to group by slots would sort all jobs of the group.
_SLOTS: Final = """
WITH RECURSIVE slot(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM slot WHERE n < :last)
SELECT (
  SELECT count(*) FROM jobs INDEXED BY jobs_grp
  WHERE grp = :grp AND pattern = :pattern AND since >= :first + n * :width
    AND since < CASE n WHEN :last THEN 9223372036854775807 ELSE :first + (n + 1) * :width END
) FROM slot
"""
_OF_PATTERN: Final = """
SELECT jid FROM jobs INDEXED BY jobs_grp WHERE grp = ? AND pattern = ?
ORDER BY since DESC, id DESC LIMIT ? OFFSET ?
"""


def number_of(connection: sqlite3.Connection, group: str) -> int | None:
    """Give the number of a group in the index; None where it has none."""
    found = connection.execute(
        "SELECT id FROM names WHERE kind = ? AND name = CAST(? AS TEXT)", (GROUP, bound(group))
    ).fetchone()
    return int(found[0]) if found else None


def of_index(
    connection: sqlite3.Connection, group: str, now: float, *, most: int = MOST
) -> Clusters:
    """Give the clusters of a group as the index has them.

    Args:
        connection: as `Index.reading` lends it.
        group: its name.
        now: the moment, epoch seconds.
        most: clusters that are told of.

    """
    facts = dict(connection.execute("SELECT name, value FROM meta"))
    grp = number_of(connection, group)
    found = Clusters()
    if grp is not None:
        found = _counted.ask(
            connection,
            grp,
            most,
            count=lambda: _count(connection, grp, now, most),
            holds=lambda found: _width(found.start, now) == found.slot_s,
        )
    return replace(found, as_of=as_number(facts.get("as_of")), complete=bool(facts.get("complete")))


_counted: Final = Counted[Clusters](_KEPT)


def _width(start: float, now: float) -> float:
    """Give the seconds of a slot where the first begins then, and the last is not over yet.

    >>> _width(0.0, 86_400.0), _width(0.0, 86_450.0), _width(50.0, 50.0)
    (3610.0, 3610.0, 0.001)
    """
    width = max(0, int((now - start) * 1000)) // SLOTS + 1
    step: int = 10 ** max(0, len(str(width)) - _DIGITS)
    return -(-width // step) * step / 1000


def _count(connection: sqlite3.Connection, grp: int, now: float, most: int) -> Clusters:
    """Count the clusters of a group, by its number."""
    counted = connection.execute(_COUNTS, (grp,)).fetchall()
    if not counted:
        return Clusters()
    first = min(row[2] for row in counted)
    width = round(_width(first / 1000, now) * 1000)
    axis = {"grp": grp, "first": first, "width": width, "last": SLOTS - 1}
    rows = [
        Cluster(
            pattern=_text(connection, pattern),
            count=count,
            example_jid=_jid(connection, grp, pattern),
            first_seen=low / 1000,
            last_seen=high / 1000,
            slots=tuple(n for (n,) in connection.execute(_SLOTS, {**axis, "pattern": pattern})),
        )
        for pattern, count, low, high in counted[:most]
    ]
    return Clusters(
        rows=_in_order(rows),
        total=len(counted),
        covered=sum(row[1] for row in counted),
        start=first / 1000,
        slot_s=width / 1000,
    )


def _in_order(rows: Iterable[Cluster]) -> tuple[Cluster, ...]:
    return tuple(sorted(rows, key=lambda row: (-row.count, row.pattern)))


def jids_of(
    connection: sqlite3.Connection, group: str, key: str, offset: int, count: int
) -> tuple[str, int, list[str]]:
    """Give the pattern of a cluster, how many jobs it has, and some of them, the newest first."""
    grp = number_of(connection, group)
    found = connection.execute("SELECT id, pattern FROM patterns WHERE grp = ?", (grp,))
    number, pattern = next(((id_, text) for id_, text in found if key_of(text) == key), (None, ""))
    (total,) = connection.execute(
        "SELECT count(*) FROM jobs INDEXED BY jobs_grp WHERE grp = ? AND pattern = ?", (grp, number)
    ).fetchone()
    jids = [jid for (jid,) in connection.execute(_OF_PATTERN, (grp, number, count, offset))]
    return pattern, total, jids


def _text(connection: sqlite3.Connection, pattern: int | None) -> str:
    found = connection.execute("SELECT pattern FROM patterns WHERE id = ?", (pattern,)).fetchone()
    return str(found[0]) if found else ""


def _jid(connection: sqlite3.Connection, grp: int | None, pattern: int | None) -> str:
    found = connection.execute(_NEWEST, (grp, pattern)).fetchone()
    return str(found[0]) if found else ""


# -- Of Redis, in a bounded look


class Failed(NamedTuple):
    """A failed job as a look finds it; `when` in epoch seconds."""

    jid: str
    pattern: str
    when: float | None
    #: As Redis gave them, `FIELDS` of rows.
    fields: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Look:
    """The newest failures of a group, and how many there are in all."""

    found: tuple[Failed, ...]
    total: int


@read
def look(scope: Scope, group: str, most: int = LOOK) -> Read[Look]:
    """Read the newest failures of a group: at most so many jobs, and bytes, in three batches."""
    keys = scope.keys
    total, jids = yield [
        call("llen", keys.failed(group)),
        call("lrange", keys.failed(group), 0, min(most, FARTHEST) - 1),
    ]
    jids = jids or []
    sizes = yield [call("hstrlen", keys.job(jid), "failure") for jid in jids]
    some = _within(jids, sizes)
    spent = is_exhausted_group(group)
    replies = yield [
        *fields_of(keys, some),
        *(call("lrange", keys.history(jid), -NEWEST, -1) for jid in some if spent),
    ]
    fates = [fate_of(items or ()) for items in replies[len(some) :]] or [Fate()] * len(some)
    found = (
        _failed(jid, group, fields, fate)
        for jid, fields, fate in zip(some, replies, fates, strict=False)
        # The list keeps what is gone.
        if fields and fields[FIELDS.index("klass")] is not None
    )
    return Look(tuple(found), total or 0)


def is_exhausted_group(group: str) -> bool:
    """Say whether the jobs of a group are told apart by their histories."""
    return is_exhausted("Job exhausted retries in queue ", group)


def _within(jids: Sequence[str], sizes: Iterable[int | None]) -> list[str]:
    """Give the first jids whose failures are not too many bytes together."""
    left = MOST_BYTES
    some: list[str] = []
    for jid, size in zip(jids, sizes, strict=True):
        left -= size or 0
        if left < 0 and some:
            break
        some.append(jid)
    return some


def _failed(jid: str, group: str, fields: Sequence[Any], fate: Fate) -> Failed:
    klass, worker = fields[FIELDS.index("klass")], fields[FIELDS.index("worker")]
    said = failure_of(fields[FIELDS.index("failure")])
    pattern = pattern_of(
        str(said.get("message") or ""),
        group=group,
        klass=klass or "",
        worker=worker or str(said.get("worker") or "") or fate.worker,
        fate=fate.text,
    )
    return Failed(jid, pattern, as_number(said.get("when")), fields)


@dataclass(slots=True)
class _Heap:
    jids: list[str] = field(default_factory=list)
    whens: list[float] = field(default_factory=list)


def of_look(seen: Look, now: float) -> Clusters:
    """Make clusters of what a look found."""
    heaps: dict[str, _Heap] = {}
    for each in seen.found:
        heap = heaps.setdefault(each.pattern, _Heap())
        heap.jids.append(each.jid)
        if each.when is not None:
            heap.whens.append(each.when)
    first = min((min(heap.whens) for heap in heaps.values() if heap.whens), default=now)
    width = max(0.001, (now - first) / SLOTS)
    rows = [
        Cluster(
            pattern=pattern,
            count=len(heap.jids),
            example_jid=heap.jids[0],
            first_seen=min(heap.whens, default=None),
            last_seen=max(heap.whens, default=None),
            slots=_slots(heap.whens, first, width),
        )
        for pattern, heap in heaps.items()
    ]
    return Clusters(
        rows=_in_order(rows)[:MOST],
        total=len(rows),
        covered=len(seen.found),
        start=first,
        slot_s=width,
        complete=len(seen.found) >= seen.total,
    )


def _slots(whens: Iterable[float], first: float, width: float) -> tuple[int, ...]:
    counts = [0] * SLOTS
    for when in whens:
        counts[max(0, min(SLOTS - 1, int((when - first) / width)))] += 1
    return tuple(counts)


def rows_in(seen: Look, key: str, part: Slice, now: float) -> tuple[str, Listing[JobRow]]:
    """Give the pattern of a cluster among what a look found, and some of its jobs as rows."""
    those = [each for each in seen.found if key_of(each.pattern) == key]
    some = part.of(those)
    rows = job_rows([each.jid for each in some], [each.fields for each in some], now)
    return those[0].pattern if those else "", Listing(rows, len(those), part.offset)


@read
def rows_of(scope: Scope, jids: Sequence[str]) -> Read[tuple[JobRow, ...]]:
    """Read the rows of jobs."""
    return (yield from listed(scope, jids))
