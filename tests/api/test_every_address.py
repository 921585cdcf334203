"""What holds for every address that is read: as described, at little cost, changing nothing."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

import pytest
import redis.connection
from werkzeug.test import Client as Browser

from qless_core import Client
from qless_web import create_app
from qless_web.api.openapi import path_of
from qless_web.api.route import ROUTES
from qless_web.formatting import tilde
from tests.support.shop import AWKWARD
from tests.support.stored import everything
from tests.support.there import THERE

#: Something that is there, by the name of what it is.
NAMES = {
    "jid": "..",
    "queue": "mail",
    "group": "webhooks-HTTPError",
    "worker": "shop-1-4101",
    "tag": "vip",
}

#: What must be asked for.
ASKED = {"lookup": "?name=mail", "failureClusters": "?group=webhooks-HTTPError"}

ADDRESSES = [route for route in ROUTES if route.name != "events"]


def path_for(route, **names):
    given = {**NAMES, **THERE, **names}
    if route.family == "trash":
        given["operation"] = given["cancelled"]
    rule = re.sub(r"<name:(\w+)>", lambda found: tilde(given[found[1]]), route.rule)
    return f"/api/v1{rule}" + ASKED.get(route.name, "")


@pytest.fixture(params=ADDRESSES, ids=lambda route: route.name)
def route(request):
    return request.param


def no_constants(word):
    pytest.fail(f"{word} is not JSON")


def test_it_answers_as_the_document_says(looking, route, document, judge):
    answer = looking.get(path_for(route))
    described = document["paths"][path_of(route.rule)]["get"]["responses"]["200"]["content"]

    assert answer.status_code == 200
    assert answer.mimetype in described
    if "application/json" not in described:
        assert route.name == "operationReport"
        return
    value = json.loads(answer.data, parse_constant=no_constants)
    assert judge(described["application/json"]["schema"], value) == []


def test_it_needs_at_most_three_round_trips_and_writes_nothing(looking, seeded, route, monkeypatch):
    looking.get("/api/v1/queues")  # asks for its rights once
    before, trips = everything(seeded.redis), []
    send = redis.connection.AbstractConnection.send_packed_command

    def count(self, command, *args, **kwargs):
        trips.append(command)
        return send(self, command, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(redis.connection.AbstractConnection, "send_packed_command", count)
        assert looking.get(path_for(route)).status_code == 200
        sent = len(trips)

    # A report may be long: it is read, and sent, part by part.
    assert sent <= (4 if route.name == "operationReport" else 3)
    assert sent > 0 or route.name == "openapi"
    assert everything(seeded.redis) == before


def test_head_answers_the_same_without_the_body(looking, route):
    whole, head = looking.get(path_for(route)), looking.head(path_for(route))

    assert head.status_code == 200
    assert head.data == b""
    assert head.content_type == whole.content_type
    if route.name == "operationReport":
        assert "Content-Length" not in head.headers
    else:
        assert int(head.headers["Content-Length"]) > 1


def test_options_says_what_it_takes(looking, route):
    answer = looking.options(path_for(route))

    assert answer.status_code == 200
    assert {"GET", "HEAD", "OPTIONS"} <= set(re.split(r", ?", answer.headers["Allow"]))


def test_what_it_does_not_know_is_refused_by_name(looking, route):
    path = path_for(route)
    answer = looking.get(f"{path}{'&' if '?' in path else '?'}colour=red")

    assert answer.status_code == 400
    assert "“colour”" in answer.json["detail"]
    assert answer.json["type"] == "urn:qless:unknown-parameter"


def test_it_is_not_kept_by_caches(looking, route):
    kept = looking.get(path_for(route)).headers["Cache-Control"]

    assert kept == ("no-cache" if route.name == "openapi" else "no-store")


def test_without_redis_it_says_so(route):
    with Client("redis://:s3cr3t-word@127.0.0.1:1/0") as nobody:
        answer = Browser(create_app(nobody)).get(path_for(route))

    if route.name == "openapi":
        assert answer.status_code == 200
        return
    assert answer.status_code == 503
    assert answer.content_type == "application/problem+json"
    assert answer.json["type"] == "urn:qless:redis-unavailable"
    assert answer.headers["Retry-After"] == "5"
    assert "s3cr3t-word" not in answer.text


def urls_in(value):
    if isinstance(value, dict):
        yield from (each for name, each in value.items() if name == "url" and each.startswith("/"))
        for each in value.values():
            yield from urls_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from urls_in(each)


@pytest.mark.parametrize("mounted", ["", "/ops/qless"])
def test_every_url_in_an_answer_leads_to_what_it_names(seeded, mounted):
    web = Browser(create_app(seeded))
    found = set()
    for route in ADDRESSES:
        if "<" not in route.rule and route.name not in {"openapi", "server", *ASKED}:
            answer = web.get(
                f"/api/v1{route.rule}?limit=500"
                if route.name != "overview"
                else "/api/v1/overview",
                base_url=f"http://localhost{mounted}",
            )
            found |= set(urls_in(answer.json))

    assert len(found) > 100
    assert {url for url in found if not url.startswith(f"{mounted}/api/v1/")} == set()
    for url in sorted(found):
        answer = web.get(url.removeprefix(mounted))
        # Lists keep what is gone.
        assert answer.status_code in ({200, 404} if "/jobs/" in url[:20] else {200}), url


@pytest.mark.parametrize("name", AWKWARD, ids=lambda name: ascii(name)[1:21])
@pytest.mark.parametrize(
    "rule",
    [
        "/queues/{}",
        "/queues/{}/recurring",
        "/failures/{}/jobs",
        "/tags/{}/jobs",
        "/jobs/{}",
    ],
)
def test_b8_any_name_leads_to_exactly_what_has_it(looking, name, rule):
    answer = looking.get("/api/v1" + rule.format(quote(tilde(name))))

    assert answer.status_code == 200
    told = answer.json
    shown = told.get("items", [told])
    assert shown
    for each in shown:
        row = each.get("job", each)
        assert name in {row.get("jid"), row.get("name"), row.get("queue"), *row.get("tags", ())}


READER = (
    "on", ">secret", "resetchannels", "~ql:*", "&ql:*",
    "+@read", "+@connection", "+@pubsub", "+info", "+time",
)  # fmt: skip


def test_a_user_who_may_only_read_is_answered_too(seeded, route):
    seeded.redis.execute_command("ACL", "SETUSER", "console", *READER)
    with Client(seeded.url.replace("unix://", "unix://console:secret@")) as reader:
        answer = Browser(create_app(reader)).get(path_for(route))
    seeded.redis.execute_command("ACL", "DELUSER", "console")

    assert answer.status_code == 200
