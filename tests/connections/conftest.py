"""Servers of every kind that a client may meet, one of each for the whole run."""

from __future__ import annotations

import pytest

from qless_core.client import Client
from tests.support.nodes import Node, cluster, watched


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("cluster")) as nodes:
        yield nodes


@pytest.fixture
def nodes(shared_cluster):
    """Give a cluster that holds nothing; nobody may kill its nodes."""
    for node in shared_cluster.nodes:
        if node.redis().info("replication")["role"] == "master":
            node.ask("FLUSHALL")
    return shared_cluster


@pytest.fixture
def node(tmp_path):
    """Run a server of its own on a port."""
    node = Node(tmp_path / "node").start()
    yield node
    node.stop()


@pytest.fixture(scope="session")
def shared_watched(tmp_path_factory):
    """Watch servers that ask for a password; nobody may kill them."""
    with watched(tmp_path_factory.mktemp("watched"), password=PASSWORD) as servers:
        yield servers


@pytest.fixture
def use():
    """Give a function that puts and works a job, hears of it and reads it back, all by a URL."""
    clients = []

    def use(url="", **settings):
        client = Client(url, **settings) if url else Client(**settings)
        clients.append(client)
        queue = client.queues["used"]
        with client.events.subscribe() as events:
            jid = queue.put("Job", {"a": []})
            assert events.get(5).jid == jid
        job = queue.pop(timeout=5)
        job.complete()
        assert queue.pop(timeout=0.05) is None
        assert client.jobs[jid].state == "complete"
        assert queue.counts.running == 0
        return client

    yield use
    for client in clients:
        client.close()


#: Every character that a URL may trip over.
PASSWORD = "p@ss:w/rd#%?&=ü [x]"  # noqa: S105 - of a server that lives for a test
