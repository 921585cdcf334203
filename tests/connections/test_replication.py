"""A change counts once a replica has it, where a replica may take over."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from qless_core.client import Client
from qless_core.errors import JobNotFound, OutcomeUnknown, PrimaryMoved
from qless_core.replication import REST_S, Replication
from qless_core.testing import FrozenClock
from tests.support.nodes import Node
from tests.support.polling import eventually


@pytest.fixture
def pair(tmp_path):
    """Run a server and a replica of it."""
    primary = Node(tmp_path / "primary", {"repl-diskless-sync-delay": 0}).start()
    replica = Node(tmp_path / "replica", {"replicaof": f"127.0.0.1 {primary.port}"}).start()
    eventually(lambda: replica.redis().info("replication")["master_link_status"] == "up")
    yield primary, replica
    replica.stop()
    primary.stop()


def waits(node):
    return node.redis().info("commandstats").get("cmdstat_wait", {"calls": 0})["calls"]


def test_a_replica_has_what_was_acknowledged(pair):
    primary, replica = pair
    with Client(f"{primary.url}?replicas=1") as client:
        queue = client.queues["q"]
        for number in range(50):
            queue.put("Job", {}, jid=f"j{number}")
            assert replica.redis().exists(f"ql:j:j{number}")
        job = queue.pop()
        assert replica.redis().hget(f"ql:j:{job.jid}", "state") == "running"
        job.complete()
        assert replica.redis().hget(f"ql:j:{job.jid}", "state") == "complete"


def test_only_changes_wait_and_only_where_it_was_asked_for(pair):
    primary, _ = pair
    with Client(primary.url) as client:
        client.queues["q"].put("Job", {}, jid="j")
    assert waits(primary) == 0

    with Client(f"{primary.url}?replicas=1") as client:
        before = waits(primary)
        client.queues["q"].put("Job", {}, jid="k")
        assert waits(primary) == before + 1
        assert client.jobs["k"].state == "waiting"
        assert client.queues.counts
        assert waits(primary) == before + 1


def test_a_refusal_is_still_a_refusal_and_the_connection_goes_on(pair):
    primary, _ = pair
    with Client(f"{primary.url}?replicas=1&max_connections=1") as client:
        client.queues["q"].put("Job", {}, jid="j")
        with pytest.raises(JobNotFound):
            client.commands.priority("nobody", 1)
        assert client.queues["q"].pop().jid == "j"


def test_a_replica_that_is_silent_stops_nothing_and_is_told_of_once(pair, caplog):
    primary, replica = pair
    with Client(f"{primary.url}?replicas=1") as client, caplog.at_level(logging.WARNING):
        client.queues["q"].put("Job", {}, jid="a")
        replica.pause()
        for jid in "bcdef":
            client.queues["q"].put("Job", {}, jid=jid)
        replica.resume()

    assert [record.message.partition(";")[0] for record in caplog.records] == [
        "0 of 1 replicas had a change within 500 ms"
    ]


def test_a_primary_that_dies_before_a_replica_has_it_acknowledges_nothing(pair):
    primary, replica = pair
    with Client(f"{primary.url}?replicas=1&socket_timeout=0.2") as client:
        client.queues["q"].put("Job", {}, jid="a")
        replica.pause()
        with pytest.raises(OutcomeUnknown):
            client.queues["q"].put("Job", {}, jid="b")
        replica.resume()


def test_a_user_that_may_not_wait_does_without(pair, caplog):
    primary, _ = pair
    primary.ask("ACL", "SETUSER", "me", "on", ">pw", "~*", "&*", "+@all", "-wait")
    url = f"redis://me:pw@127.0.0.1:{primary.port}?replicas=1"
    with Client(url) as client, caplog.at_level(logging.WARNING):
        for jid in "abc":
            client.queues["q"].put("Job", {}, jid=jid)

    (record,) = caplog.records
    assert "does not wait for replicas" in record.message


def test_after_a_rest_it_is_tried_again_and_told_when_it_works(caplog):
    clock = FrozenClock()
    replication = Replication(2, clock)

    with caplog.at_level(logging.WARNING):
        assert replication.is_due
        replication.told(1)
        assert not replication.is_due
        clock.advance(REST_S)
        assert replication.is_due
        replication.told(2)
        assert replication.is_due

    assert [record.message for record in caplog.records][1:] == [
        "replicas have what is acknowledged again"
    ]
    assert not Replication(0).is_due


def blocked(node, command):
    """Find the connections that block in a command."""
    return [each["id"] for each in node.redis().client_list() if each["cmd"].startswith(command)]


def test_a_primary_that_steps_down_while_a_change_waits_leaves_it_unknown(pair):
    """It lets those go that wait, and says so; what it wrote may have to go."""
    primary, replica = pair
    with Client(f"{primary.url}?replicas=1") as client, ThreadPoolExecutor(1) as pool:
        client.queues["q"].put("Job", {}, jid="a")
        client.redis.connection_pool.replication.command = ("WAIT", 1, 60_000)
        replica.pause()
        put = pool.submit(client.queues["q"].put, "Job", {}, jid="b")
        eventually(lambda: blocked(primary, "wait"))
        for each in blocked(primary, "wait"):
            primary.ask("CLIENT", "UNBLOCK", each, "ERROR")
        with pytest.raises(OutcomeUnknown, match="put"):
            put.result(10)
        replica.resume()


def test_one_who_waits_for_jobs_hears_that_the_primary_stepped_down(pair):
    primary, _ = pair
    with Client(primary.url) as client, client.bell(["ql:q:q-wake"]) as bell:
        client.queues["q"].put("Job", {}, jid="a")
        bell.set(60, "length", "1", "q")
        eventually(lambda: blocked(primary, "bzpopmin"))
        for each in blocked(primary, "bzpopmin"):
            primary.ask("CLIENT", "UNBLOCK", each, "ERROR")

        with pytest.raises(PrimaryMoved):
            bell.read()

        assert not bell.is_set
        assert client.queues["q"].pop().jid == "a"
