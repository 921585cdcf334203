"""Cancels a few jobs while somebody waits, as many are cancelled: so that they can come back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from qless_core.records import Report
from qless_web.operations import operation as store
from qless_web.operations import report, waiting
from qless_web.operations.freezing import asked_fields
from qless_web.sending import call, send

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_core.client import Client
    from qless_web.operations.freezing import Asked

#: Jobs that one call removes, and seconds of the server's time that it begins jobs for.
_CHUNK: Final = 200
_STEP_S: Final = 0.003
#: The run of an operation that is done at once.
_RUN: Final = 1

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


def cancel(
    client: Client, wanted: Sequence[tuple[str, str]], group: str, asked: Asked, keep_s: int
) -> Report:
    """Remove jobs, but those that others, not among them, wait for; they rest in the trash.

    Args:
        client: whose jobs.
        wanted: jids, each with the states it may be in, with commas between; "" for any.
        group: the failure group they must be failed in; "" for no matter which.
        asked: who wants it.
        keep_s: seconds for which they can come back.

    Raises:
        QlessError: Redis refused.

    """
    states = dict(wanted)
    if not states:
        return Report()
    doomed, needed = waiting.order(client, list(states), dependents=False)
    entries = [_letter(states[jid]) + jid for jid in doomed] + [f"!{jid}" for jid in needed]
    name = store.new_id()
    fields = asked_fields(client, "cancel", asked, {"jids": len(states)})
    fields |= {"form": "jids", "group": group, "keep": keep_s, "total": len(entries)}
    store.change(client, name, **{**fields, "state": "queued", "run": _RUN})
    send(client, call("lpush", store.list_key(client.keys, name), *entries))
    found = finish(client, name, group)
    done = set(found.done)
    return replace(found, done=tuple(jid for jid in states if jid in done))


def finish(client: Client, name: str, group: str) -> Report:
    """Do an operation that is queued to its end, and tell what it did.

    Raises:
        QlessError: Redis refused.

    """
    while client.commands.operation_step(name, _RUN, _CHUNK, _STEP_S).state == "running":
        pass
    made = store.load(client, name)
    if made is None:
        return Report()
    told = list(report.entries(client, made))
    done = tuple(each.jid for each in told if not each.reason)
    if done:
        index = store.index_key(client.keys)
        send(client, call("zadd", index, {name: made.created}))
    else:
        send(client, *(call("unlink", part(client.keys, name)) for part in store.PARTS))
    left = {each.jid: each.reason for each in told if each.reason}
    return Report(done, left, _emptied(client, group))


def _letter(states: str) -> str:
    return _LETTERS.get(states.partition(",")[0], "-")


def _emptied(client: Client, group: str) -> tuple[str, ...]:
    if not group:
        return ()
    (is_there,) = send(client, call("exists", client.keys.failed(group)))
    return () if is_there else (group,)
