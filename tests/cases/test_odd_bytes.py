"""Bytes that are no UTF-8, wherever another client put them: seen, worked on, taken away."""

from __future__ import annotations

import logging

import pytest
from redis import Redis

from qless_core.client import Client
from qless_core.worker.serial import SerialWorker

ODD = b"\xff\xfe odd"
SEEN = ODD.decode("utf-8", "surrogateescape")


@pytest.fixture
def raw(server, redis):  # noqa: ARG001 - `redis` empties the server
    """Connect as a client does that sends and reads bytes."""
    with Redis.from_url(server.url) as raw:
        yield raw


@pytest.fixture
def other(raw, script):
    """Call the script with bytes, at the server's own time."""
    sha = raw.script_load(script.source)
    return lambda name, *args: raw.evalsha(sha, 0, name, "auto", *args)


@pytest.fixture
def client(server, raw):  # noqa: ARG001 - `raw` empties the server
    with Client(server.url, worker_name="w") as client:
        yield client


def put_odd(other, jid=ODD, queue="q"):
    """Put a job that is odd in every field, and one behind it that is not."""
    data = b'{"x":"' + ODD + b'"}'
    tags = b'["' + ODD + b'"]'
    other("put", ODD, queue, jid, ODD, data, 0, "priority", 5, "tags", tags)
    other("log", jid, ODD, data)
    other("track", "track", jid)
    other("put", "w", queue, "good", "K", "{}", 0)


def test_one_pop_gives_the_odd_job_and_the_good_one(client, other):
    put_odd(other)

    odd, good = client.queues["q"].pop(5)

    assert (odd.jid, odd.klass_name, odd.tags, odd.data) == (SEEN, SEEN, [SEEN], {"x": SEEN})
    assert good.complete() == "complete"
    assert odd.heartbeat() > 0
    assert odd.complete() == "complete"
    assert client.jobs[SEEN].state == "complete"


def test_every_look_shows_it(client, other):
    put_odd(other)
    assert {job.jid for job in client.queues["q"].peek(5)} == {SEEN, "good"}
    assert client.jobs[SEEN].klass_name == SEEN
    assert [job.jid for job in client.jobs.tracked().jobs] == [SEEN]
    assert client.jobs.tagged(SEEN).jids == (SEEN,)

    other("pop", "q", ODD, 1)
    assert ODD in other("jobs", "running", "q")
    assert client.queues["q"].jobs.running() == [SEEN]
    assert {worker.name for worker in client.workers.counts} == {SEEN}
    other("fail", ODD, ODD, ODD, ODD)
    assert client.failures.groups == {SEEN: 1}
    assert client.failures.jobs(SEEN).jobs[0].failure.message == SEEN


def test_it_can_be_retried_and_canceled_by_its_name(client, other):
    put_odd(other)
    other("pop", "q", ODD, 1)
    other("fail", ODD, ODD, ODD, ODD)

    assert client.failures.unfail(SEEN, "q") == 1
    job = client.jobs[SEEN]
    assert job.tag("fine") == [SEEN, "fine"]
    assert job.untag(SEEN) == ["fine"]
    job.priority = 7
    job.move("other")
    job.cancel()
    assert client.jobs[SEEN] is None


def test_a_worker_fails_it_and_takes_the_next_one(client, other, caplog):
    caplog.set_level(logging.CRITICAL, "qless")  # xdist passes on no text that is not UTF-8
    put_odd(other)

    worker = SerialWorker(client, ["q"])
    assert worker.step().jid == SEEN
    assert worker.step().jid == "good"

    assert client.jobs[SEEN].state == "failed"


def test_a_queue_of_any_name_is_worked_on(client, other):
    put_odd(other, queue=ODD)

    assert {counts.name for counts in client.queues.counts} == {SEEN}
    assert len(client.queues[SEEN].pop(5)) == 2


def test_an_option_of_any_bytes_stops_nothing(client, other):
    other("config.set", "heartbeat", ODD)
    other("config.set", ODD, ODD)
    put_odd(other)

    assert client.config["heartbeat"] == 60
    assert client.config.all[SEEN] == SEEN
    assert len(client.queues["q"].pop(5)) == 2
