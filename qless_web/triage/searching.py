"""A search of the index: a page of jobs, how many there are, and what they have in common.

What many jobs match cannot be counted while somebody waits. So the jobs of a region, which are a
fair sample, are looked at first; they tell which way is quick, and how many there are about.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from heapq import nlargest
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from qless_core.clock import REAL
from qless_core.reads import Slice
from qless_web.triage import clauses
from qless_web.triage.checking import fits
from qless_web.triage.clauses import SHOWN, Clauses, matching
from qless_web.triage.entry import BLANK
from qless_web.triage.index import decoded
from qless_web.triage.query import ANYTHING, And, Field, Node, Not, Or, Word, conjuncts
from qless_web.triage.schema import REGIONS, SHIFT, STATE, STATES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Jobs up to which matches are counted one by one.
EXACT: Final = 50_000
#: Seconds that a search may take; what was found by then is given.
BUDGET_S: Final = 0.25
#: Seconds of it for more regions than the first.
_SAMPLE_S: Final = 0.06
#: How far into many matches a list goes.
REACH: Final = 10_000
#: Jobs of an index below which there is nothing to be planned.
_FEW: Final = 60_000
#: Jobs that a sample has where there are enough.
_SAMPLED: Final = 10_000
#: Steps of SQLite's machine between two looks at the clock.
_STEPS: Final = 2_000
#: Values of a facet that are given.
_VALUES: Final = 12
#: Names above which all are read, and not those that are needed.
_LOOKED_UP: Final = 2_000
#: How many times more jobs the list of words may name than a condition, and lead all the same: to
#: look through the texts of one job takes as long as to go through so many.
_RARER: Final = 20
#: The part of all jobs above which no index helps.
_MOST_LED: Final = 0.15
#: Fields with an index.
_INDEXED: Final = frozenset(
    {"state", "group", "klass", "queue", "worker", "host", "tag", "age", "put", "pattern", "jid"}
)
#: Spans of time that an index tells together with another field.
_TOLD_WITH: Final = {"state": frozenset({"age", "put"}), "group": frozenset({"age"})}
#: All that have failed, and how many those are: an index of a million takes 25 ms to count.
_IS_FAILED: Final = f"state = {STATE['failed']}"
_FAILED: Final = "SELECT total(count) FROM hours"
_BOUNDS: Final = "BETWEEN :low AND :high"
#: Whether a job has the words, by its texts: to look them up for one job takes far longer. Most
#: that have not are told by `{may}`; in texts of other letters than ASCII's it cannot tell.
_HAS_WORDS: Final = """
EXISTS (
  SELECT 1 FROM texts t
  JOIN names k ON k.id = jobs.klass
  LEFT JOIN names g ON g.id = jobs.grp
  JOIN tagsets s ON s.id = jobs.tagset
  WHERE t.id = (jobs.id & 4294967295) AND {may}
    AND has_words(t.message, t.data, CAST(k.name AS BLOB), CAST(g.name AS BLOB), s.tags)
)
"""
_MAY_HAVE: Final = r"""(
  t.message LIKE {part} OR t.data LIKE {part} OR k.name LIKE {part} OR g.name LIKE {part}
  OR s.tags LIKE {part} OR s.tags LIKE '%\u%'
  OR length(CAST(t.message || t.data || k.name || coalesce(g.name, '') AS BLOB))
    > length(t.message || t.data || k.name || coalesce(g.name, ''))
)"""
_PLAIN = re.compile(r"[a-z0-9]+", re.IGNORECASE | re.ASCII)
_COUNT_TOLD: Final = "SELECT coalesce(max(value), 0) FROM meta WHERE name = 'jobs'"

#: What is told of a match: what puts it in order, and what the facets need.
_COLUMNS: Final = (
    f"jobs.since, jobs.id, {SHOWN}, jobs.grp, jobs.klass, jobs.queue, jobs.worker, jobs.tagset"
)

#: How certain a total is: counted, estimated by a sample, or what was found in time.
Certainty = Literal["exact", "about", "at least"]


class Value(NamedTuple):
    """A value of a facet, and how many of the jobs that were looked at have it."""

    value: str
    jobs: int


class Facet(NamedTuple):
    """The most frequent values of a field."""

    name: str
    values: tuple[Value, ...]
    #: How many values there are.
    distinct: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found.

    Attributes:
        jids: a page of it, the newest first.
        total: how many there are.
        certainty: of the total.
        facets: what they have in common.
        sampled: of how many jobs the facets tell; those of all, where that is the total.
        is_whole: whether there was time to look everywhere.

    """

    jids: tuple[str, ...]
    total: int
    certainty: Certainty = "exact"
    facets: tuple[Facet, ...] = ()
    sampled: int = 0
    is_whole: bool = True


@dataclass(slots=True)
class _Sample:
    """What some regions tell; `least` is how many there are at least."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    regions: int = 0
    least: int = 0

    @property
    def estimate(self) -> int:
        found = len(self.rows) * REGIONS // self.regions if self.regions else 0
        return max(found, self.least)


class Search:
    """One search.

    Args:
        connection: that can only read.
        node: what is looked for; None is all jobs.
        now: epoch seconds.

    """

    def __init__(self, connection: sqlite3.Connection, node: Node | None, now: float) -> None:
        self._db = connection
        clauses.install(connection)
        self._clauses = Clauses(connection, int(now * 1000))
        self._words, self._others = _split(conjuncts(node))
        text = matching(And(self._words)) if self._words else None
        self._match = self._clauses.bind(text) if text else ""
        self._conditions = [
            self._clauses.comparison(each)
            if isinstance(each, Field) and _is_datum(each)
            else self._clauses.condition(each)
            for each in self._others
        ]
        self._join_moments()
        connection.create_function("has_words", 5, self._has_words, deterministic=True)
        self._until = float("inf")

    def _join_moments(self) -> None:
        """Make a state, or a group, and since when it is so one condition: one index tells both."""
        names = [_fields(node) for node in self._others]
        for name, spans in _TOLD_WITH.items():
            chosen = [at for at, each in enumerate(names) if each == {name}]
            moments = [at for at, each in enumerate(names) if each and each <= spans]
            if len(chosen) == 1 and moments:
                whole = " AND ".join(self._conditions[at] for at in (*chosen, *moments))
                kept = [at for at in range(len(names)) if at not in {*chosen, *moments}]
                self._conditions = [f"({whole})", *(self._conditions[at] for at in kept)]
                self._others = [self._others[chosen[0]], *(self._others[at] for at in kept)]
                return

    def page(self, offset: int, count: int) -> Found:
        """Find a part of the matches.

        Raises:
            sqlite3.Error: the index is damaged.

        """
        (self._jobs,) = self._db.execute(_COUNT_TOLD).fetchone()
        began = REAL.monotonic()
        self._until = began + BUDGET_S
        self._db.set_progress_handler(self._is_late, _STEPS)
        try:
            sample = self._sample(began)
            self._until = began + BUDGET_S
            if sample.estimate <= EXACT:
                rows, is_whole = self._all()
                if len(rows) <= EXACT:
                    return self._few(rows, Slice(offset, count), is_whole=is_whole)
                # In the order of the ids they are a fair sample, too.
                sample = _Sample(rows[:EXACT], regions=0, least=EXACT + 1)
            return self._many(sample, Slice(offset, count))
        finally:
            self._db.set_progress_handler(None, 0)

    def every(self) -> Iterator[str]:
        """Give the jids of all matches, however many and however long that takes.

        Raises:
            sqlite3.Error: the index is damaged.

        """
        self._everywhere()
        source = self._source(words_lead=bool(self._match))
        found = self._db.execute(f"SELECT jobs.jid FROM {source}", self._clauses.params)  # noqa: S608 - of ours
        for (jid,) in found:
            yield jid

    def _is_late(self) -> bool:
        return REAL.monotonic() > self._until

    def _has_words(
        self, message: str, data: str, klass: bytes, group: bytes | None, tags: str
    ) -> bool:
        entry = BLANK._replace(
            message=message,
            data=data,
            klass=decoded(klass),
            group=decoded(group or b""),
            tags=() if tags == "[]" else tuple(json.loads(tags)),
        )
        return all(fits(node, entry, 0.0) for node in self._words)

    # A fair sample

    def _sample(self, began: float) -> _Sample:
        """Look at regions until enough is known; at none where there are few jobs."""
        sample = _Sample()
        while self._jobs > _FEW and sample.regions < REGIONS and len(sample.rows) < _SAMPLED:
            self._until = began + (BUDGET_S if sample.regions == 0 else _SAMPLE_S)
            if self._is_late():
                break
            rows, is_whole = self._rows(self._within(sample.regions, sample.regions + 1))
            if not is_whole:
                break
            sample.rows += rows
            sample.regions += 1
            if sample.estimate <= EXACT:
                break
        return sample

    def _within(self, first: int, end: int) -> str:
        self._clauses.params |= {"low": first << SHIFT, "high": (end << SHIFT) - 1}
        return self._source(words_lead=True, indexed="NOT INDEXED")

    def _everywhere(self) -> None:
        self._clauses.params |= {"low": 0, "high": 2**62}

    # Where there are few

    def _all(self) -> tuple[list[tuple[Any, ...]], bool]:
        words, leader = self._shares()
        self._everywhere()
        if self._match and (leader is None or words < _RARER * leader[1]):
            source = self._source(words_lead=True)
        elif leader is None or leader[1] > _MOST_LED:
            source = self._source(words_lead=False, indexed="NOT INDEXED")
        else:
            source = self._source(words_lead=False, leader=leader[0])
        return self._rows(f"{source} LIMIT {EXACT + 1}")

    def _shares(self) -> tuple[float, tuple[int, float] | None]:
        """Estimate which part of all jobs the words have, and the condition that has the least.

        Of conditions those count that an index can answer, each by its place.
        """
        able = [at for at, node in enumerate(self._others) if _is_indexed(node)]
        self._clauses.params |= {"low": 0, "high": (1 << SHIFT) - 1}
        sums = ", ".join(["count(*)", *(f"total({self._conditions[at]})" for at in able)])
        (jobs, *found), *_ = self._rows_of(
            f"SELECT {sums} FROM jobs NOT INDEXED WHERE id BETWEEN :low AND :high"  # noqa: S608 - of ours
        ) or [(0,)]
        shares = [(at, count / max(1, jobs)) for at, count in zip(able, found, strict=False)]
        words = 0.0
        if self._match:
            some = clauses.MATCHING.format(match=self._match)
            ((count,),) = self._rows_of(f"SELECT count(*) FROM ({some})") or [(jobs,)]  # noqa: S608 - of ours
            words = count / max(1, jobs)
        return words, min(shares, key=lambda share: share[1], default=None)

    def _few(self, rows: list[tuple[Any, ...]], part: Slice, *, is_whole: bool) -> Found:
        newest = nlargest(part.offset + part.count, rows)
        return Found(
            jids=self._jids([row[1] for row in part.of(newest)]),
            total=len(rows),
            certainty="exact" if is_whole else "at least",
            facets=self._facets(rows),
            sampled=len(rows),
            is_whole=is_whole,
        )

    def _jids(self, ids: Sequence[int]) -> tuple[str, ...]:
        self._until = float("inf")  # a page of them
        several = self._clauses.bind(json.dumps(ids))
        found = dict(
            self._rows_of(
                f"SELECT id, jid FROM jobs WHERE id IN (SELECT value FROM json_each({several}))"  # noqa: S608 - of ours
            )
        )
        return tuple(found[each] for each in ids if each in found)  # it may have gone since

    # Where there are many

    def _many(self, sample: _Sample, part: Slice) -> Found:
        self._everywhere()
        offset = min(part.offset, REACH)
        source = self._source(words_lead=False, indexed="INDEXED BY jobs_since")
        order = f"ORDER BY jobs.since DESC, jobs.id DESC LIMIT {part.count} OFFSET {offset}"
        jids, is_whole = self._rows_within(f"SELECT jobs.jid FROM {source} {order}")  # noqa: S608 - of ours
        counted = self._counted()
        rows = sample.rows
        return Found(
            jids=tuple(jid for (jid,) in jids),
            total=sample.estimate if counted is None else counted,
            certainty="about" if counted is None else "exact",
            facets=self._facets(rows),
            sampled=len(rows),
            is_whole=is_whole,
        )

    def _counted(self) -> int | None:
        """Count what one index can count at once."""
        if self._conditions == [_IS_FAILED] and not self._match:
            ((failed,),) = self._db.execute(_FAILED)
            return int(failed)
        told = [node.node if isinstance(node, Not) else node for node in self._others]
        if self._match or len(told) > 1 or not all(map(_is_indexed, told)):
            return None
        found = self._rows_of(f"SELECT count(*) FROM {self._source(words_lead=False)}")  # noqa: S608 - of ours
        return int(found[0][0]) if found else None

    # Rows

    def _source(self, *, words_lead: bool, indexed: str = "", leader: int | None = None) -> str:
        """Write where rows come from, and which.

        Args:
            words_lead: whether the list of words is gone through, and not the jobs.
            indexed: which index of the jobs to go by.
            leader: the one condition that may choose an index.

        """
        conditions = [
            each if leader is None else _led(each) if leader == at else f"+({each})"
            for at, each in enumerate(self._conditions)
        ]
        source = f"jobs {indexed}"
        if self._match and words_lead:
            source = "words CROSS JOIN jobs ON jobs.id = words.rowid"
            conditions = [f"words MATCH {self._match}", f"words.rowid {_BOUNDS}", *conditions]
        elif self._match:
            conditions.append(_HAS_WORDS.format(may=self._may_have()))
        elif words_lead:
            conditions = [f"jobs.id {_BOUNDS}", *conditions]
        return f"{source} WHERE {' AND '.join(conditions) or '1'}"

    def _may_have(self) -> str:
        """Write what those that have all words have at least: a part of the longest."""
        words = [node.text.parts[0] for node in self._words if isinstance(node, Word)]
        parts = [part for word in words for part in _PLAIN.findall(word)]
        if not parts:
            return "1"
        return _MAY_HAVE.format(part=self._clauses.bind(f"%{max(parts, key=len)}%"))

    def _rows(self, source: str) -> tuple[list[tuple[Any, ...]], bool]:
        return self._rows_within(f"SELECT {_COLUMNS} FROM {source}")  # noqa: S608 - of ours

    def _rows_within(self, sql: str) -> tuple[list[tuple[Any, ...]], bool]:
        """Give rows, and whether those are all; there was no time for the others."""
        rows: list[tuple[Any, ...]] = []
        try:
            rows.extend(self._db.execute(sql, self._clauses.params))
        except sqlite3.OperationalError as error:
            if "interrupted" not in str(error):
                raise
            return rows, False
        return rows, True

    def _rows_of(self, sql: str) -> list[tuple[Any, ...]]:
        """Give rows; none where there was no time."""
        rows, is_whole = self._rows_within(sql)
        return rows if is_whole else []

    # What they have in common

    def _facets(self, rows: Sequence[tuple[Any, ...]]) -> tuple[Facet, ...]:
        counts = [Counter(map(itemgetter(at), rows)) for at in range(2, 8)]
        states, groups, classes, queues, workers, tagsets = counts
        groups.pop(None, None)
        self._until = float("inf")  # what follows takes a bounded time
        return (
            _facet("state", {STATES[state]: count for state, count in states.items()}),
            _facet("group", self._named(groups)),
            _facet("klass", self._named(classes)),
            _facet("queue", self._named(queues)),
            _facet("host", self._named(workers, "host")),
            _facet("tag", self._worn(tagsets)),
        )

    def _named(self, counts: Counter[int], column: str = "name") -> Counter[str]:
        """Give names in the place of their numbers."""
        found: Counter[str] = Counter()
        if len(counts) > _LOOKED_UP:
            rows = self._db.execute(f"SELECT id, {column} FROM names")  # noqa: S608 - of ours
        else:
            several = json.dumps(list(counts))
            rows = self._db.execute(
                f"SELECT id, {column} FROM names WHERE id IN (SELECT value FROM json_each(?))",  # noqa: S608 - of ours
                (several,),
            )
        for number, name in rows:
            if name and number in counts:
                found[name] += counts[number]
        return found

    def _worn(self, counts: Counter[int]) -> Counter[str]:
        """Give tags in the place of the numbers of their sets."""
        rows = self._db.execute(
            "SELECT id, tags FROM tagsets WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(counts)),),
        )
        found: Counter[str] = Counter()
        for number, text in rows:
            for tag in json.loads(text):
                found[tag] += counts[number]
        return found


def _led(condition: str) -> str:
    """Go to the jobs of a condition in the order of their ids: so each page is read once."""
    return f"jobs.id IN (SELECT id FROM jobs WHERE {condition})"  # noqa: S608 - of ours


def _facet(name: str, counts: Counter[str] | dict[str, int]) -> Facet:
    frequent = sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:_VALUES]
    return Facet(name, tuple(Value(*each) for each in frequent), len(counts))


def _split(nodes: tuple[Node, ...]) -> tuple[tuple[Node, ...], list[Node]]:
    """Part what the list of words can tell, as questions to it, from everything else.

    Where values are compared, it tells at least which jobs have any.
    """
    told = [node for node in nodes if matching(node)]
    if told:
        told += [node for node in nodes if isinstance(node, Not) and matching(node.node)]
    others = [node for node in nodes if node not in told]
    there = [
        Field(node.name, "=", ANYTHING, 0.0, node.span)
        for node in others
        if isinstance(node, Field) and _is_datum(node)
    ]
    return (*there, *told), others


def _fields(node: Node) -> frozenset[str]:
    """Give the fields that a node asks for, one or one of several; none where it asks otherwise."""
    nodes = node.nodes if isinstance(node, Or) else (node,)
    names = [each.name for each in nodes if isinstance(each, Field)]
    return frozenset(names) if len(names) == len(nodes) else frozenset()


def _is_datum(field: Field) -> bool:
    return field.name.startswith("data.")


def _is_indexed(node: Node) -> bool:
    """Say whether an index can lead to the jobs that are so."""
    return bool(names := _fields(node)) and names <= _INDEXED
