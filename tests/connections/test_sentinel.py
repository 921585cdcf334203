"""A primary that Sentinels watch: found by its name, and found again when it is another."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from urllib.parse import quote

import pytest
from redis.sentinel import Sentinel

from qless_core.client import Client
from qless_core.errors import NotPermitted, RedisUnavailable
from qless_web import create_app
from tests.connections.conftest import PASSWORD
from tests.connections.test_one_server import in_a_fork
from tests.support.nodes import watched
from tests.support.polling import eventually


@pytest.fixture
def servers(shared_watched):
    shared_watched.primary().ask("FLUSHALL")
    return shared_watched


def address(servers, service="main", password=PASSWORD, places=None, options=""):
    """Write the address of servers that ask for a password, which the Sentinels do not."""
    places = places or ",".join(f"127.0.0.1:{each.port}" for each in servers.sentinels)
    return f"redis+sentinel://:{quote(password, safe='')}@{places}/{service}/2{options}"


def test_b74_every_connection_leads_to_the_primary(servers, use):
    client = use(address(servers))

    assert servers.primary().redis(db=2).exists("ql:queues")
    assert in_a_fork(lambda: client.queues["used"].put("Job", {}, jid="forked")) == 0
    assert client.queues["used"].pop().jid == "forked"
    with create_app(client).test_client() as web:
        assert "used" in web.get("/queues").text
        assert quote(PASSWORD, safe="") not in web.get("/about").text


def test_one_sentinel_that_answers_is_enough(servers, use):
    places = f"127.0.0.1:1,nobody.invalid:26379,127.0.0.1:{servers.sentinels[2].port}"

    use(address(servers, places=places))


def test_sentinels_that_answer_nothing_or_know_no_such_service_are_named(servers):
    for url, because in (
        (address(servers, places="127.0.0.1:1"), r"no Sentinel of 127\.0\.0\.1:1 could say"),
        (address(servers, service="other"), "it knows no 'other'"),
    ):
        with Client(url) as client, pytest.raises(RedisUnavailable, match=because):
            client.queues["q"].pop()


def test_b74_the_passwords_of_servers_and_sentinels_are_two(servers, use):
    right = "+sentinel|get-master-addr-by-name"
    for sentinel in servers.sentinels:
        sentinel.ask("ACL", "SETUSER", "finder", "on", ">other", "-@all", right)

    use(address(servers, options="?sentinel_username=finder&sentinel_password=other"))
    bad = address(servers, options="?sentinel_username=finder&sentinel_password=wr0ng")
    with Client(bad) as client, pytest.raises(NotPermitted, match="Sentinel") as refusal:
        client.queues["q"].pop()

    assert right in (Path(__file__).parents[2] / "docs/how-to/connect-to-redis.md").read_text()
    assert "wr0ng" not in str(refusal.value)


def test_the_settings_of_a_client_of_redis_py_are_taken_over(servers, use):
    places = [("127.0.0.1", each.port) for each in servers.sentinels]
    theirs = Sentinel(places).master_for("main", password=PASSWORD, db=2)

    client = use(redis=theirs)

    assert client.safe_url == f"{address(servers)}".replace(f":{quote(PASSWORD, safe='')}@", "")
    assert servers.primary().redis(db=2).exists("ql:queues")
    theirs.close()


def test_a_server_that_is_only_said_to_be_the_primary_gets_no_calls(servers):
    """As after a failover, when a Sentinel is behind the times."""
    replica = next(each for each in servers.nodes if each is not servers.primary())
    with Client(address(servers)) as client:
        guide = client.redis.connection_pool.connection_kwargs["guide"]
        guide.answer = lambda _connection, _place: ("127.0.0.1", replica.port)
        with pytest.raises(RedisUnavailable, match="is a replica, though it was named"):
            client.queues["q"].put("Job", {})

        del guide.answer
        client.queues["q"].put("Job", {})


def test_b68_after_a_failover_calls_and_subscriptions_come_back_by_themselves(tmp_path):
    with watched(tmp_path) as servers, Client(servers.url) as client:
        queue = client.queues["q"]
        with client.events.subscribe() as events:
            queue.put("Job", {}, jid="before")
            assert events.get(5).jid == "before"
            servers.primary().kill()

            assert eventually(lambda: put(queue, "after"))
            with pytest.raises(RedisUnavailable):
                events.get(5)
            assert events.drain() == []
            queue.put("Job", {}, jid="heard")
            assert [event.jid for event in events.drain()] == ["heard"]
        assert sorted(job.jid for job in queue.pop(10)) == ["after", "before", "heard"]


def put(queue, jid):
    try:
        return queue.put("Job", {}, jid=jid)
    except RedisUnavailable:
        return None


def test_a_primary_that_became_a_replica_is_left_for_the_new_one(tmp_path):
    with watched(tmp_path) as servers, Client(servers.url) as client:
        queue = client.queues["q"]
        queue.put("Job", {}, jid="before")
        former = servers.primary()
        servers.sentinels[0].ask("SENTINEL", "FAILOVER", "main", "COORDINATED")
        eventually(lambda: former.redis().info("replication")["role"] == "slave")
        eventually(lambda: servers.primary() is not former)

        assert eventually(lambda: put(queue, "after"))
        assert servers.primary().redis().exists("ql:j:before", "ql:j:after") == 2


def test_b68_whoever_waits_for_a_job_gets_it_from_the_new_primary(tmp_path):
    with watched(tmp_path) as servers, Client(servers.url) as client:
        queue = client.queues["q"]
        queue.put("Job", {}, jid="first")
        found = []
        waiting = Thread(target=lambda: found.extend(queue.pop(timeout=30).jid for _ in range(2)))
        waiting.start()
        eventually(lambda: found == ["first"])
        servers.primary().kill()

        assert eventually(lambda: put(queue, "second"))
        waiting.join(20)
        assert found == ["first", "second"]
