"""The search box."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:Absolute URLs required")  # not since RFC 7231


@pytest.fixture
def found(client):
    """Have one thing of each kind, each by a name of its own."""
    client.queues["mail"].put("Letter", {}, jid="the-job", tags=["the-tag"])
    client.queues["mail"].recur("Again", {}, interval=60, offset=60, jid="the-recurring")
    client.queues["mail"].cron("Again", {}, "* * * * *", jid="the-cron")
    client.queues["mail"].pop().fail("the-group", "message")
    return client


@pytest.mark.parametrize(
    ("word", "address"),
    [
        ("the-job", "/jobs/the-job"),
        ("the-recurring", "/jobs/the-recurring"),
        ("the-cron", "/jobs/the-cron"),
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


@pytest.mark.parametrize("state", ["waiting", "running", "scheduled", "depends", "failed",
                                   "complete", "tracked"])  # fmt: skip
@pytest.mark.parametrize("mark", ["", "%E2%80%A6"])
def test_the_beginning_of_a_jid_as_lists_show_it_leads_to_its_job(state, mark, client, web):
    jid = "9f3c21aa0b3c4d5e8f90123456789abc"
    queue = client.queues["mail"]
    queue.put("Other", {}, jid="other", delay=60)
    options = {"scheduled": {"delay": 60}, "depends": {"depends": ["other"]}}.get(state, {})
    queue.put("Letter", {}, jid=jid, **options)
    if state in {"running", "failed", "complete"}:
        job = queue.pop()
        if state == "failed":
            job.fail("group", "message")
        elif state == "complete":
            job.complete()
    if state == "tracked":
        client.redis.delete("ql:q:mail-work")
        client.track(jid)

    answer = web.get(f"/search?q=9f3c21aa{mark}")

    assert (answer.status_code, answer.headers["Location"]) == (302, f"/jobs/{jid}")


def test_a_beginning_of_several_jids_lists_them(client, see):
    for end in "ab":
        client.queues["mail"].put("Letter", {}, jid=f"9f3c21aa0b3c4d5e8f90123456789ab{end}")

    page = see("/search?q=9f3c21aa")

    assert len(page.one("ul", class_="hits").links) == 2
    assert "Letter" in page.one("ul", class_="hits").text


def test_a_jid_is_not_found_by_too_little_or_by_its_middle(client, see):
    client.queues["mail"].put("Letter", {}, jid="9f3c21aa0b3c")

    for word in ("9f3", "3c21"):
        assert "the beginning of one finds it" in see(f"/search?q={word}").text


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
