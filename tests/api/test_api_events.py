"""The stream of what changes, at its address in the API."""

from __future__ import annotations

from werkzeug.test import Client as Browser

from qless_web import create_app
from qless_web.console import EXTENSION


def test_it_streams_the_names_of_what_changes(client):
    app = create_app(client, live_tick_s=0.1)
    answer = Browser(app).get("/api/v1/events?topics=queues,failures")
    try:
        assert answer.mimetype == "text/event-stream"
        messages = iter(answer.response)
        client.queues["mail"].put("Job", {})
        heard = b""
        while b"queues" not in heard:
            heard += next(messages)
    finally:
        answer.close()
        app.extensions[EXTENSION].hub.close()


def test_head_says_what_it_would_be(api):
    answer = api.head("/api/v1/events")

    assert (answer.status_code, answer.mimetype) == (200, "text/event-stream")


def test_where_it_is_switched_off_it_says_so(client):
    answer = Browser(create_app(client, live_max_streams=0)).get("/api/v1/events")

    assert answer.status_code == 404
    assert answer.content_type == "application/problem+json"
    assert "switched off" in answer.json["detail"]


def test_where_there_is_no_room_it_says_when_to_ask_again(client):
    app = create_app(client, live_max_streams=1)
    first = Browser(app).get("/api/v1/events")
    try:
        answer = Browser(app).get("/api/v1/events")
    finally:
        first.close()
        app.extensions[EXTENSION].hub.close()

    assert answer.status_code == 503
    assert answer.json["type"] == "urn:qless:no-room"
    assert answer.headers["Retry-After"] == "30"


def test_a_topic_that_no_name_can_be_is_refused(api):
    answer = api.get('/api/v1/events?topics=["queue:\\ud800"]')

    assert answer.status_code == 400
    assert answer.content_type == "application/problem+json"
