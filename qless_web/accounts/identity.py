"""Who asks: the one answer that rights, pages and the audit all go by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from qless_web.access import Grant

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qless_web.access import Permission

#: How somebody was recognised: not at all, by a password, by a provider that signs people in, by
#: a token of the API, by what a proxy says, or by what the application around the console says.
Way = Literal["nobody", "password", "provider", "token", "proxy", "host"]

#: Those who signed in at a page of ours, so that they may sign out.
SESSION_WAYS = frozenset({"password", "provider"})


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks, from where, and what they may do.

    Attributes:
        name: what they are called; "" where nobody knows.
        address: the network address that the request came from; "" where the server does not say.
        way: how they were recognised.
        grant: what they may do; None where they may not even look.

    """

    name: str = ""
    address: str = ""
    way: Way = "nobody"
    grant: Grant | None = field(default_factory=lambda: Grant("admin"))

    @property
    def role(self) -> str:
        """What they are: viewer, operator or admin; "" where they may not even look."""
        return self.grant.role if self.grant else ""

    @property
    def title(self) -> str:
        """What the audit calls them: the name, with `token:` before that of a token."""
        return f"token:{self.name}" if self.way == "token" else self.name

    @property
    def can_leave(self) -> bool:
        """Whether they signed in at a page of ours."""
        return self.way in SESSION_WAYS

    def hint(self, permission: Permission, action: str = "", queues: Iterable[str] = ()) -> str:
        """Say in two or three words what stands in the way, for a button; "" where nothing."""
        return self.grant.refusal(permission, action, queues) if self.grant else "needs sign-in"

    def refusal(self, permission: Permission, action: str = "", queues: Iterable[str] = ()) -> str:
        """Say in half a sentence why something may not be done; "" where it may.

        >>> Identity("dana", grant=Grant("viewer")).refusal("operate")
        'this needs operator, and dana is viewer'
        """
        hint = self.hint(permission, action, queues)
        if not hint:
            return ""
        who = self.title or "whoever asks"
        if not self.role:
            return "this needs a sign-in"
        if hint.startswith("needs"):
            return f"this {hint}, and {who} is {self.role}"
        return f"{who} may not do this: {hint}"
