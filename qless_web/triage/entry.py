"""A job as the index holds it: what is read of it, and what is made of that."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from qless_core.options import as_number, as_whole
from qless_core.reads.plan import Call, Read, Scope, call, read
from qless_core.reads.rows import failure_of, tags_of
from qless_web.triage.fates import NEWEST, Fate, fate_of
from qless_web.triage.patterns import EXHAUSTED_GROUP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from qless_core.keys import Keys

    #: Gives the data of a job of a class as it may be shown.
    Shown = Callable[[str, str], str]

#: The fields that are read of each job.
_FIELDS = (
    "klass",
    "queue",
    "state",
    "worker",
    "priority",
    "expires",
    "retries",
    "remaining",
    "tags",
    "time",
    "failure",
    "data",
)
_NOTHING = (None,) * len(_FIELDS)
_STATE = _FIELDS.index("state")
_FAILURE = _FIELDS.index("failure")
#: The two commands that ask for a job, in the protocol of Redis, but for the keys.
_PACKED: Final = (
    b"*%d\r\n$5\r\nHMGET\r\n" % (len(_FIELDS) + 2)
    + b"$%d\r\n%b\r\n"
    + b"".join(b"$%d\r\n%b\r\n" % (len(each), each.encode()) for each in _FIELDS)
    + b"*3\r\n$6\r\nLINDEX\r\n$%d\r\n%b\r\n$1\r\n0\r\n"
)
_ODD: Final = "surrogateescape"

_NO_FATE = Fate()

#: Small numbers and sets of tags: a few that most jobs have.
_small = lru_cache(maxsize=1_024)(as_whole)
_tags = lru_cache(maxsize=1_024)(tags_of)
#: Characters of a set of tags that is remembered.
_SHORT: Final = 200


class Entry(NamedTuple):
    """A job. Instants are epoch milliseconds; `state` is the word that is stored."""

    jid: str
    state: str
    klass: str
    queue: str
    worker: str
    #: "" where it has not failed.
    group: str
    message: str
    data: str
    tags: tuple[str, ...]
    priority: int
    #: Which run of it this is, or was, as far as the job itself tells; 0 before the first.
    attempt: int
    put_at: int | None
    since: int
    until: int | None
    #: What the history of a job without retries says of its runs; else "".
    fate: str = ""


#: A job of which nothing is known.
BLANK: Final = Entry("", "", "", "", "", "", "", "", (), 0, 0, None, 0, None)


@read
def entries(
    scope: Scope,
    jids: Sequence[str],
    shown: Shown | None = None,
    *,
    replies: list[Any] | None = None,
) -> Read[list[Entry | None]]:
    """Read jobs, one round trip, and another where some run or are scheduled; None for one gone.

    Args:
        scope: given by `run`.
        jids: the jobs.
        shown: gives the data of a class as it may be shown; None where all of it may.
        replies: to the first round trip, `asked` for each job, where somebody made it already.

    """
    keys = scope.keys
    if replies is None:
        replies = yield _calls(scope, jids)
    found = list(zip(jids, replies[::2], replies[1::2], strict=True))
    timed = [
        (jid, fields)
        for jid, fields, _ in found
        if fields is not None and fields[1] and fields[2] in {"running", "scheduled"}
    ]
    # All whose retries are used up have one text: only their histories tell them apart.
    spent = [jid for jid, fields, _ in found if fields is not None and _is_spent(fields)]
    more = yield [
        *(
            call(
                "zscore",
                (keys.locks if fields[2] == "running" else keys.scheduled)(fields[1]),
                jid,
            )
            for jid, fields in timed
        ),
        *(call("lrange", keys.history(jid), -NEWEST, -1) for jid in spent),
    ]
    scores, histories = more[: len(timed)], more[len(timed) :]
    until = {jid: as_number(score) for (jid, _), score in zip(timed, scores, strict=True)}
    fates = {jid: fate_of(items or ()) for jid, items in zip(spent, histories, strict=True)}
    made = [
        _entry(jid, fields, first, until.get(jid), fates.get(jid, _NO_FATE))
        for jid, fields, first in found
    ]
    return _as_shown(made, shown)


@read
def entries_at_once(
    scope: Scope,
    jids: Sequence[str],
    *,
    until: Mapping[str, float | None],
    spent: Sequence[str],
    shown: Shown | None = None,
) -> Read[list[Entry | None]]:
    """Read jobs as `entries` does, in one round trip.

    Args:
        scope: given by `run`.
        jids: the jobs.
        until: the ends of locks and the moments of scheduled jobs, epoch seconds, as far as known.
        spent: those that may have used up their retries.
        shown: gives the data of a class as it may be shown; None where all of it may.

    """
    keys = scope.keys
    replies = yield [
        *_calls(scope, jids),
        *(call("lrange", keys.history(jid), -NEWEST, -1) for jid in spent),
    ]
    fields, firsts = replies[: 2 * len(jids) : 2], replies[1 : 2 * len(jids) : 2]
    ends = dict(zip(spent, replies[2 * len(jids) :], strict=True))
    made = []
    for jid, each, first in zip(jids, fields, firsts, strict=True):
        is_spent = each is not None and _is_spent(each)
        is_timed = each is not None and each[_STATE] in {"running", "scheduled"}
        fate = fate_of(ends.get(jid) or ()) if is_spent else _NO_FATE
        made.append(_entry(jid, each, first, until.get(jid) if is_timed else None, fate))
    return _as_shown(made, shown)


def _calls(scope: Scope, jids: Sequence[str]) -> list[Call]:
    """Ask for the fields of each job, and for the first item of its history."""
    keys = scope.keys
    return [
        each
        for jid in jids
        for each in (
            call("hmget", keys.job(jid), _FIELDS),
            call("lindex", keys.history(jid), 0),
        )
    ]


def packed(keys: Keys, jids: Sequence[str]) -> bytes:
    """Write what `entries` asks first, for each job its two commands, as Redis reads them.

    The jids are as Redis gave them: text, or bytes that are none.
    """
    pairs = [
        (keys.job(jid).encode(errors=_ODD), keys.history(jid).encode(errors=_ODD)) for jid in jids
    ]
    return b"".join([_PACKED % (len(job), job, len(items), items) for job, items in pairs])


def _as_shown(made: list[Entry | None], shown: Shown | None) -> list[Entry | None]:
    if shown is None:
        return made
    return [each and each._replace(data=shown(each.klass, each.data)) for each in made]


def _is_spent(fields: Sequence[str | None]) -> bool:
    return fields[2] == "failed" and EXHAUSTED_GROUP in (fields[_FAILURE] or "")


def _entry(
    jid: str,
    fields: Sequence[str | None] | None,
    first: str | None,
    until: float | None,
    fate: Fate,
) -> Entry | None:
    klass, queue, state, worker, priority, expires, retries, remaining, tags, *rest = (
        fields or _NOTHING
    )
    # A hash without a class is what a stray write left of a job that is gone.
    if klass is None:
        return None
    time, failure, data = rest
    failed = failure_of(failure) if state == "failed" else {}
    if until is None and state == "running":
        until = as_number(expires)
    allowed = _small(retries)
    used = _used(allowed, _small(remaining))
    return Entry(
        jid=jid,
        state=state or "",
        klass=klass,
        queue=queue or "",
        worker=_worker(worker, state) or str(failed.get("worker") or "") or fate.worker,
        group=str(failed.get("group") or ""),
        message=str(failed.get("message") or ""),
        data=data or "",
        tags=_worn(tags),
        priority=_bounded(_small(priority) or 0),
        attempt=_attempt(state, used, allowed),
        put_at=_first_put(first),
        since=_millis(failed.get("when")) or _millis(time) or 0,
        until=None if until is None else _millis(until),
        fate=fate.text,
    )


def _worn(tags: str | None) -> tuple[str, ...]:
    if tags is None or tags in {"[]", "{}"}:
        return ()
    return _tags(tags) if len(tags) < _SHORT else tags_of(tags)


def _worker(worker: str | None, state: str | None) -> str:
    """Give the worker that has a job; one that waits again may still name the last."""
    return worker or "" if state in {"running", "stalled"} else ""


def _used(retries: int | None, remaining: int | None) -> int:
    return 0 if retries is None or remaining is None else max(0, retries - remaining)


def _attempt(state: str | None, used: int, retries: int | None) -> int:
    """Count the run that is under way, or that came to an end, too."""
    began = used + (state in {"running", "failed", "complete"})
    return _bounded(began if retries is None else min(began, max(1, retries + 1)))


def _first_put(item: str | None) -> int | None:
    """Read when the first thing happened to a job, of its history's first item."""
    if not isinstance(item, str) or not item.startswith("["):
        return None
    return _millis(item[1 : item.find(",")])


def _millis(seconds: Any) -> int | None:  # noqa: ANN401 - whatever JSON says
    number = as_number(seconds)
    return None if number is None else _bounded(int(number * 1000))


def _bounded(number: int) -> int:
    """Keep a number within what SQLite can hold; nothing real is beyond."""
    return max(-(2**53), min(2**53, number))
