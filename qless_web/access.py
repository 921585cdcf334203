"""Who may do what. Asked once, where an action runs; templates ask it which buttons to offer."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal, Protocol, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What an action needs: `operate` for most of them, `destroy` where something goes for good,
#: `administer` where it is about the console or the options rather than about jobs.
Permission = Literal["operate", "destroy", "administer"]

#: What somebody is; each may do all that those before it may.
Role = Literal["viewer", "operator", "admin"]

ROLES: tuple[Role, ...] = get_args(Role)

#: The role that each permission begins with.
NEEDS: dict[Permission, Role] = {
    "operate": "operator",
    "destroy": "operator",
    "administer": "admin",
}

#: What each action needs, by the name that it was declared with.
DECLARED: dict[str, Permission] = {}


class Access(Protocol):
    """What the console asks of whoever decides for everybody alike."""

    def refusal(self, permission: Permission) -> str:
        """Say why a permission is not given here, in a few words; "" when it is."""


@dataclass(frozen=True, slots=True)
class Anyone:
    """Everybody who reaches the console may do what the role allows."""

    def refusal(self, permission: Permission) -> str:  # noqa: ARG002 - the same for each
        """Give it."""
        return ""


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """Nobody may change anything, for one reason."""

    reason: str = "this console is read-only"

    def refusal(self, permission: Permission) -> str:  # noqa: ARG002 - the same for each
        """Give the reason."""
        return self.reason


@dataclass(frozen=True, slots=True)
class Grant:
    """What one of those who sign in may do.

    Attributes:
        role: the most that it can be.
        queues: patterns of the queues whose jobs may be changed, as `mail*`; none: all.
        actions: patterns of the actions that may be done, as `retry_*`; none: all.

    """

    role: Role = "viewer"
    queues: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()

    def refusal(self, permission: Permission, action: str = "", queues: Iterable[str] = ()) -> str:
        """Say why something may not be done, in a few words; "" where it may.

        >>> Grant("viewer").refusal("operate")
        'needs operator'
        >>> Grant("operator", queues=("mail*",)).refusal("operate", queues=["mail", "shop"])
        'not for shop'
        """
        needed = NEEDS[permission]
        if ROLES.index(self.role) < ROLES.index(needed):
            return f"needs {needed}"
        if action and self.actions and not _fits(action, self.actions):
            return "not allowed"
        return next((f"not for {each}" for each in queues if not self.reaches(each)), "")

    def reaches(self, queue: str) -> bool:
        """Say whether the jobs of a queue may be changed."""
        return not self.queues or _fits(queue, self.queues)


def strangers(patterns: Iterable[str]) -> tuple[str, ...]:
    """Give the patterns that fit none of the actions, as far as they are declared by now."""
    if not DECLARED:
        return ()
    return tuple(each for each in patterns if not any(_fits(name, (each,)) for name in DECLARED))


def _fits(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
