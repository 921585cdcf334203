"""Every error is a problem, names its request, and is in the log where it is a fault."""

from __future__ import annotations

import logging

import pytest
from werkzeug.test import Client as Browser

from qless_core import Client
from qless_web import create_app
from tests.web.conftest import Lint


def told(answer, status):
    """Check the shape of a problem, and give it."""
    assert answer.status_code == status
    assert answer.content_type == "application/problem+json"
    problem = answer.json
    assert problem["status"] == status
    assert {"type", "title", "detail", "request_id"} <= problem.keys()
    assert problem["request_id"] == answer.headers["X-Request-Id"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    return problem


@pytest.mark.parametrize("path", ["/api/", "/api/v1", "/api/v2/queues", "/api/v1/nothing/here"])
def test_an_address_that_leads_nowhere(api, path):
    assert told(api.get(path), 404)["type"] == "about:blank"


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_a_method_that_an_address_does_not_take(api, method):
    answer = getattr(api, method)("/api/v1/queues")

    told(answer, 405)
    assert "GET" in answer.headers["Allow"]


def test_a_right_that_the_redis_user_has_lost_is_no_outage(client, redis):
    redis.acl_setuser(
        "desk", enabled=True, nopass=True, keys=["*"], channels=["*"], commands=["+@all"]
    )
    client.queues["q"].put("Job", {}, jid="j")
    path = client.url.removeprefix("unix://")
    with Client(f"unix://desk:x@{path}") as desk:
        api = Browser(create_app(desk))
        assert api.post("/api/v1/jobs/j/tag", json={"tags": ["a"]}).status_code == 200
        redis.acl_setuser("desk", commands=["-fcall", "-evalsha"])

        answer = api.post("/api/v1/jobs/j/tag", json={"tags": ["b"]})

    assert "lacks the command" in told(answer, 403)["detail"]


def test_a_fault_of_our_own_is_told_and_logged_by_its_request(client, monkeypatch, caplog):
    app = create_app(client)

    def broken(*_):
        message = "secret-inside"
        raise ValueError(message)

    monkeypatch.setattr("qless_web.api.queues.counts_of", broken)
    client.queues["mail"].put("Job", {})

    answer = Browser(Lint(app)).get("/api/v1/queues", headers={"X-Request-Id": "abc-1"})

    problem = told(answer, 500)
    assert problem["request_id"] == "abc-1"
    assert "secret-inside" not in answer.text
    (record,) = [each for each in caplog.records if each.name == "qless.web"]
    assert record.levelno == logging.ERROR
    assert "abc-1" in record.getMessage()
    assert "secret-inside" in str(record.exc_info[1])


def test_a_host_name_that_is_not_ours(client):
    api = Browser(Lint(create_app(client, trusted_hosts="jobs.example.com")))

    told(api.get("/api/v1/queues"), 421)
    assert api.get("/api/v1/queues", headers={"Host": "jobs.example.com"}).status_code == 200


def test_a_host_name_that_makes_no_sense(app):
    answer = Browser(app).get("/api/v1/queues", environ_overrides={"HTTP_HOST": "a b"})

    told(answer, 400)


def test_a_job_that_is_not_there_is_named_by_its_type(api):
    problem = told(api.post("/api/v1/jobs/none/track"), 404)

    assert problem["type"] == "urn:qless:job-not-found"
    assert "none" in problem["detail"]


def test_the_pages_still_answer_with_pages(api):
    assert api.get("/nothing").mimetype == "text/html"
    assert api.get("/nothing.json").mimetype == "application/json"


@pytest.mark.parametrize("given", ["a", "A-1_b.c~d:e+f/g=h@i", "x" * 128])
def test_the_id_of_a_request_is_taken_over(api, given):
    for path in ("/api/v1/queues", "/", "/nothing"):
        assert api.get(path, headers={"X-Request-Id": given}).headers["X-Request-Id"] == given


@pytest.mark.parametrize("given", ["", " ", "x" * 129, "a b", 'a"b', "é", "<b>", "a\tb"])
def test_an_id_that_could_forge_a_line_of_the_log_is_not(api, given):
    found = api.get("/api/v1/queues", headers={"X-Request-Id": given}).headers["X-Request-Id"]

    assert len(found) == 32
    assert found.isalnum()


def test_every_request_has_an_id_of_its_own(api):
    found = {api.get("/api/v1/queues").headers["X-Request-Id"] for _ in range(5)}

    assert len(found) == 5


def test_a_slash_too_many_leads_to_what_was_meant(api):
    answer = api.get("/api/v1/queues/?limit=1")

    assert answer.status_code == 308
    assert answer.headers["Location"].endswith("/api/v1/queues?limit=1")
