"""The trash: what was cancelled of late and can come back, and how it is brought back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from qless_core.errors import BadArgument
from qless_web.actions.action import ACTIONS
from qless_web.actions.form import Form
from qless_web.api import acting, params
from qless_web.api.operations import STARTED, Started
from qless_web.api.route import Order, Page, Route, address, answer, listed, missing, ordered
from qless_web.console import current
from qless_web.formatting import plain
from qless_web.operations import operation as store
from qless_web.operations import trash
from qless_web.operations.selection import MOST_NAMED
from qless_web.presenters import operation_words
from qless_web.presenters.ask_jobs import target
from qless_web.problem import ApiProblem

if TYPE_CHECKING:
    from flask import Response

    from qless_core.reads import Slice
    from qless_web.operations.operation import Operation


@dataclass(frozen=True, slots=True, kw_only=True)
class Resting:
    """Jobs that one operation cancelled, and that can come back."""

    operation: Annotated[str, "Which cancelled them."]
    url: Annotated[str, "Where they are listed."]
    title: Annotated[str, "What it did, in words."]
    count: Annotated[int, "How many rest there, about: some may have gone for want of room."]
    size: Annotated[int, "Bytes of Redis that they take, about."]
    who: Annotated[str, "Who cancelled them; empty where nobody knows."]
    when: Annotated[float, "Epoch seconds."]
    until: Annotated[float, "When they go for good, epoch seconds."]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestingJob:
    """One job that can come back."""

    jid: str
    klass: str
    queue: str
    state: Annotated[str, "That in which it was."]


@listed(
    Route(
        name="trash",
        rule="/trash",
        family="trash",
        answers=Page[Resting],
        example=Resting(
            operation="9f3c21aa0b3c4d5e",
            url="/api/v1/trash/9f3c21aa0b3c4d5e",
            title="Cancel 4,812 jobs of shop-Timeout",
            count=4809,
            size=1_933_218,
            who="dana",
            when=1798761602.5,
            until=1798848002.5,
        ),
    )
)
def resting(part: Slice) -> Page[Resting]:
    """List what was cancelled of late and can come back, by operation, the newest first."""
    here = current()
    found = here.read(trash.resting(here.settings.trash_hours * 3_600))
    shown = found[part.offset : part.offset + part.count]
    return Page(items=tuple(map(_resting, shown)), total=len(found), as_of=here.now)


def _resting(found: trash.Resting) -> Resting:
    made = found.operation
    return Resting(
        operation=made.id,
        url=address("trashOf", operation=made.id),
        title=plain(operation_words.title(made)),
        count=found.count,
        size=found.size,
        who=made.who,
        when=made.ended or made.began,
        until=found.until,
    )


@listed(
    Route(
        name="trashOf",
        rule="/trash/<name:operation>",
        family="trash",
        answers=Page[RestingJob],
        example=RestingJob(jid="order-12", klass="shop.Charge", queue="orders", state="failed"),
        statuses=(404,),
    )
)
def resting_jobs(part: Slice, operation: str) -> Page[RestingJob]:
    """List jobs that an operation cancelled; those that are back, or gone, are passed over."""
    here = current()
    made, jobs = here.read(store.one(operation), trash.jobs_of(operation, part.offset, part.count))
    if made is None or made.action != "cancel":
        raise missing(operation=operation)
    items = tuple(
        RestingJob(jid=job.jid, klass=job.klass, queue=job.queue, state=job.state) for job in jobs
    )
    return Page(items=items, total=made.at, as_of=here.now)


_BODY: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "jids": {
            "type": "array",
            "description": "These of them; all where it is left out.",
            "items": {"type": "string", "minLength": 1},
            "minItems": 1,
            "maxItems": MOST_NAMED,
        }
    },
}


@ordered(
    Order(
        name="restoreJobs",
        rule="/trash/<name:operation>/restore",
        family="trash",
        body=_BODY,
        example_body={"jids": ["order-12"]},
        answers={202: Started},
        examples={202: STARTED},
    )
)
def restore(operation: str) -> Response:
    """Bring jobs that an operation cancelled back with everything they had, in the background."""
    params.asked(())
    jids = _jids(acting.body())
    found = store.load(current().client, operation)
    if found is None:
        raise missing(operation=operation)
    action = ACTIONS["restore_jobs"]
    form = Form(guarded=False) if action.refusal else _form(found, jids)
    outcome = action.perform(form, operation=operation)
    if outcome.status >= 400:  # noqa: PLR2004 - HTTP's errors
        raise ApiProblem(outcome.status, "nothing-done", outcome.told)
    made = store.load(current().client, str(outcome.answer))
    url = address("operation", operation=str(outcome.answer))
    total = made.total if made else len(jids)
    return answer(Started(id=str(outcome.answer), url=url, total=total, excluded={}), 202)


def _form(found: Operation, jids: tuple[str, ...]) -> Form:
    """Name the jobs as the page does: each with its place; none, for all of them.

    Raises:
        ApiProblem: one of them was not cancelled by the operation.

    """
    if not jids:
        return Form(guarded=False)
    try:
        places = trash.places(current().client, found, jids)
    except BadArgument as error:
        raise ApiProblem(409, "nothing-done", str(error)) from None
    return Form({"targets": [target(jid, at) for jid, at in places]}, guarded=False)


def _jids(given: dict[str, Any]) -> tuple[str, ...]:
    for name in given:
        if name != "jids":
            raise _bad(name, "is not known here, but jids")
    jids = given.get("jids", [])
    fine = isinstance(jids, list) and all(isinstance(jid, str) and jid for jid in jids)
    if not fine or ("jids" in given and not 0 < len(jids) <= MOST_NAMED):
        name = "jids"
        raise _bad(name, f"must be a list of 1 to {MOST_NAMED:,} texts that are not empty")
    return tuple(dict.fromkeys(jids))


def _bad(name: str, why: str) -> ApiProblem:
    return ApiProblem(400, "bad-field", f"The field “{name[:100]}” {why}.", field=name[:100])
