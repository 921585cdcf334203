"""The page where one signs in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from qless_web.presenters.page import Page


@dataclass(frozen=True, kw_only=True)
class SignInPage(Page):
    """A name and a password.

    Attributes:
        name: what was typed.
        wanted: the local address to go to afterwards.
        problem: why it did not work, in a sentence; "" before anything was tried.
        by_password: whether there are passwords.
        provider: what the provider is called that signs people in; "" where there is none.

    """

    template: ClassVar[str] = "sign_in/index.html"

    name: str
    wanted: str
    problem: str
    by_password: bool
    provider: str


def sign_in(
    wanted: str, *, name: str = "", problem: str = "", by_password: bool = True, provider: str = ""
) -> SignInPage:
    """Return the page."""
    return SignInPage(
        title="Sign in",
        nav="",
        name=name[:128],
        wanted=wanted,
        problem=problem,
        by_password=by_password,
        provider=provider,
    )
