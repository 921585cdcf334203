"""A job is put from the console, duplicated, and edited: exactly, and over nothing unseen."""

from __future__ import annotations

import json

import pytest
from flask import url_for

from qless_web import create_app
from qless_web.extensions import Extensions, hide
from tests.support.dom import parse
from tests.support.html import question, toasts

EXACT = '{"n": 1.10, "big": 12345678901234567890123, "none": []}'


def data_of(redis, jid):
    return redis.hget(f"ql:j:{jid}", "data")


def put_jid(answer):
    return answer.headers["Location"].rsplit("/", 1)[1]


# -- Put


def test_a_job_is_put_with_all_that_it_may_have(web, client, redis, shop):
    shop.put("first")
    asked = question(web.page("/queues/mail/put"))

    answer = web.submit(
        asked,
        klass="shop.Welcome",
        data=EXACT,
        delay="2h",
        priority="7",
        retries="3",
        tags="vip\nfrom a, b\n\nvip",
        throttles="mail-server",
        jid="my job",
    )

    assert "Put shop.Welcome my job into mail." in toasts(web.follow(answer))
    job = client.jobs["my job"]
    assert (job.klass_name, job.queue_name, job.state) == ("shop.Welcome", "mail", "scheduled")
    assert (job.priority, job.original_retries) == (7, 3)
    assert job.tags == ["vip", "from a, b"]
    assert "mail-server" in job.throttles
    assert data_of(redis, "my job") == EXACT


def test_a_job_waits_for_those_that_are_there(web, client, shop):
    shop.put("first")

    web.post("/queues/mail/put", {"klass": "K", "jid": "b", "depends": "first"})

    assert client.jobs["b"].state == "depends"


def test_names_of_queues_may_be_anything(app, web, client, awkward):
    with app.test_request_context():
        address = url_for("act.put_job", queue=awkward)
    client.queues[awkward].put("K", {})  # a very long name is found again among those there are
    asked = question(web.page(address))

    jid = put_jid(web.submit(asked, klass="K"))

    assert client.jobs[jid].queue_name == awkward


@pytest.mark.parametrize(
    ("field", "typed", "said"),
    [
        ("klass", " ", "class"),
        ("data", '{"a": 1,\n "b" 2}', "line 2, column 6: expecting ':' delimiter, before “2}”"),
        ("data", "{'a': 1}", "line 1, column 2"),
        ("data", "NaN", "NaN"),
        ("data", "[" * 1_500 + "]" * 1_500, "JSON"),
        ("delay", "soon", "“soon” is no delay"),
        ("at", "tomorrow", "“tomorrow” is no moment"),
        ("priority", "high", "“high” is no priority"),
        ("retries", "-1", "“-1” is no number of retries"),
        ("depends", "nobody", "nobody"),
        ("jid", "first", "There is a job first already"),
        ("jid", "first-history", "jid"),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_a_mistake_is_told_and_what_was_typed_stays(web, shop, stored, field, typed, said):
    shop.put("first")
    before = stored()
    values = {"klass": "shop.Welcome", "data": '{"kept": 1}', "tags": "vip", field: typed}

    answer = web.post("/queues/mail/put", values)

    assert answer.status_code == 422
    page = web_page(answer)
    assert said in page.one("p", class_="problem").text
    asked = question(page)
    for name, value in values.items():
        assert asked.value(name) == value, name
    assert stored() == before


def web_page(answer):
    return parse(answer.get_data(as_text=True))


def test_the_api_puts_no_job_over_another(web, shop, stored):
    shop.complete("a")
    before = stored()
    body = json.dumps({"klass": "K", "jid": "a"})

    answer = web.browser.post(
        f"{web.prefix}/api/v1/queues/mail/put", data=body, content_type="application/json"
    )

    assert answer.status_code == 409
    assert "There is a job a already" in answer.json["detail"]
    assert stored() == before


# -- Duplicate


@pytest.mark.parametrize(
    "state", ["waiting", "running", "scheduled", "depends", "failed", "complete"]
)
def test_a_job_in_any_state_is_duplicated_byte_for_byte(web, client, redis, shop, state):
    tags = ["vip", "two\nlines", " blank "]
    begin(shop, state, tags=tags)
    redis.hset("ql:j:a", "data", EXACT)

    jid = put_jid(web.submit(question(web.page("/jobs/a/duplicate"))))

    made = client.jobs[jid]
    assert jid != "a"
    assert (made.klass_name, made.queue_name, made.tags) == ("Job", "mail", tags)
    assert made.state == ("depends" if state == "depends" else "waiting")
    assert data_of(redis, jid) == EXACT
    assert data_of(redis, "a") == EXACT


def begin(shop, state, **options):
    match state:
        case "running":
            shop.run("a", **options)
        case "complete":
            shop.run("a", **options).complete()
        case "failed":
            shop.fail("a", **options)
        case "scheduled":
            shop.put("a", delay=100, **options)
        case "depends":
            shop.put("first", queue="else")
            shop.put("a", depends=["first"], **options)
        case _:
            shop.put("a", **options)


def test_a_duplicate_takes_what_was_changed(web, client, shop):
    shop.put("a")

    asked = question(web.page("/jobs/a/duplicate"))
    jid = put_jid(web.submit(asked, klass="Other", queue="slow", data="[2]", tags="x", retries="1"))

    made = client.jobs[jid]
    assert (made.klass_name, made.queue_name, made.data) == ("Other", "slow", [2])
    assert (made.tags, made.original_retries) == (["x"], 1)


def test_one_is_made_of_a_recurring_job(web, client):
    client.queues["mail"].recur("Again", {"n": 1}, interval=60, jid="r")

    jid = put_jid(web.submit(question(web.page("/jobs/r/duplicate"))))

    assert (client.jobs[jid].klass_name, client.jobs[jid].data) == ("Again", {"n": 1})


@pytest.mark.parametrize("stored_data", ['"\udcff"', '"' + "x" * 100_000 + '"'])
def test_data_that_no_form_can_hold_is_taken_all_the_same(web, redis, shop, stored_data):
    shop.put("a")
    raw = stored_data.encode(errors="surrogateescape")
    redis.hset("ql:j:a", "data", raw)

    page = web.page("/jobs/a/duplicate")
    answer = web.submit(question(page))

    assert "cannot be shown here" in page.text
    same = "return redis.call('hget', KEYS[1], 'data') == ARGV[1]"
    assert redis.eval(same, 1, f"ql:j:{put_jid(answer)}", raw) == 1


def test_what_is_hidden_is_duplicated_and_never_shown(client, visit, redis, shop):
    shop.put("a")
    redis.hset("ql:j:a", "data", '{"card":"4111"}')
    web = visit(create_app(client, extensions=Extensions(redact=hide("card"))))

    page = web.page("/jobs/a/duplicate")
    jid = put_jid(web.submit(question(page)))

    assert "4111" not in page.text
    assert data_of(redis, jid) == '{"card":"4111"}'


# -- Edit


def test_data_is_edited_and_keeps_every_digit(web, redis, shop):
    shop.put("a")

    answer = web.submit(question(web.page("/jobs/a/edit")), data=EXACT)

    assert "Changed the data of a." in toasts(web.follow(answer))
    assert data_of(redis, "a") == EXACT


def test_data_that_has_changed_since_is_not_overwritten(web, redis, client, shop):
    shop.put("a")
    asked = question(web.page("/jobs/a/edit"))
    client.commands.edit("a", "data", '{"theirs":1}')

    answer = web.submit(asked, data='{"mine":1}')

    assert answer.status_code == 422
    assert data_of(redis, "a") == '{"theirs":1}'
    page = web_page(answer)
    assert "has changed since you looked" in page.one("p", class_="problem").text
    assert page.one("pre").text == '{"theirs":1}'
    again = question(page)
    assert again.value("data") == '{"mine":1}'
    web.submit(again)
    assert data_of(redis, "a") == '{"mine":1}'


def test_a_mistake_in_data_is_told_with_its_place(web, redis, shop):
    shop.put("a")

    answer = web.submit(question(web.page("/jobs/a/edit")), data='{"n": 1,}')

    assert answer.status_code == 422
    assert "line 1, column" in answer.text
    assert data_of(redis, "a") == '{"n":1}'


@pytest.mark.parametrize("address", ["/jobs/a/edit", "/jobs/a/retries"])
@pytest.mark.parametrize(
    ("state", "why"), [("running", "A worker has a copy of it"), ("complete", "It is complete")]
)
def test_it_says_why_a_job_cannot_be_edited(web, shop, stored, address, state, why):
    begin(shop, state)
    before = stored()

    page = web.page(address)
    answer = web.post(address, {"data": "[2]", "retries": "2"})

    assert why in page.one("h2", id="ask-question").text
    assert answer.status_code == 409
    assert "Nothing was done to a" in answer.text
    assert stored() == before


def test_data_of_which_some_is_hidden_is_not_written_over(client, visit, redis, shop, stored):
    shop.put("a")
    redis.hset("ql:j:a", "data", '{"card":"4111"}')
    web = visit(create_app(client, extensions=Extensions(redact=hide("card"))))
    before = stored()

    page = web.page("/jobs/a/edit")
    answer = web.post("/jobs/a/edit", {"data": "{}"})

    assert "not shown here" in page.text
    assert "4111" not in page.text
    assert "not shown here" in answer.text
    assert stored() == before


def test_retries_are_renewed(web, client, shop):
    shop.put("a")

    web.submit(question(web.page("/jobs/a/retries")), retries="9")

    assert (client.jobs["a"].original_retries, client.jobs["a"].retries_left) == (9, 9)


def test_the_job_page_offers_what_its_state_allows(web, shop):
    shop.put("a")
    shop.complete("b", queue="else")

    def offered(jid):
        return {each.attributes.get("href", "") for each in web.page(f"/jobs/{jid}").all("a")}

    assert {f"{web.prefix}/jobs/a/{each}" for each in ("edit", "retries", "duplicate")} <= offered(
        "a"
    )
    assert f"{web.prefix}/jobs/b/duplicate" in offered("b")
    assert f"{web.prefix}/jobs/b/edit" not in offered("b")
