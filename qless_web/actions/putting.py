"""A job is put from the console: a new one, or one like another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qless_core import reads
from qless_core.errors import BadArgument, JobNotFound, MissingDependencies
from qless_core.job import new_jid
from qless_web import disclosure
from qless_web.actions import due, typed
from qless_web.actions.action import AskAgain, action
from qless_web.actions.field import Field
from qless_web.actions.form import HIGHEST_PRIORITY, one_line
from qless_web.actions.outcome import Outcome
from qless_web.console import current
from qless_web.formatting import short_jid
from qless_web.presenters import ask, ask_putting
from qless_web.presenters import ask_words as words
from qless_web.presenters.jobs import job_link

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_web.actions.form import Form
    from qless_web.disclosure import Shown
    from qless_web.presenters.ask import AskPage

#: Beyond it the script takes no number of retries.
_MOST_RETRIES = 1_000_000_000

#: Names that one field may hold.
_MOST_NAMES = 1_000

_KLASS = "The class that runs it."

_DATA = "What it works on: JSON, as text, kept byte for byte."


def _names(name: str, text: str, example: list[str]) -> Field:
    return Field(
        name=name,
        kind="texts",
        required=False,
        lowest=0,
        highest=_MOST_NAMES,
        help=text,
        example=example,
    )


_OPTIONS = (
    Field(
        name="priority",
        kind="whole",
        required=False,
        lowest=-HIGHEST_PRIORITY,
        highest=HIGHEST_PRIORITY,
        help="The higher, the sooner.",
        example=10,
    ),
    Field(
        name="retries",
        kind="whole",
        required=False,
        lowest=0,
        highest=_MOST_RETRIES,
        help="How often it may be taken back from a worker before it fails.",
        example=5,
    ),
    _names("tags", "Its tags, each as it is.", ["vip"]),
    _names("throttles", "Names of the limits that it runs under.", ["mail-server"]),
    Field(
        name="jid",
        required=False,
        help="What to call it; no job may be called so. Made up when not given.",
    ),
)

_WHEN = Field(
    name=due.WHEN.name,
    form=due.WHEN.form,
    required=False,
    help=f"When it is due, where that is not now. {due.WHEN.help}",
    pattern=due.WHEN.pattern,
    example=due.WHEN.example,
)

_DEPENDS = _names("depends", "The jids of jobs that must be complete first.", [])

#: Fields of the forms, beside those that programs send.
_FORM = ("klass", "queue", "data", "delay", "at", "priority", "retries", "tags", "depends",
         "throttles", "jid")  # fmt: skip


def _given(form: Form) -> dict[str, str]:
    """Give what was filled in already, by field."""
    return {name: form.get(name) for name in _FORM if form.has(name)}


# -- A new one


def _ask_put(form: Form, queue: str) -> AskPage:
    return ask_putting.put(queue, _given(form))


@action(
    "put_job",
    "/queues/<name:queue>/put",
    permission="operate",
    subject=ask.of_queue,
    ask=_ask_put,
    takes=(
        Field(name="klass", help=_KLASS, example="shop.Welcome"),
        Field(
            name="data",
            required=False,
            default="{}",
            help=_DATA,
            pattern=typed.JSON,
            example='{"to": "kim"}',
        ),
        _WHEN,
        *_OPTIONS,
        _DEPENDS,
    ),
)
def put_job(form: Form, queue: str) -> Outcome:
    """Put a new job into a queue."""
    return _put(form, queue, None)


# -- One like another


def _original(jid: str) -> Shown:
    """Read the job that another one is to be like.

    Raises:
        JobNotFound: there is none.

    """
    found = disclosure.original(jid)
    if found is None:
        raise JobNotFound(jid)
    return found


def _ask_duplicate(form: Form, jid: str) -> AskPage:
    shown = disclosure.original(jid)
    if shown is None:
        raise JobNotFound(jid)
    return ask_putting.duplicate(shown.job, _editable(shown), _given(form))


def _editable(shown: Shown) -> str | None:
    """Give data that a form can hold and send back as it is; None where it cannot."""
    return shown.data if shown.is_whole and ask_putting.fits(shown.data) else None


@action(
    "duplicate_job",
    "/jobs/<name:jid>/duplicate",
    permission="operate",
    subject=ask.of_job,
    ask=_ask_duplicate,
    takes=(
        Field(name="klass", required=False, help=f"{_KLASS} That of the other when not given."),
        Field(name="queue", required=False, help="Where it goes. That of the other.", example="q"),
        Field(
            name="data",
            required=False,
            help=f"{_DATA} That of the other when not given.",
            pattern=typed.JSON,
        ),
        _WHEN,
        # `jid` is in the address already: a program lets it be made up, or puts one itself.
        *(each for each in _OPTIONS if each.name != "jid"),
        _DEPENDS,
    ),
)
def duplicate_job(form: Form, jid: str) -> Outcome:
    """Put another job like one that there is; what is not given is as of that one."""
    shown = _original(jid)
    queue = form.get("queue") if form.get("queue").strip() else shown.job.queue
    if form.guarded and one_line(queue) == one_line(shown.job.queue):
        queue = shown.job.queue
    return _put(form, queue, shown)


# -- Both


def _put(form: Form, queue: str, like: Shown | None) -> Outcome:
    """Put it, or ask again with what was typed, and why.

    Raises:
        BadArgument: it makes no sense; of a program.
        MissingDependencies: a job that it is to wait for does not exist; the same.
        AskAgain: either, of a form; or there is a job by that jid already.

    """
    jid = form.get("jid").strip() or new_jid()
    try:
        job = _read(form, like)
        if _is_taken(jid) or not _done(jid, queue, job):
            problem = f"There is a job {short_jid(jid)} already; nothing was put."
            if form.guarded:
                raise AskAgain(problem)
            return Outcome(text=problem, tone="warning", status=409)
    except (BadArgument, MissingDependencies) as error:
        if not form.guarded:
            raise
        raise AskAgain(str(error)) from error
    name = words.job(job["klass"], jid)
    return Outcome(
        text=words.sentence(f"Put {name} into {queue}" if like is None else f"Put {name}"),
        done=(jid,),
        leads_to=job_link(jid),
        answer=jid,
        on={"jid" if like is None else "copy": jid},
    )


def _is_taken(jid: str) -> bool:
    return current().read(reads.job_row(jid)) is not None


def _done(jid: str, queue: str, job: Mapping[str, Any]) -> bool:
    """Put it, unless somebody else has just put one by that jid."""
    client = current().client
    options = {name: job[name] for name in job if name not in {"klass", "data", "delay_s"}}
    return client.commands.put_new(
        client.worker_name,
        queue,
        jid,
        job["klass"],
        job["data"],
        job.get("delay_s", 0),
        **options,
        strict=True,
    )


def _read(form: Form, like: Shown | None) -> dict[str, Any]:
    """Read what a job is to be.

    Raises:
        BadArgument: a field makes no sense.

    """
    was = like.job if like else None
    klass = form.get("klass") if form.has("klass") or was is None else was.klass
    if not klass.strip():
        problem = "The field “klass” is missing: the class that runs the job."
        raise BadArgument(problem)
    if was and one_line(klass) == one_line(was.klass):
        klass = was.klass
    ranked = bool(form.get("priority").strip())
    retries = typed.whole(form, "retries", "number of retries", _MOST_RETRIES)
    return {
        "klass": klass.strip() if was is None else klass,
        "data": _data(form, like),
        "priority": form.priority() if ranked else (was.priority if was else None),
        "retries": retries if retries is not None or was is None else was.retries,
        "tags": typed.lines(form, "tags", was.tags if was else ()),
        "depends": typed.lines(form, "depends", was.depends if was else ()),
        "throttles": typed.lines(form, "throttles", was.throttles if was else ()) or None,
        "heartbeat": was.heartbeat if was else None,
        **due.when(form),
    }


def _data(form: Form, like: Shown | None) -> str:
    """Give the data: byte for byte that of the other job where nobody typed something else.

    Raises:
        BadArgument: it is no JSON.

    """
    text = form.get("data")
    if form.guarded:
        text = typed.one_ending(text)
    if like is None:
        return typed.checked_json(text if text.strip() else "{}")
    stored = like.job.data
    if not text.strip() or text == typed.one_ending(stored):
        return stored or "{}"
    return typed.checked_json(text)
