from __future__ import annotations

import json
from dataclasses import replace

import pytest

from qless_core.client import Client
from qless_core.errors import BadArgument, WorkerNotFound
from qless_core.records import WorkerChild, WorkerInfo


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


INFO = WorkerInfo(
    host="web-3",
    pid=4711,
    kind="forking",
    version="1.2.3",
    queues=("mail-*", "sms"),
    concurrency=2,
    started=1_600_000_000.25,
    children=(WorkerChild("w-0", 4712, 1_600_000_001), WorkerChild("w-1", 4713, 1_600_000_002)),
)


def test_a_worker_tells_of_itself(client, clock):
    assert client.workers.beat("w", INFO) == ""

    worker = client.workers["w"]
    assert (worker.info, worker.seen, worker.asked) == (INFO, clock.now(), "")
    assert (worker.name, worker.jobs, worker.stalled) == ("w", (), ())
    assert [each.info for each in client.workers.details()] == [INFO]


def test_a_worker_that_other_clients_run_is_known_by_what_it_holds(client):
    client.queues["q"].put("Job", {}, jid="a")
    client.queues["q"].pop()

    worker = client.workers["worker-1"]

    assert (worker.info, worker.asked, worker.jobs) == (None, "", ("a",))
    assert client.workers["nobody"].seen is None


def test_a_worker_hears_what_it_is_asked_until_it_does_it(client):
    client.workers.beat("w", INFO)

    client.workers.ask("w", "pause")

    assert client.workers["w"].asked == "pause"
    assert client.workers.beat("w", INFO) == "pause"
    assert client.workers.beat("w", INFO) == "pause"
    assert client.workers.beat("w", replace(INFO, state="paused")) == ""
    assert client.workers["w"].asked == ""
    assert client.workers["w"].info.state == "paused"


def test_only_who_hears_requests_is_asked(client):
    with pytest.raises(WorkerNotFound) as caught:
        client.workers.ask("nobody", "stop")
    assert caught.value.worker == "nobody"
    client.workers.beat("w", INFO)
    with pytest.raises(BadArgument):
        client.workers.ask("w", "kill")


def test_what_a_worker_told_oddly_is_still_read(client, redis):
    told = {"pid": "x", "queues": "q", "children": [5, {"name": "w-0"}], "started": None}
    redis.set("ql:w:w:info", json.dumps(told))

    info = client.workers["w"].info

    assert info == WorkerInfo(children=(WorkerChild("w-0"),))
