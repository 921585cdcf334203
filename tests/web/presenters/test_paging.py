"""Which page of a list is shown."""

from __future__ import annotations

import pytest

from qless_web.presenters.page import Link, pager
from qless_web.presenters.paging import LAST, beyond, page_number, part_of


@pytest.mark.parametrize(
    ("text", "number"),
    [
        *[("1", 1), ("7", 7), (" 7 ", 7), ("+7", 7), ("007", 7), ("0", 1), ("-3", 1), ("1.5", 1)],
        *[
            ("1e30", 1),
            ("nan", 1),
            ("", 1),
            (None, 1),
            ("abc", 1),
            ("\N{ARABIC-INDIC DIGIT TWO}", 1),
        ],
        *[(str(LAST), LAST), (str(LAST + 1), LAST), ("9" * 5_000, LAST)],
    ],
)
def test_any_text_is_a_page_number(text, number):
    """B24."""
    assert page_number(text) == number


def test_a_page_is_a_part_of_the_list():
    first, third = part_of(page_number("1")), part_of(page_number("3"))
    assert (first.offset, first.count) == (0, 25)
    assert (third.offset, third.last) == (50, 74)


def test_a_page_has_as_many_rows_as_were_asked_for():
    third = part_of(page_number("3", size=10))
    assert (third.offset, third.last) == (20, 29)

    pages = pager(Link("completed.index"), number=page_number("3", size=50), total=170)
    assert (pages.start, pages.end, pages.pages) == (101, 150, 4)
    assert pages.next == Link("completed.index", {"size": 50, "page": 4})


def test_a_size_that_the_address_names_stays_in_it_though_it_is_the_usual_one():
    """A reader who chose another size sees the same rows behind the same link."""
    named = pager(Link("completed.index"), number=page_number("1", named=True), total=60)
    plain = pager(Link("completed.index"), number=page_number("1"), total=60)

    assert named.next == Link("completed.index", {"size": 25, "page": 2})
    assert plain.next == Link("completed.index", {"page": 2})


def test_only_a_page_after_the_last_is_beyond():
    pages = pager(Link("completed.index"), number=9, total=60)

    assert beyond(pages, 3) is None
    assert beyond(pager(Link("completed.index"), number=1, total=0), 1) is None

    shown = beyond(pages, 9)
    assert shown is not None
    assert shown.title == "There is no page 9"
    assert shown.link == Link("completed.index", {"page": 3})
