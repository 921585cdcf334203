"""Data taken apart only where it is looked at: every place, every digit, whatever the size."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qless_web.presenters import outline
from qless_web.presenters.data_page import PART, data_page, part_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def places(value, keys=()):
    """List the keys of each value with it."""
    yield keys, value
    if isinstance(value, dict | list):
        named = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in named:
            yield from places(inner, (*keys, key))


@given(JSON, st.sampled_from([None, 1]))
def test_each_value_is_found_at_its_pointer(value, indent):
    text = json.dumps(value, indent=indent)

    for keys, inner in places(value):
        found = outline.place_of(text, outline.pointer(keys))
        assert json.loads(text[found.start : found.end]) == inner
        assert found.keys == keys


@given(JSON, st.text(min_size=1, max_size=3))
def test_a_word_is_found_wherever_it_is(value, word):
    text = json.dumps(value)
    expected = 0
    for keys, inner in places(value):
        is_key = bool(keys) and isinstance(keys[-1], str)
        expected += is_key and word.lower() in keys[-1].lower()
        if isinstance(inner, str):
            expected += word.lower() in inner.lower()

    hits, total = outline.find(text, word)

    strings = [hit for hit in hits if hit.is_key or hit.value.startswith('"')]
    if total <= outline.MOST_HITS:
        # A quote begins each string, and numbers may have the word, too.
        assert len(strings) >= expected
    for hit in hits:
        assert outline.place_of(text, hit.at) is not None


def test_a_hit_says_where_it_is_among_its_neighbours():
    text = json.dumps({"a": [0] * 150 + ["word"], "b": {"x": 1, "y": "word"}})

    hits, total = outline.find(text, "WORD")

    assert total == 2
    assert [(hit.inside, hit.nth, hit.path) for hit in hits] == [
        ("/a", 150, "a[150]"),
        ("/b", 1, "b.y"),
    ]


def test_of_a_key_that_comes_twice_the_last_counts():
    assert part_of('{"a": 1, "a": 2}', "/a") == "2"


@pytest.mark.parametrize(
    "text", ["", "{", "[1", '{"a"', '{"a":', "[1,", "]", "x", '"open', "{1:2}"]
)
def test_what_is_no_json_is_shown_as_text_and_has_no_parts(text):
    page = data_page("j", "Letter", text)

    assert (page.node.kind, page.node.text) == ("text", text)
    assert data_page("j", "Letter", text, at="/a") is None
    assert part_of(text, "/a/b") is None


@given(st.text(alphabet='[]{}:,"\\ 1aefn\n', max_size=30), st.sampled_from(["", "/a", "/0/1"]))
def test_no_text_breaks_the_page(text, at):
    data_page("j", "Letter", text, at=at, word="1")
    part_of(text, at)


def test_a_depth_without_end_is_text_at_last():
    page = data_page("j", "Letter", "[" * 100_000 + "]" * 100_000, word="1")

    assert page.what == "1 item, 195 KB"
    assert data_page("j", "Letter", "[" * 500 + "]" * 500, at="/0" * 99).node.kind == "array"
    assert data_page("j", "Letter", "[" * 500 + "]" * 500, at="/0" * 101) is None


def test_values_come_by_the_hundred_and_none_is_left_out():
    text = json.dumps(list(range(250)))

    pages = [data_page("j", "Letter", text, number=number) for number in (1, 2, 3)]

    shown = [each.text for page in pages for each in page.node.children]
    assert shown == [str(number) for number in range(250)]
    assert [len(page.node.children) for page in pages] == [PART, PART, 50]
    assert pages[2].node.children[0].key == "200"


def test_what_is_long_is_cut_and_leads_on():
    text = json.dumps({"long": "x" * 5_000, "list": [1] * 5_000, "short": [1, 2]})

    long, many, short = data_page("j", "Letter", text).node.children

    assert (long.cut, many.cut, short.cut) == (True, True, False)
    assert many.text == "list, 15 KB"
    assert long.at == "/long"
    assert len(long.text) < 300
    assert len(short.children) == 2
