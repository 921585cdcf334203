"""What the index holds: the tables of the SQLite file, and the numbers that stand for words.

A job has one row in `jobs`. Names are numbers there (`names`), and so are its tags as a whole
(`tagsets`), its pattern (`patterns`) and its state (`STATES`). Texts are in `texts`, by `seq_of`
the id, and what can be searched of them in `words`.

An id is a place by lot (`REGIONS` of them) and a running number, so that the jobs of one region are
a fair sample of all: they lie side by side, in the table as in the lists of words.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from zlib import crc32

#: Another number makes every index be built anew.
VERSION: Final = 4

#: States as stored, each by its place; `unknown` is a word that is no state of ours.
STATES: Final = (
    "waiting",
    "running",
    "stalled",
    "scheduled",
    "depends",
    "throttled",
    "failed",
    "complete",
    "unknown",
)
STATE: Final = {word: number for number, word in enumerate(STATES)}

#: Kinds of names.
GROUP, KLASS, QUEUE, WORKER, TAG = range(5)

#: Parts that the jobs are dealt to by lot, and how many bits of an id number those of one.
REGIONS: Final = 64
SHIFT: Final = 32

#: Characters of a message and of data that are kept and searched.
MESSAGE_KEPT: Final = 4_000
DATA_KEPT: Final = 2_000

#: Begun so often, a job flaps.
FLAPS: Final = 4

TABLES: Final = f"""
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- `name` is "" for none. `host` is that of a worker, else "".
CREATE TABLE names (
  id INTEGER PRIMARY KEY,
  kind INTEGER NOT NULL,
  name TEXT NOT NULL,
  host TEXT NOT NULL DEFAULT '',
  UNIQUE (kind, name)
);

-- A set of tags as a JSON list, and each tag in it.
CREATE TABLE tagsets (id INTEGER PRIMARY KEY, tags TEXT NOT NULL UNIQUE);
CREATE TABLE tagged (
  tag INTEGER NOT NULL, tagset INTEGER NOT NULL, PRIMARY KEY (tag, tagset)
) WITHOUT ROWID;

-- What the messages of a group are made alike to. Counts: GROUP BY over jobs_grp.
CREATE TABLE patterns (
  id INTEGER PRIMARY KEY,
  grp INTEGER NOT NULL,
  pattern TEXT NOT NULL,
  UNIQUE (grp, pattern)
);

-- Instants are epoch milliseconds. `grp` and `pattern` are NULL but for failed jobs.
CREATE TABLE jobs (
  id INTEGER PRIMARY KEY,
  jid TEXT NOT NULL,
  state INTEGER NOT NULL,
  klass INTEGER NOT NULL,
  queue INTEGER NOT NULL,  -- of a complete job, the queue it was last in is not known: ""
  worker INTEGER NOT NULL, -- that runs it, or that failed
  grp INTEGER,
  pattern INTEGER,
  tagset INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  put_at INTEGER,          -- first put
  since INTEGER NOT NULL,  -- put, popped, completed or failed: what came last
  until INTEGER,           -- a running one: end of its lock; a scheduled one: due
  tracked INTEGER NOT NULL
);
CREATE UNIQUE INDEX jobs_jid ON jobs (jid);
CREATE INDEX jobs_since ON jobs (since);
CREATE INDEX jobs_state ON jobs (state, since, until);
CREATE INDEX jobs_put_at ON jobs (state, put_at);
CREATE INDEX jobs_grp ON jobs (grp, pattern, since) WHERE grp IS NOT NULL;
CREATE INDEX jobs_klass ON jobs (klass, state);
CREATE INDEX jobs_queue ON jobs (queue, state);
CREATE INDEX jobs_worker ON jobs (worker);
CREATE INDEX jobs_flapping ON jobs (state, attempt) WHERE attempt >= {FLAPS};
CREATE INDEX jobs_tagset ON jobs (tagset);
CREATE INDEX jobs_until ON jobs (until) WHERE until IS NOT NULL;

-- Failed jobs of a group by the hour, numbered from the epoch; of which `first` and `last` failed.
CREATE TABLE hours (
  grp INTEGER NOT NULL,
  hour INTEGER NOT NULL,
  count INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (grp, hour)
) WITHOUT ROWID;
CREATE INDEX hours_hour ON hours (hour);

-- Failed jobs of a group by class, queue, and host of the worker, each by its kind of name.
CREATE TABLE affected (
  grp INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  name TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (grp, kind, name)
) WITHOUT ROWID;

-- `id` is `seq_of` that of the job. What is longer is cut, data at the end of a value.
CREATE TABLE texts (id INTEGER PRIMARY KEY, message TEXT NOT NULL, data TEXT NOT NULL);

-- `names`: class, group and tags. `leaves`: a word for each value in the data, and its path.
CREATE VIRTUAL TABLE words USING fts5(
  message, names, data, leaves,
  content='', columnsize=0, tokenize="unicode61 remove_diacritics 2"
);
-- Bytes of words that are gathered until a part of the lists is written: few are few to join.
INSERT INTO words (words, rank) VALUES ('hashsize', 8388608);
"""  # noqa: S608 - a number of ours


def id_of(jid: str, seq: int) -> int:
    """Give the id of a job whose running number is `seq`."""
    return (crc32(jid.encode(errors="surrogateescape")) % REGIONS << SHIFT) | seq


def seq_of(id_: int) -> int:
    """Give the running number of a job, which is the id of its texts."""
    return id_ & ((1 << SHIFT) - 1)


@lru_cache(maxsize=16_384)
def host_of(worker: str) -> str:
    """Give the host of a worker: its name without the `-<pid>` behind, as the script has it.

    >>> host_of("w-7-4101"), host_of("w")
    ('w-7', 'w')
    """
    host, dash, pid = worker.rpartition("-")
    return host if dash and host and pid.isascii() and pid.isdigit() else worker
