"""The search box."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:Absolute URLs required")  # not since RFC 7231


@pytest.fixture
def found(client):
    """Have one thing of each kind, each by a name of its own."""
    client.queues["mail"].put("Letter", {}, jid="the-job", tags=["the-tag"])
    client.queues["mail"].recur("Again", {}, interval=60, offset=60, jid="the-recurring")
    client.queues["mail"].pop().fail("the-group", "message")
    return client


@pytest.mark.parametrize(
    ("word", "address"),
    [
        ("the-job", "/jobs/the-job"),
        ("the-recurring", "/jobs/the-recurring"),
        ("mail", "/queues/mail"),
        ("the-group", "/failed/the-group"),
        ("worker-1", "/workers/worker-1"),
        ("the-tag", "/tag/the-tag"),
        ("%20the-job%0A", "/jobs/the-job"),
    ],
)
@pytest.mark.usefixtures("found")
def test_what_a_word_names_exactly_is_gone_to(word, address, web):
    answer = web.get(f"/search?q={word}")

    assert (answer.status_code, answer.headers["Location"]) == (302, address)
    assert web.get(answer.headers["Location"]).status_code == 200


def test_a_word_that_names_several_things_lists_them(found, see):
    found.queues["mail"].put("Letter", {}, jid="mail", tags=["mail"])

    page = see("/search?q=mail")

    assert {"/jobs/mail", "/queues/mail", "/tag/mail"} <= set(page.links)


@pytest.mark.usefixtures("found")
def test_a_part_of_a_name_lists_what_has_it_whatever_its_case(see):
    page = see("/search?q=THE-")

    assert {"/failed/the-group", "/tag/the-tag"} <= set(page.links)
    assert "/queues/mail" not in page.links


@pytest.mark.usefixtures("found")
def test_a_word_that_nothing_has_says_so(see):
    assert "Nothing is called nonsense" in see("/search?q=nonsense").text


@pytest.mark.usefixtures("found")
def test_a_shortened_jid_is_explained(see):
    assert "shortened jid" in see("/search?q=9f3c21aa%E2%80%A6").text


def test_no_word_asks_for_one(see):
    assert "What do you look for?" in see("/search").text
    assert "What do you look for?" in see("/search?q=").text


def test_a_name_of_blanks_is_found_as_it_is(client, web):
    client.queues["mail"].put("Letter", {}, jid=" ")
    client.queues["mail"].put("Letter", {}, jid=" j ")
    client.queues["mail"].put("Letter", {}, jid="j")

    assert web.get("/search?q=%20").headers["Location"] == "/jobs/~20"
    assert web.get("/search?q=%20j%20").headers["Location"] == "/jobs/~20j~20"
    assert web.get("/search?q=j").headers["Location"] == "/jobs/j"


@pytest.mark.parametrize(
    "query", ["q=%00", "q=%FF%FE", "q=" + "x" * 5_000, "q=*", "q=%5B", "q=a&q=b", "q=%F0%9F%99%82"]
)
@pytest.mark.usefixtures("found")
def test_no_word_is_an_error(query, web):
    assert web.get(f"/search?{query}").status_code in {200, 302}
