"""Every action of the console, by the API: done, refused, guarded, recorded as from the pages."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from werkzeug.test import Client as Browser

from qless_core import Client
from qless_web import create_app
from qless_web.actions.action import ACTIONS
from qless_web.api.acting import rule_of, served
from qless_web.console import EXTENSION
from tests.support.shop import make_ready

NAMES = {
    "alert": "Late",
    "group": "boom",
    "jid": "a",
    "option": "heartbeat",
    "queue": "mail",
    "view": "Busy",
    "worker": "worker-1",
}

#: Tried elsewhere: it sends something to the world outside.
ELSEWHERE = {"try_alert"}

BODIES = {
    "set_priority": {"priority": 5},
    "add_tag": {"tags": ["x"]},
    "remove_tag": {"tags": ["x"]},
    "move_job": {"queue": "slow"},
    "move_jobs": {"jids": ["a"], "queue": "slow"},
    "move_group": {"queue": "slow"},
    "retry_jobs": {"jids": ["a"]},
    "cancel_jobs": {"jids": ["a"]},
    "cancel_job": {"expected": 1},
    "undepend_job": {"dependency": "first"},
    "run_jobs": {"jids": ["a"]},
    "reschedule_job": {"when": "2h"},
    "reschedule_jobs": {"jids": ["a"], "when": "2026-12-24T18:00"},
    "put_job": {"klass": "Job", "data": '{"n": 1.10}', "when": "2h", "tags": ["x"], "depends": []},
    "edit_data": {"data": '{"n": 1.10}'},
    "set_option": {"value": "90"},
    "save_alert": {"name": "Mail", "kind": "stalled", "url": "https://hooks.example.com/b"},
    "silence_alert": {"for": "2h"},
    "save_view": {"name": "Mail", "address": "/queues"},
    "set_retries": {"retries": 7},
    "mark_deploy": {"name": "v42"},
    "note_group": {"note": "the bank is down"},
    "assign_group": {"assignee": "kim"},
    "edit_recurring": {"interval": "15m", "data": '{"n": [1.10]}'},
}


@pytest.fixture(params=sorted({each.name for each in served()} - ELSEWHERE))
def action(request):
    return ACTIONS[request.param]


@pytest.fixture
def address(action):
    return "/api/v1" + re.sub(r"<name:(\w+)>", lambda found: NAMES[found[1]], rule_of(action))


@pytest.fixture
def body(action):
    return BODIES.get(action.name, {})


@pytest.fixture
def ready(action, shop):
    """Bring job `a` into the state that the action is for."""
    make_ready(shop, action.name)
    return shop


@pytest.mark.usefixtures("ready")
def test_it_is_done_and_says_so(api, address, body, action, stored, judge):
    before = stored()

    answer = api.post(address, json=body)

    assert answer.status_code == 200, answer.text
    assert answer.json["action"] == action.name
    assert answer.json["done_total"] == 1
    assert answer.json["is_finished"] is True
    assert judge({"$ref": "#/components/schemas/Done"}, answer.json) == []
    assert stored() != before


@pytest.mark.usefixtures("ready")
def test_it_is_refused_where_the_console_is_read_only(client, address, body, stored, audit):
    before = stored()

    answer = Browser(create_app(client, read_only=True)).post(address, json=body)

    assert answer.status_code == 403
    assert "this console is read-only" in answer.json["detail"]
    assert stored() == before
    assert {each["outcome"] for each in audit()} == {"refused"}


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize("withheld", ["operate", "destroy", "administer"])
def test_it_needs_the_permission_of_the_action(client, address, body, action, stored, withheld):
    class Withheld:
        def refusal(self, permission):
            return "you may not" if permission == withheld else ""

    app = create_app(client)
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], access=Withheld())
    before = stored()

    answer = Browser(app).post(address, json=body)

    assert answer.status_code == (403 if action.permission == withheld else 200)
    assert (stored() == before) is (action.permission == withheld)


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://evil.example", "Authorization": "Bearer anything"},
    ],
    ids=str,
)
def test_b85_another_site_cannot_do_it(api, address, body, stored, headers):
    before = stored()

    answer = api.post(address, json=body, headers=headers)

    assert answer.status_code == 403
    assert answer.content_type == "application/problem+json"
    assert stored() == before


@pytest.mark.usefixtures("ready")
def test_it_leaves_one_record_that_names_the_request(api, address, body, action, audit):
    api.post(address, json=body, headers={"X-Request-Id": "deploy-7"})

    (record,) = audit()
    assert record["action"] == action.name
    assert record["outcome"] == "done"
    assert record["request"] == "deploy-7"


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize(
    ("sent", "status", "said"),
    [
        ({"data": "x=1", "content_type": "application/x-www-form-urlencoded"}, 415, "JSON"),
        ({"data": "{}"}, 415, "application/json"),
        ({"data": "{", "content_type": "application/json"}, 400, "not JSON"),
        ({"data": "\xff", "content_type": "application/json"}, 400, "body"),
        ({"json": []}, 400, "object"),
        ({"data": "null", "content_type": "application/json"}, 400, "object"),
        ({"json": {"colour": "red"}}, 400, "“colour”"),
        ({"data": "[" * 100_000, "content_type": "application/json"}, 400, "JSON"),
        ({"data": b" " * (4 * 1024 * 1024 + 1), "content_type": "application/json"}, 413, "4 MB"),
    ],
    ids=["form", "no type", "half", "bytes", "list", "null", "unknown", "deep", "huge"],
)
def test_a_body_that_makes_no_sense_changes_nothing(api, address, stored, sent, status, said):
    before = stored()

    answer = api.post(address, **sent)

    assert answer.status_code == status
    assert answer.content_type == "application/problem+json"
    assert said in answer.json["detail"]
    assert stored() == before


def test_a_field_that_it_needs_is_named(api, address, action):
    needed = [field.name for field in action.takes if field.required]

    answer = api.post(address, json={})

    if needed:
        assert answer.status_code == 400
        assert f"“{needed[0]}” is missing" in answer.json["detail"]
    else:
        assert answer.status_code != 400


def test_a_parameter_is_refused(api, address, body):
    answer = api.post(f"{address}?colour=red", json=body)

    assert answer.status_code == 400
    assert "“colour”" in answer.json["detail"]


def test_it_cannot_be_read(api, address):
    answer = api.get(address)

    # One may be the address of a job that is called so.
    assert answer.status_code == (404 if "/jobs/" in address and address.count("/") == 4 else 405)
    assert answer.content_type == "application/problem+json"


def test_without_redis_it_says_so(address, body):
    with Client("unix:///nowhere/there.sock") as nobody:
        answer = Browser(create_app(nobody)).post(address, json=body)

    assert answer.status_code == 503
    assert answer.json["type"] == "urn:qless:redis-unavailable"


BAD_VALUES = [
    ("/jobs/a/priority", {"priority": value})
    for value in (None, "5", 1.5, True, 1_000_001, -1_000_001, [], float("nan"), 10**400)
] + [
    ("/jobs/a/tag", {"tags": value})
    for value in (None, "x", [], [""], [" "], [1], ["x"] * 101, ["\ud800"], {"a": 1})
]  # fmt: skip


@pytest.mark.parametrize(("path", "sent"), BAD_VALUES, ids=lambda value: ascii(value)[:40])
def test_a_value_that_makes_no_sense_is_refused_by_name(api, shop, stored, path, sent):
    shop.put("a")
    before = stored()

    answer = api.post(f"/api/v1{path}", json=sent)

    assert answer.status_code == 400
    assert f"“{next(iter(sent))}” must be" in answer.json["detail"]
    assert stored() == before


def test_a_whole_number_may_be_written_with_a_point(api, shop):
    shop.put("a")

    answer = api.post("/api/v1/jobs/a/priority", json={"priority": 5.0})

    assert answer.json["value"] == 5
    assert shop.client.jobs["a"].priority == 5


def test_what_is_left_alone_is_named_and_why(api, shop):
    shop.fail("a")
    shop.put("b")

    answer = api.post("/api/v1/jobs/retry", json={"jids": ["a", "b", "c"]}).json

    assert answer["done"] == ["a"]
    assert {each["jid"]: each["reason"] for each in answer["left"]} == {"b": "waiting", "c": "gone"}
    assert shop.state("a") == "waiting"


def test_where_nothing_could_be_done_it_is_an_error_that_says_why(api, shop):
    shop.put("a")

    answer = api.post("/api/v1/jobs/retry", json={"jids": ["a"]})

    assert answer.status_code == 409
    assert answer.json["type"] == "urn:qless:nothing-done"
    assert answer.json["left"] == [
        {"jid": "a", "reason": "waiting", "text": "it is waiting already"}
    ]


def test_cancelling_takes_those_along_that_wait_only_where_their_number_is_known(api, shop):
    shop.put("a")
    shop.put("b", depends=["a"])
    shop.put("c", depends=["b"])

    refused = api.post("/api/v1/jobs/a/cancel")

    assert refused.status_code == 409
    assert refused.json["type"] == "urn:qless:not-as-expected"
    assert refused.json["expected"] == 3
    assert shop.state("a") == "waiting"

    done = api.post("/api/v1/jobs/a/cancel", json={"expected": refused.json["expected"]})

    assert done.status_code == 200
    assert set(done.json["done"]) == {"a", "b", "c"}
    assert {shop.state(jid) for jid in "abc"} == {"gone"}


def test_a_running_job_that_is_moved_by_name_is_taken_from_its_worker(api, shop):
    shop.run("a")

    answer = api.post("/api/v1/jobs/a/move", json={"queue": "slow"})

    assert answer.status_code == 200
    assert (shop.state("a"), shop.queue("a")) == ("waiting", "slow")


def test_more_jobs_than_an_answer_names_are_all_counted(api, shop):
    jids = [f"job-{number}" for number in range(1_100)]
    shop.client.queues["mail"].put_many([("Job", {}, {"jid": jid}) for jid in jids])
    for job in shop.client.queues["mail"].pop(1_100):
        job.fail("boom", "no")

    answer = api.post("/api/v1/failures/boom/retry").json

    assert answer["done_total"] == 1_100
    assert len(answer["done"]) == 1_000
    assert answer["is_finished"] is True


def test_where_time_is_up_it_says_so_and_goes_on_when_asked_again(api, shop, monkeypatch):
    shop.fail(*(f"job-{number}" for number in range(250)))
    monkeypatch.setattr("qless_web.actions.chunks.BUDGET_S", 0.0)

    answers = []
    while not answers or not answers[-1]["is_finished"]:
        answers.append(api.post("/api/v1/failures/boom/retry").json)

    assert len(answers) > 1
    assert sum(each["done_total"] for each in answers) == 250


def test_a_recurring_job_is_moved_ranked_and_ended(api, shop):
    shop.client.queues["mail"].recur("Again", {}, interval=60, jid="r")

    assert api.post("/api/v1/jobs/r/move", json={"queue": "slow"}).status_code == 200
    assert api.post("/api/v1/jobs/r/priority", json={"priority": 7}).json["value"] == 7
    assert api.get("/api/v1/jobs/r").json["recurring"]["queue"] == "slow"
    assert api.post("/api/v1/jobs/r/cancel").json["done"] == ["r"]
    assert api.get("/api/v1/jobs/r").status_code == 404
