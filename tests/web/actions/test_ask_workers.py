"""What a worker is asked from the console."""

from __future__ import annotations

import pytest

from qless_core.records import WorkerInfo
from tests.support.html import HTMX, toasts


@pytest.mark.parametrize(
    ("request_", "fields"), [("pause", {}), ("resume", {}), ("stop", {"expected": "1"})]
)
def test_a_worker_hears_what_an_operator_asks(web, client, request_, fields):
    client.workers.beat("w", WorkerInfo(state="other"))

    told = toasts(web.follow(web.post(f"/workers/w/{request_}", fields)))

    assert f"Asked w to {request_}:" in told
    assert client.workers.beat("w", WorkerInfo(state="other")) == request_


def test_stop_asks_first(web, client):
    client.workers.beat("w", WorkerInfo())

    answer = web.post("/workers/w/stop")

    assert answer.status_code == 422
    assert "finishes those that it has, and ends" in answer.text
    assert client.workers["w"].asked == ""


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_b65_a_worker_that_hears_no_requests_is_not_asked(web, client, headers):
    client.queues["mail"].pop()

    answer = web.post("/workers/worker-1/pause", **headers)

    assert answer.status_code == 404
    assert "Worker worker-1 is not known, or takes no requests" in answer.text


def test_b65_a_worker_that_lives_comes_back_when_it_was_forgotten(web, client):
    client.workers.beat("a,b:c", WorkerInfo())

    web.post("/workers/a~2Cb~3Ac/forget", {"expected": "1"})
    assert client.workers.counts == []

    client.workers.beat("a,b:c", WorkerInfo())
    assert [each.name for each in client.workers.counts] == ["a,b:c"]
