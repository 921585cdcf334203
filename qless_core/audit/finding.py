"""One fault that the audit found: of which kind, where, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from qless_core.errors import BadArgument

if TYPE_CHECKING:
    from collections.abc import Callable

    from qless_core.audit.kinds import Kind
    from qless_core.commands import Commands
    from qless_core.records import Outcome

#: Who is meant by the members of an entry, by the place.
_PLACES: Final = {
    "work": "job {member} at work in the queue {name}",
    "locks": "job {member} running in the queue {name}",
    "scheduled": "job {member} scheduled in the queue {name}",
    "depends": "job {member} waiting for others in the queue {name}",
    "throttled": "job {member} kept back in the queue {name}",
    "throttle_locks": "job {member} under the throttle {name}",
    "throttle_pending": "job {member} in the line of the throttle {name}",
    "recur": "job {member} recurring in the queue {name}",
    "cron": "job {member} recurring in the queue {name}",
    "crons": "recurring job {member}",
    "completed": "completed job {member}",
    "failed": "job {member} in the failure group {name}",
    "worker": "job {member} of the worker {name}",
    "tracked": "tracked job {member}",
    "tag": "job {member} with the tag {name}",
    "dependencies": "job {name}",
    "dependents": "job {name}",
    "failures": "failure group {member}",
    "workers": "worker {member}",
    "tags": "tag {member}",
}

_SUBJECTS: Final[dict[str, Callable[[tuple[str, ...]], str]]] = {
    "entry": lambda subject: _PLACES.get(subject[1], "{member} in {name}").format(
        name=subject[2], member=subject[3]
    ),
    "ring": lambda subject: f"jobs {', '.join(subject[1:])}",
    "completed": lambda _: "completed jobs",
    "recurring": lambda subject: f"recurring job {subject[1]}",
    "cron_job": lambda subject: f"recurring job {subject[1]}",
    "tagged": lambda subject: f"job {subject[1]}",
    "twice": lambda subject: f"job {subject[2]} in the failure group {subject[1]}",
    "job": lambda subject: f"job {subject[1]}",
    "queue": lambda subject: f"queue {subject[1]}",
    "group": lambda subject: f"failure group {subject[1]}",
}

#: Members of an entry that are no jids; and where the name is the jid.
_NO_JIDS: Final = frozenset({"failures", "workers", "tags"})
_NAMES_ARE_JIDS: Final = frozenset({"dependencies", "dependents"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault, as it was when it was looked at.

    Attributes:
        kind: what is wrong, and what can be done about such.
        subject: where, as `audit.repair` takes it.
        note: what exactly was found there.

    """

    kind: Kind
    subject: tuple[str, ...]
    note: str
    _commands: Commands = field(repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.where}: {self.note}"

    @property
    def where(self) -> str:
        """What it is about, in words."""
        describe = _SUBJECTS.get(self.subject[0])
        return describe(self.subject) if describe else f"key {self.subject[-1]}"

    @property
    def jid(self) -> str | None:
        """The job that it is about; None where it is about none, or several."""
        match self.subject:
            case ("job" | "recurring" | "cron_job" | "tagged", jid, *_):
                return jid
            case ("twice", _, jid):
                return jid
            case ("entry", place, jid, _) if place in _NAMES_ARE_JIDS:
                return jid
            case ("entry", place, _, jid) if place not in _NO_JIDS:
                return jid
        return None

    def repair(self, how: str | None = None) -> Outcome:
        """Put it right, if it is still so; answers what was done, or why nothing was.

        Args:
            how: one of the kind's repairs; None for its default.

        Raises:
            BadArgument: the kind has no such repair, or no default.

        """
        how = checked(self.kind, how)
        outcome = self._repair(how)
        if not outcome.done or not self.kind.is_gradual:
            return outcome
        while (more := self._repair(how)).done:
            outcome = more
        return outcome

    def _repair(self, how: str) -> Outcome:
        return self._commands.audit_repair(self.kind.id, how, self.subject)[0]


def checked(kind: Kind, how: str | None) -> str:
    """Give the repair that is meant.

    Raises:
        BadArgument: the kind has no such repair, or no default.

    """
    if how is None and not kind.default:
        problem = f"{kind.id} is for you to decide: {_choice(kind)}"
        raise BadArgument(problem)
    how = how or kind.default
    if how not in kind.repairs:
        problem = f"{kind.id} cannot be repaired by {how!r}: {_choice(kind)}"
        raise BadArgument(problem)
    return how


def _choice(kind: Kind) -> str:
    return f"it takes {' or '.join(kind.repairs)}" if kind.repairs else "there is no repair for it"
