"""Every error of the queue has its status, the same wherever it is answered."""

from __future__ import annotations

import doctest
import json

import pytest

from qless_core import errors
from qless_web import statuses
from tests.support.html import HTMX


def test_the_examples_hold():
    outcome = doctest.testmod(statuses)
    assert (outcome.failed, outcome.attempted) == (0, 3)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.JobNotFound("a"), 404),
        (errors.RecurringJobNotFound("a"), 404),
        (errors.WorkerNotFound("w"), 404),
        (errors.JobNotRunning("a", "waiting"), 409),
        (errors.BadArgument("no such thing"), 400),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Exception) else None,
)
def test_an_error_has_one_status_however_it_is_asked_for(web, shop, monkeypatch, error, status):
    def refuse(*_):
        raise error

    shop.fail("a")
    monkeypatch.setattr("qless_core.commands.Commands.bulk_move", refuse)

    assert web.post("/jobs/a/retry").status_code == status
    assert web.post("/jobs/a/retry", **HTMX).status_code == status
    assert web.post("/retry", json.dumps({"id": "a"})).status_code == status
