"""What a host hides of the data of jobs is hidden wherever data is shown."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path

import pytest

import qless_web
from qless_web import create_app, keep_index
from qless_web.extensions import WITHHELD, Extensions, hide
from tests.support.polling import eventually

CARD = "4111-1111"

ADDRESSES = (
    "/jobs/a",
    "/jobs/a/data",
    "/jobs/a/data?download=1",
    "/api/v1/jobs/a",
    "/api/v1/jobs/a/data",
)


@pytest.fixture(params=["job", "recurring"])
def planted(request, client):
    """Put a job, or one that recurs, with something to hide and a number of many digits."""
    data = {"n": 1, "card": CARD, "more": [{"CARD": CARD}]}
    if request.param == "job":
        client.queues["mail"].put("shop.Pay", data, jid="a")
    else:
        client.queues["mail"].recur("shop.Pay", data, interval=60, jid="a")


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize("address", ADDRESSES)
def test_it_is_hidden_wherever_data_is_shown(client, visit, address):
    shown = visit(create_app(client)).get(address).text
    hidden = visit(create_app(client, extensions=Extensions(redact=hide("card")))).get(address).text

    assert CARD in shown
    assert CARD not in hidden
    assert "[hidden]" in hidden


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize("address", ADDRESSES)
def test_where_the_hook_fails_nothing_is_shown_and_the_page_stands(client, visit, address, caplog):
    def fails(_klass, _value):
        message = "no such rule"
        raise KeyError(message)

    answer = visit(create_app(client, extensions=Extensions(redact=fails))).get(address)

    assert answer.status_code == 200
    assert CARD not in answer.text
    assert "withheld" in answer.text
    assert "no such rule" in caplog.text


@pytest.mark.parametrize(
    "text",
    [
        '{"password":"x1","password":"x2"}',
        '{"a":{"password":"x1"},"a":1}',
        '{"n":' + "1" * 5_000 + ',"password":"x1"}',
        '{"n":NaN,"password":"x1"}',
        '{"password":"x1"',
        '"password=x1"',
        "[" * 3_000 + '{"password":"x1"}' + "]" * 3_000,
    ],
    ids=["twice", "under twice", "digits", "nan", "half", "text", "deep"],
)
def test_odd_data_lets_nothing_through(text):
    assert "x1" not in Extensions(redact=hide("password")).shown("shop.Login", text)


@pytest.mark.parametrize(
    "text",
    ['{"n":1.10, "b":[ ]}', '{"n":' + "1" * 5_000 + "}", '{"n":NaN}', '"plain"', '{"ü":"\\u00fc"}'],
    ids=ascii,
)
def test_where_nothing_is_hidden_the_text_stays_byte_for_byte(text):
    assert Extensions(redact=hide("password")).shown("shop.Login", text) == text


def test_what_is_beside_the_hidden_keeps_its_digits():
    found = Extensions(redact=hide("password")).shown("K", '{"n":1.10,"big":1e400,"password":1}')

    assert json.loads(found, parse_float=Decimal) == {
        "n": Decimal("1.10"),
        "big": Decimal("1e400"),
        "password": "[hidden]",
    }
    assert "1.10" in found


def test_a_hook_that_answers_what_is_no_json_withholds_all():
    assert Extensions(redact=lambda *_: object()).shown("K", "{}") == WITHHELD


def test_no_module_but_one_reads_data_to_show_it():
    readers = {
        path.name
        for path in Path(qless_web.__file__).parent.rglob("*.py")
        if re.search(r"reads\.(data|original)\(", path.read_text(encoding="utf-8"))
    }
    # The edit of a recurring job compares it with what was shown, and shows it only where nothing
    # of it is hidden.
    assert readers == {"disclosure.py", "recurring.py"}


def found(web, query):
    return "shop.Pay" in web.page(f"/search?q={query}").one("main").text


def everything_in(folder):
    return b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())


def test_no_search_finds_what_is_hidden_neither_by_a_walk_nor_by_an_index(client, visit, tmp_path):
    client.queues["mail"].put("shop.Pay", {"note": "blue", "card": CARD}, jid="a")
    hiding = Extensions(redact=hide("card"))
    walking = visit(create_app(client, index=False, extensions=hiding))
    plain = visit(create_app(client, index=False))
    app = create_app(client, state_dir=tmp_path, extensions=hiding)
    keep_index(app)
    indexed = visit(app)

    try:
        eventually(lambda: found(indexed, "blue"))
        for web in (walking, indexed):
            assert found(web, "blue")
            assert not found(web, CARD)
        assert found(plain, CARD)
        # Its writer moves what was written from one file to another meanwhile.
        kept = eventually(lambda: b"blue" in (all_of_it := everything_in(tmp_path)) and all_of_it)
        assert CARD.encode() not in kept
    finally:
        app.extensions["qless_web"].index.close()
