"""What tests of the API share: the app of the console, a seeded shop, the document as a judge."""

from __future__ import annotations

import json
import logging

import jsonschema_rs
import pytest
from werkzeug.test import Client as Browser

from qless_core import Client
from qless_core.embedded import EmbeddedServer
from qless_web import create_app
from tests.support.shop import AWKWARD, Shop, plant
from tests.support.there import THERE
from tests.web.conftest import Lint


@pytest.fixture(scope="session")
def seeded():
    """One server with a shop, and something by every awkward name, for tests that only look."""
    with EmbeddedServer() as server, Client(server.url) as client:
        plant(client)
        _do(client, create_app(client).test_client())
        yield client


def _do(client, browser):
    """Have an alert, an option that was set, an operation, which nobody runs here, and a trash."""
    client.queues["mail"].put("Mistake", {}, jid="mistake")
    browser.post("/api/v1/jobs/cancel", json={"jids": ["mistake"]})
    (rests,) = browser.get("/api/v1/trash").json["items"]
    THERE["cancelled"] = rests["operation"]
    browser.post("/api/v1/config/jobs-history/set", json={"value": "604800"})
    alert = {"name": "late", "kind": "queue-age", "url": "https://hooks.example.com/"}
    browser.post("/api/v1/alerts/save", json=alert)
    body = {"action": "untrack", "selection": {"group": "webhooks-HTTPError"}}
    THERE["operation"] = browser.post("/api/v1/operations", json=body).json["id"]


@pytest.fixture
def looking(seeded):
    """Ask the API of the seeded shop."""
    return Browser(Lint(create_app(seeded)))


@pytest.fixture
def app(client):
    """Make the console of an empty server."""
    return create_app(client)


@pytest.fixture
def api(app):
    """Ask the API of that console."""
    return Browser(Lint(app))


@pytest.fixture
def shop(client):
    """Put jobs where a test wants them."""
    return Shop(client)


@pytest.fixture
def stored(redis):
    """Give a function that reads the whole database, but for the audit."""

    def read():
        return {
            key: redis.dump(key)
            for key in sorted(redis.scan_iter(count=1000))
            if key != "ql:web:audit"
        }

    return read


@pytest.fixture
def audit(caplog):
    """Give the audit's records as they come."""
    caplog.set_level(logging.INFO, logger="qless.audit")

    def records():
        return [
            json.loads(each.getMessage()) for each in caplog.records if each.name == "qless.audit"
        ]

    return records


@pytest.fixture(scope="session")
def document():
    """Give the OpenAPI document."""
    return create_app("redis://localhost:1/0").test_client().get("/api/v1/openapi.json").json


@pytest.fixture(scope="session")
def judge(document):
    """Give a function that says what is wrong with a value, by a schema of the document."""

    def complaints(schema, value):
        whole = {**schema, "components": document["components"]}
        found = jsonschema_rs.validator_for(whole).iter_errors(value)
        return [f"{list(each.instance_path)}: {each.message}" for each in found]

    return complaints


@pytest.fixture(params=AWKWARD, ids=lambda name: ascii(name)[1:21])
def awkward(request):
    """Give each of the awkward names in turn."""
    return request.param
