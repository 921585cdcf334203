"""A console whose operations are done for real: on a worker of qless, in this process."""

from __future__ import annotations

import pytest

from qless_core.client import Client
from qless_web import create_app
from qless_web.console import EXTENSION
from tests.support.polling import eventually
from tests.support.shop import Shop


@pytest.fixture
def client(server, redis):  # noqa: ARG001 - `redis` empties the server
    """Make a client whose time goes on, as that of operations does."""
    with Client(server.url, worker_name="worker-1") as client:
        yield client


@pytest.fixture
def shop(client):
    return Shop(client)


@pytest.fixture
def app(client):
    """Make a console that does operations."""
    app = create_app(client, trash_hours=24)
    background = app.extensions[EXTENSION].operations
    background.start()
    yield app
    background.close()


@pytest.fixture
def web(app):
    return app.test_client()


class Operations:
    """Orders operations by the API, and follows them."""

    def __init__(self, web):
        self.web = web

    def order(self, action, selection, *, status=202, **more):
        body = {"action": action, "selection": selection, **more}
        answer = self.web.post("/api/v1/operations", json=body)
        assert answer.status_code == status, answer.text
        return answer.json

    def look(self, operation):
        answer = self.web.get(f"/api/v1/operations/{operation}")
        assert answer.status_code == 200, answer.text
        return answer.json

    def tell(self, operation, verb, status=200):
        answer = self.web.post(f"/api/v1/operations/{operation}/{verb}")
        assert answer.status_code == status, answer.text
        return answer.json

    def until(self, operation, *states):
        """Wait until an operation is in one of the states; answers it."""
        wanted = states or ("done",)

        def look():
            found = self.look(operation)
            return found if found["state"] in wanted else None

        return eventually(look)

    def do(self, action, selection, **more):
        return self.until(self.order(action, selection, **more)["id"])

    def undo(self, operation):
        return self.until(self.tell(operation, "undo", 202)["id"])

    def report(self, operation):
        lines = self.web.get(f"/api/v1/operations/{operation}/report").text.splitlines()
        return [self.web.application.json.loads(line) for line in lines]


@pytest.fixture
def operations(web):
    return Operations(web)
