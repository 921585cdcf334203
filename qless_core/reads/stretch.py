"""A list of jobs of any length, a stretch at a time: in pure reads, each job that stays met once.

A page is asked for by what came before it, not by its number: what comes and goes meanwhile moves
no other job out of sight.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from qless_core.reads.plan import Read, Scope, call, read
from qless_core.reads.rows import RECURRING_FIELDS, JobRow, RecurringRow, listed, recurring_row

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Members that may vanish at once without the place being looked for again.
_SLACK = 50

#: Entries of a list that are remembered: when all of them vanish at once, older ones are met again.
_RECENT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the jobs of a list are.

    Attributes:
        key: of a sorted set; or of a list, of which the last is the oldest.
        low: the lowest score, as Redis writes it; of a sorted set.
        high: the highest.
        falling: whether the highest score comes first.
        timed: whether the scores are moments.
        is_list: whether it is a list.
        recurs: "" for jobs; `interval` or `cron` for recurring ones.

    """

    key: str
    low: str = "-inf"
    high: str = "+inf"
    falling: bool = False
    timed: bool = True
    is_list: bool = False
    recurs: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How far a list was read.

    Attributes:
        score: of the last one.
        last: its jid.
        same: how many have been met that have this score; of a list, how many at all.
        recent: the last ones of a list that were met, in order.

    """

    score: float = 0.0
    last: str = ""
    same: int = 0
    recent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A part of a list.

    Attributes:
        rows: the jobs in order.
        data: the data of each, where it was asked for; None for one that is gone.
        mark: what to go on from; None behind the last one.

    """

    rows: tuple[JobRow, ...] | tuple[RecurringRow, ...]
    data: tuple[str | None, ...] = ()
    mark: Mark | None = field(default=None)


@read
def stretch(
    scope: Scope, source: Source, mark: Mark | None, size: int, *, with_data: bool = False
) -> Read[Stretch]:
    """Read the next jobs of a list.

    Args:
        scope: given by `run`.
        source: the list.
        mark: how far it was read; None for its beginning.
        size: how many jobs at most.
        with_data: whether their data is wanted.

    """
    reader = _of_list if source.is_list else _of_scores
    scores, mark = yield from reader(source, mark or Mark(), size)
    rows: tuple[JobRow, ...] | tuple[RecurringRow, ...]
    if source.recurs:
        rows = yield from _recurring(scope, source, scores)
    else:
        rows = yield from listed(scope, list(scores), at=scores if source.timed else None)
    data: Sequence[str | None] = ()
    if with_data and scores:
        data = yield [call("hget", _key(scope, source, jid), "data") for jid in scores]
    return Stretch(rows=rows, data=tuple(data), mark=mark)


def _key(scope: Scope, source: Source, jid: str) -> str:
    """Give the key of a job of a list."""
    kinds = {"interval": scope.keys.recurring, "cron": scope.keys.cron_job}
    return kinds.get(source.recurs, scope.keys.job)(jid)


def _of_scores(
    source: Source, mark: Mark, size: int
) -> Read[tuple[dict[str, float | None], Mark | None]]:
    bound = repr(mark.score) if mark.last else (source.high if source.falling else source.low)
    low, high = (source.low, bound) if source.falling else (bound, source.high)
    edges = (high, low) if source.falling else (low, high)
    method = "zrevrangebyscore" if source.falling else "zrangebyscore"
    for begin in _beginnings(mark.same):
        number = size + mark.same - begin
        found: list[tuple[str, float]]
        (found,) = yield [
            call(method, source.key, *edges, start=begin, num=number, withscores=True)
        ]
        found = [(jid, float(score)) for jid, score in found or ()]
        fresh = [each for each in found if _is_behind(each, mark, falling=source.falling)]
        if len(fresh) < len(found) or begin == 0:
            break
    if not fresh:
        return {}, None
    last, score = found[-1]
    same = sum(each[1] == score for each in found)
    if mark.last and score == mark.score:
        same += begin
    return dict(fresh), Mark(score=score, last=last, same=same)


def _beginnings(place: int) -> Sequence[int]:
    """Give where to begin to look for the last one met: a little before it, then far before it."""
    found = []
    for step in count():
        begin = max(0, place - _SLACK * 16**step)
        found.append(begin)
        if not begin:
            return found
    return found


def _is_behind(each: tuple[str, float], mark: Mark, *, falling: bool) -> bool:
    """Say whether an entry comes behind the last one that was met; Redis orders by bytes."""
    jid, score = each
    if not mark.last or score != mark.score:
        return True
    mine, last = (name.encode(errors="surrogateescape") for name in (jid, mark.last))
    return mine < last if falling else mine > last


def _of_list(
    source: Source, mark: Mark, size: int
) -> Read[tuple[dict[str, float | None], Mark | None]]:
    """Read a list from its end, where nothing comes in."""
    known = frozenset(mark.recent)
    for begin in _beginnings(mark.same):
        end = begin + size + (mark.same - begin)
        (found,) = yield [call("lrange", source.key, -end, -1 - begin)]
        entries: list[str] = list(reversed(found or ()))
        met = [place for place, jid in enumerate(entries) if jid in known]
        if met or begin == 0:
            break
    # One that failed anew stands behind others that have not been met yet.
    fresh = [jid for jid in entries[met[0] if met else 0 :] if jid not in known]
    if not fresh:
        return {}, None
    recent = (*mark.recent, *fresh)[-_RECENT:]
    return dict.fromkeys(fresh), Mark(last=entries[-1], same=begin + len(entries), recent=recent)


def _recurring(
    scope: Scope, source: Source, scores: dict[str, float | None]
) -> Read[tuple[RecurringRow, ...]]:
    replies = yield [call("hmget", _key(scope, source, jid), RECURRING_FIELDS) for jid in scores]
    return tuple(
        recurring_row(jid, reply, scores[jid], scope.now)
        for jid, reply in zip(scores, replies, strict=True)
    )
