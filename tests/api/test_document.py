"""The OpenAPI document says all there is, and nothing else."""

from __future__ import annotations

import json
import re

import pytest

from qless_web import create_app
from qless_web.actions.action import ACTIONS
from qless_web.api.acting import served
from qless_web.api.jobs import RECURRING_JOB
from qless_web.api.openapi import path_of
from qless_web.api.text import dumps


def operations(document):
    return [
        (method, path, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]


def described(operation):
    answers = [each for status, each in operation["responses"].items() if status < "300"]
    bodies = [operation.get("requestBody", {}), *answers]
    contents = [each for body in bodies for each in body.get("content", {}).values()]
    return [*contents, *operation["parameters"]]


def test_every_address_is_in_it_and_every_entry_is_an_address(app, document):
    served = {
        (method.lower(), path_of(rule.rule).removeprefix("/api/v1"))
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith("api.")
        for method in rule.methods & {"GET", "POST", "PUT", "PATCH", "DELETE"}
    }

    assert served == {(method, path) for method, path, _ in operations(document)}
    assert len(served) > 40


def test_every_action_of_the_console_is_in_it(document):
    posts = {
        operation["operationId"]
        for method, _, operation in operations(document)
        if method == "post"
    }

    snake = {re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name) for name in posts}
    # These are parts of what `startOperation` does.
    within = {"prepare_operation", "start_cancelling"}
    assert snake == set(ACTIONS) - within


def test_every_operation_has_a_name_of_its_own_and_a_sentence(document):
    every = [operation for _, _, operation in operations(document)]

    assert len({operation["operationId"] for operation in every}) == len(every)
    assert [each["operationId"] for each in every if not each["summary"].endswith(".")] == []


def test_every_example_is_as_its_schema_says(document, judge):
    examples = [
        (path, each["schema"], each["example"])
        for _, path, operation in operations(document)
        for each in described(operation)
        if "example" in each
    ]
    problem = document["components"]["responses"]["Problem"]["content"]["application/problem+json"]
    examples.append(("problem", problem["schema"], problem["example"]))

    assert len(examples) > 60
    assert [(path, found) for path, *rest in examples if (found := judge(*rest))] == []


def test_the_example_of_a_recurring_job_is_as_the_schema_says(document, judge):
    content = document["paths"]["/jobs/{jid}"]["get"]["responses"]["200"]["content"]

    assert judge(content["application/json"]["schema"], json.loads(dumps(RECURRING_JOB))) == []


def test_a_schema_refuses_what_is_not_as_it_says(document, judge):
    schema = {"$ref": "#/components/schemas/Queue"}
    content = document["paths"]["/queues/{queue}"]["get"]["responses"]["200"]["content"]
    example = content["application/json"]["example"]

    assert judge(schema, example) == []
    assert judge(schema, {**example, "waiting": "many"}) != []
    assert judge(schema, {**example, "more": 1}) != []
    assert judge(schema, {k: v for k, v in example.items() if k != "paused"}) != []


OPERATIONS = [
    ({"action": "retry", "selection": {"jids": ["a"]}}, True),
    ({"action": "retry", "selection": {"q": "mail"}, "options": {"delay": 60}}, True),
    ({"action": "edit", "selection": {"group": "g"}, "options": {"set": {"a": None}}}, True),
    ({"action": "edit", "selection": {"group": "g"}, "options": {"data": '{"a": 1}'}}, True),
    ({"action": "time_out", "selection": {"group": "g"}, "dry_run": True, "note": "x"}, True),
    ({"action": "retry", "selection": {}}, False),
    ({"action": "retry", "selection": {"jids": ["a"], "group": "g"}}, False),
    ({"action": "retry", "selection": {"jids": []}}, False),
    ({"action": "retry", "selection": {"group": "g"}, "options": {"tags": ["x"]}}, False),
    ({"action": "move", "selection": {"group": "g"}}, False),
    ({"action": "tag", "selection": {"group": "g"}, "options": {}}, False),
    ({"action": "edit", "selection": {"group": "g"}, "options": {"set": {}}}, False),
    ({"action": "edit", "selection": {"group": "g"}, "options": {"retry": True}}, False),
    (
        {"action": "edit", "selection": {"group": "g"}, "options": {"set": {"a": 1}, "data": 1}},
        False,
    ),
    ({"action": "retry", "selection": {"group": "g"}, "note": "x" * 4_001}, False),
    ({"action": "retry", "selection": {"group": "g"}, "options": None}, False),
    ({"action": [], "selection": {"group": "g"}}, False),
    ({"action": "cancel", "selection": {"group": "g"}, "options": {"dependents": None}}, False),
]


@pytest.mark.parametrize(("body", "allowed"), OPERATIONS, ids=lambda each: ascii(each)[:60])
def test_an_operation_is_refused_where_the_document_says_so(api, document, judge, body, allowed):
    content = document["paths"]["/operations"]["post"]["requestBody"]["content"]
    told = judge(content["application/json"]["schema"], body)

    answer = api.post("/api/v1/operations", json=body)

    # Nothing has failed here, and nobody keeps an index: what is allowed cannot be done now.
    possible = {202} if "jids" in body["selection"] else {409}
    assert (told == []) is allowed
    assert {answer.status_code} == (possible if allowed else {400})


def test_its_addresses_are_those_below_the_prefix():
    app = create_app("redis://localhost:1/0")

    answer = app.test_client().get("/api/v1/openapi.json", base_url="http://localhost/ops/qless")

    assert answer.json["servers"] == [{"url": "/ops/qless/api/v1"}]
    assert answer.json["openapi"].startswith("3.1.")


def test_a_copy_that_is_current_is_not_sent_again(api):
    first = api.get("/api/v1/openapi.json")

    again = api.get("/api/v1/openapi.json", headers={"If-None-Match": first.headers["ETag"]})

    assert again.status_code == 304
    assert again.data == b""


@pytest.mark.parametrize("name", sorted(each.name for each in served()))
def test_what_an_action_takes_is_what_its_question_asks_for(app, shop, name):
    action = ACTIONS[name]
    shop.put("first", queue="else")
    if name.endswith("_recurring"):
        shop.client.queues["mail"].recur("Job", {}, 60, jid="a")
    else:
        shop.put("a", depends=["first"])
    names = {
        "alert": "Late",
        "group": "boom",
        "jid": "a",
        "option": "heartbeat",
        "queue": "mail",
        "view": "Busy",
        "worker": "worker-1",
    }
    path = re.sub(r"<name:(\w+)>", lambda found: names[found[1]], action.rule)
    if name in {"retry_jobs", "cancel_jobs", "move_jobs"}:
        path += "?jids=a"
    with app.test_request_context(path):
        from qless_web.actions.form import Form  # noqa: PLC0415 - within the request

        form = Form({"jids": ["a"]})
        asked = action.ask(
            form, **{each: names[each] for each in re.findall(r"<name:(\w+)>", action.rule)}
        )

    # Programs say a moment in `when`, too, and let the jid of a copy be made up.
    of_forms = {"put_job": {"at"}, "duplicate_job": {"at", "jid"}}.get(name, set())
    taken = {field.sent_as for field in action.takes}
    assert {each.name for each in asked.inputs} - taken == of_forms
