"""A job that nobody runs gets other data, or another number of retries."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from qless_core.errors import BadArgument, JobNotFound
from qless_web import disclosure
from qless_web.actions import typed
from qless_web.actions.action import AskAgain, action
from qless_web.actions.field import Field
from qless_web.actions.outcome import Outcome, one
from qless_web.console import current
from qless_web.formatting import short_jid
from qless_web.presenters import ask, ask_putting
from qless_web.presenters import ask_words as words

if TYPE_CHECKING:
    from qless_core.reads import Original
    from qless_web.actions.form import Form
    from qless_web.presenters.ask import AskPage

_MOST_RETRIES = 1_000_000_000


def _look(jid: str) -> disclosure.Shown:
    """Read a job.

    Raises:
        JobNotFound: there is none.

    """
    found = disclosure.original(jid)
    if found is None:
        raise JobNotFound(jid)
    return found


def _digest(text: str) -> str:
    """Tell a text from any other, as the script does."""
    stored = text.encode(errors="surrogateescape")
    return hashlib.sha1(stored, usedforsecurity=False).hexdigest()


# -- Data


def _why_not(found: disclosure.Shown) -> str:
    """Say why the data of a job cannot be edited in a form; "" where it can."""
    if why := ask_putting.not_editable(found.job):
        return why
    if not found.is_whole:
        return "Some of its data is not shown here, so that it cannot be written anew."
    if not ask_putting.fits(found.data):
        return "Its data is too large for a form, or holds bytes that are no text: use the API."
    return ""


def _ask_edit(form: Form, jid: str) -> AskPage:
    found = _look(jid)
    if why := _why_not(found):
        return ask_putting.nothing(found.job, "Edit", "act.edit_data", why)
    now = _digest(found.data)
    changed = form.has("shown") and form.get("shown") != now
    return ask_putting.edit(
        found.job,
        form.get("data") if form.has("data") else found.data,
        shown=now,
        stored=found.data if changed else "",
    )


@action(
    "edit_data",
    "/jobs/<name:jid>/edit",
    permission="operate",
    subject=ask.of_job,
    ask=_ask_edit,
    takes=(
        Field(
            name="data",
            help="What it works on from now on: JSON, as text, kept byte for byte.",
            pattern=typed.JSON,
            example='{"to": "kim"}',
        ),
        Field(
            name="shown",
            required=False,
            help="The SHA-1 of the data that is to be replaced, in small hex digits: nothing is "
            "done where it is other data by now.",
            pattern=r"^[0-9a-f]{40}$",
        ),
    ),
)
def edit_data(form: Form, jid: str) -> Outcome:
    """Give a job that nobody runs other data, unless that has changed since it was shown."""
    found = _look(jid)
    data = form.get("data")
    if form.guarded:
        data = typed.one_ending(data)
        if data == typed.one_ending(found.job.data):
            return Outcome(text=f"The data of {short_jid(jid)} is as it was.", tone="info")
    shown = form.get("shown")
    try:
        _must_be_whole(form, found)
        text = typed.checked_json(data)
        report = current().client.commands.edit(jid, "data", text, shown=shown)
    except BadArgument as error:
        if not form.guarded:
            raise
        raise AskAgain(str(error)) from error
    if report.left.get(jid) == "changed" and form.guarded:
        problem = (
            "Its data has changed since you looked; nothing was done. What is stored now is below, "
            "and what you wrote is still here."
        )
        raise AskAgain(problem)
    return one(jid, report, words.sentence(f"Changed the data of {short_jid(jid)}"))


def _must_be_whole(form: Form, found: disclosure.Shown) -> None:
    """Let nobody write over what is hidden without knowing it.

    Raises:
        BadArgument: some of it is, and nothing says that what is stored was seen.

    """
    if not found.is_whole and form.get("shown") != _digest(found.job.data):
        problem = "Some of its data is not shown here, so that it cannot be written anew."
        raise BadArgument(problem)


# -- Retries


def _retries_of(job: Original) -> str:
    return "" if job.retries is None else str(job.retries)


def _ask_retries(form: Form, jid: str) -> AskPage:
    job = _look(jid).job
    if why := ask_putting.not_editable(job):
        return ask_putting.nothing(job, "Set retries", "act.set_retries", why)
    value = form.get("retries") if form.has("retries") else _retries_of(job)
    return ask_putting.retries(job, value)


@action(
    "set_retries",
    "/jobs/<name:jid>/retries",
    permission="operate",
    subject=ask.of_job,
    ask=_ask_retries,
    takes=(
        Field(
            name="retries",
            kind="whole",
            lowest=0,
            highest=_MOST_RETRIES,
            help="How many it has, and how many are left, from now on.",
            example=5,
        ),
    ),
)
def set_retries(form: Form, jid: str) -> Outcome:
    """Give a job that nobody runs another number of retries."""
    try:
        form.text("retries", "a whole number from 0 up")
        retries = typed.whole(form, "retries", "number of retries", _MOST_RETRIES) or 0
    except BadArgument as error:
        if not form.guarded:
            raise
        raise AskAgain(str(error)) from error
    report = current().client.commands.edit(jid, "retries", retries)
    told = "1 retry" if retries == 1 else f"{retries:,} retries"
    return one(jid, report, f"{short_jid(jid)} has {told} left.")
