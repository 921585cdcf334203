"""Operations on many jobs: what they would do, how far they are, what became of each job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from flask import Response
from werkzeug.exceptions import Forbidden

from qless_core import wire
from qless_core.errors import BadArgument
from qless_web.actions import operating
from qless_web.actions.action import ACTIONS
from qless_web.actions.form import Form
from qless_web.api import acting, operation_body, params
from qless_web.api.params import Param
from qless_web.api.route import Order, Page, Route, address, answer, listed, missing, ordered, shown
from qless_web.api.search import must_parse
from qless_web.console import current
from qless_web.operations import operation as store
from qless_web.operations import options, report, selection
from qless_web.operations.verbs import VERBS
from qless_web.presenters import ask_words as words
from qless_web.problem import ApiProblem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from qless_core.reads import Slice
    from qless_web.operations.operation import Operation

OperationState = Literal["draft", "queued", "running", "paused", "stopped", "done"]

Count = Annotated[dict[str, int], "How many jobs, by name."]

#: Reasons that tell of something broken, not of a job that is not as it was.
_BROKEN = frozenset({"unreadable", "refused", "data"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Odd:
    """A job that is left out."""

    jid: str
    reason: str
    text: Annotated[str, "The same in words."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What an operation would do."""

    total: Annotated[int, "How many jobs were chosen."]
    excluded: Annotated[dict[str, int], "How many of them are left out, by reason."]
    classes: Annotated[dict[str, int], "How many it acts on, by class."]
    queues: Annotated[dict[str, int], "The same by queue."]
    sample: Annotated[tuple[str, ...], "Some of them."]
    odd: Annotated[tuple[Odd, ...], "Some of those that are left out."]
    new_queue: Annotated[str, "The queue that jobs go into, where there is none of that name yet."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """An operation that is under way."""

    id: str
    url: Annotated[str, "Where it tells how far it is."]
    total: Annotated[int, "How many jobs were chosen."]
    excluded: Annotated[dict[str, int], "How many of them are left out, by reason."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far an operation is."""

    id: str
    url: str
    action: str
    state: OperationState
    total: Annotated[int, "How many jobs were chosen."]
    done: Annotated[int, "To how many it was done."]
    skipped: Annotated[int, "How many were left alone, as they are not as they were."]
    failed: Annotated[int, "How many could not be done: their keys or their data are broken."]
    left: Annotated[dict[str, int], "How many were left alone or could not be done, by reason."]
    report: Annotated[str, "Where it tells what became of each job."]
    options: Annotated[dict[str, str], "How it does what it does, as text."]
    failed_again: Annotated[int, "Of the jobs that it put to work, how many have failed since."]
    ended_again: Annotated[int, "How many have ended since, those among them."]
    why: Annotated[str, "Why it rests, where nobody ordered it: `canary`, `failing` or `lost`."]
    who: str
    note: str
    created: float
    began: Annotated[float | None, "Epoch seconds; null where it has not been started."]
    ended: Annotated[float | None, "Epoch seconds; null where it has not ended."]
    of: Annotated[str, "The operation that it undoes; empty where it is another one."]
    undone_by: Annotated[str, "The operation that undoes it; empty where none does."]


_EXAMPLE = Progress(
    id="9f3c21aa0b3c4d5e",
    url="/api/v1/operations/9f3c21aa0b3c4d5e",
    action="retry",
    state="running",
    total=4812,
    done=1200,
    skipped=3,
    failed=0,
    left={"gone": 3},
    report="/api/v1/operations/9f3c21aa0b3c4d5e/report",
    options={"queue": "slow"},
    failed_again=0,
    ended_again=0,
    why="",
    who="dana",
    note="ticket 812",
    created=1798761600.25,
    began=1798761602.5,
    ended=None,
    of="",
    undone_by="",
)

#: One that is under way, for the document.
STARTED = Started(
    id="9f3c21aa0b3c4d5e",
    url="/api/v1/operations/9f3c21aa0b3c4d5e",
    total=4812,
    excluded={"gone": 3},
)


def progress(found: Operation) -> Progress:
    """Tell how far an operation is."""
    broken = sum(number for reason, number in found.left.items() if reason in _BROKEN)
    return Progress(
        id=found.id,
        url=address("operation", operation=found.id),
        action=found.action,
        state=found.state,
        total=found.total,
        done=found.done,
        skipped=found.skipped - broken,
        failed=broken,
        left=dict(found.left),
        report=address("operationReport", operation=found.id),
        options=dict(found.told),
        failed_again=found.failed_again,
        ended_again=found.ended_again,
        why=found.why,
        who=found.who,
        note=found.note,
        created=found.created,
        began=found.began or None,
        ended=found.ended or None,
        of=found.of,
        undone_by=found.undone_by,
    )


def _found(operation: str) -> Operation:
    found = current().read(store.one(operation))
    if found is None:
        raise missing(operation=operation)
    return found


@listed(
    Route(
        name="operations",
        rule="/operations",
        family="operations",
        answers=Page[Progress],
        example=_EXAMPLE,
    )
)
def operations(part: Slice) -> Page[Progress]:
    """List the operations, the newest first."""
    here = current()
    total, found = here.read(store.newest(part.offset, part.count))
    return Page(items=tuple(map(progress, found)), total=total, as_of=here.now)


@shown(
    Route(
        name="operation",
        rule="/operations/<name:operation>",
        family="operations",
        answers=Progress,
        example=_EXAMPLE,
        statuses=(404,),
    )
)
def operation(operation: str) -> Progress:
    """Tell how far an operation is."""
    return progress(store.watched(current().client, _found(operation)))


@shown(
    Route(
        name="operationReport",
        rule="/operations/<name:operation>/report",
        family="operations",
        params=(
            Param(
                name="format",
                kind="choice",
                choices=("ndjson", "csv"),
                default="ndjson",
                help="A line of JSON for each job, or CSV.",
            ),
        ),
        media=("application/x-ndjson", "text/csv"),
        statuses=(404,),
    )
)
def operation_report(operation: str, format: str) -> Response:  # noqa: A002 - the name of the parameter
    """Tell of each job that an operation has come to what became of it."""
    told = report.entries(current().client, _found(operation))
    if format == "csv":
        return Response(report.csv_lines(told), content_type="text/csv; charset=utf-8")
    return Response(report.ndjson(told), content_type="application/x-ndjson")


# -- What is ordered


@ordered(
    Order(
        name="startOperation",
        rule="/operations",
        family="operations",
        body=operation_body.schema(),
        example_body={
            "action": "retry",
            "selection": {"group": "shop-Timeout"},
            "options": {"queue": "slow", "rate": 50},
        },
        answers={200: Preview, 202: Started},
        examples={
            200: Preview(
                total=4812,
                excluded={"gone": 3},
                classes={"shop.Charge": 4809},
                queues={"orders": 4809},
                sample=("order-12",),
                odd=(Odd(jid="order-13", reason="gone", text=words.why("gone")),),
                new_queue="",
            ),
            202: STARTED,
        },
    )
)
def start() -> Response:
    """Do something to many jobs in the background, or say what that would do."""
    params.asked(())
    given = _checked(acting.body())
    action = ACTIONS[_action_of(given)]
    if refusal := action.refusal:
        problem = f"Nothing was changed: {refusal}."
        raise Forbidden(problem)
    made = _prepared(given)
    if given.get("dry_run"):
        return answer(_preview(made))
    action.perform(Form(guarded=False), operation=made.id)
    url = address("operation", operation=made.id)
    return answer(Started(id=made.id, url=url, total=made.total, excluded=dict(made.excluded)), 202)


def _prepared(given: Mapping[str, Any]) -> Operation:
    """Make the draft.

    Raises:
        ApiProblem: there is no job in what was chosen, or the index does not know all of them yet.
        BadArgument: the selection or an option makes no sense.

    """
    chosen = selection.read(given["selection"])
    if chosen.q is not None:
        must_parse(chosen.q, "selection")
    how = options.read(given["action"], given.get("options", {}))
    who = operating.asked(Form({"note": [wire.clean(given.get("note", ""))]}))
    try:
        return operating.prepare(given["action"], chosen, how, who)
    except BadArgument as error:
        raise ApiProblem(409, "nothing-done", str(error)) from None


def _action_of(given: Mapping[str, Any]) -> str:
    destroys = VERBS[given["action"]].permission == "destroy"
    return "start_cancelling" if destroys else "start_operation"


def _checked(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Look at the fields of a body, but for what the selection and the options say.

    Raises:
        ApiProblem: one is not known, missing or senseless.

    """
    for name in given:
        if name not in operation_body.FIELDS:
            raise _bad(name, f"is not known here, but {', '.join(operation_body.FIELDS)}")
    for name in operation_body.REQUIRED:
        if name not in given:
            raise _bad(name, "is missing")
    _check_kinds(given)
    return given


def _check_kinds(given: Mapping[str, Any]) -> None:
    if not isinstance(given["action"], str) or given["action"] not in VERBS:
        name = "action"
        raise _bad(name, f"must be one of {', '.join(sorted(VERBS))}")
    for name, (kind, what) in _KINDS.items():
        if name in given and not isinstance(given[name], kind):
            raise _bad(name, f"must be {what}")
    if len(given.get("note", "")) > operation_body.LONGEST_NOTE:
        name = "note"
        raise _bad(name, f"must have at most {operation_body.LONGEST_NOTE:,} characters")
    for name, value in given.get("options", {}).items():
        if value is None:
            raise _bad(name, "must be left out where there is nothing to say")


_KINDS: dict[str, tuple[type, str]] = {
    "options": (dict, "an object"),
    "dry_run": (bool, "a boolean"),
    "note": (str, "text"),
}


def _bad(name: str, why: str) -> ApiProblem:
    shown_ = name[:100]
    return ApiProblem(400, "bad-field", f"The field “{shown_}” {why}.", field=shown_)


def _preview(made: Operation) -> Preview:
    return Preview(
        total=made.total,
        excluded=dict(made.excluded),
        classes=dict(made.classes),
        queues=dict(made.queues),
        sample=made.sample,
        odd=tuple(Odd(jid=jid, reason=why, text=words.why(why)) for jid, why in made.odd),
        new_queue=made.new_queue,
    )


Act = Callable[[str], Response]


def _ordered(name: str, verb: str, action: str) -> Callable[[Act], Act]:
    return ordered(
        Order(
            name=name,
            rule=f"/operations/<name:operation>/{verb}",
            family="operations",
            body={"type": "object", "properties": {}, "additionalProperties": False},
            example_body={},
            answers={202: Started} if action == "undo_operation" else {200: Progress},
            examples={202: STARTED} if action == "undo_operation" else {200: _EXAMPLE},
        )
    )


def _act(action: str, operation: str) -> Any:  # noqa: ANN401 - what the action answers
    """Do something to an operation.

    Raises:
        ApiProblem: there is none, or it is not in a state for that.

    """
    params.asked(())
    if given := acting.body():
        raise _bad(next(iter(given)), "is not known here, but none at all")
    if store.load(current().client, operation) is None:
        raise missing(operation=operation)
    try:
        outcome = ACTIONS[action].perform(Form(guarded=False), operation=operation)
    except BadArgument as error:
        raise ApiProblem(409, "nothing-done", str(error)) from None
    if outcome.status >= 400:  # noqa: PLR2004 - HTTP's errors
        raise ApiProblem(outcome.status, "nothing-done", outcome.told)
    return outcome.answer


@_ordered("pauseOperation", "pause", "pause_operation")
def pause(operation: str) -> Response:
    """Let an operation rest until it is resumed."""
    _act("pause_operation", operation)
    return answer(progress(_found(operation)))


@_ordered("resumeOperation", "resume", "resume_operation")
def resume(operation: str) -> Response:
    """Let an operation go on that was paused or stopped."""
    _act("resume_operation", operation)
    return answer(progress(_found(operation)))


@_ordered("stopOperation", "stop", "stop_operation")
def stop(operation: str) -> Response:
    """End an operation before it is through."""
    _act("stop_operation", operation)
    return answer(progress(_found(operation)))


@_ordered("undoOperation", "undo", "undo_operation")
def undo(operation: str) -> Response:
    """Bring the jobs of an operation back to what they were, in the background."""
    made = _found(_act("undo_operation", operation))
    url = address("operation", operation=made.id)
    return answer(Started(id=made.id, url=url, total=made.total, excluded={}), 202)
