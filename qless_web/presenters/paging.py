"""Which page of a list was asked for, and what to say when the list is not that long."""

from __future__ import annotations

import re

from qless_core.reads import Slice
from qless_web.presenters.page import PAGE_SIZE, EmptyState, Link, PageNumber, Pager

_WHOLE = re.compile(r"\s*\+?([0-9]+)\s*", re.ASCII)

#: The last page that can be asked for; lists in Redis do not get this long.
LAST = 10**9


def page_number(text: str | None, *, size: int = PAGE_SIZE, named: bool = False) -> PageNumber:
    """Read `?page=`: whatever is no whole number from 1 on is the first page.

    `size` is how many rows a page has, `named` whether the address says so.

    >>> [page_number(each) for each in (None, "", "3", "0", "-2", "1.5", "nan", "1e30")]
    [1, 1, 3, 1, 1, 1, 1, 1]
    >>> page_number("9" * 5000) == LAST
    True
    """
    found = _WHOLE.fullmatch(text or "")
    if not found:
        return PageNumber(1, size, named=named)
    digits = found[1].lstrip("0")
    number = LAST if len(digits) > len(str(LAST)) else min(max(1, int(digits or "1")), LAST)
    return PageNumber(number, size, named=named)


def part_of(number: PageNumber) -> Slice:
    """Return which rows a page shows."""
    return Slice((number - 1) * number.size, number.size)


def beyond(pages: Pager, asked: int, noun: str = "list") -> EmptyState | None:
    """Return what to show in place of the rows of a page after the last; None when there is one.

    Args:
        pages: the pager, whose number lies within the list.
        asked: the number that was asked for.
        noun: what ends, for the sentence.

    """
    if asked <= pages.pages:
        return None
    last: Link = pages.at(pages.pages)
    return EmptyState(
        kind="no-match",
        title=f"There is no page {asked:,}",
        text=f"The {noun} ends at page {pages.pages:,}. It may have become shorter meanwhile.",
        link=last,
        link_text=f"Go to page {pages.pages:,}",
    )


def partly(whole: int, listed: int, first: str) -> str:
    """Say what a list over all queues leaves out; "" where it has everything.

    >>> partly(4812, 1000, "the next to run"), partly(7, 7, "the next to run")
    ('Of 4,812 the first 1,000 are listed, the next to run; each queue lists all of its own.', '')
    """
    if whole <= listed:
        return ""
    return (
        f"Of {whole:,} the first {listed:,} are listed, {first}; each queue lists all of its own."
    )
