"""Other jobs of a class, for the page of one: how many in each state, and the newest.

What is looked at is bounded: of a class with very many jobs a part that lot has dealt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from qless_web.triage.index import bound
from qless_web.triage.schema import KLASS, STATES

if TYPE_CHECKING:
    import sqlite3

#: Jobs of the class that are looked at.
LOOKED_AT: Final = 5_000

#: Of a class with more, among how many of the newest jobs of all its own are looked for.
NEWEST_OF: Final = 20_000

#: The newest jobs that are told.
TOLD: Final = 24


class Fellow(NamedTuple):
    """Another job of the class; `since` in epoch seconds."""

    jid: str
    state: str
    since: float


@dataclass(frozen=True, slots=True)
class Fellows:
    """What the index knows of the other jobs of a class.

    Attributes:
        counts: how many of those looked at are in each state, and which.
        looked_at: how many those are.
        is_all: whether there are no others.
        newest: the newest of them, the newest first.

    """

    counts: tuple[tuple[str, int], ...]
    looked_at: int
    is_all: bool
    newest: tuple[Fellow, ...]


def fellows(index: sqlite3.Connection, klass: str, jid: str) -> Fellows:
    """Look for the other jobs of a class."""
    number = index.execute(
        "SELECT id FROM names WHERE kind = ? AND name = CAST(? AS TEXT)", (KLASS, bound(klass))
    ).fetchone()
    if number is None:
        return Fellows((), 0, is_all=True, newest=())
    found = dict(
        index.execute(
            "SELECT state, COUNT(*) FROM (SELECT state FROM jobs INDEXED BY jobs_klass"
            " WHERE klass = ? AND jid <> CAST(? AS TEXT) LIMIT ?) GROUP BY state",
            (*number, bound(jid), LOOKED_AT),
        ).fetchall()
    )
    looked_at = sum(found.values())
    is_all = looked_at < LOOKED_AT
    counts = tuple((word, found[at]) for at, word in enumerate(STATES) if at in found)
    return Fellows(counts, looked_at, is_all, _newest(index, number[0], jid, is_all=is_all))


def _newest(index: sqlite3.Connection, klass: int, jid: str, *, is_all: bool) -> tuple[Fellow, ...]:
    """Give the newest: of few all are sorted, of very many those among the newest jobs of all."""
    few = "SELECT * FROM jobs INDEXED BY jobs_klass WHERE klass = :klass LIMIT :looked_at"
    many = "SELECT * FROM jobs ORDER BY since DESC LIMIT :newest_of"
    rows = index.execute(
        f"SELECT jid, state, since FROM ({few if is_all else many})"  # noqa: S608 - one of two fixed texts
        " WHERE klass = :klass AND jid <> CAST(:jid AS TEXT) ORDER BY since DESC LIMIT :told",
        {
            "klass": klass,
            "jid": bound(jid),
            "looked_at": LOOKED_AT + 1,
            "newest_of": NEWEST_OF,
            "told": TOLD,
        },
    )
    return tuple(Fellow(each, STATES[state], since / 1_000) for each, state, since in rows)
