"""Queues are paused and unpaused, workers forgotten."""

from __future__ import annotations

from qless_web.formatting import tilde
from tests.support.html import HTMX, question, toasts


def test_a_queue_is_paused_and_unpaused(web, shop, client):
    shop.put("a")

    assert toasts(web.follow(web.post("/queues/mail/pause"))) == "Paused mail."
    assert client.queues["mail"].is_paused
    assert client.queues["mail"].pop() is None

    assert toasts(web.follow(web.post("/queues/mail/unpause"))) == "Unpaused mail."
    assert client.queues["mail"].pop().jid == "a"


def test_b39_pausing_twice_is_pausing(web, client):
    web.post("/queues/mail/pause")

    assert web.post("/queues/mail/pause").status_code == 303
    assert client.queues["mail"].is_paused


def test_the_address_asks_when_it_is_opened(web, client):
    page = web.page("/queues/mail/pause")
    assert not client.queues["mail"].is_paused
    assert "Jobs that run go on." in page.text

    web.submit(question(page))

    assert client.queues["mail"].is_paused


def test_b01_b03_the_queue_of_that_very_name_is_paused(web, awkward, client, shop):
    # A name that is too long for an address is found there while there is such a queue.
    shop.put("there", queue=awkward)
    shop.put("a", queue="a")

    web.post(f"/queues/{tilde(awkward)}/pause")

    assert client.queues[awkward].is_paused
    assert not client.queues["a"].is_paused


def test_htmx_is_told(web):
    answer = web.post("/queues/mail/pause", **HTMX)

    assert answer.status_code == 200
    assert answer.headers["HX-Trigger"] == "qless:changed"
    assert "Paused mail." in answer.text


def test_a_worker_is_forgotten_after_asking(web, shop, client):
    shop.run("a")
    assert web.post("/workers/worker-1/forget").status_code == 422
    page = web.page("/workers/worker-1/forget")
    assert "It holds 1 job, which stays locked until its lock ends." in page.text

    answer = web.submit(question(page))

    assert client.workers.counts == []
    assert answer.headers["Location"] == f"{web.prefix}/workers"
    assert "Forgot worker-1." in toasts(web.follow(answer))


def test_a_worker_of_any_name_is_forgotten(web, awkward, client):
    client.queues["mail"].put("Job", {}, jid="a")
    client.commands.pop("mail", awkward, 1)

    web.submit(question(web.page(f"/workers/{tilde(awkward)}/forget")))

    assert client.workers.counts == []
