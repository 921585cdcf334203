"""What holds for every action there is: allowed, asked, guarded, recorded, documented."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import pytest
from flask import url_for

import qless_web
from qless_core.client import Client
from qless_web import create_app
from qless_web.access import Permission
from qless_web.actions.action import ACTIONS
from qless_web.console import EXTENSION
from tests.support.html import HTMX, question
from tests.support.shop import OPERATION, make_ready

ROOT = Path(qless_web.__file__).parents[1]

#: What each address names, and what its form brings.
NAMES = {
    "alert": "Late",
    "view": "Busy",
    "jid": "a",
    "queue": "mail",
    "group": "boom",
    "worker": "worker-1",
    "option": "heartbeat",
    "operation": OPERATION,
}
FIELDS = {
    "expected": "1",
    "queue": "slow",
    "priority": "5",
    "tag": "x",
    "dependency": "first",
    "jids": "a",
    "delay": "2h",
    "action": "retry",
    "klass": "Job",
    "data": '{"n": 2}',
    "retries": "7",
    "value": "90",
    "name": "Mail",
    "address": "/queues/mail",
    "kind": "queue-age",
    "url": "https://hooks.example.com/b",
    "for": "2h",
    "note": "here",
    "assignee": "kim",
}

#: Tried elsewhere: it sends something to the world outside, which is not there in these tests.
ELSEWHERE = {"try_alert"}

#: Of these, what people type into the question.
TYPED = (
    "queue",
    "priority",
    "tag",
    "delay",
    "klass",
    "data",
    "retries",
    "value",
    "name",
    "url",
    "note",
    "assignee",
)


@pytest.fixture(params=sorted(ACTIONS.keys() - ELSEWHERE))
def action(request):
    return ACTIONS[request.param]


@pytest.fixture
def address(app, action):
    """Give the address of an action on what there is."""
    names = {name: NAMES[name] for name in re.findall(r"<name:(\w+)>", action.rule)}
    with app.test_request_context():
        return url_for(f"act.{action.name}", **names)


def asking(address):
    """Give where the question of an action is asked, with what was chosen."""
    chosen = {"/ticked/": "?jids=a", "/operations/new": "?action=retry&jids=a"}
    return address + next((query for part, query in chosen.items() if part in address), "")


@pytest.fixture
def ready(action, shop):
    """Bring job `a` into the state that the action is for."""
    make_ready(shop, action.name)
    return shop


@pytest.mark.usefixtures("ready")
def test_it_asks_when_opened_and_changes_nothing(web, address, stored):
    before = stored()

    page = web.page(asking(address))

    asked = question(page)
    assert asked.address == web.prefix + address
    assert asked.method == "post"
    assert [text for text in asked.buttons if re.fullmatch(r"[A-Z][a-z ]+ 1 \w[\w ]*", text)]
    assert page.one("h1").text
    assert stored() == before


@pytest.mark.usefixtures("ready")
def test_it_does_it_from_its_own_question(web, address, stored):
    asked = question(web.page(asking(address)))
    before = stored()

    answer = web.submit(asked, **{name: FIELDS[name] for name in TYPED})

    assert answer.status_code == 303
    assert stored() != before


@pytest.mark.usefixtures("ready")
def test_it_is_refused_where_the_console_is_read_only(client, visit, address, stored, audit):
    web = visit(create_app(client, read_only=True))
    before = stored()

    for headers in ({}, HTMX):
        answer = web.post(address, FIELDS, **headers)
        assert answer.status_code == 403
        assert "Nothing was changed: this console is read-only." in answer.text
    assert web.get(address).status_code == 403
    assert stored() == before
    assert {each["outcome"] for each in audit()} == {"refused"}


@pytest.mark.usefixtures("ready")
def test_it_is_refused_where_redis_lets_this_user_only_read(
    server, redis, visit, address, stored, clock
):
    rights = [
        "on",
        "nopass",
        "~ql:*",
        "&ql:*",
        "+@read",
        "+@connection",
        "+@pubsub",
        "+info",
        "+time",
    ]
    redis.execute_command("acl", "setuser", "reader", "on", "nopass", *rights)
    with Client(f"{server.url}?username=reader&password=x", clock=clock) as reader:
        web = visit(create_app(reader))
        before = stored()

        answer = web.post(address, FIELDS)

        assert answer.status_code == 403
        assert "this Redis user may only read" in answer.text
        assert stored() == before
    redis.execute_command("acl", "deluser", "reader")


@dataclass
class Withheld:
    """Gives every permission but one."""

    permission: str

    def refusal(self, permission):
        return "you may not" if permission == self.permission else ""


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize("withheld", get_args(Permission))
def test_it_needs_one_permission(client, visit, address, action, stored, withheld):
    app = create_app(client)
    app.extensions[EXTENSION] = replace(app.extensions[EXTENSION], access=Withheld(withheld))
    before = stored()

    answer = visit(app).post(address, FIELDS)

    if action.permission == withheld:
        assert answer.status_code == 403
        assert "Nothing was changed: you may not." in answer.text
        assert stored() == before
    else:
        assert answer.status_code == 303
        assert stored() != before


def test_what_goes_for_good_needs_a_permission_of_its_own():
    destroying = {name for name, each in ACTIONS.items() if each.permission == "destroy"}

    assert destroying == {"cancel_job", "cancel_jobs", "cancel_group", "start_cancelling"}


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"},
    ],
    ids=str,
)
def test_b85_another_site_cannot_do_it(web, address, stored, headers):
    before = stored()

    assert web.post(address, FIELDS, **headers).status_code == 403
    assert stored() == before


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://localhost"},
    ],
    ids=str,
)
def test_b85_our_own_pages_can(web, address, stored, headers):
    before = stored()

    assert web.post(address, FIELDS, **headers).status_code == 303
    assert stored() != before


@pytest.mark.usefixtures("ready")
def test_it_leaves_one_record(web, address, action, audit):
    web.post(address, FIELDS)

    (record,) = audit()
    assert record["action"] == action.name
    assert record["outcome"] == "done"
    assert record["counts"]["done"] == 1
    assert record["took_ms"] >= 0
    names = {name: NAMES[name] for name in re.findall(r"<name:(\w+)>", action.rule)}
    assert names.items() <= record["on"].items()


@pytest.mark.usefixtures("ready")
def test_a_second_time_is_no_error_of_the_console(web, address):
    web.post(address, FIELDS)

    assert web.post(address, FIELDS).status_code in {303, 404, 409, 422}


@pytest.mark.parametrize("fields", [{}, {"expected": "x"}, {"targets": "?"}, {"return_to": "//x"}])
def test_on_what_is_not_there_it_is_no_error_of_the_console(web, address, fields):
    assert web.post(address, fields).status_code in {303, 400, 404, 409, 422}
    assert web.post(address, {**FIELDS, **fields}).status_code in {303, 400, 404, 409, 422}
    assert web.get(address).status_code in {200, 404, 409}


def test_without_redis_it_says_so(visit, address):
    with Client("unix:///nowhere/there.sock") as nobody:
        web = visit(create_app(nobody))

        assert web.post(address, FIELDS).status_code == 503
        answer = web.post(address, FIELDS, **HTMX)
        assert answer.status_code == 503
        assert "Redis cannot be reached" in answer.text


def test_it_has_an_entry_in_the_reference(action):
    text = (ROOT / "docs" / "reference" / "actions.md").read_text(encoding="utf-8")

    assert f"| `{action.name}` |" in text
    assert f"`{action.rule.replace('name:', '')}`" in text


def test_the_audit_says_who_where_a_proxy_knows(app, shop, audit, caplog):
    caplog.set_level(logging.INFO, logger="qless.audit")
    shop.fail("a")

    app.test_client().post(
        "/jobs/a/retry", environ_overrides={"REMOTE_USER": "dana", "REMOTE_ADDR": "10.0.0.7"}
    )

    (record,) = audit()
    assert (record["user"], record["from"]) == ("dana", "10.0.0.7")
