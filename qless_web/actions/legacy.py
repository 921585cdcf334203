"""The original's JSON actions, at its addresses, with its bodies and answers.

They do what the console's own actions do, through them: the same checks, the same audit. They work
to the end however many jobs there are, and beside the original's answer they name every job that
was left out, under `left`.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from flask import jsonify, make_response, redirect, request, url_for
from werkzeug.exceptions import BadRequest, Forbidden, RequestEntityTooLarge

from qless_core import wire
from qless_core.errors import JobNotFound, QlessError, RedisUnavailable
from qless_web import statuses
from qless_web.actions.action import ACTIONS, blueprint
from qless_web.actions.form import Form
from qless_web.console import current
from qless_web.presenters import ask_words as words
from qless_web.presenters import problems
from qless_web.rendering import set_flash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from flask import Response
    from werkzeug.exceptions import HTTPException

    from qless_web.actions.outcome import Outcome

#: What browsers send forms as.
_FORMS = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})

#: Jobs named in one body; each costs a call of its own.
MOST_NAMED = 10_000


def _original(
    address: str, *, read: Callable[[], Any] | None = None
) -> Callable[[Callable[[Any], Response]], Callable[[], Response]]:
    """Serve POST at an original address: JSON in, whatever the content type says, JSON out."""
    body_of = read or _body

    def declare(answer: Callable[[Any], Response]) -> Callable[[], Response]:
        serve = wraps(answer)(lambda: _served(answer, body_of))
        name = f"original_{address.strip('/')}"
        blueprint.add_url_rule(address, name, serve, methods=["POST"], strict_slashes=False)
        return serve

    return declare


def _served(answer: Callable[[Any], Response], body_of: Callable[[], Any]) -> Response:
    try:
        return answer(body_of())
    except (QlessError, BadRequest, Forbidden, RequestEntityTooLarge) as error:
        return _answer({"error": _sentence(error)}, _status(error))


def _status(error: QlessError | HTTPException) -> int:
    return statuses.of_error(error) if isinstance(error, QlessError) else error.code or 500


def _sentence(error: QlessError | HTTPException) -> str:
    if isinstance(error, RedisUnavailable):
        return f"{problems.outage(str(error))}: {error}"
    if isinstance(error, RequestEntityTooLarge):
        return problems.TOO_LARGE
    return str(error) if isinstance(error, QlessError) else error.description or ""


def _answer(body: Any, status: int = 200) -> Response:  # noqa: ANN401 - any JSON
    response = jsonify(body)
    response.status_code = status
    return response


# -- What comes in


def _body() -> Any:  # noqa: ANN401 - any JSON
    raw = request.get_data(cache=False)
    if not raw.strip():
        return None
    try:
        return wire.loads(raw.decode())
    except (ValueError, RecursionError) as error:
        problem = f"The body must be JSON: {error}"
        raise BadRequest(problem) from error


def _field(body: Any, name: str, what: str, *, also: str = "") -> str:  # noqa: ANN401 - any JSON
    """Give a text of a body that must be an object."""
    if not isinstance(body, dict):
        problem = f'The body must be a JSON object with "{name}": {what}.'
        raise BadRequest(problem)
    value = body.get(name, body.get(also) if also else None)
    return _text(value, f'"{name}" must be {what}')


def _text(value: Any, problem: str) -> str:  # noqa: ANN401 - any JSON
    if isinstance(value, str) and value:
        try:
            value.encode()
        except UnicodeEncodeError:
            pass
        else:
            return value
    problem = f"{problem}, and text that is not empty."
    raise BadRequest(problem)


def _texts(value: Any, what: str) -> tuple[str, ...]:  # noqa: ANN401 - any JSON
    """Give the texts of what must be a list of them, each once; one text counts as a list."""
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list):
        problem = f"The body must be a JSON list of {what}."
        raise BadRequest(problem)
    if len(listed) > MOST_NAMED:
        problem = f"The list names more than {MOST_NAMED:,} {what}."
        raise BadRequest(problem)
    each = f"Every one of the {what} must be text"
    return tuple(dict.fromkeys(_text(item, each) for item in listed))


def _by_jid(body: Any, what: str) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    if not isinstance(body, dict):
        problem = f"The body must be a JSON object that gives each jid its {what}."
        raise BadRequest(problem)
    if len(body) > MOST_NAMED:
        problem = f"The object names more than {MOST_NAMED:,} jobs."
        raise BadRequest(problem)
    return {_text(jid, "Every jid must be text"): value for jid, value in body.items()}


# -- What is done


def _perform(name: str, fields: dict[str, Iterable[str]] | None = None, **path: str) -> Outcome:
    lists = {field: list(values) for field, values in (fields or {}).items()}
    return ACTIONS[name].perform(Form(lists, patient=True, guarded=False), **path)


def _settled(outcome: Outcome, body: dict[str, Any]) -> Response:
    """Answer for one job: the original's answer, or why it was not done."""
    if outcome.done:
        return _answer(body)
    return _answer({"error": outcome.told, "left": _why(outcome.left)}, outcome.status)


def _why(left: Mapping[str, str]) -> dict[str, str]:
    return {jid: words.why(reason) for jid, reason in left.items()}


def _each(
    jids: Iterable[str], act: Callable[[str], Outcome]
) -> tuple[dict[str, Outcome], dict[str, str], int]:
    """Act on each job, whatever becomes of the others.

    Returns:
        What was done, why the rest was not, and the status that tells of it.

    """
    done: dict[str, Outcome] = {}
    left: dict[str, str] = {}
    met = set()
    for jid in jids:
        try:
            done[jid] = act(jid)
        except RedisUnavailable:
            raise
        except (QlessError, BadRequest) as error:
            left[jid] = words.why("gone") if isinstance(error, JobNotFound) else _sentence(error)
            met.add(_status(error))
    status = 200 if done or not left else (met.pop() if len(met) == 1 else 409)
    return done, left, status


def _with_left(body: dict[str, Any], left: dict[str, str]) -> dict[str, Any]:
    """Add what was left out, unless a job has that very name."""
    return {"left": left, **body} if left else body


@_original("/track")
def track(body: Any) -> Response:  # noqa: ANN401 - any JSON
    """Track a job, with `tags` if there are some."""
    jid = _field(body, "id", "the jid to track", also="jid")
    tags = _texts(body.get("tags") or [], "tags")
    _perform("track_job", jid=jid)
    if tags:
        _perform("add_tag", {"tag": tags}, jid=jid)
    return _answer({"tracked": [jid]})


@_original("/untrack")
def untrack(body: Any) -> Response:  # noqa: ANN401 - any JSON
    """Track jobs no more, also those that are gone."""
    jids = _texts(body, "jids")
    done, left, status = _each(jids, lambda jid: _perform("untrack_job", jid=jid))
    return _answer(_with_left({"untracked": list(done)}, left), status)


@_original("/priority")
def priority(body: Any) -> Response:  # noqa: ANN401 - any JSON
    """Give each job its priority."""
    wanted = _by_jid(body, "priority")

    def act(jid: str) -> Outcome:
        value = wanted[jid]
        text = "" if isinstance(value, bool | None | list | dict) else str(value)
        return _perform("set_priority", {"priority": [text.removesuffix(".0")]}, jid=jid)

    done, left, status = _each(wanted, act)
    answers = {jid: done[jid].answer if jid in done else "failed" for jid in wanted}
    return _answer(_with_left(answers, left), status)


@_original("/tag")
def tag(body: Any) -> Response:  # noqa: ANN401 - any JSON
    """Add tags to each job."""
    return _tags(body, "add_tag")


@_original("/untag")
def untag(body: Any) -> Response:  # noqa: ANN401 - any JSON
    """Remove tags from each job."""
    return _tags(body, "remove_tag")


def _tags(body: Any, name: str) -> Response:  # noqa: ANN401 - any JSON
    wanted = _by_jid(body, "tags")
    done, left, status = _each(
        wanted, lambda jid: _perform(name, {"tag": _texts(wanted[jid], "tags")}, jid=jid)
    )
    answers = {jid: wanted[jid] if jid in done else "failed" for jid in wanted}
    return _answer(_with_left(answers, left), status)


@_original("/pause")
def pause(body: Any) -> Response:  # noqa: ANN401 - any JSON
    """Pause a queue."""
    _perform("pause_queue", queue=_field(body, "queue", "the name of a queue"))
    return _answer({"queue": "paused"})


@_original("/unpause")
def unpause(body: Any) -> Response:  # noqa: ANN401 - any JSON
    """Unpause a queue."""
    _perform("unpause_queue", queue=_field(body, "queue", "the name of a queue"))
    return _answer({"queue": "unpaused"})


@_original("/timeout")
def timeout(body: Any) -> Response:  # noqa: ANN401 - any JSON
    """Take the lock of a running job away."""
    jid = _field(body, "jid", "the jid of a running job", also="id")
    return _settled(_perform("time_out_job", jid=jid), {"jid": jid})


@_original("/move")
def move(body: Any) -> Response:  # noqa: ANN401 - any JSON
    """Put a job into a queue, whatever it does."""
    jid = _field(body, "id", "the jid to move", also="jid")
    queue = _field(body, "queue", "the name of the queue to move to")
    outcome = _perform("move_job", {"queue": [queue]}, jid=jid)
    return _settled(outcome, {"id": jid, "queue": queue})


@_original("/undepend")
def undepend(body: Any) -> Response:  # noqa: ANN401 - any JSON
    """Let a job wait no longer for another one."""
    jid = _field(body, "id", "the jid that waits", also="jid")
    dependency = _field(body, "dependency", "the jid it is to wait for no longer")
    _perform("undepend_job", {"dependency": [dependency]}, jid=jid)
    return _answer({"id": jid})


@_original("/retry")
def retry(body: Any) -> Response:  # noqa: ANN401 - any JSON
    """Put a failed job back into its queue."""
    jid = _field(body, "id", "the jid to retry", also="jid")
    outcome = _perform("retry_job", jid=jid)
    return _settled(outcome, {"id": jid, "queue": _queues_of((jid,)).get(jid, "")})


def _queues_of(jids: Iterable[str]) -> dict[str, str]:
    closure = current().client.commands.bulk_closure(*jids)
    return {job.jid: job.queue for job in closure.jobs}


@_original("/retryall")
def retryall(body: Any) -> Response:  # noqa: ANN401 - any JSON
    """Put all failures of a group back, each into its own queue."""
    group = _field(body, "type", "a group of failures")
    return _listed(_perform("retry_group", group=group), queues=True)


@_original("/cancelall")
def cancelall(body: Any) -> Response:  # noqa: ANN401 - any JSON
    """Cancel all failures of a group."""
    group = _field(body, "type", "a group of failures")
    return _listed(_perform("cancel_group", group=group), queues=False)


def _listed(outcome: Outcome, *, queues: bool) -> Response:
    """Answer with a list that has an object for each job; what was left says why."""
    where: dict[str, str] = {}
    if queues:
        for start in range(0, len(outcome.done), 1_000):
            where |= _queues_of(outcome.done[start : start + 1_000])
    rows: list[dict[str, str]] = [
        {"id": jid, **({"queue": where.get(jid, "")} if queues else {})} for jid in outcome.done
    ]
    rows += [{"id": jid, "left": words.why(reason)} for jid, reason in outcome.left.items()]
    return _answer(rows, outcome.status)


@_original("/cancel")
def cancel(body: Any) -> Response:  # noqa: ANN401 - any JSON
    """Cancel jobs, each unless others that are not named wait for it."""
    jids = _texts(body, "jids")
    if not jids:
        return _answer({"canceled": []})
    outcome = _perform("cancel_jobs", {"jids": jids})
    ended, _, _ = _each(_recurring(outcome.left), lambda jid: _perform("cancel_job", jid=jid))
    done = [*outcome.done, *ended]
    left = {jid: reason for jid, reason in outcome.left.items() if jid not in ended}
    status = 200 if done else statuses.of_reasons(left.values())
    return _answer(_with_left({"canceled": done}, _why(left)), status)


def _recurring(left: Mapping[str, str]) -> list[str]:
    """Find what is no job but recurs; the original cancelled that here, too."""
    gone = (jid for jid, reason in left.items() if reason == "gone")
    return [jid for jid in gone if current().client.commands.recur_get(jid) is not None]


def _is_of_a_page() -> bool:
    """Say whether a page's form sent this, and no program that takes JSON."""
    accepted = request.headers.get("Accept", "")
    if "text/html" in accepted:
        return True
    return request.mimetype in _FORMS and "json" not in accepted


def _nothing() -> None:
    """Read no body: the original's was a form without fields."""


@_original("/unfail_all", read=_nothing)
def unfail_all(_body: None) -> Response:
    """Put everything that failed back, each job into its own queue; never where Referer says."""
    outcome = _perform("unfail_all")
    if _is_of_a_page():
        response = make_response(redirect(url_for("failures.index"), 303))
        set_flash(response, outcome.flash)
        return response
    return _answer(_with_left({"unfailed": len(outcome.done)}, _why(outcome.left)))
