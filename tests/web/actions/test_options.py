"""Options are changed in the console: only to what makes sense, with a note of who and when."""

from __future__ import annotations

import pytest

from qless_web import create_app
from qless_web.option_changes import KEPT
from tests.support.dom import parse
from tests.support.html import question, toasts


def set_to(web, option, value):
    return web.submit(question(web.page(f"/config/{option}/set")), value=value)


def history(web):
    (table,) = [each for each in web.page("/config").all("table") if "Changes" in each.text]
    return [row.cells for row in table.all("tr") if row.cells and row.cells[0] != "Option"]


def test_who_changed_what_and_when_is_kept(app, web, clock, client):
    set_to(web, "heartbeat", "120")
    clock.advance(60)
    post = {"REMOTE_ADDR": "10.0.0.7"}
    app.test_client().post(
        "/config/mail-max-concurrency/set", data={"value": "4"}, environ_overrides=post
    )
    clock.advance(60)

    assert client.config["heartbeat"] == 120
    assert client.config["mail-max-concurrency"] == 4
    first, second = history(web)
    assert first == ["mail-max-concurrency", "not set", "4", "10.0.0.7", "1 min ago"]
    assert second[:3] == ["heartbeat", "not set", "120"]
    assert second[4] == "2 min ago"


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("heartbeat", "soon", "must be a number of seconds, got 'soon'"),
        ("heartbeat", "0", "must be at least 1 seconds"),
        ("jobs-history-count", "1.5", "must be a whole number of jobs"),
        ("rate-limits", "[1]", "must be a JSON object of [count, seconds] by class"),
        ("heartbeat", " ", "“value” is missing"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_with_the_reason(web, stored, option, value, said):
    before = stored()

    answer = set_to(web, option, value)

    assert answer.status_code == 422
    page = parse(answer.get_data(as_text=True))
    assert said in page.one("p", class_="problem").text
    assert question(page).value("value") == value
    assert stored() == before


def test_a_name_that_means_nothing_is_refused_and_the_near_one_named(web, stored):
    before = stored()

    answer = web.post("/config/hartbeat/set", {"value": "5"})

    assert answer.status_code == 400
    assert "did you mean &#39;heartbeat&#39;?" in answer.text
    assert stored() == before


def test_what_others_store_beside_the_options_can_be_forgotten(web, client, redis, awkward):
    redis.hset("ql:config", awkward, "theirs")
    links = [each for each in web.page("/config").links if each.endswith("/unset")]

    asked = question(web.page(links[0].removeprefix(web.prefix)))
    answer = web.submit(asked)

    assert answer.status_code == 303
    assert awkward not in client.config


def test_somebody_elses_change_is_not_overwritten(web, client):
    asked = question(web.page("/config/heartbeat/set"))
    client.config["heartbeat"] = 300

    answer = web.submit(asked, value="120")

    assert answer.status_code == 422
    assert "it is “300” now; nothing was done" in answer.text
    assert client.config["heartbeat"] == 300


def test_the_last_change_is_taken_back_and_that_too(web, client):
    client.config["heartbeat"] = 90
    set_to(web, "heartbeat", "120")

    undone = web.submit(question(web.page("/config/undo")))

    assert "heartbeat is “90” again." in toasts(web.follow(undone))
    assert client.config["heartbeat"] == 90
    assert history(web)[0][1:3] == ["120", "90 taken back"]
    web.submit(question(web.page("/config/undo")))
    assert client.config["heartbeat"] == 120


def test_an_option_that_was_not_set_is_forgotten_again(web, client):
    set_to(web, "heartbeat", "120")

    web.submit(question(web.page("/config/undo")))

    assert list(client.commands.config()) != []
    assert client.redis.hgetall("ql:config") == {}


def test_what_another_program_changed_since_is_not_taken_back(web, client, stored):
    set_to(web, "heartbeat", "120")
    client.config["heartbeat"] = 300
    before = stored()

    page = web.page("/config/undo")
    answer = web.post("/config/undo")

    assert "has been changed since by another program" in page.text
    assert answer.status_code == 409
    assert stored() == before


def test_a_change_that_is_not_the_last_any_more_is_not_taken_back(web, client, clock):
    set_to(web, "heartbeat", "120")
    asked = question(web.page("/config/undo"))
    clock.advance(1)
    set_to(web, "grace-period", "20")

    answer = web.submit(asked)

    assert answer.status_code == 422
    assert (client.config["heartbeat"], client.config["grace-period"]) == (120, 20)


def test_the_history_stays_short_and_odd_items_break_nothing(web, redis):
    redis.lpush("ql:web:config:history", "{", "[]", '{"option":5}', '{"option":"<b>","at":"x"}')
    for number in range(KEPT + 5):
        redis.lpush("ql:web:config:history", f'{{"at":{number},"option":"heartbeat"}}')

    set_to(web, "heartbeat", "120")

    assert redis.llen("ql:web:config:history") == KEPT
    assert history(web)[0][0] == "heartbeat"


def test_a_console_that_is_read_only_offers_no_change(client, visit):
    page = visit(create_app(client, read_only=True)).page("/config")

    assert [link for link in page.links if link.endswith(("/set", "/unset", "/undo"))] == []
