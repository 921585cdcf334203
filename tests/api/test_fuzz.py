"""Requests of every kind, made from the API's own description, find nothing that is not in it."""

from __future__ import annotations

from qless_web import create_app
from tests.support.fuzzing import fuzz


def test_nothing_is_answered_otherwise_than_described(client):
    found = fuzz(create_app(client), client, examples=320)

    assert found.failures == {}
    assert found.requests > 250
    assert {200, 400, 404, 409} <= {code for codes in found.statuses.values() for code in codes}


def test_an_answer_that_is_not_as_described_is_found(client, monkeypatch):
    monkeypatch.setattr("qless_web.api.acting._NAMED", "1")

    found = fuzz(create_app(client), client, examples=12, only="/jobs/{jid}/retry")

    assert any("retry" in operation for operation in found.failures)
