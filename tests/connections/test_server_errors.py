"""What a server says when it cannot: each state of it has a class, and passes by itself."""

from __future__ import annotations

import pickle
import threading
from functools import partial

import pytest
from redis import exceptions

from qless_core.client import Client
from qless_core.errors import (
    ClusterNeedsTag,
    NotPermitted,
    PrimaryMoved,
    QlessError,
    RedisBusy,
    RedisFull,
    RedisLoading,
    RedisReadOnly,
    RedisUnavailable,
    WritesRefused,
)
from qless_core.server_errors import errors_of_server
from tests.support.nodes import Node
from tests.support.polling import eventually
from tests.support.servers import servers


@pytest.fixture(params=servers())
def node(request, tmp_path):
    node = Node(tmp_path / "node", binary=servers()[request.param]).start()
    yield node
    node.stop()


@pytest.fixture
def client(node):
    with Client(node.url, worker_name="w") as client:
        yield client


def test_b71_a_full_server_reads_and_keeps_what_it_has(client, node):
    queue = client.queues["q"]
    queue.put("Job", {}, jid="a")
    queue.put("Job", {}, jid="b")
    job = queue.pop()
    node.ask("CONFIG", "SET", "maxmemory", 1)

    put, fail = partial(queue.put, "Job", {}), partial(job.fail, "g", "m")
    for change in (put, queue.pop, job.complete, fail):
        with pytest.raises(RedisFull, match="raise its maxmemory"):
            change()
    assert client.jobs["a"].state == "running"
    assert [each.jid for each in queue.peek(5)] == ["b"]
    assert queue.counts.waiting == 1

    node.ask("CONFIG", "SET", "maxmemory", 0)
    job.complete()
    assert client.jobs["a"].state == "complete"


def test_b68_a_server_that_loads_its_data_says_so(tmp_path):
    slowly = {"key-load-delay": 1000, "loading-process-events-interval-bytes": 1024}
    node = Node(tmp_path / "node", {"appendonly": "yes", **slowly}).start()
    try:
        with node.redis() as redis:
            redis.eval("for i = 1, 3000 do redis.call('set', 'k' .. i, 'some value') end", 0)
        node.ask("BGREWRITEAOF")
        eventually(lambda: not node.redis().info("persistence")["aof_rewrite_in_progress"])
        with Client(node.url) as client:
            client.queues["q"].put("Job", {}, jid="j")
            node.kill()
            node.start(wait=False)
            seen = eventually(lambda: raised(client.queues["q"].pop, RedisLoading))
            assert "wait" in str(seen)
            assert raised(lambda: client.queues.counts, RedisLoading)

            node.redis(socket_timeout=20).config_set("key-load-delay", 0)
            assert eventually(lambda: not raised(lambda: client.jobs["j"], RedisUnavailable))
    finally:
        node.stop()


def raised(call, kind):
    """Make a call; answers the error of this kind that it raised, if any."""
    try:
        call()
    except kind as error:
        return error
    except RedisUnavailable:
        return None
    return None


def test_a_server_that_is_busy_with_a_script_says_so(client, node):
    client.queues["q"].pop()
    node.ask("CONFIG", "SET", "lua-time-limit", 1)

    def loop():
        with node.redis(socket_timeout=30) as redis, pytest.raises(exceptions.ResponseError):
            redis.eval("while true do end", 0)

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        seen = eventually(lambda: raised(client.queues["q"].pop, RedisBusy))
    finally:
        node.ask("SCRIPT", "KILL")
        thread.join()

    assert "SCRIPT KILL" in str(seen)
    assert client.queues["q"].pop() is None


def test_a_replica_says_so_and_the_next_call_finds_the_primary(client, node):
    client.queues["q"].put("Job", {}, jid="j")
    node.ask("REPLICAOF", "127.0.0.1", 1)

    with pytest.raises(RedisReadOnly, match="replica"):
        client.queues["q"].pop()
    assert client.jobs["j"].state == "waiting"  # reading goes on

    node.ask("REPLICAOF", "NO", "ONE")
    assert client.queues["q"].pop().jid == "j"


def test_a_replica_that_lost_its_primary_says_so(client, node):
    client.queues["q"].pop()
    node.ask("CONFIG", "SET", "replica-serve-stale-data", "no")
    node.ask("REPLICAOF", "127.0.0.1", 1)

    with pytest.raises(PrimaryMoved, match="MASTERDOWN"):
        _ = client.queues.counts
    with pytest.raises((PrimaryMoved, RedisReadOnly)):
        client.queues["q"].pop()

    node.ask("REPLICAOF", "NO", "ONE")
    assert client.queues["q"].pop() is None


def test_a_server_without_enough_replicas_refuses_to_be_changed(client, node):
    node.ask("CONFIG", "SET", "min-replicas-to-write", 1)

    with pytest.raises(WritesRefused, match="replicas"):
        client.queues["q"].put("Job", {})
    assert client.queues.counts == []

    node.ask("CONFIG", "SET", "min-replicas-to-write", 0)
    client.queues["q"].put("Job", {})


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (exceptions.ConnectionError("Error 111 connecting to h:1."), RedisUnavailable),
        (exceptions.TimeoutError("Timeout reading from h:1"), RedisUnavailable),
        (OSError("no route"), RedisUnavailable),
        (exceptions.MaxConnectionsError("Too many connections"), RedisUnavailable),
        (exceptions.BusyLoadingError("is loading"), RedisLoading),
        (exceptions.ResponseError("BUSY Redis is busy running a script."), RedisBusy),
        (exceptions.OutOfMemoryError("command not allowed"), RedisFull),
        (exceptions.ReadOnlyError("You can't write"), RedisReadOnly),
        (exceptions.MovedError("1 h:1"), PrimaryMoved),
        (exceptions.AskError("1 h:1"), PrimaryMoved),
        (exceptions.ClusterDownError("The cluster is down"), PrimaryMoved),
        (exceptions.MasterDownError("Link with MASTER is down"), PrimaryMoved),
        (exceptions.TryAgainError("Multiple keys request"), PrimaryMoved),
        (exceptions.ResponseError("UNBLOCKED force unblock"), PrimaryMoved),
        (exceptions.ResponseError("MISCONF Errors writing to the AOF file"), WritesRefused),
        (exceptions.ResponseError("NOREPLICAS Not enough good replicas"), WritesRefused),
        (exceptions.AuthenticationError("Authentication required."), NotPermitted),
        (exceptions.NoPermissionError("No permissions to access a key"), NotPermitted),
        (exceptions.ClusterCrossSlotError("Keys in request don't hash"), ClusterNeedsTag),
        (exceptions.ResponseError("LOCK_LOST user_script:1: Fail(): Job j is"), type(None)),
        (exceptions.ResponseError("WRONGTYPE Operation against a key"), type(None)),
        (exceptions.ResponseError("user_script:3: attempt to index a nil value"), type(None)),
        (exceptions.NoScriptError("No matching script."), type(None)),
    ],
)
def test_every_state_of_a_server_has_a_class(error, kind):
    found = errors_of_server(error)

    assert type(found) is kind
    if isinstance(found, QlessError):
        copy = pickle.loads(pickle.dumps(found))  # noqa: S301 - our own
        assert (type(copy), str(copy)) == (kind, str(found))


def test_only_what_waiting_does_not_mend_does_not_pass():
    assert RedisUnavailable.passes
    assert RedisFull.passes
    assert not NotPermitted.passes
    assert not ClusterNeedsTag.passes


def test_a_job_goes_by_its_attempt_while_redis_is_away(node):
    with Client(node.url) as client:
        queue = client.queues["q"]
        queue.put("Job", {}, jid="a")
        queue.pop().retry()
        job = queue.pop()
        job.retry()  # what its history says now is not known
        node.kill()

        assert job.attempt == 2
