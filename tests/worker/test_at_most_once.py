"""What has begun is never given back as if it had not: a job with `retries=0` runs once at most."""

from __future__ import annotations

import os
import signal

import pytest

from qless_core.client import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer
from tests.support.polling import PATIENCE_S, eventually


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
        # It was told to, and left in good order.
        assert program.what(jid) == ["put", "popped", "stopped", "failed"]


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


@pytest.mark.parametrize("is_there_still", [True, False])
def test_what_a_worker_of_the_same_name_holds_is_not_given_back_with_a_dead_child(
    program, is_there_still
):
    """As processes 1 of containers are called that share the name of their host."""
    once = program.put("wait", retries=0)
    first = program.start("forking")
    (theirs,) = program.begun()
    if not is_there_still:
        os.killpg(first.pid, signal.SIGKILL)
        first.wait()
    program.start("forking")
    jid = program.put("wait")
    _, ours = program.begun(2)

    os.kill(ours, signal.SIGKILL)
    program.begun(3)

    assert program.state(once) == "running"
    assert [pid for _, found, pid in program.traces("began") if found == once] == [theirs]
    assert program.what(jid) == ["put", "popped", "died", "popped"]


@pytest.mark.parametrize("kind", ["serial", "thread", "greenlet"])
def test_who_gives_up_gives_back_nothing_of_another_worker_of_the_same_name(program, kind):
    once = program.put("wait", retries=0)
    program.start(kind)
    program.begun()
    second = program.start(kind, grace=0.1)
    jid = program.put("stubborn")
    program.begun(2)

    second.send_signal(signal.SIGTERM)

    assert second.wait(PATIENCE_S) == 0
    assert program.state(once) == "running"
    assert program.what(jid)[:3] == ["put", "popped", "stopped"]
    assert [found for _, found, _ in program.traces("began")].count(once) == 1
