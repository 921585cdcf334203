"""Data as a tree: exact digits, every key, any depth, never too much."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qless_web.presenters.data import DEEPEST, MOST_CHILDREN, MOST_NODES, Node, tree


def flat(node: Node) -> list[tuple[str | None, str, str]]:
    return [(node.key, node.kind, node.text), *(each for c in node.children for each in flat(c))]


def depth(node: Node) -> int:
    return 1 + max((depth(each) for each in node.children), default=0)


def test_numbers_keep_their_digits():
    written = ("12345678901234567890", "0.1234567890123456789", "1.10", "-0", "1E+400", "0x1F")

    shown = tree(f"[{','.join(written)}]")

    assert tuple(each.text for each in shown.children) == written
    assert {each.kind for each in shown.children} == {"number"}


def test_a_key_that_comes_twice_is_shown_twice():
    assert flat(tree('{"a":1,"a":2,"":{}}')) == [
        (None, "object", "3 keys"),
        ("a", "number", "1"),
        ("a", "number", "2"),
        ("", "object", "{}"),
    ]


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "nan", "inf", "-inf"])
def test_what_only_some_parsers_accept_is_shown(word):
    assert tree(f"[{word}]").children[0].text == word


@pytest.mark.parametrize(
    "text",
    ["", " ", "[1,]", "[1 2]", '{"a"}', '{"a":}', "{1:2}", "[", "]", "[1]]", '"open', "[1}", "x",
     "{,}", "[,]", "1 1", "yes", '{"a":1,}', ":", ",", '{"a" 1}'],
)  # fmt: skip
def test_what_is_no_json_stays_text(text):
    assert tree(text) == Node(kind="text", text=text)


def test_strings_are_shown_as_people_read_them():
    shown = tree('["\\u00e9\\n", "\\ud83d\\ude42", "\\ud800", "a\\\\b", "<b>"]')

    assert [each.text for each in shown.children] == [
        '"é\\n"', '"🙂"', '"\\ud800"', '"a\\\\b"', '"<b>"',
    ]  # fmt: skip


@pytest.mark.parametrize("levels", [DEEPEST, DEEPEST + 1, 1_000, 1_001, 200_000])
def test_no_depth_is_too_deep(levels):
    shown = tree("[" * levels + "]" * levels)

    assert depth(shown) <= DEEPEST + 1
    assert shown.kind == "array"


def test_long_lists_and_much_data_are_cut_with_the_number_that_is_left():
    assert tree(str(list(range(1_000)))).more == 1_000 - MOST_CHILDREN

    wide = tree(json.dumps([[1] * 99 for _ in range(99)]))

    assert len(flat(wide)) <= MOST_NODES + 1
    assert wide.more > 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON, st.sampled_from([None, 1]))
def test_whatever_python_writes_is_understood(value, indent):
    shown = tree(json.dumps(value, indent=indent))

    kinds = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    assert shown.kind == kinds.get(type(value), "number")
    if isinstance(value, dict):
        assert [each.key for each in shown.children] == list(value)


@given(st.text(alphabet='[]{}:,"\\ 1aefn\n', max_size=30))
def test_whatever_python_reads_is_understood_and_little_else(text):
    try:
        json.loads(text, strict=False)
    except ValueError:
        return
    assert tree(text).kind != "text"
