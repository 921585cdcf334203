"""Pages for what went wrong: what happened, what was not done, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from qless_web.formatting import untilde
from qless_web.presenters import named
from qless_web.presenters.page import Link, Page

#: Characters of a name on a button.
_NAME = 40


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
    #: Where to look instead: what each place is called, and the place.
    places: tuple[tuple[str, Link], ...] = ()


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


def problem(
    status: int, text: str, advice: str = "", places: tuple[tuple[str, Link], ...] = ()
) -> Problem:
    """Make the page for an HTTP status."""
    return Problem(
        title=_TITLES.get(status, "That did not work"),
        nav="",
        status=status,
        text=text,
        advice=advice,
        places=places,
    )


def searches(path: str) -> tuple[tuple[str, Link], ...]:
    """Offer to look for what an address that leads nowhere may have named.

    >>> [text for text, _ in searches("/queues/eu/orders")]
    ['Search for “eu/orders”', 'Search for “orders”']
    >>> [link.values["q"] for _, link in searches("/job/a~2Fb")], searches("/")
    (['a/b'], ())
    """
    parts = [part for part in path.split("/") if part]
    wanted = [untilde(part) for part in parts[1:] or parts]
    if not wanted or any(part.startswith("~~") for part in parts):  # a digest names nothing
        return ()
    return tuple(
        (f"Search for “{named.short(each, _NAME)}”", Link("search.index", {"q": each}))
        for each in dict.fromkeys(("/".join(wanted), wanted[-1]))
    )


#: Said of a body over the limit of 4 MB, which holds thousands of jobs.
TOO_LARGE = "What was sent is larger than 4 MB, and nothing was done: send it in several parts."

#: How Redis says that it is there but does nothing now, and what to call that.
_OUTAGES = (
    ("BUSY", "Redis is busy with a script"),
    ("LOADING", "Redis is still loading its data"),
    ("Redis is loading", "Redis is still loading its data"),
    ("OOM", "Redis is full"),
    ("command not allowed when used memory", "Redis is full"),
)


def outage(text: str) -> str:
    """Say what is the matter with Redis, by what it, or the system, said.

    >>> outage("BUSY Redis is busy running a script."), outage("Connection refused")
    ('Redis is busy with a script', 'Redis cannot be reached')
    """
    known = (name for beginning, name in _OUTAGES if text.startswith(beginning))
    return next(known, _TITLES[503])


def is_refusal(text: str) -> bool:
    """Say whether Redis did answer, and refused: then what was asked for was not done."""
    return outage(text) != _TITLES[503]


def redis_down(url: str, text: str) -> RedisDown:
    """Make the page for a Redis that is gone, or does nothing now; `url` without its password."""
    waiting = "nothing was lost by waiting"
    return RedisDown(
        title=outage(text),
        nav="",
        status=503,
        text=text,
        advice=f"This page tries again by itself{'' if is_refusal(text) else f'; {waiting}'}.",
        url=url,
    )
