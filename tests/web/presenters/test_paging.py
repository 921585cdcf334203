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
    assert (part_of(1).offset, part_of(1).count) == (0, 25)
    assert (part_of(3).offset, part_of(3).last) == (50, 74)


def test_only_a_page_after_the_last_is_beyond():
    pages = pager(Link("completed.index"), number=9, total=60)

    assert beyond(pages, 3) is None
    assert beyond(pager(Link("completed.index"), number=1, total=0), 1) is None

    shown = beyond(pages, 9)
    assert shown is not None
    assert shown.title == "There is no page 9"
    assert shown.link == Link("completed.index", {"page": 3})
