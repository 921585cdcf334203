"""How actions have operations done: begun in the background, or a few jobs cancelled at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from werkzeug.exceptions import Forbidden

from qless_web.actions.outcome import Outcome
from qless_web.actions.searching import found_by
from qless_web.console import current
from qless_web.operations import at_once, freezing, ordering
from qless_web.operations.freezing import Asked
from qless_web.operations.verbs import verb
from qless_web.presenters import ask_words as words
from qless_web.presenters import operations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_core.records import Report
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


def cancel(wanted: Sequence[tuple[str, str]], group: str, who: Asked) -> Report:
    """Cancel jobs at once; they rest in the trash.

    Args:
        wanted: jids, each with the states it may be in, with commas between; "" for any.
        group: the failure group they must be failed in; "" for no matter which.
        who: who wants it.

    Raises:
        QlessError: Redis refused.

    """
    return at_once.cancel(current().client, wanted, group, who, _kept_s())


def _kept_s() -> int:
    return current().settings.trash_hours * 3_600
