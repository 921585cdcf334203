"""Saved views: an address under a name, for everybody, wherever the console is mounted."""

from __future__ import annotations

import pytest

from qless_web import create_app, saved_views
from tests.support.html import form, question, toasts


def save(web, name, address="/queues?sort=waiting"):
    """Save a view as somebody without JavaScript does, from the page itself."""
    page = web.page(address)
    link = next(each for each in page.all("a") if each.text == "Save this view…")
    asked = question(web.page(link.attributes["href"].removeprefix(web.prefix)))
    return web.submit(asked, name=name)


def in_rail(page, text):
    return [each for each in page.one("ul", id="rail").all("a") if each.text == text]


def test_a_view_is_saved_from_its_page_and_leads_back_to_it(web, redis):
    told = web.follow(save(web, "Busy queues"))

    assert "Saved the view Busy queues." in toasts(told)
    assert redis.hgetall("ql:web:views") == {"Busy queues": "/queues?sort=waiting"}
    (link,) = in_rail(web.page("/"), "Busy queues")
    assert link.attributes["href"] == f"{web.prefix}/queues?sort=waiting"


def test_a_view_is_forgotten_and_what_it_shows_stays(web, redis, client):
    client.queues["mail"].put("Send", {}, jid="a")
    web.follow(save(web, "Mail", "/queues/mail/waiting"))

    web.submit(form(web.page("/views"), "Forget"))

    assert redis.exists("ql:web:views") == 0
    assert client.jobs["a"] is not None


def test_a_view_that_has_gone_is_said_to_have(web):
    answer = web.post("/views/nothing/forget", {}, HX_Request="true")

    assert answer.status_code == 404
    assert "no saved view called nothing" in answer.text


@pytest.mark.parametrize("name", ["", "  ", "x" * 61])
def test_a_view_without_a_fit_name_is_asked_about_again(web, redis, name):
    answer = save(web, name)

    assert answer.status_code == 422
    assert "needs a name of at most 60" in answer.text
    assert redis.exists("ql:web:views") == 0


@pytest.mark.parametrize(
    "address",
    [
        *("https://example.com/", "//example.com/", "/\\example.com"),
        *("/a/../..", "queues", "/a b", "/" * 9, "/" + "x" * 1_000),
    ],
)
def test_what_is_no_page_of_the_console_is_no_view(web, redis, address):
    answer = web.post("/views/save", {"name": "Away", "address": address})

    assert answer.status_code == 422
    assert "no address of this console" in answer.text
    assert redis.exists("ql:web:views") == 0


def test_an_address_that_somebody_else_wrote_into_redis_leads_nowhere(web, redis):
    redis.hset("ql:web:views", mapping={"evil": "//example.com", "good": "/failed"})

    assert "evil" not in web.get("/views").text
    assert "good" in web.get("/views").text


def test_there_is_an_end_to_views_but_one_can_be_replaced(web, redis):
    redis.hset("ql:web:views", mapping={f"view {n}": "/" for n in range(saved_views.MOST)})

    assert "forget one first" in save(web, "one more").text
    assert save(web, "view 7").status_code == 303
    assert redis.hget("ql:web:views", "view 7") == "/queues?sort=waiting"


def test_a_read_only_console_shows_views_and_says_why_it_saves_none(client, redis, visit):
    redis.hset("ql:web:views", "Mail", "/queues/mail")
    web = visit(create_app(client, read_only=True))

    page = web.page("/views")
    assert "None can be saved or forgotten here: this console is read-only" in page.text
    assert in_rail(page, "Mail")
    assert not [each for each in page.all("a") if each.text == "Save this view…"]
    assert web.post("/views/save", {"name": "x", "address": "/"}).status_code == 403
