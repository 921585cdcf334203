"""The language of searches: what it reads, and what it says of slips."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qless_web.triage.narrowing import chosen, narrowed
from qless_web.triage.query import And, BadQuery, Field, Not, Or, Text, Word, parse, quoted


def word(text):
    return Word(Text(tuple(text.split("*"))))


def field(name, value, span, operator="=", number=0.0):
    return Field(name, operator, Text(tuple(value.split("*"))), number, span)


@pytest.mark.parametrize(
    ("query", "tree"),
    [
        ("", None),
        ("  ", None),
        ("reset", word("reset")),
        ("time*", word("time*")),
        ("two words", And((word("two"), word("words")))),
        ('"two words"', Word(Text(("two words",)))),
        (r'"say \"hi\" \\ *"', Word(Text(('say "hi" \\ *',)))),
        ("a or b c", Or((word("a"), And((word("b"), word("c")))))),
        ("(a or b) c", And((Or((word("a"), word("b"))), word("c")))),
        ("-a", Not(word("a"))),
        ("not not a", word("a")),
        ("a and b", And((word("a"), word("b")))),
        ("- a", And((word("-"), word("a")))),
        ("klass:shop.*", field("klass", "shop.*", (0, 12))),
        ('-class:"a b"', Not(Field("klass", "=", Text(("a b",)), 0.0, (1, 12)))),
        ("age:>90m", field("age", "90m", (0, 8), ">", 5400.0)),
        ("attempt:>=3", field("attempt", "3", (0, 11), ">=", 3.0)),
        ("data.a.b:42", field("data.a.b", "42", (0, 11))),
        ("message:boom", Word(Text(("boom",)), "text")),
        ("Errno::E http://x 10:30", And((word("Errno::E"), word("http://x"), word("10:30")))),
    ],
)  # fmt: skip
def test_a_query_is_read(query, tree):
    assert parse(query) == tree


@pytest.mark.parametrize(
    ("query", "position", "says"),
    [
        ("a (b", 2, "never closed"),
        ("a b)", 3, "no “(”"),
        ('x "y', 2, "quote is never closed"),
        ("a or", 2, "wants something behind"),
        ("or a", 0, "wants something before"),
        ("a and", 2, "wants something behind"),
        ("a ()", 3, "nothing here"),
        ("x grup:mail", 2, "did you mean “group”"),
        ("zzzz:mail", 0, "there are group"),
        ("group:", 6, "wants a value"),
        ("a group: b", 8, "wants a value"),
        ("age:3", 4, "a span of time"),
        ("age:>x", 5, "a span of time"),
        ("attempt:many", 8, "a number"),
        ("state:broken", 6, "is one of waiting"),
        ("group:>a", 7, "neither greater"),
        ("data.x:>a", 8, "a number"),
        ("a*b*c*d*e*f*g*h*i", 0, "at most 7"),
        ("(" * 21 + "a" + ")" * 21, 20, "20 deep"),
        ("not " * 22 + "a", 80, "20 deep"),
        (" ".join("a" * 65), 128, "64 terms"),
        ("a" * 4001, 4000, "4,000 characters"),
    ],
)
def test_a_slip_is_told_with_its_place(query, position, says):
    with pytest.raises(BadQuery) as caught:
        parse(query)

    assert caught.value.position == position
    assert says in caught.value.problem


@given(
    st.text(alphabet=st.characters(codec="utf-8"), max_size=60)
    | st.text('()"-*:or aget>1h', max_size=40)
)
def test_whatever_is_typed_is_read_or_its_place_is_told(query):
    place = 0
    try:
        parse(query)
    except BadQuery as error:
        place = error.position

    assert 0 <= place <= len(query)


@given(st.text(min_size=1, max_size=30))
def test_a_value_that_was_quoted_is_read_as_it_is(value):
    node = parse(f"group:{quoted(value)}")

    assert isinstance(node, Field)
    assert node.text == Text((value,))


@pytest.mark.parametrize(
    ("query", "text", "fits"),
    [
        ("shop.*", "Shop.Charge", True),
        ("*Charge", "shop.charge", True),
        ("s*.C*e", "shop.Charge", True),
        ("s*x*e", "shop.Charge", False),
        ("a*a", "a", False),
        ("*", "", True),
        ("shop", "shop.Charge", False),
    ],
)
def test_a_star_stands_for_anything(query, text, fits):
    assert parse(query).text.fits(text) is fits


def test_narrowing_keeps_what_there_was_and_can_be_taken_back():
    query = narrowed('reset or "b c"', "klass", "shop Charge")

    assert query == '(reset or "b c") klass:"shop Charge"'
    assert chosen(query) == {("klass", "shop Charge"): '(reset or "b c")'}


def test_what_is_only_excluded_is_not_chosen():
    assert chosen("-tag:vip klass:a* age:>1h") == {}
