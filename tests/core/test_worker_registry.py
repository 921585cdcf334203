from __future__ import annotations

import pytest

from qless_core.client import Client


@pytest.fixture
def child(server, redis, clock):  # noqa: ARG001 - `redis` empties the server
    """Make a client that works as a child."""
    with Client(server.url, clock=clock, worker_name="worker-1-0") as child:
        yield child


def test_what_a_dead_worker_held_is_given_back_by_whoever_saw_it_die(client, child):
    queue = client.queues["q"]
    for jid, retries in (("begun", 3), ("once", 0), ("prefetched", 0)):
        queue.put("Job", {}, jid=jid, retries=retries)
    child.queues["q"].pop(3)

    back = client.workers.give_back(
        "worker-1-0",
        what="died",
        started=["begun", "once"],
        details={"signal": "SIGKILL", "host": "web-3", "pid": 4711},
        group="worker-died",
        message="killed by \ud800",
    )

    assert (set(back.given), back.failed) == ({"begun", "prefetched"}, ("once",))
    assert client.jobs["begun"].retries_left == 2
    assert client.jobs["once"].failure.group == "worker-died"
    item = client.jobs["prefetched"].history[-1]
    assert (item.what, item.details["signal"], item.details["pid"]) == ("died", "SIGKILL", 4711)
    assert {job.jid for job in queue.pop(3)} == {"begun", "prefetched"}


def test_more_than_one_call_takes_is_given_back(client, child):
    client.queues["q"].put_many([("Job", {})] * 1100)
    child.queues["q"].pop(1100)

    back = client.workers.give_back("worker-1-0", what="died")

    assert len(set(back.given)) == 1100
    assert client.queues["q"].counts.waiting == 1100
