"""Does something to a few jobs while somebody waits, as it is done to many: so it can be undone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from qless_core.records import Report
from qless_web.operations import operation as store
from qless_web.operations import report, trash, waiting
from qless_web.operations.freezing import asked_fields
from qless_web.sending import call, send

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from qless_core.client import Client
    from qless_web.operations.freezing import Asked
    from qless_web.operations.operation import Operation
    from qless_web.operations.options import Options

#: Jobs that one call is given, and seconds of the server's time that it begins jobs for.
_CHUNK: Final = 200
_STEP_S: Final = 0.003
#: Seconds after which it is said again that somebody is at work; others wait for thrice as long.
_SIGN_S: Final = 5.0
#: The run of an operation that is done at once.
_RUN: Final = 1

#: States that a job has while a worker has it.
HELD: Final = frozenset({"running", "stalled"})

#: The letters by which a list says in which state a job was; the script has the same.
_LETTERS: Final = {
    "waiting": "w",
    "running": "r",
    "stalled": "t",
    "scheduled": "s",
    "depends": "d",
    "throttled": "h",
    "failed": "f",
    "complete": "c",
}


class Done(NamedTuple):
    """What was done at once.

    Attributes:
        report: to which jobs.
        operation: by which operation; "" where there was nothing.
        is_over: whether that is all; else time was up.

    """

    report: Report
    operation: str = ""
    is_over: bool = True


class Keeping(NamedTuple):
    """How long it is kept what jobs were, in seconds, and how many bytes there may be of that."""

    seconds: int
    most: int


def act(  # noqa: PLR0913 - what an operation is made of, by name
    client: Client,
    action: str,
    wanted: Sequence[tuple[str, str]],
    *,
    group: str,
    options: Options,
    asked: Asked,
    keeping: Keeping,
) -> Done:
    """Do something to jobs that are named; what is cancelled rests in the trash.

    Args:
        client: whose jobs.
        action: what; of jobs to be cancelled those stay that others, not among them, wait for.
        wanted: jids, each with the states it may be in, with commas between; "" for any.
        group: the failure group they must be failed in; "" for no matter which.
        options: how.
        asked: who wants it.
        keeping: for how long it can be undone.

    Raises:
        QlessError: Redis refused.

    """
    states = dict(wanted)
    if not states:
        return Done(Report())
    doomed, needed = list(states), list[str]()
    if action == "cancel":
        doomed, needed = waiting.order(client, doomed, dependents=False, patterns=asked.reach)
    entries = [_letter(states[jid]) + jid for jid in doomed] + [f"!{jid}" for jid in needed]
    name, (order, bounds) = store.new_id(), _order(client.now())
    fields = {
        **asked_fields(client, action, asked, {"jids": len(states)}),
        "told": store.dumps(options.told()),
        **options.stored(),
        "form": "jids",
        "group": group,
        "keep": keeping.seconds,
        "total": len(entries),
        **order,
        **bounds,
    }
    _write(client, name, fields, entries)
    _work(client, name, None)
    made = _told(client, name, group)
    if not made.done:
        _forget(client, name)
    trash.shrink(client, keeping.most)
    done = set(made.done)
    told = replace(made, done=tuple(jid for jid in states if jid in done))
    return Done(told, name if done else "")


def whole(
    client: Client, draft: Operation, group: str, keeping: Keeping, until: float | None
) -> Done:
    """Do the draft of an operation on a failure group.

    Args:
        client: whose jobs.
        draft: the operation; as a draft, it is forgotten where nobody goes on with it.
        group: the failure group.
        keeping: for how long it can be undone.
        until: the moment at which to leave off, by the monotonic clock; None for none.

    Raises:
        QlessError: Redis refused.

    """
    key, index = store.hash_key(client.keys, draft.id), store.index_key(client.keys)
    order, bounds = _order(client.now())
    send(
        client,
        *(call("hsetnx", key, name, bound) for name, bound in bounds.items()),  # or as it was seen
        call("hset", key, mapping=order),
        call("zadd", index, {draft.id: draft.created}),
    )
    is_over = _work(client, draft.id, until)
    made = _told(client, draft.id, group)
    if is_over and not made.done:
        _forget(client, draft.id)
    trash.shrink(client, keeping.most)
    return Done(made, draft.id if made.done or not is_over else "", is_over)


def _order(now: float) -> tuple[dict[str, str], dict[str, str]]:
    """Give the fields of an order, and those by which what fails anew is left alone later."""
    order = {"state": "queued", "run": str(_RUN), "ordered": f"{now:.3f}"}
    return order, {"before": f"{now:.6f}", "listed": "1"}


def _write(client: Client, name: str, fields: Mapping[str, object], entries: Sequence[str]) -> None:
    """Write an operation, in one go: should its process die, others do it, or it is forgotten."""
    key, list_key = store.hash_key(client.keys, name), store.list_key(client.keys, name)
    told = {each: str(value) for each, value in fields.items()}
    send(
        client,
        call("hset", key, mapping=told),
        call("expire", key, store.DRAFT_S),
        call("lpush", list_key, *entries),
        call("expire", list_key, store.DRAFT_S),
        call("zadd", store.index_key(client.keys), {name: float(told["created"])}),
    )


def _work(client: Client, name: str, until: float | None) -> bool:
    """Do an operation that is queued, and say whether it is at its end."""
    said = client.clock.monotonic()
    while client.commands.operation_step(name, _RUN, _CHUNK, _STEP_S).state == "running":
        now = client.clock.monotonic()
        if until is not None and now >= until:
            return False
        if now >= said + _SIGN_S:
            store.change(client, name, ordered=f"{client.now():.3f}")
            said = now
    return True


def _told(client: Client, name: str, group: str) -> Report:
    """Tell what an operation did."""
    made = store.load(client, name)
    if made is None:
        return Report()
    told = list(report.entries(client, made))
    done = tuple(each.jid for each in told if not each.reason)
    left = {each.jid: each.reason for each in told if each.reason}
    return Report(done, left, emptied(client, group))


def _forget(client: Client, name: str) -> None:
    """Forget an operation that did nothing."""
    gone = (call("unlink", part(client.keys, name)) for part in store.PARTS)
    send(client, *gone, call("zrem", store.index_key(client.keys), name))


def _letter(states: str) -> str:
    """Give the letter of one state, or of those whose lock may run out; "-" for no matter which."""
    first, *others = states.split(",")
    return "-" if others and not {first, *others} <= HELD else _LETTERS.get(first, "-")


def emptied(client: Client, group: str) -> tuple[str, ...]:
    """Give the group where it has no jobs, as one that is gone."""
    if not group:
        return ()
    (is_there,) = send(client, call("exists", client.keys.failed(group)))
    return () if is_there else (group,)
