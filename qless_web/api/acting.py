"""What can be done: each action of the console, at an address of the API, through the very same.

Nothing is asked here and nothing was shown: it acts on what there is now, in Redis, and says of
each job what became of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any

from flask import Response, request

from qless_core import wire
from qless_core.errors import BadArgument
from qless_web.actions.action import ACTIONS, AskAgain
from qless_web.actions.form import Form
from qless_web.api import params
from qless_web.api.route import answer, blueprint
from qless_web.presenters import ask_words as words
from qless_web.problem import ApiProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from qless_web.actions.action import Action
    from qless_web.actions.outcome import Outcome

#: Jobs that an answer names one by one; the totals count all of them.
_NAMED = 1_000

#: Addresses of the console that are called after a page, and what the API calls them.
_RENAMED = (
    ("/ticked/", "/jobs/"),
    ("/failed/", "/failures/"),
    ("/unfail", "/failures/retry"),
)

#: Actions that programs do at addresses of their own: see `operations.py`.
_OTHERWISE = frozenset(
    {
        "prepare_operation",
        "start_operation",
        "start_cancelling",
        "pause_operation",
        "resume_operation",
        "stop_operation",
        "undo_operation",
        "restore_jobs",
    }
)

#: Nested deeper than any body of ours.
_DEEPEST = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A job that was left alone."""

    jid: str
    reason: Annotated[str, "Its state, `gone`, `group`, `dependents`, `nowhere` or `unreadable`."]
    text: Annotated[str, "The same in words."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What an action did."""

    action: str
    text: Annotated[str, "It, in a sentence."]
    done: Annotated[tuple[str, ...], "The first 1,000 names of what it was done to."]
    done_total: int
    left: Annotated[tuple[Left, ...], "The first 1,000 of those that were left alone."]
    left_total: int
    is_finished: Annotated[bool, "False where time was up before the end: send it again."]
    value: Annotated[Any, "What counts now: the priority, or the tags; else null."]
    operation: Annotated[str, "What did it, has a report and can be undone; empty for none."]


#: For the document.
EXAMPLE = Done(
    action="retry_jobs",
    text="Retried 1 job. 1 was left out: it is running.",
    done=("order-12",),
    done_total=1,
    left=(Left(jid="order-13", reason="running", text="it is running now"),),
    left_total=1,
    is_finished=True,
    value=None,
    operation="9f3c21aa0b3c4d5e",
)


def rule_of(action: Action) -> str:
    """Give the address of an action below `/api/v1`."""
    for theirs, ours in _RENAMED:
        if action.rule.startswith(theirs):
            return ours + action.rule.removeprefix(theirs)
    return action.rule


def name_of(action: Action) -> str:
    """Give its endpoint, and its `operationId`: `retryJobs`."""
    first, *others = action.name.split("_")
    return first + "".join(word.capitalize() for word in others)


def served() -> list[Action]:
    """Give the actions that have an address here: all but those of families with their own."""
    return [each for each in ACTIONS.values() if each.name not in _OTHERWISE]


def declare() -> None:
    """Give every action that there is its address."""
    for action in served():
        blueprint.add_url_rule(rule_of(action), name_of(action), _serve(action), methods=["POST"])


def _serve(action: Action) -> Callable[..., Response]:
    def serve(**path: str) -> Response:
        params.asked(())
        given = body()
        form = Form(fields_of(action, given), guarded=False)
        try:
            return _told(action, action.perform(form, **path))
        except BadArgument as error:
            raise _refused(action, given, error) from error
        except AskAgain as again:
            raise _asked(action, form, path, again.problem) from again

    return serve


def body() -> dict[str, Any]:
    """Read the body, a JSON object; none is an empty one.

    Raises:
        ApiProblem: it is something else.

    """
    stored = request.get_data(cache=False)
    if not stored:
        return {}
    if request.mimetype != "application/json":
        detail = "The body must be JSON, and say so: Content-Type: application/json."
        raise ApiProblem(415, "not-json", detail)
    try:
        found = wire.loads(stored.decode())
    except ValueError as error:
        why = f"is not JSON: {error}"
    else:
        if isinstance(found, dict):
            return found
        why = "is another kind of JSON than an object"
    raise ApiProblem(400, "bad-body", f"The body {why}.")


def fields_of(action: Action, given: Mapping[str, Any]) -> dict[str, list[str]]:
    """Write a body as the form of the action has it.

    Raises:
        ApiProblem: a value is not known, missing or senseless.

    """
    known = {field.name: field for field in action.takes}
    found = {}
    for name in given:
        if name not in known:
            raise _bad_field(name, f"is not known here, but {', '.join(known) or 'none at all'}")
    for name, field in known.items():
        if name not in given and field.default is None:
            if field.required:
                raise _bad_field(name, f"is missing: {field.help}")
            continue
        try:
            found[field.sent_as] = field.values(given.get(name, field.default))
        except ValueError as error:
            raise _bad_field(name, str(error)) from None
    return found


def _refused(action: Action, given: Mapping[str, Any], error: BadArgument) -> Exception:
    """Tell what the document does not allow, 400, from what stands in the way of all else, 409."""
    takes = {field.name: field for field in action.takes}
    if all(takes[name].allows(value) for name, value in given.items()):
        return ApiProblem(409, "nothing-done", str(error))
    return error


def _told(action: Action, outcome: Outcome) -> Response:
    left = _left(outcome.left.items())
    if outcome.status >= HTTPStatus.BAD_REQUEST:
        raise ApiProblem(outcome.status, "nothing-done", outcome.told, left=left)
    done = Done(
        action=action.name,
        text=outcome.told,
        done=outcome.done[:_NAMED],
        done_total=len(outcome.done),
        left=tuple(Left(**each) for each in left),
        left_total=len(outcome.left),
        is_finished=outcome.again is None,
        value=outcome.answer,
        operation=outcome.operation,
    )
    return answer(done)


def _left(left: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [
        {"jid": jid, "reason": reason, "text": words.why(reason)}
        for jid, reason in list(left)[:_NAMED]
    ]


def _asked(action: Action, form: Form, path: Mapping[str, str], problem: str) -> ApiProblem:
    """Say what would be done, where that is not what was expected."""
    ask = action.ask(form, **path).ask
    parts = [*([problem] if problem else []), *ask.left_out, ask.question]
    return ApiProblem(
        409, "not-as-expected", " ".join(parts), expected=ask.count, action=action.name
    )


def _bad_field(name: str, why: str) -> ApiProblem:
    shown = name[:100]
    return ApiProblem(400, "bad-field", f"The field “{shown}” {why}.", field=shown)
