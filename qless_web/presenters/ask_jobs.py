"""Questions about one job, and about jobs that were ticked."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from qless_core.records import Involved
from qless_web.formatting import Whole, isolated, short_jid, tilde
from qless_web.presenters import ask_words as words
from qless_web.presenters.ask import AskPage, Input, ask_page, of_job, of_ticked
from qless_web.presenters.jobs import HELD, job_link
from qless_web.presenters.page import Ask, Crumb, Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qless_core.reads import RecurringRow
    from qless_core.records import Closure

#: Jobs that a question names one by one.
NAMED = 10

#: Jobs that a question carries along, each with its state. Of more it carries the digest.
CARRIED = 500


def digest(jobs: Iterable[Involved]) -> str:
    """Tell a set of jobs and their states from any other."""
    lines = sorted(f"{job.jid}\0{job.state}" for job in jobs)
    return hashlib.sha256("\n".join(lines).encode(errors="surrogateescape")).hexdigest()[:32]


def target(name: str, shown: str | int) -> str:
    r"""Write a name, and what was shown beside it, as a field that browsers leave as it is.

    They change the ends of lines, and can say no bytes that are not UTF-8.

    >>> target("a\nb", "failed"), target("ü", 3)
    ('a~0Ab:failed', '~C3~BC:3')
    """
    return f"{tilde(Whole(name))}:{shown}"


def job_name(job: Involved) -> str:
    """Name a job as people see it: class, shortened jid."""
    return words.job(job.klass, job.jid)


def queue_input(queues: Sequence[str], value: str = "") -> Input:
    """Ask for a queue, one that is known or a new one."""
    return Input(
        kind="text",
        label="Queue",
        name="queue",
        value=value,
        hint="One that is there, or a new one.",
        options=tuple((name, "") for name in queues),
    )


def when_inputs(delay: str = "", at: str = "") -> tuple[Input, ...]:
    """Ask when something is to be due: how long from now, or the moment."""
    return (
        Input(
            kind="text",
            label="How long from now",
            name="delay",
            value=delay,
            hint="Seconds, or as 90s, 15m, 2h, 1d.",
            required=False,
        ),
        Input(
            kind="moment",
            label="Or the moment, in UTC",
            name="at",
            value=at,
            required=False,
        ),
    )


# -- One job


def simple(  # noqa: PLR0913 - the parts of a question, keyword-only
    job: str,
    jid: str,
    *,
    verb: str,
    endpoint: str,
    question: str = "",
    consequences: tuple[str, ...] = (),
    fields: tuple[tuple[str, str], ...] = (),
    inputs: tuple[Input, ...] = (),
    danger: bool = False,
) -> AskPage:
    """Ask one thing about one job.

    Args:
        job: how people see it.
        jid: what it is called.
        verb: what the button says.
        endpoint: where the answer goes.
        question: in a sentence; "<verb> <job>?" when not given.
        consequences: what it does, a sentence each.
        fields: what goes along.
        inputs: what is to be filled in.
        danger: whether it destroys.

    """
    asked = Ask(
        verb=verb,
        count=1,
        question=question or f"{verb} {job}?",
        link=Link(endpoint, {"jid": jid}),
        consequences=consequences,
        fields=(("expected", "1"), *fields),
        danger=danger,
    )
    return ask_page(asked, of_job(jid, job), inputs=inputs)


def nothing(verb: str, jid: str, endpoint: str, reason: str) -> AskPage:
    """Say that there is nothing to do to a job, and why."""
    asked = Ask(verb=verb, count=0, question=reason, link=Link(endpoint, {"jid": jid}))
    return ask_page(asked, of_job(jid))


def move(job: Involved | RecurringRow, jid: str, queues: Sequence[str]) -> AskPage:
    """Ask where to move a job."""
    if not isinstance(job, Involved):
        name, state = _name(job, jid), ""
        consequences: tuple[str, ...] = (
            "The jobs it makes from now on go there; those it has made stay.",
        )
    else:
        name, state = job_name(job), job.state
        consequences = tuple(_moving(job))
    return simple(
        name,
        jid,
        verb="Move",
        endpoint="act.move_job",
        question=f"Move {name} to which queue?",
        consequences=consequences,
        fields=(("state", state),),
        inputs=(queue_input(queues, job.queue),),
    )


def _moving(job: Involved) -> Iterable[str]:
    if job.state in HELD:
        worker = isolated(job.worker) if job.worker else "its worker"
        yield f"It is {job.state}: {worker} loses it, and it runs again."
    elif job.state == "complete":
        yield "It is complete: it runs again."
    elif job.state == "scheduled":
        yield "It is scheduled: it runs there as soon as it can."
    yield "Data, priority and tags stay as they are; retries are renewed."


def _name(job: Involved | RecurringRow, jid: str) -> str:
    name = words.job(job.klass, jid)
    return name if isinstance(job, Involved) else f"the recurring job {name}"


def priority(job: Involved | RecurringRow, jid: str, now: float) -> AskPage:
    """Ask for a priority."""
    return simple(
        _name(job, jid),
        jid,
        verb="Set priority",
        endpoint="act.set_priority",
        question=f"Which priority for {_name(job, jid)}?",
        inputs=(
            Input(
                kind="number",
                label="Priority",
                name="priority",
                value=f"{now:g}",
                hint="The higher, the sooner; among equals the first put goes first.",
            ),
        ),
    )


def tag(job: Involved | RecurringRow, jid: str) -> AskPage:
    """Ask for a tag to add."""
    return simple(
        _name(job, jid),
        jid,
        verb="Tag",
        endpoint="act.add_tag",
        question=f"Tag {_name(job, jid)} with what?",
        inputs=(Input(kind="text", label="Tag", name="tag", hint="One tag, commas and all."),),
    )


def untag(job: Involved | RecurringRow, jid: str, text: str) -> AskPage:
    """Ask whether to remove a tag, or which."""
    question = f"Remove the tag {isolated(text)} from {_name(job, jid)}?" if text else ""
    return simple(
        _name(job, jid),
        jid,
        verb="Untag",
        endpoint="act.remove_tag",
        question=question,
        fields=(("tag", text),) if text else (),
        inputs=() if text else (Input(kind="text", label="Tag", name="tag"),),
    )


def time_out(job: Involved) -> AskPage:
    """Ask whether to take the lock from a job's worker."""
    return simple(
        job_name(job),
        job.jid,
        verb="Time out",
        endpoint="act.time_out_job",
        consequences=(
            f"{isolated(job.worker)} loses it at once, whatever it has done so far.",
            f"It is the next job that a worker takes from {isolated(job.queue)}.",
        ),
        danger=True,
    )


def undepend(job: Involved, dependencies: Sequence[str], one: str) -> AskPage:
    """Ask whether a job is to wait no longer; `one` names a single dependency, "" means all."""
    what = isolated(short_jid(one)) if one else f"the {words.jobs(len(dependencies))} it waits for"
    asked = Ask(
        verb="Undepend",
        count=1 if one else len(dependencies),
        question=f"Let {job_name(job)} wait no longer for {what}?",
        link=Link("act.undepend_job", {"jid": job.jid}),
        consequences=("A job that waits for nothing runs as soon as a worker takes it.",),
        examples=tuple(
            _first([Crumb(isolated(jid), job_link(jid)) for jid in sorted(dependencies)])
        ),
        fields=(
            ("expected", "1" if one else str(len(dependencies))),
            *((("dependency", one),) if one else ()),
        ),
        danger=True,
    )
    return ask_page(asked, of_job(job.jid, job_name(job)))


def cancel(closure: Closure, jid: str) -> AskPage:
    """Ask whether to cancel a job, with all jobs that wait for it."""
    job = next(each for each in closure.jobs if each.jid == jid)
    doomed = tuple(each for each in closure.jobs if each.state != "complete")
    if job.state == "complete":
        reason = f"{job_name(job)} is complete: there is nothing to cancel."
        return nothing("Cancel", jid, "act.cancel_job", reason)
    others = tuple(each for each in doomed if each.jid != jid)
    question = f"Cancel {job_name(job)}?"
    if others:
        question = f"Cancel {job_name(job)} and the {words.jobs(len(others))} waiting for it?"
    asked = Ask(
        verb="Cancel",
        count=len(doomed),
        question=question,
        link=Link("act.cancel_job", {"jid": jid}),
        consequences=tuple(_canceling(doomed, others)),
        examples=tuple(_examples(others)),
        fields=(
            ("expected", str(len(doomed))),
            *_carried(doomed, (jid,)),
        ),
        danger=True,
    )
    return ask_page(asked, of_job(jid, job_name(job)))


def cancel_recurring(jid: str, klass: str) -> AskPage:
    """Ask whether to end a recurring job."""
    name = words.job(klass, jid)
    asked = Ask(
        verb="Cancel",
        count=1,
        noun="recurring job",
        question=f"Cancel the recurring job {name}?",
        link=Link("act.cancel_job", {"jid": jid}),
        consequences=("It makes no more jobs. Those it has made stay. This cannot be undone.",),
        fields=(("expected", "1"),),
        danger=True,
    )
    return ask_page(asked, of_job(jid, name))


def _canceling(doomed: Sequence[Involved], others: Sequence[Involved]) -> Iterable[str]:
    if others:
        yield "Jobs that wait for a cancelled one would wait for ever, so they go with it."
    workers = sorted({job.worker for job in doomed if job.state in HELD and job.worker})
    if workers:
        named = ", ".join(map(isolated, workers[:3])) + (" and others" if len(workers) > 3 else "")  # noqa: PLR2004 - a line
        running = sum(1 for job in doomed if job.state in HELD)
        subject = "It is" if len(doomed) == 1 else f"{running:,} {'is' if running == 1 else 'are'}"
        yield f"{subject} running: {named} is told to stop."
    yield (
        "It rests in the trash for a while, and can come back from there; then it is gone."
        if len(doomed) == 1
        else words.FOR_GOOD
    )


def _examples(jobs: Sequence[Involved]) -> Iterable[Crumb]:
    return _first(
        [
            Crumb(f"{job_name(job)} ({job.state} in {isolated(job.queue)})", job_link(job.jid))
            for job in jobs
        ]
    )


def _first(crumbs: Sequence[Crumb]) -> Iterable[Crumb]:
    yield from crumbs[:NAMED]
    if len(crumbs) > NAMED:
        yield Crumb(words.more(len(crumbs) - NAMED))


def _targets(jobs: Iterable[Involved]) -> tuple[tuple[str, str], ...]:
    """Give the fields that bring jobs back, each with the state it was shown in."""
    return tuple(("targets", target(job.jid, job.state)) for job in jobs)


def _carried(doomed: Sequence[Involved], roots: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Give what brings jobs and all that wait for them back; of very many their digest."""
    if len(doomed) <= CARRIED:
        return _targets(doomed)
    return (("shown", digest(doomed)), *(("targets", target(jid, "")) for jid in roots))


# -- Jobs that were ticked


def ticked(  # noqa: PLR0913 - the parts of a question, keyword-only
    verb: str,
    endpoint: str,
    chosen: Sequence[Involved],
    left: Mapping[str, int],
    *,
    question: str,
    consequences: tuple[str, ...] = (),
    fields: tuple[tuple[str, str], ...] = (),
    carried: tuple[tuple[str, str], ...] = (),
    inputs: tuple[Input, ...] = (),
    danger: bool = False,
) -> AskPage:
    """Ask about several jobs.

    Args:
        verb: what the button says.
        endpoint: where the answer goes.
        chosen: the jobs that it would be done to.
        left: how many others are left out, by reason.
        question: in a sentence.
        consequences: what it does, a sentence each.
        fields: what goes along, beside the jobs.
        carried: what brings the jobs back; by default each with its state.
        inputs: what is to be filled in.
        danger: whether it destroys.

    """
    out = words.left_out(left)
    asked = Ask(
        verb=verb,
        count=len(chosen),
        question=question if chosen else _none(left),
        link=Link(endpoint),
        left_out=(out,) if out else (),
        consequences=consequences if chosen else (),
        examples=tuple(_examples(chosen)),
        fields=(("expected", str(len(chosen))), *(carried or _targets(chosen)), *fields),
        danger=danger,
    )
    return ask_page(asked, of_ticked(), inputs=inputs if chosen else ())


def _none(left: Mapping[str, int]) -> str:
    return "None of these jobs can." if left else "No job is ticked."


def cancel_ticked(closure: Closure, jids: Sequence[str], group: str) -> AskPage:
    """Ask whether to cancel ticked jobs, with all jobs that wait for them."""
    doomed = tuple(job for job in closure.jobs if job.state != "complete")
    others = tuple(job for job in doomed if job.jid not in set(jids))
    left = {"gone": len(closure.missing), "complete": len(closure.jobs) - len(doomed)}
    mine = len(doomed) - len(others)
    waiting = f" and the {words.jobs(len(others))} waiting for them" if others else ""
    return ticked(
        "Cancel",
        "act.cancel_jobs",
        doomed,
        {reason: number for reason, number in left.items() if number},
        question=f"Cancel {words.jobs(mine)}{waiting}?",
        consequences=tuple(_canceling(doomed, others)),
        fields=(("group", group),) if group and not others else (),
        carried=_carried(doomed, jids),
        danger=True,
    )
