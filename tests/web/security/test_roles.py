"""Every action, by every role, by every way in: one table, made from what is declared."""

from __future__ import annotations

import json
import re
from itertools import product

import pytest
from flask import url_for

from qless_web import create_app
from qless_web.access import NEEDS, ROLES, Grant
from qless_web.accounts.users import User, write
from qless_web.actions.action import ACTIONS
from qless_web.api import acting
from qless_web.presenters.page import Link
from tests.support.html import HTMX
from tests.support.shop import make_ready
from tests.web.actions.test_every_action import FIELDS, NAMES
from tests.web.security.conftest import KEY, PASSWORD

#: The original's address of an action, and the body that it takes.
ORIGINAL = {
    "retry_group": ("/retryall", {"type": "boom"}),
    "cancel_group": ("/cancelall", {"type": "boom"}),
    "unfail_all": ("/unfail_all", None),
    "retry_job": ("/retry", {"id": "a"}),
    "cancel_jobs": ("/cancel", ["a"]),
    "move_job": ("/move", {"id": "a", "queue": "slow"}),
    "set_priority": ("/priority", {"a": 5}),
    "add_tag": ("/tag", {"a": ["x"]}),
    "remove_tag": ("/untag", {"a": ["x"]}),
    "track_job": ("/track", {"id": "a"}),
    "untrack_job": ("/untrack", ["a"]),
    "time_out_job": ("/timeout", {"jid": "a"}),
    "undepend_job": ("/undepend", {"id": "a", "dependency": "first"}),
    "pause_queue": ("/pause", {"queue": "mail"}),
    "unpause_queue": ("/unpause", {"queue": "mail"}),
}

#: What anybody is who has not signed in.
NOBODY = "nobody"

WAYS = ("form", "htmx", "api", "original")

TABLE = list(product(sorted(ACTIONS), (NOBODY, *ROLES)))


#: Actions that the API has at an address of another form, and the body that it takes.
API = {
    "start_operation": ("/api/v1/operations", {"action": "retry", "selection": {"jids": ["a"]}}),
    "restore_jobs": (f"/api/v1/trash/{NAMES['operation']}/restore", {}),
    "start_cancelling": ("/api/v1/operations", {"action": "cancel", "selection": {"jids": ["a"]}}),
}

#: Actions that only forms have: the API has them as a part of others.
FORMS_ALONE = {"prepare_operation"}


def ways(name):
    """Give the ways in that an action has."""
    lost = {"original"} - ({"original"} if name in ORIGINAL else set())
    return [way for way in WAYS if way not in lost | ({"api"} if name in FORMS_ALONE else set())]


def body_for_api(action):
    """Give what the API's form of an action is sent."""
    samples = {"dependency": "first", "tags": ["x"], "jids": ["a"], "queue": "slow", "priority": 5}
    return {
        field.name: samples.get(field.name, field.example)
        for field in action.takes
        if field.name in samples or (field.required and field.default is None)
    }


def send(app, action, way, browser):
    names = {name: NAMES.get(name, "a") for name in re.findall(r"<name:(\w+)>", action.rule)}
    with app.test_request_context():
        by_form = url_for(f"act.{action.name}", **names)
        by_api = body = None
        if way == "api":
            by_api, body = API.get(action.name) or (
                url_for(f"api.{acting.name_of(action)}", **names),
                body_for_api(action),
            )
    match way:
        case "form":
            return browser.post(by_form, data=FIELDS)
        case "htmx":
            return browser.post(by_form, data=FIELDS, headers=HTMX)
        case "api":
            return browser.post(by_api, json=body)
    address, body = ORIGINAL[action.name]
    return browser.post(address, data=None if body is None else json.dumps(body))


def visitor(app, role):
    browser = app.test_client()
    if role != NOBODY:
        signed = browser.post("/sign-in", data={"name": role, "password": PASSWORD})
        assert signed.status_code == 303
    return browser


@pytest.mark.parametrize(("name", "role"), TABLE, ids=map("-".join, TABLE))
def test_an_action_is_done_for_those_alone_who_may(guarded, shop, stored, redis, name, role):
    action = ACTIONS[name]
    may = role != NOBODY and ROLES.index(role) >= ROLES.index(NEEDS[action.permission])
    browser = visitor(guarded, role)
    for way in ways(name):
        redis.flushall()
        make_ready(shop, name)
        before = stored()

        answer = send(guarded, action, way, browser)

        if may:
            assert answer.status_code not in {401, 403}, (way, answer.text)
            # That it does what it should is tried for each action where it is at home.
            assert answer.status_code < 400 or stored() == before, way
        else:
            assert_refused(answer, action, role, way)
            assert stored() == before, way


def assert_refused(answer, action, role, way):
    if role == NOBODY:
        assert answer.status_code == (303 if way == "form" else 401) or way == "original"
        assert answer.status_code in {303, 401}
        assert answer.headers.get("Location", "/sign-in").startswith("/sign-in")
        return
    assert answer.status_code == 403, (way, answer.text)
    needed = NEEDS[action.permission]
    assert f"this needs {needed}, and {role} is {role}" in answer.text


def test_the_original_reaches_no_action_but_those_of_the_table(app):
    rules = {
        rule.rule for rule in app.url_map.iter_rules() if rule.endpoint.startswith("act.original_")
    }

    assert rules == {address for address, _ in ORIGINAL.values()}


def test_every_address_that_takes_a_post_is_known_here(app):
    """What changes something is an action, and so in the table; these do nothing to jobs."""
    harmless = {"sign_in.enter", "sign_in.leave"}
    posts = {
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if {"POST", "PUT", "PATCH", "DELETE"} & (rule.methods or set())
    }
    acts = {f"act.{name}" for name in ACTIONS}
    apis = {f"api.{acting.name_of(action)}" for action in ACTIONS.values()}
    originals = {name for name in posts if name.startswith("act.original_")}

    assert posts - acts - apis - originals == harmless | OF_ONES_OWN


#: Addresses that change nothing but a cookie of whoever asks.
OF_ONES_OWN = {"preferences.change", "preferences.forget"}


# -- What a role is limited to


@pytest.fixture
def limited(client, tmp_path, digest):
    """Make a browser of somebody who is limited, and what it was limited to."""

    def made(**limits):
        place = tmp_path / "limited"
        write(place, [User("erik", Grant("operator", **limits), digest)])
        app = create_app(client, users_file=place, secret_keys=(KEY,))
        return visitor_named(app, "erik")

    return made


def visitor_named(app, name):
    browser = app.test_client()
    assert browser.post("/sign-in", data={"name": name, "password": PASSWORD}).status_code == 303
    return browser


@pytest.mark.parametrize(
    ("address", "fields", "status"),
    [
        ("/jobs/mine/retry", {}, 303),
        ("/jobs/theirs/retry", {}, 403),
        ("/jobs/mine/move", {"queue": "mail-slow"}, 303),
        ("/jobs/mine/move", {"queue": "shop"}, 403),
        ("/ticked/retry", {"jids": ["mine"], "expected": "1"}, 303),
        ("/ticked/retry", {"jids": ["mine", "theirs"], "expected": "2"}, 403),
        ("/ticked/retry", {"targets": ["theirs:failed"], "expected": "1"}, 403),
        ("/ticked/retry", {"jids": ["odd\r\njid"], "expected": "1"}, 403),
        ("/jobs/first/cancel", {"expected": "2"}, 403),
        ("/failed/boom/retry", {"expected": "2"}, 403),
        ("/unfail", {"expected": "1"}, 403),
        ("/queues/mail/pause", {}, 303),
        ("/queues/shop/pause", {}, 403),
        ("/recurring/again/pause", {}, 403),
        ("/workers/worker-1/forget", {"expected": "1"}, 403),
    ],
)
def test_somebody_may_be_limited_to_some_queues(limited, shop, stored, address, fields, status):
    shop.fail("mine")
    shop.fail("theirs", queue="shop")
    shop.fail("odd\njid", queue="shop")
    shop.put("first")
    shop.put("second", queue="shop", depends=["first"])
    shop.client.queues["shop"].recur("Job", {}, 60, offset=60, jid="again")
    browser = limited(queues=("mail*",))
    before = stored()

    answer = browser.post(address, data=fields)

    assert answer.status_code == status, answer.text
    assert (stored() == before) == (status == 403)


def test_somebody_may_be_limited_to_some_actions(limited, shop, stored):
    shop.fail("a")
    browser = limited(actions=("retry_*",))
    before = stored()

    refused = browser.post("/jobs/a/cancel", data={"expected": "1"})
    assert refused.status_code == 403
    assert "erik may not do this" in refused.text
    assert browser.post("/api/v1/jobs/a/cancel").status_code == 403
    assert browser.post("/cancel", data='["a"]').status_code == 403
    assert stored() == before
    assert browser.post("/jobs/a/retry").status_code == 303


# -- What is shown


@pytest.mark.parametrize(("role", "said"), [("viewer", "needs operator"), ("operator", "")])
def test_a_button_says_whose_it_is(guarded, shop, role, said):
    shop.fail("a")
    page = visitor(guarded, role).get("/jobs/a").text

    assert ("<small>needs operator</small>" in page) == bool(said)
    assert ('action="/jobs/a/retry"' in page) != bool(said)


def test_a_button_of_a_queue_that_is_somebody_elses_says_so(limited, client):
    client.queues["mail"].put("A", {})
    client.queues["shop"].put("A", {})
    browser = limited(queues=("mail*",))

    assert "<small>not for shop</small>" in browser.get("/queues/shop").text
    assert "not for mail" not in browser.get("/queues/mail").text


def test_the_audit_says_who_did_it_and_who_was_not_let(guarded, shop, audit):
    shop.fail("a")

    visitor(guarded, "viewer").post("/jobs/a/retry")
    visitor(guarded, "operator").post("/jobs/a/retry")

    assert [(each["user"], each["outcome"]) for each in audit()] == [
        ("viewer", "refused"),
        ("operator", "done"),
    ]


def test_a_link_that_is_no_action_needs_nothing(guarded):
    from qless_web.allowed import hint, refusal  # noqa: PLC0415 - asked within a request

    with guarded.test_request_context():
        assert hint(Link("queues.index")) == ""
        assert refusal(Link("queues.index")) == ""
