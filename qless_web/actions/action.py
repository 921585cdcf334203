"""The one way in which the console changes anything: allowed? → asked? → run → audit → answer.

A family declares its actions with `@action`; each gets one address: GET asks, POST acts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from flask import Blueprint, request
from werkzeug.exceptions import Forbidden

from qless_core.errors import (
    BadArgument,
    JobError,
    QlessError,
    RecurringJobNotFound,
    RedisUnavailable,
)
from qless_web import audit, htmx, statuses
from qless_web.actions import answering
from qless_web.actions.form import Form
from qless_web.actions.outcome import Outcome
from qless_web.console import current
from qless_web.presenters.page import TYPE_THE_NUMBER_ABOVE
from qless_web.rendering import render

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from flask import Response

    from qless_web.presenters.ask import AskPage, Subject

blueprint = Blueprint("act", __name__)

#: Every action by its name, which is its endpoint too.
ACTIONS: dict[str, Action] = {}

#: Form fields that say what an action did, beside the names in its address.
_TOLD = ("queue", "priority", "tag", "dependency")


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
        run: does it: takes the form and the names of the address, calls the core.
        ask: makes the question, from the same.
        subject: what it is about, from the names of the address.
        confirms: whether it acts only after its question was answered.

    """

    name: str
    rule: str
    run: Callable[..., Outcome]
    ask: Callable[..., AskPage]
    subject: Callable[..., Subject]
    confirms: bool

    def perform(self, form: Form, **path: str) -> Outcome:
        """Do it if it is allowed, and leave a record either way.

        Raises:
            Forbidden: it is not allowed here, or to this user.
            QlessError: Redis or the queue refused.

        """
        clock = current().client.clock
        began = clock.monotonic()
        outcome, counts, why = "failed", {}, ""
        try:
            why = _refusal(self.name)
            if why:
                outcome = "refused"
                raise Forbidden(_forbidden(why))
            result = self.run(form, **path)
            outcome, counts = ("failed" if result.status >= 400 else "done"), result.counts  # noqa: PLR2004 - HTTP's errors
        except (QlessError, AskAgain) as error:
            why = str(error)
            outcome = "asked" if isinstance(error, AskAgain) else outcome
            raise
        finally:
            audit.record(
                action=self.name,
                user=request.remote_user,
                source=request.remote_addr,
                on=_on(form, path),
                outcome=outcome,
                counts=counts,
                took_ms=(clock.monotonic() - began) * 1000,
                why=why,
            )
        return result

    def question(self, **path: str) -> Response:
        """Answer GET: ask. The question reads first, so that the counts come along with it."""
        form = Form(dict(request.args.lists()))
        page = self.ask(form, **path)
        refusal = _refusal(self.name)
        if refusal:
            raise Forbidden(_forbidden(refusal))
        return self._show(page, form, path)

    def act(self, **path: str) -> Response:
        """Answer POST: act, or ask where the user has not said yes."""
        form = Form(dict(request.form.lists()))
        try:
            try:
                if self.confirms:
                    _must_agree(form, refused=bool(_refusal(self.name)))
                outcome = self.perform(form, **path)
            except AskAgain as again:
                page = self.ask(form, **path)
                return self._show(page, form, path, problem=again.problem, status=422)
        except Forbidden as error:
            if not htmx.is_partial():
                raise
            outcome = Outcome(text=error.description or "", tone="error", status=403)
        except (JobError, RecurringJobNotFound, BadArgument) as error:
            outcome = _failed(error)
        except RedisUnavailable as error:
            if not htmx.is_partial():
                raise
            text = f"Redis cannot be reached, so it is not known whether it was done: {error}"
            outcome = Outcome(text=text, tone="error", status=503)
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


def action(
    name: str,
    rule: str,
    *,
    subject: Callable[..., Subject],
    ask: Callable[..., AskPage],
    confirms: bool = False,
) -> Callable[[Callable[..., Outcome]], Action]:
    """Declare an action: the function below does it.

    Args:
        name: what it is called, in the imperative: `pause_queue`.
        rule: its address.
        subject: what it is about, from the names of the address.
        ask: makes its question, from the form and the names of the address.
        confirms: whether it acts only after its question was answered.

    """

    def declare(run: Callable[..., Outcome]) -> Action:
        made = Action(name, rule, run, ask, subject, confirms)
        ACTIONS[name] = made
        blueprint.add_url_rule(rule, name, _dispatch(made), methods=["GET", "POST"])
        return made

    return declare


def _dispatch(made: Action) -> Callable[..., Response]:
    def serve(**path: Any) -> Response:  # noqa: ANN401 - the names of the address
        return made.act(**path) if request.method == "POST" else made.question(**path)

    return serve


def _forbidden(why: str) -> str:
    return f"Nothing was changed: {why}."


def _refusal(name: str) -> str:
    here = current()
    # The counts come with the news whether Redis lets this console write.
    known = here.counts.read_only or ""
    return here.refusal(name) or known


def _must_agree(form: Form, *, refused: bool) -> None:
    """Go on only when the number that was shown came back.

    Raises:
        AskAgain: it did not, or it is so high that it must be typed and was not.

    """
    if refused:
        return  # `perform` says so
    expected = form.whole("expected")
    if expected is None or expected < 1:
        raise AskAgain
    if expected > TYPE_THE_NUMBER_ABOVE and form.whole("typed") != expected:
        problem = f"Type the number {expected:,} to go on; nothing was done."
        raise AskAgain(problem)


def _failed(error: QlessError) -> Outcome:
    status = statuses.of_error(error)
    if status == HTTPStatus.NOT_FOUND:
        return Outcome(text=f"{error}; nothing was done.", tone="warning", status=status)
    return Outcome(text=f"Nothing was done. {error}", tone="error", status=status)


def _on(form: Form, path: Mapping[str, str]) -> dict[str, str]:
    told = {name: form.get(name) for name in _TOLD if form.get(name)}
    jids = form.all("jids")
    return {**told, **path, **({"jobs": str(len(jids))} if jids else {})}
