"""Questions that make a job: what it is, when it runs, what it works on; and what it is to be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from qless_core.reads.job import DATA_SHOWN
from qless_web.formatting import isolated
from qless_web.presenters import ask_words as words
from qless_web.presenters.ask import AskPage, Input, ask_page, of_job, of_queue
from qless_web.presenters.page import Ask, Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qless_core.reads import Original

_LINES = "One in each line."


def fits(data: str) -> bool:
    """Say whether a form can hold data and send it back as it is.

    >>> fits('{"n": 1}'), fits("\udcff"), fits("x" * 100_000)
    (True, False, False)
    """
    try:
        return len(data.encode()) <= DATA_SHOWN
    except UnicodeEncodeError:
        return False


def put(queue: str, given: Mapping[str, str]) -> AskPage:
    """Ask for a new job; `given` is what was filled in already, by field."""
    question = Ask(
        verb="Put",
        count=1,
        question=f"Put a job into {isolated(queue)}",
        link=Link("act.put_job", {"queue": queue}),
        fields=(("expected", "1"),),
    )
    return ask_page(question, of_queue(queue), inputs=_filled(_inputs(), given))


def duplicate(job: Original, data: str | None, given: Mapping[str, str]) -> AskPage:
    """Ask for a job like another one.

    Args:
        job: the other one.
        data: its data; None where a form cannot hold it, or some of it is hidden.
        given: what was filled in already, by field.

    """
    name = words.job(job.klass, job.jid)
    question = Ask(
        verb="Put",
        count=1,
        question=f"Put another job like {name}",
        link=Link("act.duplicate_job", {"jid": job.jid}),
        consequences=("It is a job of its own, with its own jid; the other stays as it is.",),
        fields=(("expected", "1"),),
    )
    inputs = _filled(_inputs(elsewhere=True), {**_of(job, data), **given})
    if data is None:
        hint = "Left empty it is that of the other job, which cannot be shown here."
        inputs = [replace(each, hint=hint) if each.name == "data" else each for each in inputs]
    return ask_page(question, of_job(job.jid, name), inputs=inputs)


def _of(job: Original, data: str | None) -> dict[str, str]:
    return {
        "klass": job.klass,
        "queue": job.queue,
        "data": data or "",
        "priority": str(job.priority),
        "retries": "" if job.retries is None else str(job.retries),
        "tags": "\n".join(job.tags),
        "depends": "\n".join(job.depends),
        "throttles": "\n".join(job.throttles),
    }


def _filled(inputs: Iterable[Input], given: Mapping[str, str]) -> list[Input]:
    return [replace(each, value=given.get(each.name, each.value)) for each in inputs]


def _inputs(*, elsewhere: bool = False) -> Sequence[Input]:
    where = Input(kind="text", label="Queue", name="queue", hint="One that is there, or a new one.")
    return (
        Input(kind="text", label="Class", name="klass", hint="As workers know it: shop.Welcome."),
        *((where,) if elsewhere else ()),
        Input(
            kind="lines", label="Data", name="data", hint="JSON, kept as it is written; {} if none."
        ),
        Input(
            kind="text",
            label="Due in",
            name="delay",
            hint="Seconds, or as 90s, 15m, 2h, 1d. Empty: now.",
            required=False,
        ),
        Input(kind="moment", label="Or at, in UTC", name="at", required=False),
        Input(kind="number", label="Priority", name="priority", hint="The higher, the sooner."),
        Input(
            kind="number",
            label="Retries",
            name="retries",
            hint="How often a worker may lose it before it fails; 5 if empty.",
            more=True,
        ),
        Input(kind="lines", label="Tags", name="tags", hint=_LINES, more=True, rows=2),
        Input(
            kind="lines",
            label="Waits for",
            name="depends",
            hint="Jids of jobs that must be complete first, one in each line.",
            more=True,
            rows=2,
        ),
        Input(
            kind="lines",
            label="Throttles",
            name="throttles",
            hint="Names of limits that it runs under, one in each line.",
            more=True,
            rows=2,
        ),
        Input(
            kind="text",
            label="Jid",
            name="jid",
            hint="Made up if empty. No job may be called so already.",
            required=False,
            more=True,
        ),
    )


# -- One that is there


def not_editable(job: Original) -> str:
    """Say why a job cannot be edited in the state it is in; "" where it can."""
    if job.recurs:
        return "It recurs: its own page edits it."
    match job.state:
        case "running":
            return "A worker has a copy of it, and writes that back when it ends."
        case "complete":
            return "It is complete, and says what it ran with. Duplicate it to run it otherwise."
        case _:
            return ""


def nothing(job: Original, verb: str, endpoint: str, why: str) -> AskPage:
    """Say that a job cannot be edited, and why."""
    name = words.job(job.klass, job.jid)
    question = f"{name} stays as it is. {why}"
    asked = Ask(verb=verb, count=0, question=question, link=Link(endpoint, {"jid": job.jid}))
    return ask_page(asked, of_job(job.jid, name))


def _edit(job: Original, verb: str, endpoint: str, question: str, shown: str = "") -> Ask:
    return Ask(
        verb=verb,
        count=1,
        question=question,
        link=Link(endpoint, {"jid": job.jid}),
        fields=(("expected", "1"), *((("shown", shown),) if shown else ())),
    )


def edit(job: Original, text: str, *, shown: str, stored: str) -> AskPage:
    """Ask for other data.

    Args:
        job: the job.
        text: what the field holds.
        shown: tells what is stored from all else.
        stored: what is stored, where it is not what was shown before; else "".

    """
    name = words.job(job.klass, job.jid)
    asked = _edit(job, "Edit", "act.edit_data", f"Change the data of {name}", shown)
    now = Input(kind="shown", label="Stored now", name="stored", value=stored)
    field = Input(
        kind="lines",
        label="Data",
        name="data",
        value=text,
        hint="JSON, kept as it is written, with every digit.",
        rows=12,
    )
    inputs = (*((now,) if stored else ()), field)
    return ask_page(asked, of_job(job.jid, name), inputs=inputs)


def retries(job: Original, value: str) -> AskPage:
    """Ask for a number of retries."""
    name = words.job(job.klass, job.jid)
    asked = _edit(job, "Set retries", "act.set_retries", f"How many retries for {name}?")
    field = Input(
        kind="number",
        label="Retries",
        name="retries",
        value=value,
        hint="How often a worker may lose it before it fails.",
    )
    return ask_page(asked, of_job(job.jid, name), inputs=(field,))
