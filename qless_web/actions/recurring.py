"""What is done to one recurring job: run now, paused, changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qless_core import reads
from qless_core.cron import Cron
from qless_core.errors import BadArgument, JobNotFound, RecurringJobNotFound
from qless_core.reads import RecurringRow
from qless_core.reads.job import DATA_SHOWN
from qless_web.actions import timing, typed
from qless_web.actions.action import AskAgain, action
from qless_web.actions.field import Field
from qless_web.actions.form import HIGHEST_PRIORITY, one_line
from qless_web.actions.outcome import Outcome
from qless_web.console import current
from qless_web.formatting import short_jid
from qless_web.presenters import ask, ask_recurring
from qless_web.presenters import ask_words as words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qless_web.actions.form import Form
    from qless_web.presenters.ask import AskPage

#: Beyond these Redis keeps no whole number that people would want here.
_MOST_RETRIES = 1_000_000_000
_MOST_BACKLOG = 1_000_000

_FIELDS = (
    Field(name="klass", required=False, help="The class of its jobs.", example="shop.Report"),
    Field(name="queue", required=False, help="The queue of its jobs.", example="reports"),
    Field(
        name="interval",
        required=False,
        help="Seconds from run to run, as text, or a time such as `90s`, `15m`, `2h`, `1d`. Of a "
        "job that recurs by interval.",
        pattern=r"^(?:[1-9][0-9]{0,4}(?:s|m|min|h)?|[1-9][0-9]{0,2}[dw])$",
        example="15m",
    ),
    Field(
        name="cron",
        required=False,
        help="The cron expression of a job that has one.",
        pattern=r"^(?:@[a-z]{4,8}|[0-9A-Za-z*/,?#-]+(?: [0-9A-Za-z*/,?#-]+){4})$",
        example="0 6 * * 1-5",
    ),
    Field(
        name="timezone",
        required=False,
        help="The time zone of the expression.",
        pattern=r"^[A-Za-z][A-Za-z0-9_+/-]*$",
        example="Europe/Berlin",
    ),
    Field(
        name="priority",
        kind="whole",
        required=False,
        lowest=-HIGHEST_PRIORITY,
        highest=HIGHEST_PRIORITY,
        help="The priority of its jobs; the higher, the sooner.",
        example=10,
    ),
    Field(
        name="retries",
        kind="whole",
        required=False,
        lowest=0,
        highest=_MOST_RETRIES,
        help="The retries of its jobs.",
        example=3,
    ),
    Field(
        name="backlog",
        kind="whole",
        required=False,
        lowest=0,
        highest=_MOST_BACKLOG,
        help="How many missed runs give a job; 0 for all.",
        example=1,
    ),
    Field(
        name="data",
        required=False,
        help="The data of its jobs: JSON, as text, kept byte for byte.",
        pattern=typed.JSON,
        example='{"month": 12}',
    ),
)


def _look(jid: str) -> RecurringRow:
    """Look at a recurring job.

    Raises:
        JobNotFound: there is none.

    """
    found = current().read(reads.job_row(jid))
    if not isinstance(found, RecurringRow):
        raise JobNotFound(jid)
    return found


def _done(jid: str, act: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the command answers
    """Do it to the recurring job of that jid.

    Raises:
        JobNotFound: there is none.

    """
    try:
        return act()
    except RecurringJobNotFound:
        raise JobNotFound(jid) from None


# -- Run now


def _ask_run(_form: Form, jid: str) -> AskPage:
    return ask_recurring.simple(
        _look(jid),
        "Run",
        "act.run_recurring",
        "It makes one job now, which counts among the others. Its runs to come stay as they are.",
    )


@action(
    "run_recurring",
    "/recurring/<name:jid>/run",
    permission="operate",
    subject=ask.of_job,
    ask=_ask_run,
)
def run_recurring(_form: Form, jid: str) -> Outcome:
    """Let a recurring job make a job now, beside its runs."""
    child = _done(jid, lambda: current().client.commands.recur_run(jid))
    text = words.sentence(f"{short_jid(jid)} made the job {child}")
    return Outcome(text=text, done=(jid,), answer=child)


# -- Pause and unpause


def _ask_pause(_form: Form, jid: str) -> AskPage:
    return ask_recurring.simple(
        _look(jid),
        "Pause",
        "act.pause_recurring",
        "It makes no jobs until it is unpaused. Those it has made go on.",
        "What it owes, and what falls due meanwhile, is passed over.",
    )


@action(
    "pause_recurring",
    "/recurring/<name:jid>/pause",
    permission="operate",
    subject=ask.of_job,
    ask=_ask_pause,
)
def pause_recurring(_form: Form, jid: str) -> Outcome:
    """Let one recurring job make no jobs until it is unpaused."""
    is_new = _done(jid, lambda: current().client.commands.recur_pause(jid))
    name = short_jid(jid)
    text = f"Paused {name}: it makes no jobs." if is_new else f"{name} is paused already."
    return Outcome(text=text, tone="done" if is_new else "info", done=(jid,))


def _ask_unpause(_form: Form, jid: str) -> AskPage:
    return ask_recurring.simple(
        _look(jid),
        "Unpause",
        "act.unpause_recurring",
        "It goes on with its next run. The runs that it missed give no jobs.",
    )


@action(
    "unpause_recurring",
    "/recurring/<name:jid>/unpause",
    permission="operate",
    subject=ask.of_job,
    ask=_ask_unpause,
)
def unpause_recurring(_form: Form, jid: str) -> Outcome:
    """Let a recurring job go on with its next run."""
    client = current().client
    was_paused = _done(jid, lambda: client.commands.recur_unpause(jid))
    if was_paused:
        client.cron_plans.extend()
    name = short_jid(jid)
    text = f"{name} goes on with its next run." if was_paused else f"{name} is not paused."
    return Outcome(text=text, tone="done" if was_paused else "info", done=(jid,))


# -- Edit


def _ask_edit(form: Form, jid: str) -> AskPage:
    row, stored, queues = current().read(reads.job_row(jid), reads.data(jid), reads.queue_names())
    if not isinstance(row, RecurringRow):
        raise JobNotFound(jid)
    names = ("shown", *(each.name for each in _FIELDS))
    given = {name: form.get(name) for name in names if form.has(name)}
    return ask_recurring.edit(row, _editable(row, stored), queues, given)


def _editable(row: RecurringRow, stored: str | None) -> str | None:
    """Give data that a form can hold and send back as it is, with nothing of it hidden."""
    text = stored or ""
    if current().extensions.shown(row.klass, text) != text:
        return None
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return None
    return text if size <= DATA_SHOWN else None


@action(
    "edit_recurring",
    "/recurring/<name:jid>/edit",
    permission="operate",
    subject=ask.of_job,
    ask=_ask_edit,
    takes=_FIELDS,
)
def edit_recurring(form: Form, jid: str) -> Outcome:
    """Change what a recurring job makes, and when; what is not given stays as it is."""
    row, stored = current().read(reads.job_row(jid), reads.data(jid))
    if not isinstance(row, RecurringRow):
        raise JobNotFound(jid)
    if form.has("shown") and form.get("shown") != ask_recurring.shown(row, _editable(row, stored)):
        problem = "It has changed since you looked; nothing was done. What you wrote is still here."
        raise AskAgain(problem)
    try:
        changes = dict(_changes(form, row, stored or ""))
        if changes:
            _done(jid, lambda: current().client.commands.recur_update(jid, **changes))
    except BadArgument as error:
        if not form.guarded:
            raise
        raise AskAgain(str(error)) from error
    name = short_jid(jid)
    if not changes:
        return Outcome(text=f"Nothing of {name} was changed.", tone="info", done=(jid,))
    told = ", ".join(_NAMES.get(each, each) for each in changes if each != "runs")
    return Outcome(text=f"Changed {name}: {told}.", done=(jid,))


_NAMES = {"klass": "class", "interval_s": "interval", "cron": "cron expression",
          "timezone": "time zone"}  # fmt: skip


def _changes(form: Form, row: RecurringRow, stored: str) -> Iterator[tuple[str, Any]]:
    """Give what is another value than now.

    Raises:
        BadArgument: a value makes no sense.

    """
    yield from _texts(form, row)
    yield from _numbers(form, row)
    if form.has("interval") and not row.cron:
        interval = timing.seconds(form.get("interval"), "interval")
        if interval != row.interval:
            yield "interval_s", interval
    yield from _timing(form, row)
    if form.has("data"):
        data = form.get("data")
        if form.guarded:  # browsers send every end of a line as CR LF
            data = data.replace("\r\n", "\n")
        if data != stored and data != stored.replace("\r\n", "\n"):
            yield "data", data


def _texts(form: Form, row: RecurringRow) -> Iterator[tuple[str, str]]:
    for name, what, now in (
        ("klass", "the class of its jobs", row.klass),
        ("queue", "the queue of its jobs", row.queue),
    ):
        if form.has(name):
            given = form.text(name, what)
            if one_line(given) != one_line(now):
                yield name, given


def _numbers(form: Form, row: RecurringRow) -> Iterator[tuple[str, int]]:
    if form.has("priority") and form.priority() != row.priority:
        yield "priority", form.priority()
    for name, most, now in (
        ("retries", _MOST_RETRIES, row.retries or 0),
        ("backlog", _MOST_BACKLOG, row.backlog),
    ):
        if form.has(name):
            given = form.whole(name)
            if given is None or not 0 <= given <= most:
                problem = f"The field “{name}” must be a whole number from 0 to {most:,}."
                raise BadArgument(problem)
            if given != now:
                yield name, given


def _timing(form: Form, row: RecurringRow) -> Iterator[tuple[str, Any]]:
    """Give another expression or time zone, with the runs that these have."""
    if row.cron and form.has("interval"):
        problem = "It recurs by cron expression: it has no interval."
        raise BadArgument(problem)
    given = {name: form.get(name) for name in ("cron", "timezone") if form.has(name)}
    if given and not row.cron:
        problem = "It recurs by interval: it has no cron expression and no time zone."
        raise BadArgument(problem)
    if not given:
        return
    cron = Cron(given.get("cron", row.cron), given.get("timezone", row.timezone))
    if (cron.expression, cron.timezone) != (row.cron, row.timezone):
        now = current().client.now()
        yield "cron", cron.expression
        yield "timezone", cron.timezone
        yield "runs", cron.plan(now, now)
