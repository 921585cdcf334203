"""What a worker is asked, and what is done to its entry in the list."""

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
    # One call, where `workers[worker]` takes two: what it tells of itself is not asked here.
    held = current().client.commands.worker(worker)
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


#: Said where a worker is asked something.
_HEARS = "It hears of that with its next sign of life, within seconds."


def _ask_stop(_form: Form, worker: str) -> AskPage:
    return ask.about_worker(
        worker,
        verb="Stop",
        endpoint="act.stop_worker",
        consequences=(
            "It takes no more jobs, finishes those that it has, and ends.",
            "It cannot be started from here; whatever keeps it running may start it anew.",
            _HEARS,
        ),
        danger=True,
    )


@action(
    "stop_worker",
    "/workers/<name:worker>/stop",
    permission="operate",
    subject=ask.of_worker,
    ask=_ask_stop,
    confirms=True,
)
def stop_worker(_form: Form, worker: str) -> Outcome:
    """Ask a worker to finish the jobs it has, and end."""
    return _ask_of(worker, "stop", "it finishes the jobs that it has, and ends")


def _ask_pause(_form: Form, worker: str) -> AskPage:
    return ask.about_worker(
        worker,
        verb="Pause",
        endpoint="act.pause_worker",
        consequences=("It takes no more jobs until it is resumed. Jobs that run go on.", _HEARS),
    )


@action(
    "pause_worker",
    "/workers/<name:worker>/pause",
    permission="operate",
    subject=ask.of_worker,
    ask=_ask_pause,
)
def pause_worker(_form: Form, worker: str) -> Outcome:
    """Ask a worker to take no more jobs."""
    return _ask_of(worker, "pause", "it takes no more jobs")


def _ask_resume(_form: Form, worker: str) -> AskPage:
    return ask.about_worker(
        worker,
        verb="Resume",
        endpoint="act.resume_worker",
        consequences=("It takes jobs again.", _HEARS),
    )


@action(
    "resume_worker",
    "/workers/<name:worker>/resume",
    permission="operate",
    subject=ask.of_worker,
    ask=_ask_resume,
)
def resume_worker(_form: Form, worker: str) -> Outcome:
    """Ask a worker to take jobs again."""
    return _ask_of(worker, "resume", "it takes jobs again")


def _ask_of(worker: str, request: str, then: str) -> Outcome:
    current().client.workers.ask(worker, request)
    return Outcome(
        text=f"Asked {worker} to {request}: {then} when it hears of that, within seconds.",
        done=(worker,),
    )
