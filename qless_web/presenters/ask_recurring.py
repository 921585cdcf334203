"""Questions about recurring jobs: what they make, when, and whether they go on."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from qless_web.presenters import ask_words as words
from qless_web.presenters.ask import AskPage, Input, ask_page, of_job
from qless_web.presenters.page import Ask, Link

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qless_core.reads import RecurringRow


def shown(row: RecurringRow, data: str | None) -> str:
    """Tell a definition from any other, in what can be edited."""
    timing = (row.interval, row.cron, row.timezone)
    parts = (row.klass, row.queue, timing, row.priority, row.retries, row.backlog, data)
    return hashlib.sha256(repr(parts).encode(errors="surrogateescape")).hexdigest()[:32]


def name(row: RecurringRow) -> str:
    """Name a recurring job in a sentence."""
    return f"the recurring job {words.job(row.klass, row.jid)}"


def simple(row: RecurringRow, verb: str, endpoint: str, *consequences: str) -> AskPage:
    """Ask one thing about a recurring job."""
    return _page(row, verb, endpoint, f"{verb} {name(row)}?", consequences)


def edit(
    row: RecurringRow, data: str | None, queues: Sequence[str], given: Mapping[str, str]
) -> AskPage:
    """Ask what a recurring job is to be.

    Args:
        row: what it is.
        data: what its jobs work on; None where that is too large for a form.
        queues: all that there are, to choose from.
        given: what somebody filled in already, by field.

    """
    inputs = tuple(_inputs(row, data, queues))
    return _page(
        row,
        "Change",
        "act.edit_recurring",
        f"Change {name(row)}",
        (
            "The jobs it makes from now on are so; those it has made stay as they are.",
            "Where an application defines it at every start, that counts again at the next one.",
            *(
                ()
                if data is not None
                else ("Its data cannot be edited here: it is too large, or hidden in part.",)
            ),
        ),
        fields=(("shown", given.get("shown") or shown(row, data)),),
        inputs=tuple(_filled(each, given) for each in inputs),
    )


def _inputs(row: RecurringRow, data: str | None, queues: Sequence[str]) -> Iterable[Input]:
    yield Input(kind="text", label="Class", name="klass", value=row.klass)
    yield Input(
        kind="text",
        label="Queue",
        name="queue",
        value=row.queue,
        hint="One that is there, or a new one.",
        options=tuple((each, "") for each in queues),
    )
    if row.cron:
        yield Input(
            kind="text",
            label="Cron expression",
            name="cron",
            value=row.cron,
            hint="Minute, hour, day of the month, month, day of the week; with seconds first: six.",
        )
        yield Input(
            kind="text",
            label="Time zone",
            name="timezone",
            value=row.timezone,
            hint="As Europe/Berlin, or UTC.",
        )
    else:
        yield Input(
            kind="text",
            label="Interval",
            name="interval",
            value="" if row.interval is None else f"{row.interval:.15g}",
            hint="Seconds, or as 90s, 15m, 2h, 1d. The next run moves by the difference.",
        )
    yield Input(
        kind="number",
        label="Priority",
        name="priority",
        value=str(row.priority),
        hint="The higher, the sooner.",
    )
    yield Input(kind="number", label="Retries", name="retries", value=str(row.retries or 0))
    yield Input(
        kind="number",
        label="Backlog",
        name="backlog",
        value=str(row.backlog),
        hint="How many missed runs give a job; 0 for all.",
    )
    if data is not None:
        yield Input(
            kind="lines", label="Data", name="data", value=data, hint="JSON, kept as you write it."
        )


def _filled(asked: Input, given: Mapping[str, str]) -> Input:
    """Put back what was filled in, where the question comes again."""
    return replace(asked, value=given[asked.name]) if asked.name in given else asked


def _page(  # noqa: PLR0913 - the parts of a question
    row: RecurringRow,
    verb: str,
    endpoint: str,
    question: str,
    consequences: tuple[str, ...],
    *,
    fields: tuple[tuple[str, str], ...] = (),
    inputs: tuple[Input, ...] = (),
) -> AskPage:
    asked = Ask(
        verb=verb,
        count=1,
        noun="recurring job",
        question=question,
        link=Link(endpoint, {"jid": row.jid}),
        consequences=consequences,
        fields=(("expected", "1"), *fields),
    )
    return ask_page(asked, of_job(row.jid, words.job(row.klass, row.jid)), inputs=inputs)
