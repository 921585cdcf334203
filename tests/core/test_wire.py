from __future__ import annotations

import json

import pytest

from qless_core import nesting, wire
from qless_core.errors import BadArgument

DEEP = "[" * 1000 + "]" * 1000


@pytest.mark.parametrize(
    "value",
    [None, True, False, 5, 1.5, "", "s", [], {}, [[], {}], {"a": [1, {"b": None}]}, "漢字 🙂"],
)
def test_what_json_can_say_comes_back_as_it_was(value):
    assert wire.loads(wire.dumps(value)) == value


@pytest.mark.parametrize(
    "value",
    [float("nan"), [float("inf")], {"x": -float("inf")}, {"s": "\ud800"}, "\udcff", b"x", {1, 2}],
)
def test_b12_b18_what_json_cannot_say_is_refused(value):
    with pytest.raises(BadArgument, match="data"):
        wire.dumps(value)


def test_a_value_that_holds_itself_is_refused():
    value = []
    value.append(value)

    with pytest.raises(BadArgument, match="Circular"):
        wire.dumps(value)


def test_b15_numbers_keep_every_digit_of_their_integers():
    assert wire.loads('{"n":12345678901234567890}') == {"n": 12345678901234567890}
    assert len(str(wire.loads("9" * 5000))) > 1000


def test_b17_data_may_be_nested_a_thousand_deep():
    value = wire.loads(DEEP)

    assert wire.dumps(value) == DEEP
    assert wire.fingerprint(value) == DEEP


@pytest.mark.parametrize(
    "text",
    ["[]", "{}", " [ 1 , 2.5 ] ", '{"a":{"b":[{}]},"c":"x\\"]"}', '"s"', "null", "[[1],[2,[3]]]"],
)
def test_the_reader_of_deep_json_reads_what_json_reads(text):
    assert nesting.read(text) == json.loads(text)


@pytest.mark.parametrize(
    "text", ["", "[1,", "[1 2]", '{"a" 1}', '{"a":1,}', "[]x", "{1:2}", "[1,]", "[", '{"a":1', "]"]
)
def test_the_reader_of_deep_json_refuses_what_json_refuses(text):
    with pytest.raises(ValueError, match="Expecting"):
        nesting.read(text)


def test_the_writer_of_deep_json_writes_what_json_writes():
    value = {"a": [1, 2, {"b": [], "c": {}}], 3: "x", None: (True, "ü")}

    def compact(value):
        return json.dumps(value, separators=(",", ":"))

    assert nesting.write(value, compact) == compact(value)


def test_b14_empty_lists_may_come_as_objects():
    reply = '{"jobs":{},"expired":{},"total":0,"failure":{}}'

    assert wire.reply_record(reply) == {"jobs": [], "expired": [], "total": 0, "failure": {}}
    assert wire.reply_list("{}") == []
    assert wire.reply_list(None) == []


def test_counts_that_share_the_name_of_a_list_stay_numbers():
    assert wire.reply_list('[{"name":"w","jobs":2,"stalled":0}]') == [
        {"name": "w", "jobs": 2, "stalled": 0}
    ]


def test_b12_lone_surrogates_are_replaced_and_pairs_are_kept():
    assert wire.clean("a\udcffb \ud83d\ude42 🙂 plain") == "a�b 🙂 🙂 plain"
