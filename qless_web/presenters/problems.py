"""Pages for what went wrong: what happened, what was not done, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from qless_web.presenters.page import Page


@dataclass(frozen=True, kw_only=True)
class Problem(Page):
    """A page that says what went wrong."""

    template: ClassVar[str] = "errors/problem.html"

    #: The HTTP status, for the reader who looks for it.
    status: int
    #: What happened, in a sentence.
    text: str
    #: What to do about it, in a sentence; "" when there is nothing.
    advice: str = ""


@dataclass(frozen=True, kw_only=True)
class RedisDown(Problem):
    """The page shown while Redis cannot be reached; it tries again by itself."""

    template: ClassVar[str] = "errors/redis_down.html"

    #: Where Redis was looked for, without the password.
    url: str


_TITLES = {
    400: "That request makes no sense",
    403: "That is not allowed",
    404: "There is no such thing",
    405: "That is done another way",
    409: "It is no longer so",
    413: "That is too much at once",
    421: "Wrong host name",
    500: "Something broke",
    503: "Redis cannot be reached",
}


def problem(status: int, text: str, advice: str = "") -> Problem:
    """Make the page for an HTTP status."""
    return Problem(
        title=_TITLES.get(status, "That did not work"),
        nav="",
        status=status,
        text=text,
        advice=advice,
    )


def redis_down(url: str, text: str) -> RedisDown:
    """Make the page for a Redis that is gone; `url` without its password."""
    return RedisDown(
        title=_TITLES[503],
        nav="",
        status=503,
        text=text,
        advice="This page tries again by itself; nothing was lost by waiting.",
        url=url,
    )
