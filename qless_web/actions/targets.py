"""Which jobs an action is about: those that were shown, in the states that they were shown in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_core import reads
from qless_core.errors import JobNotFound
from qless_core.reads import JobRow, RecurringRow
from qless_core.reads.names import NameDigest, resolve
from qless_core.records import Involved, Report
from qless_web.actions.action import AskAgain
from qless_web.actions.field import Field
from qless_web.actions.form import one_line, spellings
from qless_web.console import current
from qless_web.formatting import untilde
from qless_web.presenters import ask_jobs
from qless_web.presenters.jobs import HELD, STATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_core.records import Closure
    from qless_web.actions.form import Form

#: Where jobs are moved to.
QUEUE = Field(name="queue", help="The queue to move to.", example="mail")

#: The jobs that are named one by one.
JIDS = Field(name="jids", kind="texts", help="The jids, each once.", example=["order-12"])

_HELD = ",".join(sorted(HELD))

#: States that a job is moved from without a word; a held one only where it was shown held.
AT_REST = ",".join(state for state in STATES if state not in HELD)


def look(jid: str) -> Involved | RecurringRow:
    """Look at a job or recurring job, as a question does: without the script.

    Raises:
        JobNotFound: there is neither.

    """
    return seen(jid, current().read(reads.job_row(jid)))


def seen(jid: str, row: JobRow | RecurringRow | None) -> Involved | RecurringRow:
    """Give what a question needs of a row that was read.

    Raises:
        JobNotFound: there is nothing in it.

    """
    if row is None:
        raise JobNotFound(jid)
    if isinstance(row, RecurringRow):
        return row
    return Involved(jid, row.klass, row.state, row.queue, row.worker)


def look_at_job(jid: str) -> Involved:
    """Look at a job that does not recur.

    Raises:
        JobNotFound: there is none.

    """
    found = look(jid)
    if isinstance(found, RecurringRow):
        raise JobNotFound(jid)
    return found


def ticked(form: Form) -> tuple[Closure, list[str]]:
    """Look at the jobs that were ticked.

    Browsers send every end of a line as CR LF, also in a jid that has another one.

    Returns:
        The jobs with all that wait for them, and the jids that were ticked, as they are.

    """
    jids = list(dict.fromkeys(form.all("jids")))
    commands = current().client.commands
    closure = commands.bulk_closure(*jids)
    others = [other for jid in closure.missing for other in spellings(jid)[1:]]
    if not others:
        return closure, jids
    there = {job.jid for job in (*closure.jobs, *commands.bulk_closure(*others).jobs)}
    jids = [next((each for each in spellings(jid) if each in there), jid) for jid in jids]
    return commands.bulk_closure(*jids), jids


def group(form: Form) -> str:
    """Give the failure group that ticked jobs were listed in; "" where they were in no such list.

    Of a long name its digest came along. Where no group is left that has it, the digest stands for
    the name: no job is in a group that is called so.
    """
    written = form.get("group")
    name = untilde(written)
    if not isinstance(name, NameDigest):
        return name
    return current().read(resolve("group", name)) or written


def queue(form: Form) -> str:
    """Give the queue that jobs are to go to.

    It was typed, or picked, in a field of one line, where names lose the ends of their lines: a
    single queue that is called so but for these is meant.

    Raises:
        BadArgument: there is none.

    """
    typed = form.text("queue", "the queue to move to")
    if not form.guarded:
        return typed
    known = current().read(reads.queue_names())
    meant = [name for name in known if one_line(name) == one_line(typed)]
    return meant[0] if len(meant) == 1 else typed


def untouched(jid: str, state: str) -> Report:
    """Report that a job was left alone for the state it is in."""
    return Report((), {jid: state})


def named(form: Form) -> list[tuple[str, str]]:
    """Give the jobs of a form, each with the state it was shown in; "" where nobody looked."""
    return form.targets() or [(jid, "") for jid in form.all("jids")]


def shown(form: Form, roots: Sequence[str]) -> list[tuple[str, str]]:
    """Give the jobs that were shown, each with the states it may be in to be acted on.

    Args:
        form: brings the jobs and their states back, or, for very many, their digest.
        roots: the jobs that were chosen, where the form brings none; with all that wait for them
            they are what was shown.

    Raises:
        AskAgain: what would be done now is not what was shown.
        BadArgument: the form is not as a question of ours wrote it.

    """
    told, digest = form.targets(), form.get("shown")
    if told and not digest:
        return [(jid, wanted(state)) for jid, state in told]
    jobs = current().client.commands.bulk_closure(*([jid for jid, _ in told] or roots)).jobs
    doomed = [job for job in jobs if job.state != "complete"]
    same = digest == ask_jobs.digest(doomed) if digest else form.whole("expected") == len(doomed)
    if not same:
        problem = "What would be cancelled has changed since you looked; nothing was done."
        raise AskAgain(problem)
    return [(job.jid, wanted(job.state)) for job in doomed]


def wanted(state: str) -> str:
    """Give the states that count as one that was shown: a lock may run out at any moment."""
    return _HELD if state in HELD else state


def movable(form: Form) -> str:
    """Give the states that one job is moved from, as it was shown; "" for any."""
    if not form.guarded:
        return ""
    return f"{AT_REST},{_HELD}" if form.get("state") in HELD else AT_REST
