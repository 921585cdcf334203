"""What the writer does to the index: takes jobs in, as they are now, and out."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from qless_web.triage import leaves
from qless_web.triage.index import bound
from qless_web.triage.patterns import pattern_of
from qless_web.triage.schema import (
    GROUP,
    KLASS,
    MESSAGE_KEPT,
    QUEUE,
    STATE,
    STATES,
    TAG,
    WORKER,
    host_of,
    id_of,
    seq_of,
)
from qless_web.triage.tallies import Tallies

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from qless_web.triage.entry import Entry
    from qless_web.triage.places import Place

_OLD: Final = """
SELECT j.id, j.state, j.klass, j.queue, j.worker, j.grp, j.pattern, j.tagset, j.priority, j.attempt,
  j.put_at, j.since, j.until, j.tracked, t.message, t.data
FROM jobs j LEFT JOIN texts t ON t.id = j.id & 4294967295
WHERE j.jid = CAST(? AS TEXT)
"""
_LYING: Final = "SELECT jid, id & 4294967295, state, queue, grp FROM jobs WHERE jid IN ({jids})"
_SEVERAL: Final = "SELECT value FROM json_each(?)"
_ONE: Final = "CAST(? AS TEXT)"
#: To replace takes longer, and so does a cast of what is a text already.
_INSERT: Final = """
INSERT{how} INTO jobs (id, jid, state, klass, queue, worker, grp, pattern, tagset, priority,
  attempt, put_at, since, until, tracked)
VALUES (?, {jid}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_NEW: Final = _INSERT.format(how="", jid="?")
_OTHER: Final = _INSERT.format(how=" OR REPLACE", jid="CAST(? AS TEXT)")
_TEXTS: Final = "INSERT OR REPLACE INTO texts (id, message, data) VALUES (?, ?, ?)"
_WORDS: Final = "INSERT INTO words (rowid, message, names, data, leaves) VALUES (?, ?, ?, ?, ?)"
_NO_WORDS: Final = (
    "INSERT INTO words (words, rowid, message, names, data, leaves) "
    "VALUES ('delete', ?, ?, ?, ?, ?)"
)
#: Bytes of words of new jobs that wait for the commit at most, and about those of a job's record.
_WORDS_HELD: Final = 48 << 20
_RECORD: Final = 128
#: Sets of tags that are kept in memory.
_REMEMBERED: Final = 20_000
_FORGET: Final = (
    """
    DELETE FROM tagsets WHERE id <> 0
      AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.tagset = tagsets.id)
    """,
    "DELETE FROM tagged WHERE tagset NOT IN (SELECT id FROM tagsets)",
    "DELETE FROM names WHERE kind = :tag AND id NOT IN (SELECT tag FROM tagged)",
    """
    DELETE FROM names WHERE kind = :worker AND name <> ''
      AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.worker = names.id)
    """,
)


class _Row(NamedTuple):
    """A row of `jobs`, but for its id and its jid."""

    state: int
    klass: int
    queue: int
    worker: int
    grp: int | None
    pattern: int | None
    tagset: int
    priority: int
    attempt: int
    put_at: int | None
    since: int
    until: int | None
    tracked: int


class Lying(NamedTuple):
    """Where a job lies, by what is known of it."""

    seq: int
    state: int
    queue: int
    grp: int | None


class _Texts(NamedTuple):
    message: str
    data: str


class Store:
    """The index, being written. Used by one thread.

    Args:
        connection: as `Index.open` gives it.

    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._names: dict[tuple[int, str], int] = {}
        self._said: dict[int, str] = {}
        self._tagsets: dict[tuple[str, ...], int] = {(): 0}
        self._worn: dict[int, tuple[str, ...]] = {0: ()}
        self._patterns: dict[tuple[int, str], int] = {}
        self._tallies = Tallies()
        self._tracked: set[str] = set()
        #: Changes that are held back until they are written together, at most, and those that are:
        #: most of them touch the same pages, each of which is written once then.
        self.holds_back = 0
        self._held = 0
        #: What is searched of jobs that are new since the last commit, each with the id; how many
        #: bytes that is, and how many of it wait at most.
        self._wordless: list[tuple[int, str, str, str, str]] = []
        self._words_held = 0
        self.holds_words = _WORDS_HELD
        #: Jobs of each queue in each stored state, and of each group, by number.
        self.placed: Counter[tuple[int, int]] = Counter()
        self.grouped: Counter[int] = Counter()
        #: Completed jobs: of those the queue says nothing.
        self.completed = 0
        self._load()

    def _load(self) -> None:
        db = self._db
        db.execute("INSERT OR IGNORE INTO tagsets (id, tags) VALUES (0, '[]')")
        for id_, kind, name in db.execute(
            "SELECT id, kind, name FROM names WHERE kind <> ?", (TAG,)
        ):
            self._remember(kind, name, id_)
        for id_, grp, pattern in db.execute("SELECT id, grp, pattern FROM patterns"):
            self._patterns[grp, pattern] = id_
        for queue, state, count in db.execute(
            "SELECT queue, state, count(*) FROM jobs GROUP BY queue, state"
        ):
            self.placed[queue, state] = count
            self.completed += count if state == STATE["complete"] else 0
        for grp, count in db.execute(
            "SELECT grp, count(*) FROM jobs WHERE grp IS NOT NULL GROUP BY grp"
        ):
            self.grouped[grp] = count
        self._tracked = {jid for (jid,) in db.execute("SELECT jid FROM jobs WHERE tracked = 1")}
        (last,) = db.execute("SELECT max(id) FROM texts").fetchone()
        self._seq: int = last or 0

    @property
    def jobs(self) -> int:
        """How many jobs there are."""
        return self.placed.total()

    @property
    def last_seq(self) -> int:
        """The greatest running number of a job so far."""
        return self._seq

    # Facts about the whole

    def told(self, name: str) -> Any:  # noqa: ANN401 - whatever was noted
        """Give what was noted; None where nothing was."""
        found = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return found[0] if found else None

    def tell(self, **facts: float | str | None) -> None:
        """Note facts."""
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", facts.items())

    # Jobs

    def put(self, entries: Iterable[tuple[str, Entry | None]], new: Collection[str] = ()) -> int:
        """Take jobs in, as they were read, or out where they are gone; all of them, or none.

        Args:
            entries: each jid once.
            new: those that are not known, for certain.

        Returns:
            How many differ from what was known.

        """
        entries = list(entries)
        self._begin()
        try:
            changes = self._changes(entries, new)
            try:
                self._write_new(changes)
            except sqlite3.IntegrityError:
                # One was known all the same. It must not stop all others, now and each time.
                self._take_back(changes)
                changes = self._changes(entries)
                self._write_new(changes)
            self._write(changes)
        except BaseException:
            self._roll_back()
            raise
        self._held += len(changes)
        if self._held >= self.holds_back:
            self.commit()
        return len(changes)

    def commit(self) -> None:
        """Let others see what was held back."""
        self._held = 0
        if not self._db.in_transaction:
            return
        try:
            self._write_words()
            self._db.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        self._wordless, self._words_held = [], 0
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def _begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")

    def lying(self, jids: Iterable[str]) -> dict[str, Lying]:
        """Say of jobs where they lie, by what is known; those that are not known are left out."""
        plain: list[str] = []
        others: list[str] = []
        for jid in jids:
            # To SQLite a zero byte ends a text that comes by way of JSON.
            is_plain = jid.isascii() and "\0" not in jid
            (plain if is_plain else others).append(jid)
        rows = self._db.execute(_LYING.format(jids=_SEVERAL), (json.dumps(plain),))
        found = {jid: Lying(*row) for jid, *row in rows}
        for jid in others:
            for _, *row in self._db.execute(_LYING.format(jids=_ONE), (bound(jid),)):
                found[jid] = Lying(*row)
        return found

    def members(self, place: Place, last: int) -> Iterator[tuple[int, str]]:
        """Give the running number and the jid of each job that is known to lie in a place.

        Args:
            place: the list.
            last: the greatest running number that counts; what came later is left out at once.

        """
        for where, params in self._rows_of(place):
            query = f"SELECT id, jid FROM jobs WHERE {where} AND id & 4294967295 <= ?"  # noqa: S608 - of two texts of ours
            for id_, jid in self._db.execute(query, (*params, last)):
                yield seq_of(id_), jid

    def size(self, place: Place) -> int:
        """Count the jobs that are known to lie in a place."""
        if place.kind == "failed":
            return self.grouped[self._names.get((GROUP, place.name), -1)]
        if place.kind == "completed":
            return self.completed
        queue = self._names.get((QUEUE, place.name), -1)
        return sum(self.placed[queue, STATE[state]] for state in place.states)

    def groups(self) -> list[str]:
        """Give the groups that failed jobs are known of."""
        return [self._said[number] for number, count in self.grouped.items() if count > 0]

    def holds(self, place: Place, lying: Lying) -> bool:
        """Say whether that is in this place."""
        if place.kind == "failed":
            return lying.grp is not None and self._said[lying.grp] == place.name
        if place.kind == "completed":
            return lying.state == STATE["complete"]
        return self._said[lying.queue] == place.name and STATES[lying.state] in place.states

    def late(self, after: int, upto: int, most: int) -> list[tuple[int, str]]:
        """Give jobs whose lock ended then, or that were due, by what is known, each with when."""
        found = self._db.execute(
            "SELECT until, jid FROM jobs WHERE until > ? AND until <= ? ORDER BY until LIMIT ?",
            (after, upto, most),
        )
        return found.fetchall()

    def after(self, id_: int, most: int) -> list[tuple[int, str]]:
        """Give jobs in the order of their ids, from one on."""
        found = self._db.execute(
            "SELECT id, jid FROM jobs WHERE id > ? ORDER BY id LIMIT ?", (id_, most)
        )
        return found.fetchall()

    def _rows_of(self, place: Place) -> Iterator[tuple[str, tuple[int, ...]]]:
        if place.kind == "failed":
            yield "grp = ?", (self._names.get((GROUP, place.name), -1),)
            return
        if place.kind == "completed":
            yield "state = ?", (STATE["complete"],)
            return
        queue = self._names.get((QUEUE, place.name), -1)
        for state in place.states:
            yield "queue = ? AND state = ?", (queue, STATE[state])

    def mark_tracked(self, jids: set[str]) -> None:
        """Have these jobs be tracked, and no others."""
        db, self._tracked = self._db, jids
        before = {jid for (jid,) in db.execute("SELECT jid FROM jobs WHERE tracked = 1")}
        for tracked, changed in ((1, jids - before), (0, before - jids)):
            db.executemany(
                "UPDATE jobs SET tracked = ? WHERE jid = CAST(? AS TEXT)",
                [(tracked, bound(jid)) for jid in changed],
            )

    def _known(self, jid: str) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self._db.execute(_OLD, (bound(jid),)).fetchone()
        return found

    def _changes(
        self, entries: Iterable[tuple[str, Entry | None]], new: Collection[str] = ()
    ) -> list[_Change]:
        """Give what differs from what was known, in the order of the ids."""
        changes = [
            change
            for jid, entry in entries
            if (change := self._change(jid, entry, None if jid in new else self._known(jid)))
        ]
        changes.sort(key=lambda change: change.id)
        return changes

    def _change(
        self, jid: str, entry: Entry | None, found: tuple[Any, ...] | None
    ) -> _Change | None:
        old = _Row(*found[1:14]) if found else None
        had = _Texts(found[14] or "", found[15] or "") if found else None
        if entry is None:
            return _Change(found[0], jid, old, None, had, None) if found else None
        grp = self._name(GROUP, entry.group) if entry.state == "failed" else None
        row = _Row(
            STATE.get(entry.state, STATE["unknown"]),
            self._name(KLASS, entry.klass),
            self._name(QUEUE, entry.queue),
            self._name(WORKER, entry.worker),
            grp,
            None if grp is None else self._pattern(grp, entry),
            self._tagset(entry.tags) if entry.tags else 0,
            entry.priority,
            entry.attempt,
            entry.put_at,
            entry.since,
            entry.until,
            int(jid in self._tracked),
        )
        texts = _Texts(_clean(entry.message[:MESSAGE_KEPT]), _clean(leaves.kept(entry.data)))
        if row == old and texts == had:
            return None
        return _Change(found[0] if found else self._new_id(jid), jid, old, row, had, texts)

    def _new_id(self, jid: str) -> int:
        self._seq += 1
        return id_of(jid, self._seq)

    def _write_new(self, changes: Iterable[_Change]) -> None:
        """Write the rows of jobs that are not known.

        Raises:
            sqlite3.IntegrityError: one is; some of the others may be written by now.

        """
        rows = [
            (id_, jid, *row)
            for id_, jid, old, row, *_ in changes
            if row is not None and _is_inserted(jid, old)
        ]
        self._db.executemany(_NEW, rows)

    def _take_back(self, changes: Iterable[_Change]) -> None:
        """Delete what `_write_new` wrote of these; their ids were given to nobody else."""
        ids = [(each.id,) for each in changes if each.old is None]
        self._db.executemany("DELETE FROM jobs WHERE id = ?", ids)

    def _write(self, changes: Sequence[_Change]) -> None:
        """Write all else."""
        db = self._db
        gone = [change for change in changes if change.row is None]
        db.executemany("DELETE FROM jobs WHERE id = ?", [(change.id,) for change in gone])
        db.executemany("DELETE FROM texts WHERE id = ?", [(seq_of(change.id),) for change in gone])
        others = [
            (id_, bound(jid), *row)
            for id_, jid, old, row, *_ in changes
            if row is not None and not _is_inserted(jid, old)
        ]
        db.executemany(_OTHER, others)
        db.executemany(
            _TEXTS,
            [
                (seq_of(each.id), *each.texts)
                for each in changes
                if each.texts is not None and each.texts != each.had
            ],
        )
        if any(each.had is not None for each in changes):
            self._write_words()
            for change in changes:
                self._index_words(change)
        else:
            for change in changes:
                self._hold_words(change)
        for change in changes:
            self._count(change.old, -1)
            self._count(change.row, 1)
        self._tallies.write(db)

    def _hold_words(self, change: _Change) -> None:
        """Let the words of a new job wait for the commit, as long as there is room for them."""
        words = self._words(change.row, change.texts)
        self._wordless.append((change.id, *words))
        self._words_held += _RECORD + sum(map(sys.getsizeof, words))
        if self._words_held > self.holds_words:
            self._write_words()

    def _write_words(self) -> None:
        """Write the words of new jobs that wait for that.

        The lists of words take them in the order of the ids: at each step back in it they end a
        part of theirs, and to join parts is most of the work.
        """
        if self._wordless:
            self._wordless.sort(key=itemgetter(0))
            self._db.executemany(_WORDS, self._wordless)
            self._wordless, self._words_held = [], 0

    def _index_words(self, change: _Change) -> None:
        before = self._words(change.old, change.had) if change.had is not None else None
        after = self._words(change.row, change.texts) if change.row is not None else None
        if before == after:
            return
        if before is not None:
            self._db.execute(_NO_WORDS, (change.id, *before))
        if after is not None:
            self._db.execute(_WORDS, (change.id, *after))

    def _words(self, row: _Row | None, texts: _Texts | None) -> tuple[str, str, str, str]:
        """Give what is searched of a job: its message, names, data and the leaves of that."""
        if row is None or texts is None:
            return "", "", "", ""
        names = [self._said[row.klass]]
        if row.grp is not None:
            names.append(self._said[row.grp])
        names += self._worn_by(row.tagset)
        return texts.message, _clean(" ".join(names)), texts.data, leaves.words(texts.data)

    def _count(self, row: _Row | None, step: int) -> None:
        if row is None:
            return
        self.placed[row.queue, row.state] += step
        self.completed += step if row.state == STATE["complete"] else 0
        if row.grp is not None:
            self.grouped[row.grp] += step
            self._tallies.note(
                row.grp,
                row.since,
                {
                    KLASS: self._said[row.klass],
                    QUEUE: self._said[row.queue],
                    WORKER: self._said[row.worker],
                },
                step,
            )

    # Names

    def number(self, kind: int, name: str) -> int | None:
        """Give the number of a name; None where no job has or had it."""
        return self._names.get((kind, name))

    def name(self, number: int) -> str:
        """Give the name that has a number."""
        return self._said[number]

    def _remember(self, kind: int, name: str, id_: int) -> int:
        self._names[kind, name] = id_
        self._said[id_] = name
        return id_

    def _name(self, kind: int, name: str) -> int:
        found = self._names.get((kind, name))
        if found is not None:
            return found
        host = host_of(name) if kind == WORKER else ""
        id_ = self._db.execute(
            "INSERT INTO names (kind, name, host) VALUES (?, CAST(? AS TEXT), CAST(? AS TEXT))",
            (kind, bound(name), bound(host)),
        ).lastrowid
        return self._remember(kind, name, int(id_ or 0))

    def _wear(self, tags: tuple[str, ...], id_: int) -> int:
        # Where each job has a tag of its own there is no end to them.
        if len(self._tagsets) >= _REMEMBERED:
            self._tagsets, self._worn = {(): 0}, {0: ()}
        self._tagsets[tags] = id_
        self._worn[id_] = tags
        return id_

    def _worn_by(self, id_: int) -> tuple[str, ...]:
        found = self._worn.get(id_)
        if found is None:
            (text,) = self._db.execute("SELECT tags FROM tagsets WHERE id = ?", (id_,)).fetchone()
            found = tuple(json.loads(text))
            self._wear(found, id_)
        return found

    def _tagset(self, tags: tuple[str, ...]) -> int:
        tags = tuple(sorted(set(tags)))
        found = self._tagsets.get(tags)
        if found is not None:
            return found
        text = json.dumps(tags)
        known = self._db.execute("SELECT id FROM tagsets WHERE tags = ?", (text,)).fetchone()
        if known is not None:
            return self._wear(tags, known[0])
        id_ = int(self._db.execute("INSERT INTO tagsets (tags) VALUES (?)", (text,)).lastrowid or 0)
        self._db.executemany(
            "INSERT INTO tagged (tag, tagset) VALUES (?, ?)",
            [(self._tag(tag), id_) for tag in tags],
        )
        return self._wear(tags, id_)

    def _tag(self, tag: str) -> int:
        values = (TAG, bound(tag))
        self._db.execute(
            "INSERT OR IGNORE INTO names (kind, name) VALUES (?, CAST(? AS TEXT))", values
        )
        found = self._db.execute(
            "SELECT id FROM names WHERE kind = ? AND name = CAST(? AS TEXT)", values
        ).fetchone()
        return int(found[0])

    def forget(self) -> None:
        """Forget tags and workers that no job has any more."""
        db = self._db
        self.commit()
        db.execute("BEGIN IMMEDIATE")
        try:
            for sql in _FORGET:
                db.execute(sql, {"tag": TAG, "worker": WORKER})
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")
        self._tagsets, self._worn = {(): 0}, {0: ()}
        kept = {id_ for (id_,) in db.execute("SELECT id FROM names WHERE kind = ?", (WORKER,))}
        for key in [
            key for key, id_ in self._names.items() if key[0] == WORKER and id_ not in kept
        ]:
            del self._said[self._names.pop(key)]

    def _pattern(self, grp: int, entry: Entry) -> int:
        pattern = _clean(
            pattern_of(
                entry.message,
                group=entry.group,
                klass=entry.klass,
                worker=entry.worker,
                fate=entry.fate,
            )
        )
        found = self._patterns.get((grp, pattern))
        if found is None:
            found = int(
                self._db.execute(
                    "INSERT INTO patterns (grp, pattern) VALUES (?, ?)", (grp, pattern)
                ).lastrowid
                or 0
            )
            self._patterns[grp, pattern] = found
        return found


class _Change(NamedTuple):
    """What becomes of a job: its row and texts before and after, None where there is none."""

    id: int
    jid: str
    old: _Row | None
    row: _Row | None
    had: _Texts | None
    texts: _Texts | None


def _is_inserted(jid: str, old: _Row | None) -> bool:
    """Tell whether the row of a job is new, and needs no cast."""
    return old is None and jid.isascii()


def _clean(text: str) -> str:
    """Give a text as it can be stored: of bytes that are no UTF-8, a mark."""
    return text if text.isascii() else text.encode(errors="replace").decode()
