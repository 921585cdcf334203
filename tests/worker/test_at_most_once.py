"""What has begun is never given back as if it had not: a job with `retries=0` runs once at most."""

from __future__ import annotations

import os
import signal

import pytest

from qless_core.client import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer
from tests.support.polling import eventually


@pytest.fixture
def place(program, tmp_path):
    """Give the program a server of its own, that may be stopped; answers its directory."""
    place = tmp_path / "redis"
    server = EmbeddedServer(place).start()
    with Client(server.url) as client:
        program.url, program.client = server.url, client
        program.server = server
        yield place
        program.kill_all()
    server.stop()


def fails_while_redis_is_away(program, **options):
    """Let a job fail of which nothing can be told; answers its jid and its process."""
    jid = program.put("raises", retries=0)
    program.start("forking", **options)
    (pid,) = program.begun()
    program.server.stop()
    program.gate.touch()
    eventually(lambda: "outcomes wait" in program.said)
    return jid, pid


@pytest.mark.parametrize("per_child", [1, None])
def test_a_job_whose_child_is_killed_before_it_could_tell_that_it_failed(program, place, per_child):
    jid, pid = fails_while_redis_is_away(program, jobs_per_child=per_child)

    os.kill(pid, signal.SIGKILL)
    eventually(lambda: "cannot be given back yet" in program.said)

    with EmbeddedServer(place):
        eventually(lambda: program.state(jid) == "failed")
        other = program.put("quick")
        eventually(lambda: program.state(other) == "complete")
        assert len(program.traces("began")) == 1


def test_a_job_whose_child_is_told_to_stop_before_it_could_tell_that_it_failed(program, place):
    jid, _ = fails_while_redis_is_away(program)

    program.send(signal.SIGUSR1)
    eventually(lambda: "could not settle all" in program.said)

    with EmbeddedServer(place):
        eventually(lambda: program.state(jid) == "failed")
        other = program.put("quick")
        eventually(lambda: program.state(other) == "complete")
        assert len(program.traces("began")) == 1


@pytest.mark.parametrize(
    ("kind", "number"),
    [("serial", signal.SIGTERM), ("serial", signal.SIGINT), ("thread", signal.SIGTERM)],
)
def test_a_job_whose_middleware_does_not_end_in_time(program, kind, number):
    jid = program.put("LeavesSlowly", retries=0)
    program.start(kind, grace=0.1)
    eventually(lambda: program.traces("leaving"))

    program.send(number)

    assert program.ended() == 0
    assert program.state(jid) == "failed"
    (stopped,) = [item for item in program.client.jobs[jid].history if item.what == "stopped"]
    assert (stopped.details["signal"], stopped.details["ran"]) == (number.name, True)


@pytest.mark.parametrize("kind", ["serial", "forking", "thread", "greenlet"])
def test_a_job_that_was_taken_comes_back_to_the_same_worker_and_runs_to_its_end(program, kind):
    grace = 0.2
    jid = program.put("wait")
    program.start(kind, grace=grace)
    (pid,) = program.begun()

    program.client.jobs[jid].timeout()
    assert program.begun(2) == [pid, pid]
    clock = Clock()
    killed_by = clock.monotonic() + 3 * grace
    eventually(lambda: clock.monotonic() > killed_by)
    program.gate.touch()

    eventually(lambda: program.state(jid) == "complete")
    assert [found for _, _, found in program.traces("ended")] == [pid]
    assert program.what(jid).count("popped") == 2
