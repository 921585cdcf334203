"""How actions have operations done: begun in the background, or done at once to a few jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from werkzeug.exceptions import Forbidden

from qless_core.errors import BadArgument
from qless_core.records import Report
from qless_web.actions import chunks
from qless_web.actions.outcome import Outcome
from qless_web.actions.searching import found_by
from qless_web.console import current
from qless_web.operations import at_once as now
from qless_web.operations import freezing, options, ordering
from qless_web.operations.at_once import Done, Keeping
from qless_web.operations.freezing import Asked
from qless_web.operations.verbs import verb
from qless_web.presenters import ask_words as words
from qless_web.presenters import operations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_web.actions.form import Form
    from qless_web.operations.operation import Operation
    from qless_web.operations.options import Options
    from qless_web.operations.selection import Selection


def asked(form: Form | None = None) -> Asked:
    """Say who asks for an operation."""
    identity = current().identity
    note = form.get("note") if form else ""
    reach = identity.grant.queues if identity.grant else ()
    return Asked(who=identity.title, address=identity.address, note=note, reach=reach)


def prepare(action: str, chosen: Selection, how: Options, who: Asked) -> Operation:
    """Make the draft of an operation, for a page to show or to be started at once.

    Raises:
        BadArgument: there is no job in what was chosen.
        Forbidden: jobs would go into a queue that whoever asks may not change.
        QlessError: Redis refused.

    """
    if how.queue and (refusal := current().refusal(verb(action).permission, "", [how.queue])):
        problem = f"Nothing was changed: {refusal}."
        raise Forbidden(problem)
    return freezing.freeze(
        current().client,
        action=action,
        selection=chosen,
        options=how,
        asked=who,
        search=found_by,
        keep_s=_kept_s(),
    )


def begin(action: str, chosen: Selection, how: Options, who: Asked) -> Outcome:
    """Have an operation done in the background that was asked for on another page.

    Raises:
        BadArgument: there is no job in what was chosen.
        QlessError: Redis refused.

    """
    made = prepare(action, chosen, how, who)
    ordering.begin(current().client, made)
    return Outcome(
        text=f"{made.verb.text} {words.jobs(made.fits)}: it is under way, in the background.",
        tone="info",
        done=(made.id,),
        again=operations.operation_link(made.id),
        answer={"operation": made.id},
        operations=(made.id,),
        on=made.on,
    )


def at_once(
    action: str,
    wanted: Sequence[tuple[str, str]],
    group: str,
    who: Asked,
    how: Options = options.NONE,
) -> Done:
    """Do something to jobs at once, by an operation that can be undone.

    Args:
        action: what.
        wanted: jids, each with the states it may be in, with commas between; "" for any.
        group: the failure group they must be failed in; "" for no matter which.
        who: who wants it.
        how: how.

    Raises:
        QlessError: Redis refused.

    """
    return now.act(
        current().client, action, wanted, group=group, options=how, asked=who, keeping=_keeping()
    )


def whole(action: str, chosen: Selection, who: Asked, how: Options, *, patient: bool) -> Done:
    """Do something to a whole group at once, by an operation that can be undone.

    Args:
        action: what.
        chosen: the group.
        who: who wants it.
        how: how.
        patient: whether to work to the end, however long that takes.

    Raises:
        QlessError: Redis refused.

    """
    group = chosen.group or ""
    client = current().client
    try:
        made = prepare(action, chosen, how, who)
    except BadArgument:
        # Others were quicker, or all that it has failed after it was seen.
        return Done(Report(emptied=now.emptied(client, group)))
    until = None if patient else client.clock.monotonic() + chunks.BUDGET_S
    return now.whole(client, made, group, _keeping(), until)


def _keeping() -> Keeping:
    return Keeping(_kept_s(), current().settings.trash_size * 1024 * 1024)


def _kept_s() -> int:
    return current().settings.trash_hours * 3_600
