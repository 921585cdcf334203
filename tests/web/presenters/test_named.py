"""Names of any length as addresses and as words on a page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qless_core.reads.names import NameDigest
from qless_web.formatting import LONGEST, Whole, printable, tilde, untilde
from qless_web.presenters.named import distinct, short

NAMES = (
    st.text()
    | st.text(alphabet="~/%.aé\n\x00 ")
    | st.binary().map(lambda raw: raw.decode(errors="surrogateescape"))
)


@given(NAMES.filter(lambda name: not any("\ud800" <= each < "\udc80" for each in name)))
def test_any_name_comes_back_from_its_address(name):
    text = tilde(Whole(name))

    assert untilde(text) == name
    assert set(text) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-~")
    assert text not in {"", ".", ".."}


@given(st.text(max_size=60), st.text(max_size=60))
def test_different_names_have_different_addresses(one, other):
    assert (tilde(one) == tilde(other)) == (one == other)


def test_a_long_name_is_addressed_by_its_digest():
    long, longer = "x" * (LONGEST + 1), "x" * (LONGEST + 2)

    assert tilde(long).startswith("~~")
    assert len(tilde(long)) < 50
    assert tilde(long) != tilde(longer)
    assert untilde(tilde(long)) == NameDigest.of(long)
    assert tilde(untilde(tilde(long))) == tilde(long)
    assert tilde("x" * LONGEST) == "x" * LONGEST


def test_what_merely_looks_like_a_digest_is_a_name():
    name = "~~" + "0" * 40

    assert untilde(tilde(name)) == name
    assert untilde("~~" + "0" * 39) == "~~" + "0" * 39
    assert isinstance(untilde(name), NameDigest)


@pytest.mark.parametrize("name", ["\ud800", "a\udfff\udcff"])
def test_halves_of_pairs_break_nothing(name):
    assert tilde(name)
    assert NameDigest.of(name)
    assert "\N{REPLACEMENT CHARACTER}" in printable(name)


@given(st.lists(st.text(max_size=300), unique=True, max_size=8))
def test_different_names_look_different(names):
    shown = distinct(names, 40)

    assert len(set(shown.values())) == len(names)
    assert all("\n" not in text for text in shown.values())


def test_long_names_that_differ_in_the_middle_alone_are_marked():
    one, other = ("a" * 200 + middle + "b" * 200 for middle in "12")

    assert short(one) == short(other)
    assert len(set(distinct([one, other]).values())) == 2
    assert distinct([one]) == {one: short(one)}


def test_a_short_form_keeps_the_beginning_and_the_end():
    assert short("a" * 100 + "the end of it, where names differ").startswith("aaaa")
    assert short("a" * 100 + "the end of it, where names differ").endswith("where names differ")
