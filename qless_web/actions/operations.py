"""What is done to many jobs, and to the operation that does it: prepare, start, pause, undo."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flask import abort

from qless_core import reads, wire
from qless_core.errors import BadArgument
from qless_core.reads.names import NameDigest, resolve
from qless_web.actions.action import AskAgain, action
from qless_web.actions.operating import asked, prepare
from qless_web.actions.outcome import Outcome
from qless_web.actions.searching import found_by
from qless_web.actions.timing import seconds
from qless_web.console import current
from qless_web.formatting import untilde
from qless_web.operations import freezing, options, ordering, selection
from qless_web.operations import operation as store
from qless_web.operations.verbs import VERBS, Verb
from qless_web.presenters import ask, ask_operations, operations
from qless_web.presenters import ask_words as words

if TYPE_CHECKING:
    from collections.abc import Callable

    from qless_web.actions.action import Action
    from qless_web.actions.form import Form
    from qless_web.operations.operation import Operation
    from qless_web.operations.options import Options
    from qless_web.operations.selection import Selection
    from qless_web.presenters.ask import AskPage

#: Fields of a form that are numbers among the options.
_NUMBERS = ("rate", "stop_percent", "canary")


def looked_up(operation: str) -> Operation:
    """Read an operation, or answer that there is none.

    Raises:
        NotFound: there is none.

    """
    found = store.load(current().client, operation)
    if found is None:
        abort(404, f"There is no operation {operation[:40]}: it may have been forgotten.")
    return found


# -- Prepare


def _verb(form: Form) -> Verb:
    name = form.get("action")
    if name not in VERBS:
        what = f"“{name[:40]}” is nothing that can be done." if name else "What is to be done?"
        problem = f"{what} It must be one of {', '.join(VERBS)}."
        raise BadArgument(problem)
    return VERBS[name]


def _selection(form: Form) -> Selection:
    jids = [jid for jid, _ in form.targets()] or list(form.all("jids"))
    if jids:  # ticked rows of a group are these and no more, though its name comes along
        return selection.of_form({"jids": jids})
    group = form.get("group") or _group(form.get("failed"))
    return selection.of_form({"group": group, "q": form.get("q")})


def _group(written: str) -> str:
    """Give the group that an address names; of a long name it has the digest."""
    name = untilde(written)
    if not isinstance(name, NameDigest):
        return name
    return current().read(resolve("group", name)) or written


def _ask_prepare(form: Form) -> AskPage:
    try:
        verb, chosen = _verb(form), _selection(form)
    except BadArgument as error:
        return ask_operations.nothing_chosen(str(error))
    if chosen.group is not None:
        found, queues = current().read(
            reads.failure_jobs(chosen.group, reads.Slice(0, 1)), reads.queue_names()
        )
        count, fields = found.total, [("group", chosen.group)]
    else:
        queues = current().read(reads.queue_names())
        count = len(chosen.jids) if chosen.q is None else sum(1 for _ in found_by(chosen.q))
        fields = (
            [("q", chosen.q)] if chosen.q is not None else [("jids", jid) for jid in chosen.jids]
        )
    return ask_operations.prepare(verb, chosen.told(), count, fields=fields, queues=queues)


@action(
    "prepare_operation",
    "/operations/new",
    permission="operate",
    subject=ask_operations.of_operations,
    ask=_ask_prepare,
    sifts=True,
)
def prepare_operation(form: Form) -> Outcome:
    """List the jobs of an operation and show what it would do; nothing is done to them yet."""
    verb = _verb(form)
    made = prepare(verb.name, _selection(form), _options(form, verb), asked(form))
    return Outcome(
        text=f"Nothing is done yet to these {words.jobs(made.total)}.",
        tone="info",
        done=(made.id,),
        again=operations.operation_link(made.id),
    )


def _options(form: Form, verb: Verb) -> Options:
    """Read the options of an operation from the fields of its form.

    Raises:
        BadArgument: one makes no sense.

    """
    given: dict[str, Any] = {}
    for name in verb.options:
        text = form.get(name)
        if not text.strip():
            continue
        given[name] = _READ[name](text) if name in _READ else text
    if verb.name == "priority":
        given["priority"] = form.priority()
    return options.read(verb.name, given)


def _number(name: str) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            found = float(text.replace(",", ""))
        except ValueError:
            problem = f"“{text[:40]}” is no number, as “{name}” must be."
            raise BadArgument(problem) from None
        return int(found) if found.is_integer() else found

    return read


def _lines(text: str) -> list[str]:
    return [line for line in re.split(r"\r\n|\r|\n", text) if line.strip()]


def _fields(text: str) -> dict[str, Any]:
    found = {}
    for line in _lines(text):
        name, colon, value = line.partition(":")
        if not colon or not name.strip().strip('"'):
            problem = f"“{line[:40]}” is no field with a value, as user_id: 42."
            raise BadArgument(problem)
        found[name.strip().strip('"')] = _value(value.strip())
    return found


def _value(text: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        return wire.loads(text)
    except ValueError:
        return text


_READ: dict[str, Callable[[str], Any]] = {
    "delay": lambda text: seconds(text, "delay"),
    "tags": _lines,
    "set": _fields,
    "retry": lambda text: text == "yes",
    "dependents": lambda text: text == "yes",
    **{name: _number(name) for name in _NUMBERS},
}


# -- Start


def _ask_start(_form: Form, operation: str) -> AskPage:
    found = looked_up(operation)
    if found.state != "draft":
        return _under_way(found)
    return ask.ask_page(operations.question(found), ask_operations.of_operation(operation))


def _under_way(found: Operation) -> AskPage:
    return ask_operations.about(
        found, "Resume", "act.resume_operation", "It was started before: this goes on with it."
    )


def _start(form: Form, operation: str, permission: str) -> Outcome:
    found = looked_up(operation)
    if found.verb.permission != permission:
        problem = "This operation is started in another way; nothing was done."
        raise BadArgument(problem)
    if form.guarded and form.whole("expected") != found.fits:
        problem = "What would be done is not what was shown; nothing was done."
        raise AskAgain(problem)
    started = ordering.begin(current().client, found)
    return Outcome(
        text=f"{found.verb.text} {words.jobs(found.fits)}: it is under way.",
        operations=(operation,),
        tone="info",
        done=(operation,),
        answer=started.state,
        on=found.on,
        note=found.note,
    )


def _on_operation(
    name: str,
    verb: str,
    *,
    ask_: Callable[..., AskPage] | None = None,
    consequence: str = "",
    path: str = "",
) -> Callable[[Callable[..., Outcome]], Action]:
    """Declare what is done to one operation."""
    endpoint = f"act.{name}"
    return action(
        name,
        f"/operations/<name:operation>/{path or verb.lower()}",
        permission="destroy" if name == "start_cancelling" else "operate",
        subject=ask_operations.of_operation,
        ask=ask_
        or (
            lambda _form, operation: ask_operations.about(
                looked_up(operation), verb, endpoint, consequence
            )
        ),
        confirms=True,
    )


@_on_operation("start_operation", "Start", ask_=_ask_start)
def start_operation(form: Form, operation: str) -> Outcome:
    """Begin to do what was shown, in the background."""
    return _start(form, operation, "operate")


@_on_operation("start_cancelling", "Start", ask_=_ask_start, path="cancel")
def start_cancelling(form: Form, operation: str) -> Outcome:
    """Begin to cancel the jobs that were shown, in the background."""
    return _start(form, operation, "destroy")


# -- Under way


@_on_operation("pause_operation", "Pause", consequence="It rests after the few jobs that it is at.")
def pause_operation(_form: Form, operation: str) -> Outcome:
    """Let an operation rest until it is resumed."""
    found = ordering.pause(current().client, looked_up(operation))
    return _stands(found, "paused", "Paused.")


@_on_operation("resume_operation", "Resume", consequence="It goes on where it was.")
def resume_operation(_form: Form, operation: str) -> Outcome:
    """Let an operation go on that was paused or stopped."""
    found = looked_up(operation)
    if found.state == "draft":
        problem = "It has not been started yet; nothing was done."
        raise BadArgument(problem)
    if found.undone_by or not found.is_open:
        ended = "has been undone, and goes on no more" if found.undone_by else f"is {found.state}"
        text = f"Nothing was done: the operation {ended}."
        return Outcome(text=text, tone="warning", status=409, answer=found.state)
    now = ordering.begin(current().client, found)
    return replace(_stands(now, "queued", "It goes on."), operations=(operation,))


@_on_operation(
    "stop_operation",
    "Stop",
    consequence="It ends after the few jobs that it is at. What is done stays, and can be undone.",
)
def stop_operation(_form: Form, operation: str) -> Outcome:
    """End an operation before it is through."""
    found = ordering.stop(current().client, looked_up(operation))
    return _stands(found, "stopped", "Stopped.")


def _stands(found: Operation, wanted: str, text: str) -> Outcome:
    if found.state in (wanted, *(["running", "done"] if wanted == "queued" else [])):
        return Outcome(text=text, done=(found.id,), answer=found.state)
    told = f"Nothing was done: the operation is {found.state}."
    return Outcome(text=told, tone="warning", status=409, answer=found.state)


@_on_operation(
    "undo_operation",
    "Undo",
    consequence="Each job is brought back to what it was, unless something happened to it since.",
)
def undo_operation(form: Form, operation: str) -> Outcome:
    """Bring the jobs of an operation back to what they were, in the background."""
    found = looked_up(operation)
    if not found.can_undo:
        return Outcome(text=_cannot_undo(found), tone="warning", status=409)
    client = current().client
    made = freezing.freeze_undo(client, found, asked(form))
    if not ordering.begin_undo(client, made):
        now = store.load(client, operation)
        text = _cannot_undo(now) if now else "Nothing was done: it is forgotten."
        return Outcome(text=text, tone="warning", status=409)
    return Outcome(
        text="It is being undone.",
        operations=(made.id,),
        on={"by": made.id},
        tone="info",
        done=(made.id,),
        again=operations.operation_link(made.id),
        answer=made.id,
    )


_UNDONE = "Nothing was done: it has been undone before."


def _cannot_undo(found: Operation) -> str:
    if found.undone_by:
        return _UNDONE
    if not found.verb.is_undoable:
        return "Nothing was done: this cannot be undone."
    if not found.done:
        return "Nothing was done: there is nothing to undo."
    if found.done <= found.restored:
        return "Nothing was done: all of them are back already."
    return "Nothing was done: stop it before it is undone."


# -- The trash


def _picked(form: Form) -> list[tuple[int, str]]:
    """Read which jobs of the trash were chosen, each with its place; none: all of them.

    Raises:
        BadArgument: the form is not as the page wrote it.

    """
    found = [(place, jid) for jid, place in form.targets()]
    is_blank = form.has("targets") and not found
    if is_blank or not all(place.isdecimal() and len(place) <= _DIGITS for place, _ in found):
        problem = "The field “targets” is not as this console wrote it; nothing was done."
        raise BadArgument(problem)
    return sorted((int(place), jid) for place, jid in found)


#: Digits of a place in a list, at most.
_DIGITS = 9


def _ask_restore(form: Form, operation: str) -> AskPage:
    found = looked_up(operation)
    targets = [("targets", value) for value in form.all("targets")]
    return ask_operations.restore(operation, targets, found.done)


@action(
    "restore_jobs",
    "/trash/<name:operation>/restore",
    permission="operate",
    subject=lambda operation: ask_operations.of_trash(),  # noqa: ARG005 - the names of the address
    ask=_ask_restore,
    confirms=True,
)
def restore_jobs(form: Form, operation: str) -> Outcome:
    """Bring cancelled jobs back from the trash with everything they had."""
    found = looked_up(operation)
    if found.action != "cancel" or not found.done:
        return Outcome(text="Nothing was done: it cancelled no job.", tone="warning", status=409)
    client = current().client
    made = freezing.freeze_undo(client, found, asked(form), _picked(form))
    ordering.begin(client, made)
    return Outcome(
        text=f"{words.jobs(made.total)} on the way back.",
        operations=(made.id,),
        on={"by": made.id},
        tone="info",
        done=(made.id,),
        again=operations.operation_link(made.id),
        answer=made.id,
    )
