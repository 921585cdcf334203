"""Whose jobs an action would change: asked only for somebody who may not change all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core.reads import RecurringRow, job_row
from qless_web.actions.form import spellings
from qless_web.console import current
from qless_web.operations import operation as store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_web.access import Permission
    from qless_web.actions.form import Form

#: What an action names in its address when it reaches further than to some queues.
_WIDE = frozenset({"group", "worker"})


def queues(
    permission: Permission, form: Form, path: Mapping[str, str], *, sifts: bool
) -> set[str] | None:
    """Find the queues whose jobs an action would change, and the one that they would go to.

    Args:
        permission: of the action: what goes for good takes along the jobs that wait for it.
        form: what came along.
        path: the names of its address.
        sifts: whether it leaves out by itself what is not to be changed.

    Returns:
        The queues; None where they cannot be told: of a group of failures, a worker, an operation
        that reaches further than whoever asks.

    """
    if sifts:
        return {form.get("queue")} - {""}
    if "operation" in path:
        return set() if _is_within(path["operation"]) else None
    one = path.get("jid")
    jids = [one] if one is not None else _named(form)
    if _WIDE & path.keys() or not (jids or "queue" in path or form.get("queue")):
        return None
    found = {name for name in (path.get("queue"), form.get("queue")) if name}
    if jids:
        closure = current().client.commands.bulk_closure(*jids)
        if closure.is_cut:
            return None
        found |= {job.queue for job in closure.jobs if permission == "destroy" or job.jid in jids}
    if one is not None:
        row = current().read(job_row(one))
        found |= {row.queue} if isinstance(row, RecurringRow) else set()
    return found


def _is_within(operation: str) -> bool:
    """Say whether an operation reaches no further than whoever asks, or is not there."""
    found, grant = store.load(current().client, operation), current().identity.grant
    return found is None or found.is_within(grant.queues if grant else ())


def _named(form: Form) -> list[str]:
    """Give the jids of a form, each in every way that a browser may have changed it."""
    named = (*form.all("jids"), *(jid for jid, _ in form.targets()))
    return [each for jid in named for each in spellings(jid)]
