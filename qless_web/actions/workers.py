"""What is done to a worker's entry in the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_web.actions.action import action
from qless_web.actions.outcome import Outcome
from qless_web.console import current
from qless_web.presenters import ask
from qless_web.presenters.page import Link

if TYPE_CHECKING:
    from qless_web.actions.form import Form
    from qless_web.presenters.ask import AskPage


def _ask_forget(_form: Form, worker: str) -> AskPage:
    held = current().client.workers[worker]
    return ask.forget_worker(worker, len(held.jobs) + len(held.stalled))


@action(
    "forget_worker",
    "/workers/<name:worker>/forget",
    permission="operate",
    subject=ask.of_worker,
    ask=_ask_forget,
    confirms=True,
)
def forget_worker(_form: Form, worker: str) -> Outcome:
    """Take a worker off the list until it is heard of again."""
    current().client.workers.deregister(worker)
    return Outcome(
        text=f"Forgot {worker}. It is listed again as soon as it is heard of.",
        done=(worker,),
        gone=((Link("workers.show", {"worker": worker}), Link("workers.index")),),
    )
