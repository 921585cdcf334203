"""Who may do what. Asked once, where an action runs; templates ask it which buttons to offer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

#: What an action needs: `destroy` where something goes for good, `operate` for every other one.
Permission = Literal["operate", "destroy"]


class Access(Protocol):
    """What the console asks of whoever decides."""

    def refusal(self, permission: Permission) -> str:
        """Say why a permission is not given here, in a few words; "" when it is."""


@dataclass(frozen=True, slots=True)
class Anyone:
    """Everybody who reaches the console may do everything."""

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
