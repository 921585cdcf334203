"""A job of either kind with all that makes another one like it, in one round trip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_core import wire
from qless_core.options import as_number, as_whole
from qless_core.reads.plan import Read, Scope, call, read
from qless_core.reads.rows import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Items of the history that are looked through for the last queue.
_RECENT = 20

_FIELDS = (
    *("klass", "queue", "state", "data", "priority", "retries", "tags", "throttles"),
    "heartbeat",
)


@dataclass(frozen=True, slots=True)
class Original:
    """A job as another one is made of it.

    Attributes:
        jid: its jid.
        klass: its class.
        queue: the queue it is in, or was in last.
        state: as stored; "" of a recurring job.
        data: as stored, byte for byte.
        priority: its priority.
        retries: how many it has; None where nothing says.
        tags: its tags.
        throttles: the limits that it runs under, but its queue's own.
        heartbeat: seconds that it is locked for; None for as its queue says.
        depends: the jobs that it waits for.
        recurs: whether it is a recurring job.

    """

    jid: str
    klass: str
    queue: str
    state: str
    data: str
    priority: int
    retries: int | None
    tags: tuple[str, ...]
    throttles: tuple[str, ...]
    heartbeat: float | None
    depends: tuple[str, ...]
    recurs: bool = False


@read
def original(scope: Scope, jid: str) -> Read[Original | None]:
    """Read what makes a job, with its data whole; None where there is no job by that jid."""
    keys = scope.keys
    *either, depends, history = yield [
        call("hmget", keys.job(jid), _FIELDS),
        call("hmget", keys.recurring(jid), _FIELDS),
        call("hmget", keys.cron_job(jid), _FIELDS),
        call("smembers", keys.dependencies(jid)),
        call("lrange", keys.history(jid), -_RECENT, -1),
    ]
    for number, reply in enumerate(either):
        if any(value is not None for value in reply or ()):
            found = dict(zip(_FIELDS, reply, strict=True))
            queue = found["queue"] or _last_queue(history or ())
            own = keys.queue_throttle(queue)
            return Original(
                jid=jid,
                klass=found["klass"] or "",
                queue=queue,
                state=found["state"] or "",
                data=found["data"] or "",
                priority=as_whole(found["priority"]) or 0,
                retries=as_whole(found["retries"]),
                tags=_texts(found["tags"]),
                throttles=tuple(each for each in _texts(found["throttles"]) if each != own),
                heartbeat=as_number(found["heartbeat"]) or None,
                depends=tuple(sorted(depends or ())),
                recurs=number > 0,
            )
    return None


def _last_queue(history: Sequence[str]) -> str:
    """Find the queue that a job was put into last: one that is complete is in none."""
    for item in map(parse, reversed(history)):
        detail = item[2] if isinstance(item, list) and len(item) > 2 else None  # noqa: PLR2004 - when, what and the details
        if isinstance(detail, dict) and isinstance(detail.get("q"), str):
            return str(detail["q"])
    return ""


def _texts(stored: str | None) -> tuple[str, ...]:
    """Read a stored JSON list of texts; what is none is empty."""
    try:
        found = wire.as_list(wire.loads(stored or "[]"))
    except ValueError:
        return ()
    return tuple(dict.fromkeys(str(each) for each in found if isinstance(each, str | int | float)))
