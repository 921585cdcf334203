"""What became of the jobs that a recurring job made, the newest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qless_core.options import as_number, as_whole
from qless_core.reads.plan import Read, Scope, Slice, call, read
from qless_core.reads.rows import CLUES as _CLUES
from qless_core.reads.rows import (
    FIELDS,
    JobRow,
    Listing,
    clue_of,
    fields_of,
    job_rows,
    parse,
    scored,
    scores_calls,
    scores_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Items at the end of a history among which the last start and end are looked for.
_NEWEST = 3

_ENDS = frozenset({"done", "failed", "failed-retries", "canceled"})


@dataclass(frozen=True, slots=True)
class Run:
    """One run. Instants are whole seconds, None where nothing is known or it is still to come."""

    row: JobRow
    #: When it was put: of a run by interval or expression, when it was due.
    due: float | None
    #: When a worker took it last, and when it then ended.
    started: float | None
    ended: float | None


@read
def runs(scope: Scope, jid: str, part: Slice) -> Read[Listing[Run] | None]:
    """Give the runs of a recurring job, the newest first; None where there is no such job.

    Its jobs are called `<jid>-<n>`, and it tells how many it has made.
    """
    keys = scope.keys
    found = yield [
        call("hmget", keys.recurring(jid), ["jid", "count"]),
        call("hmget", keys.cron_job(jid), ["jid", "count"]),
    ]
    for reply in found:
        if any(reply or ()):
            count = as_whole(reply[1]) or 0
            rows = yield from runs_of(scope, jid, count, part)
            return Listing(rows, max(0, count), part.offset)
    return None


def runs_of(scope: Scope, jid: str, count: int, part: Slice) -> Read[tuple[Run, ...]]:
    """Read runs in two batches, counting down from the last one made."""
    first = max(0, count - part.offset)
    jids = [f"{jid}-{number}" for number in range(first, max(0, first - part.count), -1)]
    keys = scope.keys
    replies = yield [
        *fields_of(keys, jids),
        *(call("lindex", keys.history(each), 0) for each in jids),
        *(call("lrange", keys.history(each), -_NEWEST, -1) for each in jids),
    ]
    fields, begun, newest = (replies[len(jids) * n : len(jids) * (n + 1)] for n in range(3))
    # A job of such a name that somebody else put is none of its runs.
    fields = [reply if _is_child(reply, jid) else None for reply in fields]
    clues = {each: clue_of(_clues(reply)) for each, reply in zip(jids, fields, strict=True)}
    asked = scored(clues)
    scores = scores_of(asked, (yield scores_calls(keys, asked)))
    rows = job_rows(jids, fields, scope.now, due=scores, locks=scores)
    return tuple(
        Run(row, None, None, None) if row.gone else _run(row, put, items or ())
        for row, put, items in zip(rows, begun, newest, strict=True)
    )


def _is_child(reply: Sequence[str | None] | None, jid: str) -> bool:
    return reply is not None and reply[FIELDS.index("spawned_from_jid")] == jid


def _clues(reply: Sequence[str | None] | None) -> list[str | None] | None:
    return None if reply is None else [reply[FIELDS.index(name)] for name in _CLUES]


def _run(row: JobRow, put: str | None, items: Sequence[str]) -> Run:
    started = ended = None
    for what, when in map(_happened, items):
        if what == "popped":
            started, ended = when, None
        elif what in _ENDS and started is not None:
            ended = when
    return Run(row, _happened(put)[1], started, ended)


def _happened(item: str | None) -> tuple[str, float | None]:
    stored: Any = parse(item)
    if isinstance(stored, list) and len(stored) > 1:
        return str(stored[1]), as_number(stored[0])
    return "", None
