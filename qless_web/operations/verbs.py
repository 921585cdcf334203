"""What an operation can do: by the word that programs send, what it asks for and how it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from qless_web.access import Permission


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """One thing that is done to many jobs.

    Attributes:
        name: the word for it, as programs send it.
        text: the word for it, as people read it.
        done: what happened to the jobs, before their number.
        permission: what it needs.
        options: what may be said beside which jobs; those that must be are in `needs`.
        needs: options that must be there.
        means: what it does to each job, in a sentence.
        undo: how it is undone, in a sentence.
        is_undoable: whether it is at all.
        danger: whether it destroys.

    """

    name: str
    text: str
    done: str
    permission: Permission = "operate"
    options: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    means: str = ""
    undo: str = ""
    is_undoable: bool = True
    danger: bool = False


#: How fast, and how carefully: of what puts jobs to work.
_PACED: Final = ("rate", "stop_percent", "canary")
_BACK: Final = "Those that are still where it put them can be put back from its report."

VERBS: Final = {
    verb.name: verb
    for verb in (
        Verb(
            name="retry",
            text="Retry",
            done="Retried",
            options=("queue", "delay", *_PACED),
            means="Retries are renewed; data, priority and tags stay.",
            undo=_BACK,
        ),
        Verb(
            name="move",
            text="Move",
            done="Moved",
            options=("queue", "delay", *_PACED),
            needs=("queue",),
            means="They run there, with retries renewed; data, priority and tags stay.",
            undo=_BACK,
        ),
        Verb(
            name="cancel",
            text="Cancel",
            done="Cancelled",
            permission="destroy",
            options=("dependents",),
            means="They and their data are gone from the queue.",
            undo="They rest in the trash, and can come back from there with everything they had.",
            danger=True,
        ),
        Verb(
            name="priority",
            text="Set priority of",
            done="Set the priority of",
            options=("priority",),
            needs=("priority",),
            means="Each keeps its place among equals.",
            undo="Those that have this priority still can have their old one back.",
        ),
        Verb(
            name="tag",
            text="Tag",
            done="Tagged",
            options=("tags",),
            needs=("tags",),
            undo="The tags that it adds can be taken off again.",
        ),
        Verb(
            name="untag",
            text="Untag",
            done="Untagged",
            options=("tags",),
            needs=("tags",),
            undo="The tags that it takes off can be put on again.",
        ),
        Verb(
            name="edit",
            text="Edit data of",
            done="Edited the data of",
            options=("set", "data", "retry"),
            means="What is not named stays as it is, byte for byte.",
            undo="Data that nobody changed since can be as it was before.",
        ),
        Verb(
            name="time_out",
            text="Time out",
            done="Timed out",
            means="Workers lose them at once; they are the next jobs taken from their queues.",
            undo="This cannot be undone.",
            is_undoable=False,
            danger=True,
        ),
        Verb(
            name="untrack",
            text="Untrack",
            done="Untracked",
            undo="They can be tracked again.",
        ),
    )
}

#: What undoes another operation; nobody asks for it by name.
UNDO: Final = Verb(
    name="undo",
    text="Undo",
    done="Undid",
    means="Each job is brought back to what it was, unless something happened to it since.",
    undo="This cannot be undone.",
    is_undoable=False,
)


def verb(name: str) -> Verb:
    """Give what an operation does, by its word."""
    return VERBS.get(name, UNDO)


#: For people to choose from: the word of each and its text.
CHOICES: Final = tuple((verb.name, verb.text.removesuffix(" of")) for verb in VERBS.values())
