"""The original's JSON actions: its addresses, bodies, answers, without its limits and silences."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qless_web import create_app
from tests.support.html import toasts

ADDRESSES = (
    "/track",
    "/untrack",
    "/priority",
    "/pause",
    "/unpause",
    "/timeout",
    "/tag",
    "/untag",
    "/move",
    "/undepend",
    "/retry",
    "/retryall",
    "/cancel",
    "/cancelall",
)


@pytest.fixture
def tell(web):
    """Post JSON to an original address as its page did, and read the answer."""

    def post(address, body, status=200):
        response = web.post(address, json.dumps(body), Content_Type="text/plain")
        assert response.status_code == status, response.text
        return response.get_json()

    return post


# -- Each with its body and answer


def test_track_and_untrack(tell, shop, client):
    shop.put("a")

    assert tell("/track", {"id": "a"}) == {"tracked": ["a"]}
    assert client.jobs["a"].tracked
    assert tell("/untrack", ["a"]) == {"untracked": ["a"]}
    assert not client.jobs["a"].tracked


def test_track_with_tags_which_broke_the_original(tell, shop, client):
    shop.put("a")

    assert tell("/track", {"id": "a", "tags": ["x", "y"]}) == {"tracked": ["a"]}
    assert client.jobs["a"].tags == ["x", "y"]


def test_what_is_gone_can_be_untracked_which_the_original_could_not(tell, shop, client, redis):
    shop.put("a")
    client.track("a")
    redis.delete("ql:j:a")

    assert tell("/untrack", ["a"]) == {"untracked": ["a"]}
    assert redis.zcard("ql:tracked") == 0


def test_priority(tell, shop, client):
    shop.put("a")
    shop.put("b")

    assert tell("/priority", {"a": 25, "b": "-25"}) == {"a": 25, "b": -25}
    assert client.jobs["b"].priority == -25


def test_priority_names_each_job_that_failed(tell, shop, client):
    shop.put("a")
    shop.put("b", priority=3)

    answer = tell("/priority", {"a": 5, "gone": 5, "b": "high"})

    assert (answer["a"], answer["gone"], answer["b"]) == (5, "failed", "failed")
    assert answer["left"]["gone"] == "it has gone"
    assert "“high” is no priority" in answer["left"]["b"]
    assert client.jobs["b"].priority == 3
    assert tell("/priority", {"gone": 5}, 404)["gone"] == "failed"
    assert tell("/priority", {"b": None}, 400)["b"] == "failed"


def test_pause_and_unpause(tell, client):
    assert tell("/pause", {"queue": "mail"}) == {"queue": "paused"}
    assert client.queues["mail"].is_paused
    assert tell("/unpause", {"queue": "mail"}) == {"queue": "unpaused"}
    assert not client.queues["mail"].is_paused


def test_timeout(tell, shop):
    shop.run("a")
    shop.put("b")

    assert tell("/timeout", {"jid": "a"}) == {"jid": "a"}
    assert shop.state("a") == "stalled"
    assert "it is waiting already" in tell("/timeout", {"jid": "b"}, 409)["error"]
    assert "does not exist" in tell("/timeout", {"jid": "gone"}, 404)["error"]


def test_tag_and_untag(tell, shop, client):
    shop.put("a")

    assert tell("/tag", {"a": ["x", "y"]}) == {"a": ["x", "y"]}
    assert client.jobs["a"].tags == ["x", "y"]
    assert tell("/untag", {"a": ["x"]}) == {"a": ["x"]}
    assert client.jobs["a"].tags == ["y"]
    assert tell("/tag", {"gone": ["x"]}, 404)["gone"] == "failed"
    assert tell("/tag", {"a": [None]}, 400)["a"] == "failed"


def test_move_takes_a_job_from_any_state(tell, shop):
    shop.run("a")

    assert tell("/move", {"id": "a", "queue": "slow"}) == {"id": "a", "queue": "slow"}
    assert (shop.state("a"), shop.queue("a")) == ("waiting", "slow")
    assert "does not exist" in tell("/move", {"id": "gone", "queue": "slow"}, 404)["error"]


def test_undepend(tell, shop):
    shop.put("a")
    shop.put("b", depends=["a"])

    assert tell("/undepend", {"id": "b", "dependency": "a"}) == {"id": "b"}
    assert shop.state("b") == "waiting"
    assert (
        "not in the depends state"
        in tell("/undepend", {"id": "b", "dependency": "a"}, 409)["error"]
    )


def test_retry(tell, shop):
    shop.fail("a")

    assert tell("/retry", {"id": "a"}) == {"id": "a", "queue": "mail"}
    assert shop.state("a") == "waiting"
    assert tell("/retry", {"id": "a"}, 409)["left"] == {"a": "it is waiting already"}


def test_retry_keeps_data_that_changed_meanwhile(tell, shop, redis):
    shop.fail("a")
    redis.hset("ql:j:a", "data", '{"n":2}')

    tell("/retry", {"id": "a"})

    assert redis.hget("ql:j:a", "data") == '{"n":2}'


def test_retryall_goes_to_the_end_each_job_into_its_own_queue(tell, shop, client):
    jids = [f"j{number}" for number in range(520)]
    shop.fail(*jids[:260], queue="qa")
    shop.fail(*jids[260:], queue="qb")

    answer = tell("/retryall", {"type": "boom"})

    assert [each["id"] for each in answer] == jids
    assert [each["queue"] for each in answer] == ["qa"] * 260 + ["qb"] * 260
    assert client.failures.groups == {}


def test_cancelall_goes_to_the_end_and_names_what_others_need(tell, shop, client):
    shop.fail(*(f"j{number}" for number in range(60)))
    shop.put("needs", depends=["j30"])

    answer = tell("/cancelall", {"type": "boom"})

    assert len([each for each in answer if set(each) == {"id"}]) == 59
    assert [each for each in answer if "left" in each] == [
        {"id": "j30", "left": "other jobs wait for it"}
    ]
    assert client.failures.groups == {"boom": 1}


def test_cancel_does_what_it_can_and_names_the_rest(tell, shop):
    shop.put("a")
    shop.put("b")
    shop.put("c", depends=["b"])
    shop.complete("d")

    assert tell("/cancel", ["a", "b", "d", "gone"]) == {
        "canceled": ["a"],
        "left": {
            "b": "other jobs wait for it",
            "d": "it is complete",
            "gone": "it has gone",
        },
    }
    assert tell("/cancel", ["b", "c"]) == {"canceled": ["b", "c"]}
    assert tell("/cancel", ["gone"], 404)["canceled"] == []
    assert tell("/cancel", ["d"], 409)["canceled"] == []
    assert tell("/cancel", []) == {"canceled": []}


def test_cancel_ends_a_recurring_job_too(tell, client):
    client.queues["mail"].recur("Job", {}, interval=60, jid="again")

    assert tell("/cancel", ["again"]) == {"canceled": ["again"]}
    assert client.jobs["again"] is None


# -- unfail_all


def test_unfail_all_puts_each_job_into_its_own_queue(tell, shop, client):
    shop.fail("a", queue="qa")
    shop.fail("b", queue="qb")
    shop.fail("c", group="other", queue="qc")

    assert tell("/unfail_all", None) == {"unfailed": 3}
    assert [shop.queue(jid) for jid in "abc"] == ["qa", "qb", "qc"]
    assert client.failures.groups == {}
    assert client.queues["qa"].stats().failed == 0


def test_unfail_all_of_a_form_leads_to_the_failures_and_never_to_a_referer(web, shop):
    shop.fail("a")

    form = "application/x-www-form-urlencoded"
    answer = web.post("/unfail_all", "", Content_Type=form, Referer="https://evil.example/")

    assert answer.headers["Location"] == f"{web.prefix}/failed"
    assert toasts(web.follow(answer)) == "Retried 1 job."


def test_unfail_all_answers_json_to_whoever_takes_nothing_else(web, shop):
    shop.fail("a")

    form = "application/x-www-form-urlencoded"
    answer = web.post("/unfail_all", "", Content_Type=form, Accept="application/json")

    assert (answer.status_code, answer.get_json()) == (200, {"unfailed": 1})


# -- Everything at once


@pytest.mark.parametrize("address", [*ADDRESSES, "/unfail_all"])
def test_it_answers_with_and_without_a_slash_at_the_end(web, address):
    assert web.post(f"{address}/", "{").status_code == web.post(address, "{").status_code


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("body", ["", "{", "nope", "null", "7", '"x', "[1]", '{"":7}', "\xff"])
def test_a_bad_body_is_refused_and_says_what_was_expected(web, address, body, stored):
    before = stored()

    answer = web.post(address, body.encode("latin-1"))

    assert answer.status_code == 400
    assert answer.get_json()["error"] if "error" in answer.get_json() else answer.get_json()["left"]
    assert stored() == before


def test_the_refusal_names_what_is_missing(web):
    assert '"queue"' in web.post("/pause", "{}").get_json()["error"]
    assert '"id"' in web.post("/move", '{"queue":"q"}').get_json()["error"]
    assert '"dependency"' in web.post("/undepend", '{"id":"a"}').get_json()["error"]
    assert '"type"' in web.post("/retryall", "[]").get_json()["error"]
    assert "list of jids" in web.post("/cancel", '{"jid":"a"}').get_json()["error"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["id", "jid", "queue", "type", "tags", "dependency", "a", ""])
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(address=st.sampled_from([*ADDRESSES, "/unfail_all"]), body=st.binary(max_size=40) | JSON)
@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_no_body_whatever_breaks_an_original_address(web, shop, address, body):
    shop.put("a", priority=1)
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()

    answer = web.post(address, raw)

    assert answer.status_code in {200, 400, 404, 409}, (raw, answer.text)
    assert answer.is_json


def test_a_body_nested_without_end_is_refused(web):
    assert web.post("/cancel", "[" * 100_000).status_code == 400
    assert web.post("/cancel", "[" * 3_000 + "]" * 3_000).status_code == 400


def test_awkward_names_come_through(tell, shop, awkward):
    shop.fail(awkward, group=awkward, queue=awkward)

    assert tell("/retryall", {"type": awkward}) == [{"id": awkward, "queue": awkward}]
    assert tell("/tag", {awkward: [awkward]}) == {awkward: [awkward]}
    assert tell("/pause", {"queue": awkward}) == {"queue": "paused"}
    assert tell("/cancel", [awkward]) == {"canceled": [awkward]}


def test_a_job_called_like_the_report_has_its_own_answer(tell, shop):
    shop.put("left")

    assert tell("/priority", {"left": 4, "gone": 4}) == {"left": 4, "gone": "failed"}


@pytest.mark.parametrize("address", [*ADDRESSES, "/unfail_all"])
def test_a_read_only_console_refuses(client, visit, shop, stored, address):
    web = visit(create_app(client, read_only=True))
    shop.fail("a")
    shop.put("b")
    bodies = {
        "/untrack": ["a"],
        "/cancel": ["a"],
        "/priority": {"a": 1},
        "/tag": {"a": ["x"]},
        "/untag": {"a": ["x"]},
    }
    body = bodies.get(
        address,
        {"id": "a", "jid": "a", "queue": "mail", "type": "boom", "dependency": "b"},
    )
    before = stored()

    answer = web.post(address, json.dumps(body))

    assert answer.status_code == 403
    assert "read-only" in answer.get_json()["error"]
    assert stored() == before


def test_they_leave_the_same_records(tell, shop, audit):
    shop.fail("a")

    tell("/retry", {"id": "a"})
    tell("/cancel", ["gone"], 404)

    assert [(each["action"], each["outcome"]) for each in audit()] == [
        ("retry_job", "done"),
        ("cancel_jobs", "failed"),
    ]
