"""The search box."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from werkzeug.middleware.lint import LintMiddleware
from werkzeug.test import Client as Browser

from qless_web import create_app, keep_index
from qless_web.console import EXTENSION
from qless_web.triage import scanning
from tests.support.dom import parse
from tests.support.polling import eventually
from tests.web.views.conftest import COMPILED

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

    links = {link for hits in page.all("ul", class_="hits") for link in hits.links}
    assert {"/failed/the-group", "/tag/the-tag"} <= links
    assert "/queues/mail" not in links


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


# Jobs


@pytest.fixture
def shop(client):
    """Fail two jobs, and leave one."""
    orders = client.queues["orders"]
    orders.put("shop.Charge", {"user_id": 42}, jid="one", tags=["vip"])
    orders.pop().fail("orders-Timeout", "connection reset by peer")
    orders.put("shop.Charge", {"user_id": 43}, jid="two", tags=["vip"])
    orders.pop().fail("orders-Refused", "the bank said no")
    orders.put("shop.Charge", {"user_id": 44}, jid="three", tags=["vip"])
    return client


class Console:
    """A browser that looks at the main part of pages."""

    def __init__(self, app):
        app.jinja_env.bytecode_cache = COMPILED
        self.get = Browser(LintMiddleware(app)).get

    def page(self, path):
        response = self.get(path)
        assert response.status_code == 200, path
        return parse(response.get_data(as_text=True)).one("main")


@pytest.fixture
def indexed(shop, tmp_path):
    """Look at a console that keeps an index."""
    app = create_app(shop, state_dir=str(tmp_path))
    keep_index(app)
    index = app.extensions[EXTENSION].index
    eventually(lambda: index.status(shop.clock.now()).is_complete)
    yield Console(app)
    index.close()


@pytest.fixture
def walking(shop):
    """Look at a console without an index."""
    return Console(create_app(shop, index="no"))


def rows(page):
    return [each.removeprefix("job-") for each in page.row_ids]


def test_jobs_that_match_are_listed_with_what_they_have_in_common(indexed):
    page = indexed.page("/search?q=user_id+state:failed")

    assert set(rows(page)) == {"one", "two"}
    assert "2 jobs" in page.text
    facets = page.one("aside", class_="facets")
    assert "/search?q=user_id" in facets.links
    assert "/search?q=user_id+state:failed+group:orders-Timeout" in facets.links


def test_a_click_on_a_facet_narrows_and_another_takes_it_out_again(indexed):
    narrow = "/search?q=user_id+state:failed+group:orders-Timeout"
    page = indexed.page(narrow)

    assert rows(page) == ["one"]
    assert "/search?q=user_id+state:failed" in page.one("aside", class_="facets").links


def test_every_page_of_matches_is_an_address(indexed):
    assert len(rows(indexed.page("/search?q=klass:shop.*&size=10"))) == 3
    assert "There is no page 7" in indexed.page("/search?q=klass:shop.*&page=7").text


def test_what_is_wrong_with_a_query_is_marked_in_it(see):
    page = see("/search?q=mail+age:soon")

    assert "wants a span of time" in page.text
    assert page.one("mark").text == "s"
    assert page.one("input", id="again").attributes["value"] == "mail age:soon"


def test_without_an_index_a_search_walks_and_says_so(walking):
    page = walking.page("/search?q=reset")

    assert rows(page) == ["one"]
    assert "Looked at 3 of 3 jobs" in page.text
    assert "`index` turns it off" in page.text


def test_a_walk_goes_on_at_the_next_address(walking, monkeypatch):
    monkeypatch.setattr(scanning, "STEP", 1)
    address, found = "/search?q=klass:shop.*", []
    while address:
        page = walking.page(address)
        found.append(rows(page))
        address = next((each for each in page.links if "after=" in each), None)

    assert sorted(found) == [["one"], ["three"], ["two"]]
    assert "Looked at 3 of 3 jobs" in page.text


@pytest.mark.parametrize(
    ("typed", "ways"),
    [
        ("gro", ["group:"]),
        ("reset kl", ["reset klass:"]),
        ("state:fa", ["state:failed"]),
        ("-(state:wai", ["-(state:waiting"]),
        ("klass:sh", ["klass:shop.Charge"]),
        ("group:ord", ["group:orders-Refused", "group:orders-Timeout"]),
        ("group:REF", ["group:orders-Refused"]),
        ('group:"ord', ["group:orders-Refused", "group:orders-Timeout"]),
        ("data.us", ["data.user_id:"]),
        ("data.user_id:4", ["data.user_id:44", "data.user_id:43", "data.user_id:42"]),
        ("nothing:x", []),
        ("", []),
    ],
)
def test_what_is_being_typed_can_go_on(typed, ways, indexed):
    answer = indexed.get(f"/search/complete?q={quote(typed)}")

    assert sorted(answer.json) == sorted(ways)


def test_about_says_how_the_index_stands(indexed, walking):
    assert "3 jobs, up to date" in indexed.page("/about").text
    assert "not used: the setting `index` turns it off" in walking.page("/about").text
