from __future__ import annotations

import pytest

from qless_web.presenters.page import Ask, Link, RailEntry, pager

LIST = Link("queues.show", {"queue": "mail", "tab": "failed"})


def test_a_link_with_more_values_leaves_the_first_one_alone():
    other = LIST.also(tab="running", page=2)

    assert other.values == {"queue": "mail", "tab": "running", "page": 2}
    assert LIST.values == {"queue": "mail", "tab": "failed"}


def test_the_second_of_many_pages_says_what_it_shows_and_where_the_others_are():
    pages = pager(LIST, number=2, total=4812)

    assert (pages.start, pages.end, pages.offset, pages.pages) == (26, 50, 25, 193)
    assert pages.previous == pages.first == LIST
    assert pages.next == LIST.also(page=3)
    assert pages.last == LIST.also(page=193)


def test_the_last_page_ends_where_the_list_ends():
    pages = pager(LIST, number=193, total=4812)

    assert (pages.start, pages.end) == (4801, 4812)
    assert pages.next is None
    assert pages.last is None


def test_a_list_of_nothing_has_one_page_that_shows_nothing():
    pages = pager(LIST, number=1, total=0)

    assert (pages.pages, pages.start, pages.end) == (1, 0, 0)
    assert (pages.first, pages.previous, pages.next, pages.last) == (None, None, None, None)


@pytest.mark.parametrize(("asked", "given"), [(-3, 1), (0, 1), (1, 1), (4, 4), (5, 4), (10**9, 4)])
def test_a_page_beyond_either_end_is_brought_back_into_the_list(asked, given):
    assert pager(LIST, number=asked, total=100).number == given


def test_filters_stay_the_same_from_page_to_page():
    pages = pager(LIST, number=2, total=100, query=[("sort", "oldest")])

    assert pages.next == LIST.also(sort="oldest", page=3)
    assert pages.first == LIST.also(sort="oldest")


@pytest.mark.parametrize(
    ("count", "noun", "says"),
    [(1, "job", "Retry 1 job"), (4812, "job", "Retry 4,812 jobs"), (2, "queue", "Retry 2 queues")],
)
def test_the_button_of_a_question_repeats_verb_and_number(count, noun, says):
    assert Ask(verb="Retry", count=count, noun=noun, question="?", link=LIST).button == says


@pytest.mark.parametrize(("count", "typed"), [(1, False), (100, False), (101, True)])
def test_the_number_must_be_typed_above_a_hundred(count, typed):
    assert Ask(verb="Retry", count=count, question="?", link=LIST).type_the_number is typed
    asked = Ask(verb="Preview", count=count, question="?", link=LIST, harmless=True)
    assert not asked.type_the_number


def test_no_two_entries_of_the_rail_share_a_letter():
    keys = ("overview", "queues", "failures", "tracked", "tags", "workers")
    keys += ("completed", "config", "about")

    letters = [RailEntry(key, key, LIST, key).go for key in keys]

    assert len(set(letters)) == len(keys)
