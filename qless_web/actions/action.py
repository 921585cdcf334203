"""The one way in which the console changes anything: allowed? → asked? → run → audit → answer.

A family declares its actions with `@action`; each gets one address: GET asks, POST acts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from flask import Blueprint, request
from werkzeug.exceptions import Forbidden

from qless_core.errors import QlessError
from qless_web import audit, htmx, statuses
from qless_web.access import DECLARED
from qless_web.actions import answering, reach
from qless_web.actions.form import Form
from qless_web.actions.outcome import Outcome
from qless_web.console import current
from qless_web.formatting import plain
from qless_web.operations import ordering
from qless_web.presenters import problems
from qless_web.presenters.page import TYPE_THE_NUMBER_ABOVE
from qless_web.rendering import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flask import Response

    from qless_web.access import Permission
    from qless_web.actions.field import Field
    from qless_web.presenters.ask import AskPage, Subject

blueprint = Blueprint("act", __name__)

#: Every action by its name, which is its endpoint too.
ACTIONS: dict[str, Action] = {}

#: Form fields that say what an action did, beside the names in its address.
_TOLD = ("queue", "priority", "tag", "dependency", "klass", "retries", "value")


#: What somebody may do who is limited to some queues.
_OWN = "one by one, ticked, or by operations of their own"


class AskAgain(Exception):  # noqa: N818 - no error: the answer is a question
    """Raised when the user has not said yes to what would be done now; `problem` may say why."""

    def __init__(self, problem: str = "") -> None:
        self.problem = problem
        super().__init__(problem)


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can be done.

    Attributes:
        name: its endpoint, below `act.`, and its name in the audit.
        rule: its address.
        permission: what its user must be allowed.
        run: does it: takes the form and the names of the address, calls the core.
        ask: makes the question, from the same.
        subject: what it is about, from the names of the address.
        confirms: whether it acts only after its question was answered.
        takes: what comes along, beside the names of the address.
        sifts: whether it leaves out by itself the jobs that its user may not change.

    """

    name: str
    rule: str
    permission: Permission
    run: Callable[..., Outcome]
    ask: Callable[..., AskPage]
    subject: Callable[..., Subject]
    confirms: bool
    takes: tuple[Field, ...] = ()
    sifts: bool = False

    @property
    def refusal(self) -> str:
        """Why it is not allowed here; "" where it is."""
        here = current()
        # The counts come with the news whether Redis lets this console write.
        known = here.counts.read_only or ""
        return here.refusal(self.permission, self.name) or known

    def refused(self, form: Form, path: Mapping[str, str]) -> str:
        """Say why it is not allowed on what it would change; "" where it is."""
        here = current()
        grant = here.identity.grant
        if self.refusal or not (grant and grant.queues):
            return self.refusal
        queues = reach.queues(self.permission, form, path, sifts=self.sifts)
        if queues is None:
            return f"{here.identity.title} may change the jobs of some queues only: {_OWN}"
        return here.refusal(self.permission, self.name, sorted(queues))

    def perform(self, form: Form, **path: str) -> Outcome:
        """Do it if it is allowed, and leave a record either way.

        Raises:
            Forbidden: it is not allowed here, or to this user.
            AskAgain: what would be done is not what was shown.
            QlessError: Redis or the queue refused.

        """
        with audit.recorded(self.name, _on(form, path)) as record:
            self._allow(record, form, path)
            outcome = self._run(record, form, path)
            record.outcome = "done" if outcome.status < HTTPStatus.BAD_REQUEST else "failed"
            record.counts = outcome.counts
            record.on = {**record.on, **outcome.on}
            if record.outcome == "failed":
                record.why = record.why or plain(outcome.text)
            record.note = form.get("note") or outcome.note
        # Only now: the audit has the end of none before its beginning.
        for operation in outcome.operations:
            ordering.put_soon(current().client, operation)
        return outcome

    def _allow(self, record: audit.Record, form: Form, path: Mapping[str, str]) -> None:
        record.why = self.refused(form, path)
        if record.why:
            record.outcome = "refused"
            raise _forbidden(record.why)

    def _run(self, record: audit.Record, form: Form, path: Mapping[str, str]) -> Outcome:
        try:
            return self.run(form, **path)
        except AskAgain as again:
            record.outcome, record.why = "asked", again.problem
            raise

    def question(self, **path: str) -> Response:
        """Answer GET: ask. The question reads first, so that the counts come along with it."""
        form = Form(dict(request.args.lists()))
        page = self.ask(form, **path)
        refusal = self.refusal
        if refusal:
            raise _forbidden(refusal)
        return self._show(page, form, path)

    def act(self, **path: str) -> Response:
        """Answer POST: act, or ask where the user has not said yes."""
        form = Form(dict(request.form.lists()))
        try:
            return self._act_or_ask(form, path)
        except (Forbidden, QlessError) as error:
            return self._tell(_not_done(error), form, path)

    def _act_or_ask(self, form: Form, path: Mapping[str, str]) -> Response:
        try:
            if self.confirms and not self.refusal:
                _must_agree(form)
            return self._tell(self.perform(form, **path), form, path)
        except AskAgain as again:
            page = self.ask(form, **path)
            return self._show(page, form, path, problem=again.problem, status=422)

    def _tell(self, outcome: Outcome, form: Form, path: Mapping[str, str]) -> Response:
        return answering.answer(outcome, form.get("return_to"), self.subject(**path).link)

    def _show(
        self,
        page: AskPage,
        form: Form,
        path: Mapping[str, str],
        *,
        problem: str = "",
        status: int = 200,
    ) -> Response:
        back = answering.way_back(form.get("return_to"), self.subject(**path).link)
        return render(replace(page, ask=replace(page.ask, back=back, problem=problem)), status)


def action(  # noqa: PLR0913 - a declaration: all but two by name
    name: str,
    rule: str,
    *,
    permission: Permission,
    subject: Callable[..., Subject],
    ask: Callable[..., AskPage],
    confirms: bool = False,
    takes: tuple[Field, ...] = (),
    sifts: bool = False,
) -> Callable[[Callable[..., Outcome]], Action]:
    """Declare an action: the function below does it.

    Args:
        name: what it is called, in the imperative: `pause_queue`.
        rule: its address.
        permission: what its user must be allowed.
        subject: what it is about, from the names of the address.
        ask: makes its question, from the form and the names of the address.
        confirms: whether it acts only after its question was answered.
        takes: what comes along, beside the names of the address; its form asks for the same.
        sifts: whether it leaves out by itself the jobs that its user may not change.

    """

    def declare(run: Callable[..., Outcome]) -> Action:
        made = Action(name, rule, permission, run, ask, subject, confirms, takes, sifts)
        ACTIONS[name] = made
        DECLARED[name] = permission
        blueprint.add_url_rule(rule, name, _dispatch(made), methods=["GET", "POST"])
        return made

    return declare


def _dispatch(made: Action) -> Callable[..., Response]:
    def serve(**path: Any) -> Response:  # noqa: ANN401 - the names of the address
        return made.act(**path) if request.method == "POST" else made.question(**path)

    return serve


def _forbidden(why: str) -> Forbidden:
    return Forbidden(f"Nothing was changed: {why}.")


def _must_agree(form: Form) -> None:
    """Go on only when the number that was shown came back.

    Raises:
        AskAgain: it did not, or it is so high that it must be typed and was not.

    """
    expected = form.whole("expected")
    if expected is None or expected < 1:
        raise AskAgain
    if expected > TYPE_THE_NUMBER_ABOVE and form.whole("typed") != expected:
        problem = f"Type the number {expected:,} to go on; nothing was done."
        raise AskAgain(problem)


def _not_done(error: Forbidden | QlessError) -> Outcome:
    """Tell of what stood in the way.

    Raises:
        Forbidden: the error itself; as a page of its own it has more to say.
        QlessError: the same.

    """
    if isinstance(error, Forbidden):
        text, status = error.description or "", 403
    else:
        text, status = f"Nothing was done. {error}", statuses.of_error(error)
    match status:
        case 500:
            raise error
        case 403 | 503 if not htmx.is_partial():
            raise error
        case 404:
            return Outcome(text=f"{error}; nothing was done.", tone="warning", status=404)
        case 503:
            done = "it is not known whether it was done"
            if problems.is_refusal(str(error)):
                done = "nothing was done by this step"
            text = f"{problems.outage(str(error))}, so {done}: {error}"
    return Outcome(text=text, tone="error", status=status)


def _on(form: Form, path: Mapping[str, str]) -> dict[str, str]:
    told = {name: form.get(name) for name in _TOLD if form.get(name)}
    jids = form.all("jids")
    return {**told, **path, **({"jobs": str(len(jids))} if jids else {})}
