"""Lists of jobs in every state, as of a tag or of tracked jobs: tabs that keep one state. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from qless_web.formatting import count
from qless_web.presenters.jobs import STATES
from qless_web.presenters.page import EmptyState, Link, Tab

if TYPE_CHECKING:
    from qless_core.reads.lists import StateListing

#: What the tab of jobs that are no longer there is called, in addresses and on the page.
GONE = "gone"

#: The tabs, what needs attention first.
ORDER = (
    "failed", "stalled", *(each for each in STATES if each not in {"failed", "stalled"}), GONE
)  # fmt: skip


def state_of(text: str | None) -> str | None:
    """Read `?state=`: a state, "" for jobs that are gone, None for all of them.

    >>> state_of("failed"), state_of("gone"), state_of("nonsense"), state_of(None)
    ('failed', '', None, None)
    """
    if text == GONE:
        return ""
    return text if text in STATES else None


def key_of(state: str | None) -> str:
    """Return the key of the tab that keeps a state."""
    return "all" if state is None else state or GONE


def tabs(link: Link, found: StateListing) -> tuple[Tab, ...]:
    """Return the tabs of a list: all of it, then each state that some job is in."""
    every = Tab(key="all", text="All", link=link, count=found.members)
    return (
        every,
        *(
            Tab(
                key=word,
                text=word.capitalize(),
                link=link.also(state=word),
                count=found.states.get(_stored(word), 0),
                state=word,
            )
            for word in ORDER
            if word != "throttled" or found.states.get(word)  # most have none of these ever
        ),
    )


def _stored(word: str) -> str:
    return "" if word == GONE else word


def partly(found: StateListing) -> str:
    """Say that the counts do not cover the whole list; "" where they do."""
    if found.covered >= found.members:
        return ""
    return (
        f"States were counted among the newest {count(found.covered)} of "
        f"{count(found.members)} jobs; older ones follow in the order of the list."
    )


def nothing(link: Link, state: str | None, noun: str) -> EmptyState:
    """Return what to show where no job is in the state that was asked for."""
    word = key_of(state)
    return EmptyState(
        kind="no-match",
        title=f"No {noun} is {word}" if word != GONE else f"No {noun} is gone",
        link=link,
        link_text="Show all states",
    )
