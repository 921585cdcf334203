"""Which shards a command goes to, and how their answers become one."""

from __future__ import annotations

import logging
from dataclasses import replace
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from qless_core import bulk
from qless_core.errors import (
    AcrossShards,
    BadArgument,
    JobNotFound,
    NotWaitingOnDependencies,
    QlessError,
    RecurringJobNotFound,
    WorkerNotFound,
)
from qless_core.records import Closure, Report
from qless_core.shards import merging

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qless_core.records import JobRecord
    from qless_core.shards.shards import Call, Shards

    Route: TypeAlias = Callable[[Shards, Call], Any]
    Merge: TypeAlias = Callable[[Sequence[Any]], Any]
    #: Names those of the jids asked for that an answer says are not there.
    Missed: TypeAlias = Callable[[Sequence[str], Any], Sequence[str]]
    #: Says whether an answer is that of a shard without such a job.
    Absent: TypeAlias = Callable[[Any], bool]

log = logging.getLogger("qless.shards")


def home(shards: Shards, call: Call) -> Any:  # noqa: ANN401 - what the command answers
    """Go to the shard that the queue is placed on."""
    shard = shards.placement.of(call["queue"])
    if call["depends"]:
        refuse_across(shards, shard, call["depends"], f"the queue {call['queue']!r}")
    reply = shards.call(shard, call)
    if call["jid"]:
        shards.whereabouts.note(shard, [call["jid"]])
    return reply


def of_jid(is_absent: Absent) -> Route:
    """Go to the shard that has the job; to the first, which says so, where none has it.

    Where it is remembered, the command is sent once more only where that shard did nothing, as it
    has no such job: it refused, or its answer says so.
    """

    def route(shards: Shards, call: Call) -> Any:  # noqa: ANN401 - as above
        jid = call["jid"]
        if call["depends"]:
            shard = _place(shards, jid)
            refuse_across(shards, shard, call["depends"], f"the job {jid!r}")
        known = shards.whereabouts.recall(jid)
        if known is not None:
            try:
                reply = shards.call(known, call)
            except QlessError as error:
                if not _is_gone(error):
                    raise
            else:
                if not is_absent(reply):
                    return reply
            # It was moved, or went and came back elsewhere, or is gone.
            shards.whereabouts.forget(jid)
        return shards.call(shards.whereabouts.find(jid) or shards.first, call)

    return route


def _is_gone(error: QlessError) -> bool:
    """Say whether a command was refused because there is no such job."""
    if isinstance(error, NotWaitingOnDependencies):
        return error.state == "missing"
    return isinstance(error, JobNotFound | RecurringJobNotFound)


def never(_: Any) -> bool:  # noqa: ANN401 - as above
    """Take every answer: the command refuses where there is no such job."""
    return False


def unfound(reply: Any) -> bool:  # noqa: ANN401 - as above
    """Say whether nothing was read: there may be no such job."""
    return reply is None


def left_gone(report: Report) -> bool:
    """Say whether a report of one job says that it is gone."""
    return "gone" in report.left.values()


def depending(shards: Shards, call: Call) -> Any:  # noqa: ANN401 - as above
    """Go to the shard of a job, and refuse dependencies that are on another one."""
    if call["switch"] == "on":
        shard = _place(shards, call["jid"])
        refuse_across(shards, shard, call["jids"], f"the job {call['jid']!r}")
    return of_jid(never)(shards, call)


def ended(shards: Shards, call: Call) -> None:
    """Go to the shard of a recurring job, looked at first: to end one that is nowhere is no error.

    Others would do nothing, and say nothing.
    """
    known = shards.whereabouts.recall(call["jid"])
    if known is not None and shards.clients[known].commands.recur_get(call["jid"]) is None:
        shards.whereabouts.forget(call["jid"])
    of_jid(never)(shards, call)


def _place(shards: Shards, jid: str) -> str:
    """Name the shard that has a job for sure; the first, where none has it."""
    return next(iter(shards.whereabouts.sort([jid], surely=True)))


def refuse_across(shards: Shards, shard: str, jids: Sequence[str], what: str) -> None:
    """Refuse dependencies on jobs of other shards.

    Raises:
        AcrossShards: one of the jobs is on another shard.

    """
    for there, found in shards.whereabouts.sort(jids, surely=True).items():
        known = [jid for jid in found if shards.whereabouts.recall(jid)]
        if there != shard and known:
            raise AcrossShards(what, shard, known[0], there)


def everywhere(merge: Merge) -> Route:
    """Go to all shards."""
    return lambda shards, call: merge(shards.call_all(call))


def of_jids(name: str, merge: Merge, missed: Missed) -> Route:
    """Go to each shard with those that are its own; rows are of the jid that they begin with.

    Those that are no longer where they are remembered, as another process moved them, are looked
    for, and asked for again.
    """

    def route(shards: Shards, call: Call) -> Any:  # noqa: ANN401 - as above
        rows = {row if isinstance(row, str) else row[0]: row for row in call[name] or ()}
        remembered = {jid for jid in rows if shards.whereabouts.recall(jid)}
        replies: list[Any] = []
        for shard, jids in (shards.whereabouts.sort(rows) or {shards.first: []}).items():
            reply = shards.call(shard, call.changed(**{name: [rows[jid] for jid in jids]}))
            gone = [jid for jid in missed(jids, reply) if jid in remembered]
            for jid in gone:
                shards.whereabouts.forget(jid)
            if gone:
                again = route(shards, call.changed(**{name: [rows[jid] for jid in gone]}))
                reply = without(reply, gone)
                replies.append(again)
            replies.append(reply)
        return merge(replies)

    return route


def unread(jids: Sequence[str], jobs: Sequence[JobRecord]) -> Sequence[str]:
    """Name those that were asked for and not read."""
    read = {job.jid for job in jobs}
    return [jid for jid in jids if jid not in read]


def undone(_: Sequence[str], report: Report) -> Sequence[str]:
    """Name those that a report says are gone."""
    return [jid for jid, why in report.left.items() if why == "gone"]


def unseen(_: Sequence[str], closure: Closure) -> Sequence[str]:
    """Name those that had no job whose dependents could be looked for."""
    return closure.missing


def without(reply: Any, jids: Sequence[str]) -> Any:  # noqa: ANN401 - as above
    """Leave out what an answer says of jobs that turned out to be elsewhere."""
    if isinstance(reply, Report):
        left = {jid: why for jid, why in reply.left.items() if jid not in jids}
        return replace(reply, left=left)
    if isinstance(reply, Closure):
        return replace(reply, missing=tuple(jid for jid in reply.missing if jid not in jids))
    return reply


def multiget(shards: Shards, call: Call) -> Any:  # noqa: ANN401 - as above
    """Read jobs of all shards, in the order that was asked for."""
    found = of_jids("jids", merging.joined, unread)(shards, call)
    jobs = {job.jid: job for job in found}
    return [jobs[jid] for jid in call["jids"] if jid in jobs]


def timed_out(shards: Shards, call: Call) -> None:
    """Go to each shard with those that it has for sure: what one refuses stops the rest."""
    for shard, jids in shards.whereabouts.sort(call["jids"] or (), surely=True).items():
        shards.call(shard, call.changed(jids=jids))


def of_one_shard(shards: Shards, call: Call) -> Any:  # noqa: ANN401 - as above
    """Go to the one shard that has all of the jobs, as it does all or none.

    Raises:
        AcrossShards: they are on several.

    """
    found = shards.whereabouts.sort(call["jids"], surely=True)
    if len(found) > 1:
        (one, (jid, *_)), (other, (another, *_)), *_ = found.items()
        what = f"{call.command} does all or none, and the job {jid!r}"
        raise AcrossShards(what, one, another, other)
    return shards.call(next(iter(found), shards.first), call)


def listed(cut: Callable[[Sequence[Any], int, int | None], Any]) -> Route:
    """Page through what all shards list, one behind the other."""

    def route(shards: Shards, call: Call) -> Any:  # noqa: ANN401 - as above
        start, count = _page(call)
        if count is None:
            return cut(shards.call_all(call), 0, None)
        (first, size) = (name for name in call.told.signature.parameters if name in _PAGING)
        replies = shards.call_all(call.changed(**{first: 0, size: start + count}))
        return cut(replies, start, start + count)

    return route


_PAGING: Final = frozenset({"offset", "start", "count", "limit"})


def _page(call: Call) -> tuple[int, int | None]:
    """Read which page is wanted; without a number that makes sense the shards decide."""
    told = call.told.signature.bind(*call.told.args, **call.told.kwargs)
    told.apply_defaults()
    first, size = (told.arguments[name] for name in told.arguments if name in _PAGING)
    first, size = (0 if first is None else first), (25 if size is None else size)
    is_sound = all(isinstance(each, int) and each >= 0 for each in (first, size))
    return (first, size) if is_sound and (first or size) else (0, None)


def cut(replies: Sequence[list[str]], start: int, end: int | None) -> list[str]:
    """Cut a page out of lists, one behind the other."""
    return merging.joined(replies)[start:end]


def cut_top(replies: Sequence[list[str]], start: int, end: int | None) -> list[str]:
    """Cut a page out of lists, each entry once."""
    return merging.each_once(replies)[start:end]


def taken(shards: Shards, call: Call) -> Any:  # noqa: ANN401 - as above
    """Take up to so many jobs, from the shard that the queue is placed on first.

    Raises:
        QlessError: a shard refuses, and the others had nothing: what was taken is handed out in
            any case.
        RedisUnavailable: a shard cannot be reached, and the others had nothing.

    """
    names = [*shards.clients]
    at = names.index(shards.placement.of(call["queue"]))
    jobs: list[Any] = []
    trouble: QlessError | None = None
    for shard in islice(cycle(names), at, at + len(names)):
        if len(jobs) < call["count"]:
            try:
                found = shards.call(shard, call.changed(count=call["count"] - len(jobs)))
            except QlessError as error:
                log.info("the shard %s gives no jobs: %s", shard, error)
                trouble = error
                continue
            shards.whereabouts.note(shard, [job.jid for job in found])
            jobs += found
    if trouble is not None and not jobs:
        raise trouble
    return jobs


def moved(shards: Shards, call: Call) -> int:
    """Move up to so many jobs, shard by shard."""
    count = 25 if call["count"] is None else call["count"]
    done = 0
    for shard in shards.clients:
        if done < count:
            done += shards.call(shard, call.changed(count=count - done))
    return done


def asked(shards: Shards, call: Call) -> None:
    """Ask a worker wherever it is known.

    Raises:
        WorkerNotFound: no shard knows it.

    """
    unknown: list[WorkerNotFound] = []
    for shard in shards.clients:
        try:
            shards.call(shard, call)
        except WorkerNotFound as error:
            unknown.append(error)
    if len(unknown) == len(shards.clients):
        raise unknown[0]


def first(shards: Shards, call: Call) -> Any:  # noqa: ANN401 - as above
    """Go to the first shard: what is kept there is kept on all of them."""
    return shards.call(shards.first, call)


def refused(shards: Shards, call: Call) -> Any:  # noqa: ANN401 - as above
    """Refuse what only makes sense on one shard.

    Raises:
        BadArgument: always.

    """
    known = ", ".join(map(repr, shards.clients))
    problem = f"{call.command} is done on one shard: `client.shards[name]`, of {known}"
    raise BadArgument(problem)


def _nothing(_: Sequence[Any]) -> None:
    """Merge answers that say nothing."""


#: The route of each command.
ROUTES: Final[dict[str, Route]] = {
    **dict.fromkeys(("put", "put_new", "bulk_put", "recur", "cron"), home),
    **dict.fromkeys(
        (
            *("requeue", "heartbeat", "complete", "complete_pop", "fail", "retry", "giveback"),
            *("priority", "tag", "track", "log", "progress", "recur_update", "recur_tag"),
            *("recur_untag", "recur_pause", "recur_unpause", "recur_run"),
        ),
        of_jid(never),
    ),
    **dict.fromkeys(("get", "progress_get", "recur_get", "recur_next"), of_jid(unfound)),
    "edit": of_jid(left_gone),
    "unrecur": ended,
    "depends": depending,
    "pop": taken,
    "peek": taken,
    "multiget": multiget,
    "cancel": of_one_shard,
    "timeout": timed_out,
    "bulk_closure": of_jids("jids", merging.closure, unseen),
    "reschedule": of_jids("jids", bulk.total, undone),
    "bulk_move": of_jids("wanted", bulk.total, undone),
    "bulk_cancel": of_jids("wanted", bulk.total, undone),
    "bulk_complete": of_jids("jobs", bulk.total, undone),
    "unfail": moved,
    "failed": everywhere(merging.summed),
    "bulk_states": everywhere(merging.summed),
    "failed_group": listed(merging.page),
    "tag_get": listed(merging.page),
    "tag_top": listed(cut_top),
    "jobs": listed(cut),
    "tracked": everywhere(merging.tracked),
    "queues": everywhere(merging.queues),
    "queue": everywhere(merging.queue),
    "length": everywhere(sum),
    "stats": everywhere(merging.stats),
    "workers": everywhere(merging.workers),
    "worker": everywhere(merging.worker),
    "worker_info": everywhere(merging.worker_infos),
    "worker_ask": asked,
    "throttle_locks": everywhere(merging.joined),
    "throttle_pending": everywhere(merging.joined),
    "throttle_release": everywhere(_nothing),
    "throttle_ttl": first,
    "throttle_get": first,
    "queue_throttle_get": first,
    "config_get": first,
    "config": first,
    **dict.fromkeys(
        (
            *("pause", "unpause", "queue_forget", "worker_deregister"),
            *("config_set", "config_unset"),
            *("throttle_set", "throttle_delete", "queue_throttle_set"),
        ),
        everywhere(_nothing),
    ),
    **dict.fromkeys(
        (
            *("turn", "wait_pop", "wait_look", "wait_leave", "wait_wake", "worker_beat"),
            *("giveback_all", "jobs_walk", "cron_due", "cron_refill"),
            *("archive_next", "archive_done"),
            *("operation_freeze", "operation_freeze_group", "operation_look", "operation_step"),
            *("operation_rest", "operation_fare", "operation_start", "operation_undo"),
            *("operation_freeze_more", "operation_freeze_list"),
            *("shard_leave", "shard_arrive", "shard_settle", "shard_leaving"),
            *("audit_scan", "audit_walk", "audit_look", "audit_repair"),
        ),
        refused,
    ),
}
