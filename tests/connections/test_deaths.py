"""A server dies while jobs are put and worked: nothing that was acknowledged is lost.

`benchmarks/server_death.py` does the same for longer, and prints what it saw.
"""

from __future__ import annotations

from qless_core.client import Client
from tests.support.load import Load
from tests.support.nodes import Node, cluster, watched
from tests.support.polling import eventually


def load_on(url, **settings):
    return Load(lambda name: Client(url, worker_name=name), pause_s=0.002, **settings)


def test_b68_a_server_that_crashes_and_starts_again_has_every_job(tmp_path):
    """With `everysec` it need not: while the disk is busy, an answer may come before the write."""
    node = Node(tmp_path / "node", {"appendonly": "yes", "appendfsync": "always"}).start()
    try:
        with load_on(node.url) as load:
            for _ in range(2):
                node.kill()
                node.start()
                load.goes_on()
            found = load.finish()
    finally:
        node.stop()

    assert found.is_clean, found
    assert found.failed  # it was noticed


def test_b68_a_server_that_hangs_is_given_up_and_found_again(tmp_path):
    node = Node(tmp_path / "node").start()
    try:
        with load_on(f"{node.url}?socket_timeout=0.3") as load:
            node.pause()
            eventually(lambda: load.unknown)
            node.resume()
            load.goes_on()
            found = load.finish()
    finally:
        node.stop()

    assert found.is_clean, found


def test_b68_the_sentinels_replace_a_primary_that_crashes(tmp_path):
    with watched(tmp_path) as servers, load_on(servers.url) as load:
        dead = servers.primary()
        dead.kill()
        load.goes_on()
        assert servers.primary() is not dead
        found = load.finish()

    assert found.is_clean, found
    assert found.failed


def test_b68_a_planned_failover_that_is_coordinated_loses_nothing(tmp_path):
    with watched(tmp_path) as servers, load_on(servers.url) as load:
        former = servers.primary()
        servers.sentinels[0].ask("SENTINEL", "FAILOVER", "main", "COORDINATED")
        eventually(lambda: servers.primary() is not former)
        load.goes_on()
        found = load.finish()

    assert found.is_clean, found


def test_b68_a_cluster_replaces_a_primary_that_crashes(tmp_path):
    with cluster(tmp_path) as nodes, load_on(nodes.url) as load:
        dead = nodes.primary()
        nodes.replica_of(dead)
        dead.kill()
        load.goes_on()
        assert nodes.primary() is not dead

        dead.start()
        eventually(lambda: nodes.replica_of(nodes.primary()) is dead)
        load.goes_on()
        found = load.finish()

    assert found.is_clean, found
    assert found.failed


def test_b68_a_planned_failover_of_a_cluster_is_hardly_noticed(tmp_path):
    with cluster(tmp_path) as nodes, load_on(nodes.url) as load:
        former = nodes.primary()
        heir = nodes.replica_of(former)
        heir.ask("CLUSTER", "FAILOVER")
        eventually(lambda: nodes.primary() is heir)
        load.goes_on()
        found = load.finish()

    assert found.is_clean, found
