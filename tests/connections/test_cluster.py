"""A cluster: all of a namespace is on one node, which is found, and found again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
from redis.cluster import ClusterNode, RedisCluster

from qless_core.client import Client
from qless_core.errors import ClusterNeedsTag, PrimaryMoved, RedisUnavailable
from qless_web import create_app
from tests.connections.test_one_server import in_a_fork
from tests.connections.test_sentinel import put
from tests.support.nodes import cluster
from tests.support.polling import eventually
from tests.support.ports import free_ports

ROOT = Path(__file__).parents[2]


def at(port, options="?namespace={ql}:"):
    return f"redis+cluster://127.0.0.1:{port}{options}"


def test_b72_every_connection_leads_to_the_node_that_holds_the_tag(nodes, use):
    client = use(nodes.url)

    assert nodes.primary().redis().exists("{ql}:queues")
    assert in_a_fork(lambda: client.queues["used"].put("Job", {}, jid="forked")) == 0
    assert client.queues["used"].pop().jid == "forked"


def test_b72_several_namespaces_are_on_several_nodes(nodes, use):
    places = set()

    for tag in ("{a}", "{b}", "{c}"):
        client = use(nodes.url.replace("{ql}", tag))
        place = nodes.primary(tag)
        assert place.redis().exists(f"{tag}:queues")
        assert client.redis.info("server")["tcp_port"] == place.port
        places.add(place.port)

    assert len(places) > 1


def test_b72_every_page_of_the_console_works_on_a_cluster(nodes):
    with Client(nodes.url) as client:
        queue = client.queues["mail"]
        queue.put("Job", {}, jid="a", tags=["t"])
        queue.put("Job", {}, jid="b", depends=["a"])
        queue.pop().fail("group", "message")
        client.track("a")
        with create_app(client).test_client() as web:
            for path in (
                "/", "/queues", "/queues/mail", "/failed", "/failed/group", "/track", "/jobs/a",
                "/workers", "/config", "/about", "/completed", "/tag?tag=t", "/queues.json",
            ):  # fmt: skip
                answer = web.get(path, follow_redirects=True)
                assert answer.status_code == 200, (path, answer.text[-500:])
            assert "cluster" in web.get("/about").text


@pytest.mark.parametrize("database", ["0", "3"])
def test_b72_a_node_without_a_tagged_namespace_is_refused_before_anything_is_sent(nodes, database):
    for node in nodes.nodes[:3]:
        with Client(node.url.replace("/0", f"/{database}")) as client:
            for call in (
                lambda: client.queues["q"].put("Job", {}),
                lambda: client.queues.counts,
                client.now,
                client.events.subscribe().__enter__,
            ):
                with pytest.raises(ClusterNeedsTag, match=r"this Redis is a cluster, and the name"):
                    call()
            app = create_app(client)
            with app.test_client() as web:
                answer = web.get("/")
                assert answer.status_code == 503
                assert "has no hash tag" in answer.text

    assert not [key for node in nodes.nodes for key in node.redis().scan_iter("*ql:*")]


def test_b72_the_plain_address_of_any_node_will_do_with_a_tagged_namespace(nodes, use):
    for node in nodes.nodes:
        client = use(node.url, namespace="{ql}:")

        assert client.redis.info("server")["tcp_port"] == nodes.primary().port


def test_a_plain_server_takes_a_tagged_namespace_too(node, use):
    use(node.url, namespace="{ql}:")

    assert node.redis().exists("{ql}:queues")


def test_a_server_that_is_no_cluster_is_not_taken_for_one(node):
    with Client(at(node.port)) as client, pytest.raises(RedisUnavailable, match="no node of a clu"):
        client.queues["q"].pop()


def test_nodes_that_are_away_are_passed_over_and_others_are_learned(nodes, use):
    dead = free_ports(2)
    places = ",".join(f"127.0.0.1:{port}" for port in [*dead, nodes.nodes[1].port])

    client = use(f"redis+cluster://{places}?namespace={{ql}}:")

    guide = client.redis.connection_pool.connection_kwargs["guide"]
    assert {port for _, port in guide.places} == {*dead, *(node.port for node in nodes.nodes)}
    with Client(at(dead[0])) as lost, pytest.raises(RedisUnavailable, match="no node of 127"):
        lost.queues["q"].pop()


def test_the_settings_of_a_client_of_redis_py_are_taken_over(nodes, use):
    places = [ClusterNode("127.0.0.1", node.port) for node in nodes.nodes]
    with RedisCluster(startup_nodes=places) as theirs:
        use(redis=theirs, namespace="{ql}:")
        with pytest.raises(ClusterNeedsTag):
            Client(redis=theirs)


def test_b68_after_a_failover_calls_and_subscriptions_come_back_by_themselves(tmp_path):
    with cluster(tmp_path) as nodes, Client(nodes.url) as client:
        queue = client.queues["q"]
        with client.events.subscribe() as events:
            queue.put("Job", {}, jid="before")
            assert events.get(5).jid == "before"
            dead = nodes.primary()
            nodes.replica_of(dead)
            dead.kill()

            assert eventually(lambda: put(queue, "after"))
            with pytest.raises(RedisUnavailable):
                events.get(5)
            assert events.drain() == []
            queue.put("Job", {}, jid="heard")
            assert [event.jid for event in events.drain()] == ["heard"]

            dead.start()
            eventually(lambda: nodes.replica_of(nodes.primary()) is dead)
            dead.ask("CLUSTER", "FAILOVER")
            eventually(lambda: nodes.primary() is dead)
            assert put(queue, "moved") or put(queue, "moved")  # MOVED is followed
            with create_app(client).test_client() as web:
                assert web.get("/queues").status_code == 200
        assert sorted(job.jid for job in queue.pop(10)) == ["after", "before", "heard", "moved"]


@pytest.mark.parametrize("first", ["a call", "a page"])
def test_what_a_node_sends_elsewhere_is_followed_there(nodes, first):
    """All connections of a pool notice, those that rest too."""
    with Client(nodes.url) as client:
        queue = client.queues["q"]
        pool = client.redis.connection_pool
        held = [pool.get_connection() for _ in range(3)]
        for connection in held:
            pool.release(connection)
        primary = nodes.primary()
        heir = nodes.replica_of(primary)
        heir.ask("CLUSTER", "FAILOVER")
        eventually(lambda: nodes.primary() is heir)
        eventually(lambda: primary.redis().info("replication")["role"] == "slave")

        if first == "a page":
            with create_app(client).test_client() as web:
                assert web.get("/queues").status_code == 200
        assert queue.put("Job", {}, jid="j") == "j"
        assert queue.counts.waiting == 1
        assert [client.redis.info("server")["tcp_port"] for _ in held] == [heir.port] * 3


def test_b72_a_slot_that_moves_key_by_key_stops_the_queue_instead_of_splitting_it(nodes):
    """Followed to the target, a call would find an empty queue there."""
    with Client(nodes.url) as client:
        queue = client.queues["q"]
        queue.put("Job", {}, jid="j")
        source = nodes.primary()
        target = another(nodes, source)
        slot = source.ask("CLUSTER", "KEYSLOT", "{ql}")
        here, there = source.ask("CLUSTER", "MYID"), target.ask("CLUSTER", "MYID")
        target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", here)
        source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", there)
        try:
            with pytest.raises(PrimaryMoved):
                queue.put("Job", {}, jid="k")
            with pytest.raises(PrimaryMoved):
                queue.pop()
            assert not list(target.redis().scan_iter("{ql}*"))
        finally:
            source.ask("CLUSTER", "SETSLOT", slot, "STABLE")
            target.ask("CLUSTER", "SETSLOT", slot, "STABLE")
        assert queue.pop().jid == "j"


def another(nodes, primary):
    """Find a primary that does not hold the queue."""
    found = (nodes.primary(tag) for tag in ("{a}", "{b}", "{c}", "{d}", "{e}"))
    return next(each for each in found if each is not primary)


def test_a_slot_that_moves_at_once_is_hardly_noticed(nodes):
    with Client(nodes.url) as client:
        queue = client.queues["q"]
        queue.put("Job", {}, jid="j")
        source = nodes.primary()
        target = another(nodes, source)
        slot = source.ask("CLUSTER", "KEYSLOT", "{ql}")
        name = target.ask("CLUSTER", "MYID")
        source.ask("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", name)
        eventually(lambda: nodes.primary() is target)

        assert queue.pop().jid == "j"
        assert target.redis().exists("{ql}:j:j")


@pytest.mark.parametrize("program", ["qless_web", "qless_core"])
def test_b72_a_program_that_is_started_without_a_tag_says_so_and_ends(nodes, tmp_path, program):
    command = {"qless_web": ["-F", "--port", "0"], "qless_core": ["work", "-q", "q"]}[program]
    for url in (nodes.url.partition("?")[0], nodes.nodes[1].url):
        ended = subprocess.run(
            [sys.executable, "-m", program, "--redis-url", url, *command],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        )

        assert ended.returncode in (1, 2)  # a namespace that will not do is a mistake of usage
        assert "this Redis is a cluster, and the namespace 'ql:' has no hash tag" in ended.stderr
        assert "Traceback" not in ended.stderr


def test_b68_whoever_waits_for_a_job_gets_it_from_the_new_primary(tmp_path):
    with cluster(tmp_path) as nodes, Client(nodes.url) as client:
        queue = client.queues["q"]
        queue.put("Job", {}, jid="first")
        found = []
        waiting = Thread(target=lambda: found.extend(queue.pop(timeout=30).jid for _ in range(2)))
        waiting.start()
        eventually(lambda: found == ["first"])
        dead = nodes.primary()
        nodes.replica_of(dead)
        dead.kill()

        assert eventually(lambda: put(queue, "second"))
        waiting.join(20)
        assert found == ["first", "second"]
