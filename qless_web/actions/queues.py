"""What is done to a queue as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_web.actions.action import action
from qless_web.actions.outcome import Outcome
from qless_web.console import current
from qless_web.presenters import ask

if TYPE_CHECKING:
    from qless_web.actions.form import Form
    from qless_web.presenters.ask import AskPage


def _ask_pause(_form: Form, queue: str) -> AskPage:
    return ask.about_queue(
        queue,
        verb="Pause",
        endpoint="act.pause_queue",
        consequence="Workers take nothing from it until it is unpaused. Jobs that run go on.",
    )


@action(
    "pause_queue",
    "/queues/<name:queue>/pause",
    permission="operate",
    subject=ask.of_queue,
    ask=_ask_pause,
)
def pause_queue(_form: Form, queue: str) -> Outcome:
    """Let no worker take anything from a queue."""
    current().client.queues[queue].pause()
    return Outcome(text=f"Paused {queue}.", done=(queue,))


def _ask_unpause(_form: Form, queue: str) -> AskPage:
    return ask.about_queue(
        queue,
        verb="Unpause",
        endpoint="act.unpause_queue",
        consequence="Workers take jobs from it again.",
    )


@action(
    "unpause_queue",
    "/queues/<name:queue>/unpause",
    permission="operate",
    subject=ask.of_queue,
    ask=_ask_unpause,
)
def unpause_queue(_form: Form, queue: str) -> Outcome:
    """Let workers take jobs from a queue again."""
    current().client.queues[queue].unpause()
    return Outcome(text=f"Unpaused {queue}.", done=(queue,))
