"""What somebody should look at now: the lines that the overview begins with. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from qless_web.formatting import count, isolated
from qless_web.presenters import jobs
from qless_web.presenters.message import telling
from qless_web.presenters.page import Action, Link
from qless_web.presenters.tables import pause_action
from qless_web.presenters.why import still

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qless_core.reads.failures import FailureGroup
    from qless_core.reads.queues import QueueSummary

#: Seconds since the last failure of a group during which it counts as failing now.
FAILING_S = 900

#: Characters of a failure's message.
_MESSAGE = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """One thing that somebody should look at.

    Attributes:
        state: whose colour and icon it has.
        text: what it is, in a few words: the link.
        link: where to look.
        more: the rest of the sentence.
        at: since when, or when last, epoch seconds.
        at_word: what that instant is.
        lasts: whether the instant is a beginning: how long it is then, not how long ago.
        action: what can be done about it at once.

    """

    state: str
    text: str
    link: Link
    more: str = ""
    at: float | None = None
    at_word: str = ""
    lasts: bool = False
    action: Action | None = None


def attention(
    queues: Sequence[QueueSummary], groups: Sequence[FailureGroup], workers: int, now: float
) -> tuple[tuple[Attention, ...], ...]:
    """Return what needs attention, kind by kind, the worst kind and the worst of each first.

    Args:
        queues: all of them.
        groups: of failures.
        workers: how many are alive.
        now: epoch seconds.

    """
    standing = [each for each in queues if still(each, now)]
    return (
        tuple(map(_stalled, _most(queues, "stalled"))),
        tuple(
            _deserted(each, workers)
            for each in _most([each for each in standing if not each.paused], "waiting")
        ),
        tuple(map(_paused, _most([each for each in standing if each.paused], "waiting"))),
        tuple(_failing(each) for each in groups if is_failing(each, now)),
    )


def is_failing(group: FailureGroup, now: float) -> bool:
    """Say whether a group of failures still grows."""
    return group.last_seen is not None and now - group.last_seen < FAILING_S


def _most(queues: Sequence[QueueSummary], what: str) -> list[QueueSummary]:
    some = [each for each in queues if getattr(each, what)]
    return sorted(some, key=lambda each: (-getattr(each, what), each.name))


def _stalled(queue: QueueSummary) -> Attention:
    return Attention(
        state="stalled",
        text=f"{isolated(queue.name)}: {count(queue.stalled)} stalled",
        link=Link("queues.show", {"queue": queue.name, "tab": "stalled"}),
        more="their workers have gone silent",
    )


def _deserted(queue: QueueSummary, workers: int) -> Attention:
    return Attention(
        state="waiting",
        text=f"{isolated(queue.name)}: {count(queue.waiting)} waiting",
        link=jobs.queue_link(queue.name).also(tab="waiting"),
        more="no worker takes them" if workers else "no worker was seen",
        at=queue.next_since,
        at_word="next job waits",
        lasts=True,
    )


def _paused(queue: QueueSummary) -> Attention:
    return Attention(
        state="paused",
        text=f"{isolated(queue.name)} is paused",
        link=jobs.queue_link(queue.name).also(tab="waiting"),
        more=f"{count(queue.waiting)} {'waits' if queue.waiting == 1 else 'wait'}",
        at=queue.next_since,
        at_word="next job waits",
        lasts=True,
        action=pause_action(queue.name, paused=True),
    )


def _failing(group: FailureGroup) -> Attention:
    return Attention(
        state="failed",
        text=f"{isolated(group.name)}: {count(group.count)} failed",
        link=jobs.group_link(group.name),
        more=isolated(telling(group.newest_message, group.name, _MESSAGE)),
        at=group.last_seen,
        at_word="last",
    )
