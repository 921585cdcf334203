"""The list of workers, and the page of one."""

from __future__ import annotations

import pytest

from qless_core.client import Client

ODD = ["w@host.example:12/3", "a,b:c", "..", "<b>&amp;'\"", "ü ~2F"]


@pytest.fixture
def worker_called(server, clock):
    """Make a function that gives the client of a worker."""
    clients = []

    def make(name):
        clients.append(Client(server.url, clock=clock, worker_name=name))
        return clients[-1]

    yield make
    for each in clients:
        each.close()


def test_workers_stay_in_the_order_of_their_names(clock, worker_called, see):
    for name in ("w-2", "w-3", "w-1"):
        worker_called(name).queues["mail"].pop()
        clock.advance(10)

    assert see("/workers").row_ids == ["worker-w-1", "worker-w-2", "worker-w-3"]


def test_a_worker_shows_what_it_runs_and_lost_and_where(client, clock, worker_called, see):
    client.queues["mail"].put("Letter", {}, jid="a")
    client.queues["sms"].put("Text", {}, jid="b")
    worker = worker_called("w-1")
    worker.queues["mail"].pop()
    clock.advance(70)
    worker.queues["sms"].pop()

    row = see("/workers").rows[0]

    assert row.cells[1:4] == ["mail sms", "1", "1"]
    assert "just now" in row.text


def test_a_worker_that_was_not_seen_for_long_is_marked_and_can_be_forgotten(
    client, clock, worker_called, see
):
    """B65."""
    worker_called("old").queues["mail"].pop()
    clock.advance(3_601)
    client.config["max-worker-age"] = 3_600

    row = see("/workers").rows[0]

    assert "data-gone" in row.attributes
    assert "Forget" in row.text
    assert "counts as gone" in see("/workers/old").text


@pytest.mark.parametrize("name", ODD)
def test_a_worker_of_any_name_has_a_page(name, client, worker_called, see):
    """B65."""
    client.queues["mail"].put("Letter", {}, jid="a")
    worker_called(name).queues["mail"].pop()

    (link,) = [each for each in see("/workers").rows[0].links if "forget" not in each][:1]

    page = see(link)
    assert page.one("h1").text == name.strip()
    assert page.row_ids == ["job-a"]


def test_five_thousand_workers_are_paged(redis, clock, see):
    """B31, B65."""
    redis.zadd("ql:workers", {f"w-{number:04}": clock.now() - 3_600 for number in range(5_000)})
    redis.zadd("ql:workers", {"alive": clock.now()})

    page = see("/workers")
    last = see("/workers?page=201")

    assert page.row_ids[0] == "worker-alive"
    assert len(page.row_ids) == 25
    assert "25 of 5,001 workers" in page.text
    assert last.row_ids == ["worker-w-4999"]


def test_a_worker_with_thousands_of_jobs_is_paged(redis, clock, see):
    """B31."""
    jids = [f"job-{number:04}" for number in range(5_000)]
    redis.zadd("ql:w:busy:jobs", {jid: clock.now() + 60 for jid in jids})
    redis.zadd("ql:workers", {"busy": clock.now()})

    page = see("/workers/busy?page=2")

    assert page.row_ids[0] == "job-job-0025"
    assert "50 of 5,000 jobs" in page.text


def test_workers_are_found_by_a_part_of_their_name(redis, clock, see):
    redis.zadd("ql:workers", {"web-1": clock.now(), "Mail-1": clock.now()})

    assert see("/workers?q=mail").row_ids == ["worker-Mail-1"]
    assert "No worker has “zzz” in its name" in see("/workers?q=zzz").text


def test_a_worker_that_is_not_known_is_not_found(see):
    assert "There is no worker called “nobody”" in see("/workers/nobody", 404).text


def test_a_worker_that_is_not_listed_but_holds_jobs_is_shown(redis, clock, see):
    redis.zadd("ql:w:ghost:jobs", {"gone": clock.now() - 5})

    page = see("/workers/ghost")

    assert "not on the list of workers" in page.text
    assert "no longer there" in page.rows[0].text
