"""Redis in each kind of trouble, under workers of each kind: what was done is recorded, once."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

import pytest

from qless_core.client import Client
from qless_core.errors import RedisUnavailable
from tests.support.nodes import Node, watched
from tests.support.polling import PATIENCE_S, eventually
from tests.support.ports import free_port
from tests.support.silence import proxied

#: Seconds within which a worker ends whose grace is short: about as long as redis-py waits once.
FROZEN_S = 12.0
KINDS = ("serial", "forking", "thread", "greenlet")


class Trouble:
    """What may befall a server, and how it ends."""

    def __init__(self, node):
        self.node = node

    def killed(self):
        self.node.kill()
        yield
        self.node.start()

    def paused(self):
        self.node.pause()
        yield
        self.node.resume()

    def read_only(self):
        self.node.ask("REPLICAOF", "127.0.0.1", free_port())
        yield
        self.node.ask("REPLICAOF", "NO", "ONE")

    def full(self):
        self.node.ask("CONFIG", "SET", "maxmemory", 1)
        yield
        self.node.ask("CONFIG", "SET", "maxmemory", 0)

    def flushed(self):
        self.node.ask("SCRIPT", "FLUSH")
        self.node.ask("FUNCTION", "FLUSH")
        yield


@pytest.fixture
def node(program, tmp_path):
    node = Node(tmp_path / "node", {"appendonly": "yes", "appendfsync": "always"}).start()
    with Client(node.url) as client:
        program.url, program.client = node.url, client
        yield node
        program.kill_all()
    node.stop()


@pytest.mark.parametrize("how", ["killed", "paused", "read_only", "full", "flushed"])
@pytest.mark.parametrize("kind", KINDS)
def test_b68_what_ends_while_redis_is_in_trouble_is_recorded_once(program, node, kind, how):
    jid = program.put("wait")
    program.start(kind)
    program.begun()

    trouble = getattr(Trouble(node), how)()
    next(trouble)
    program.gate.touch()
    eventually(lambda: program.traces("ended"))
    next(trouble, None)

    eventually(lambda: program.state(jid) == "complete", within=3 * PATIENCE_S)
    assert program.what(jid) == ["put", "popped", "done"]
    assert len(program.traces("began")) == 1
    other = program.put("quick")
    eventually(lambda: program.state(other) == "complete", within=3 * PATIENCE_S)
    assert "Traceback" not in program.said


@pytest.mark.parametrize("kind", KINDS)
def test_b68_a_line_that_swallows_all_bytes_is_given_up_for_another_one(program, node, kind):
    jid = program.put("wait")
    with proxied(node.port) as proxy:
        program.url = proxy.url
        program.start(kind, interval=1)
        program.begun()

        proxy.fall_silent()
        program.gate.touch()
        eventually(lambda: program.traces("ended"))
        other = program.put("quick")
        proxy.speak_again()

        eventually(lambda: program.state(other) == "complete", within=3 * PATIENCE_S)
        assert program.what(jid) == ["put", "popped", "done"]
        assert len(program.traces("began")) == 1
        program.kill_all()


@pytest.mark.parametrize("per_child", [1, None])
def test_b59_a_child_and_redis_killed_at_once_lose_no_job(program, node, per_child):
    jid = program.put("wait")
    program.start("forking", jobs_per_child=per_child)
    (pid,) = program.begun()

    node.kill()
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: "cannot be given back yet" in program.said)
    node.start()
    program.gate.touch()

    eventually(lambda: program.state(jid) == "complete", within=3 * PATIENCE_S)
    assert program.what(jid) == ["put", "popped", "died", "popped", "done"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("kind", KINDS)
def test_b60_a_worker_ends_on_a_signal_though_redis_is_away(program, node, kind, number):
    jid = program.put("cleans_up")
    program.start(kind, grace=0.5)
    program.begun()
    node.kill()

    program.send(number)

    assert program.process.wait(3 * PATIENCE_S) == 0
    assert "Traceback" not in program.said
    node.start()
    assert program.traces("cleaned")
    assert program.state(jid) == "running"


@pytest.mark.parametrize("kind", KINDS)
def test_quit_ends_a_worker_that_waits_for_redis(program, node, kind):
    program.start(kind, grace=0.2)
    program.at_work("w-")
    node.kill()

    program.send(signal.SIGQUIT)

    assert program.process.wait(PATIENCE_S) == 0
    assert "Traceback" not in program.said


@pytest.mark.parametrize("kind", KINDS)
def test_usr1_stops_what_runs_while_redis_is_away_and_the_worker_goes_on(program, node, kind):
    jid = program.put("wait")
    program.start(kind, grace=0.2)
    program.begun()
    node.kill()

    program.send(signal.SIGUSR1)
    eventually(lambda: program.traces("left"))
    node.start()
    program.begun(2)
    program.gate.touch()

    eventually(lambda: program.state(jid) == "complete", within=3 * PATIENCE_S)
    assert program.what(jid) == ["put", "popped", "stopped", "popped", "done"]
    assert program.client.jobs[jid].retries_left == 5


@pytest.mark.parametrize("kind", KINDS)
def test_usr2_pauses_a_worker_while_redis_is_away(program, node, kind):
    program.start(kind)
    program.at_work("w-")
    node.kill()
    program.send(signal.SIGUSR2)
    eventually(lambda: "takes no jobs for the time being" in program.said)
    node.start()
    jid = program.put("quick")
    told = lambda: program.client.workers["w"].info  # noqa: E731 - looked at again and again
    eventually(lambda: told() and told().state == "paused", within=3 * PATIENCE_S)
    assert program.state(jid) == "waiting"

    program.send(signal.SIGCONT)

    eventually(lambda: program.state(jid) == "complete", within=3 * PATIENCE_S)


@pytest.mark.parametrize("kind", ["serial", "forking"])
def test_b68_a_worker_goes_over_to_the_server_that_takes_over(program, tmp_path, kind):
    with watched(tmp_path / "nodes") as nodes, Client(nodes.url) as client:
        program.url, program.client = nodes.url, client
        jid = program.put("wait")
        program.start(kind)
        program.begun()
        before = nodes.primary()
        before.ask("WAIT", 2, 0)

        before.kill()
        program.gate.touch()
        eventually(lambda: nodes.primary() is not before, within=3 * PATIENCE_S)

        eventually(lambda: told(client, jid) == "complete", within=3 * PATIENCE_S)
        other = program.put("quick")
        eventually(lambda: told(client, other) == "complete", within=3 * PATIENCE_S)
        assert program.what(jid) == ["put", "popped", "done"]
        assert len(program.traces("began")) == 1
        assert "Traceback" not in program.said
        program.kill_all()


def told(client, jid):
    """Tell the state of a job, where somebody answers."""
    with suppress(RedisUnavailable):
        return client.jobs[jid].state


@pytest.mark.parametrize("kind", KINDS)
def test_b60_a_worker_that_waits_ends_in_time_though_redis_is_frozen(program, node, kind):
    program.start(kind, grace=0.2, **({} if kind == "serial" else {"concurrency": 2}))
    program.at_work("w-")
    node.pause()
    try:
        program.send(signal.SIGQUIT)

        assert program.process.wait(FROZEN_S) == 0
    finally:
        node.resume()
    assert "Traceback" not in program.said


@pytest.mark.parametrize("kind", KINDS)
def test_b60_a_worker_whose_job_is_stopped_ends_in_time_though_redis_is_frozen(program, node, kind):
    jid = program.put("cleans_up", retries=0)
    program.start(kind, grace=0.2)
    program.begun()
    node.pause()
    try:
        program.send(signal.SIGTERM)

        assert program.process.wait(FROZEN_S) == 0
    finally:
        node.resume()

    assert program.state(jid) in ("running", "failed")
    assert program.traces("left")
    assert "Traceback" not in program.said


@pytest.mark.parametrize("kind", KINDS)
def test_the_console_stops_pauses_and_resumes_a_worker(program, kind):
    program.start(kind)
    workers = program.client.workers
    eventually(lambda: workers.details("w")[0].info)
    state = lambda: workers.details("w")[0].info.state  # noqa: E731 - looked at again and again

    workers.ask("w", "pause")
    eventually(lambda: state() == "paused")
    jid = program.put("quick")
    workers.ask("w", "resume")
    eventually(lambda: program.state(jid) == "complete")
    eventually(lambda: state() == "running")
    workers.ask("w", "stop")

    assert program.ended() == 0
    assert workers.counts == []
