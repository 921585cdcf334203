"""Who may do what. Asked once, where an action runs; templates ask it which buttons to offer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Access(Protocol):
    """What the console asks of whoever decides."""

    def refusal(self, action: str) -> str:
        """Say why an action is not allowed here, in a few words; "" when it is."""


@dataclass(frozen=True, slots=True)
class Anyone:
    """Everybody who reaches the console may do everything."""

    def refusal(self, action: str) -> str:  # noqa: ARG002 - the same for every action
        """Allow it."""
        return ""


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """Nobody may change anything, for one reason."""

    reason: str = "this console is read-only"

    def refusal(self, action: str) -> str:  # noqa: ARG002 - the same for every action
        """Give the reason."""
        return self.reason
