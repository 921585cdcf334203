"""Each hard way in which a job, its process or its worker may end: nothing is lost by any."""

from __future__ import annotations

import os
import signal

import pytest

from tests.support.polling import eventually
from tests.support.processes import children_of, is_alive

KINDS = ("serial", "forking", "thread", "greenlet")
IN_ONE_PROCESS = ("serial", "thread", "greenlet")


def put(program, what, **options):
    """Put one of the jobs that are hard to end."""
    data = {"file": str(program.file), "gate": str(program.gate)}
    return program.client.queues["q"].put(f"tests.worker.hard_jobs.{what}", data, **options)


def short_lock(program):
    """Let the lock of the next job be over soon."""
    program.client.config["heartbeat"] = 4
    program.client.config["grace-period"] = 0


def usual_lock(program):
    program.client.config["heartbeat"] = 60


@pytest.mark.parametrize("kind", IN_ONE_PROCESS)
def test_b59_a_killed_worker_loses_no_job(program, kind):
    short_lock(program)
    jid = program.put("wait")
    once = program.put("wait", retries=0, priority=1)
    options = {} if kind == "serial" else {"concurrency": 2}
    program.start(kind, **options)
    program.begun(1 if kind == "serial" else 2)

    program.process.kill()
    program.process.wait()
    usual_lock(program)
    program.gate.touch()
    program.start("serial", name="v")

    eventually(lambda: (program.state(jid), program.state(once)) == ("complete", "failed"))
    assert [found for _, found, _ in program.traces("began")].count(once) == 1


@pytest.mark.parametrize("per_child", [1, None])
def test_b59_a_child_and_its_parent_killed_one_after_the_other_lose_no_job(program, per_child):
    short_lock(program)
    jid = program.put("wait")
    program.start("forking", jobs_per_child=per_child)
    (pid,) = program.begun()

    program.process.kill()
    program.process.wait()
    os.kill(pid, signal.SIGKILL)
    usual_lock(program)
    program.gate.touch()
    program.start("forking", name="v")

    eventually(lambda: program.state(jid) == "complete")
    assert program.what(jid) == ["put", "popped", "timed-out", "popped", "done"]


def test_b59_a_job_that_takes_all_memory_in_c_costs_its_child_alone(program):
    jid = put(program, "takes_all_memory", retries=0)
    other = program.put("quick", priority=-1)
    program.start("forking")

    eventually(lambda: program.state(other) == "complete")

    job = program.client.jobs[jid]
    assert (job.state, job.failure.group) == ("failed", "worker-died")
    assert "SIGABRT" in job.failure.message
    assert len(program.traces("began")) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_b59_a_job_that_takes_too_much_memory_fails_and_the_worker_goes_on(program, kind):
    jid = put(program, "takes_too_much")
    other = program.put("quick", priority=-1)
    program.start(kind)

    eventually(lambda: program.state(other) == "complete")

    job = program.client.jobs[jid]
    assert (job.state, job.failure.group) == ("failed", "q-MemoryError")


@pytest.mark.parametrize("what", ["ignores_signals", "hangs_in_c"])
def test_b60_a_child_whose_job_heeds_nothing_is_killed_after_the_grace(program, what):
    jid = put(program, what)
    program.start("forking", grace=0.2)
    (pid,) = program.begun()

    program.send(signal.SIGTERM)

    assert program.ended() == 0
    assert not is_alive(pid)
    assert program.what(jid) == ["put", "popped", "stopped"]
    assert program.client.jobs[jid].retries_left == 4


@pytest.mark.parametrize("what", ["ignores_signals", "hangs_in_c"])
def test_b60_usr1_kills_a_child_whose_job_heeds_nothing_and_the_worker_goes_on(program, what):
    jid = put(program, what, retries=0)
    program.start("forking", grace=0.2)
    (pid,) = program.begun()

    program.send(signal.SIGUSR1)

    eventually(lambda: program.state(jid) == "failed")
    assert not is_alive(pid)
    message = program.client.jobs[jid].failure.message
    assert message.startswith(f"The job was stopped, and no retry was left: process {pid} ")
    assert message.endswith("ended by SIGKILL: it was told to stop and did not end")
    other = program.put("quick")
    eventually(lambda: program.state(other) == "complete")


@pytest.mark.parametrize("what", ["ignores_signals", "hangs_in_c"])
def test_b59_a_child_whose_job_heeds_nothing_is_killed_when_its_lock_is_lost(program, what):
    jid = put(program, what)
    program.start("forking", grace=0.2)
    (pid,) = program.begun()

    program.client.jobs[jid].cancel()

    eventually(lambda: not is_alive(pid))
    other = program.put("quick")
    eventually(lambda: program.state(other) == "complete")
    assert program.client.failures.groups == {}


def test_b59_a_job_in_c_whose_worker_is_told_nothing_is_run_by_another_one(program):
    short_lock(program)
    jid = put(program, "hangs_in_c", retries=1)
    program.start("forking", grace=0.2)
    program.begun()
    program.start("forking", name="v", grace=0.2)

    program.begun(2)
    eventually(lambda: program.state(jid) == "failed")

    lost = ["popped", "timed-out"]
    assert program.what(jid) == ["put", *lost, *lost, "failed"]
    other = program.put("quick")
    eventually(lambda: program.state(other) == "complete")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT, signal.SIGUSR1])
def test_a_signal_to_a_child_alone_loses_nothing_and_the_worker_goes_on(program, number):
    jid = program.put("wait")
    program.start("forking")
    (pid,) = program.begun()

    os.kill(pid, number)
    if number == signal.SIGTERM:
        program.begun(2)
    program.gate.touch()

    eventually(lambda: program.state(jid) == "complete")
    other = program.put("quick")
    eventually(lambda: program.state(other) == "complete")
    assert program.process.poll() is None


@pytest.mark.parametrize("kind", KINDS)
def test_b60_term_to_the_whole_group_stops_once_and_cleanly(program, kind):
    jid = program.put("cleans_up")
    program.start(kind)
    program.begun()

    os.killpg(program.process.pid, signal.SIGTERM)

    assert program.ended() == 0
    assert program.what(jid) == ["put", "popped", "stopped"]
    assert program.client.jobs[jid].retries_left == 4
    assert len(program.traces("cleaned")) == 1
    assert "Traceback" not in program.said


@pytest.mark.parametrize("kind", KINDS)
def test_b60_term_gives_back_what_was_taken_ahead_without_a_retry_lost(program, kind):
    jid = program.put("wait", priority=1)
    others = [program.put("quick") for _ in range(3)]
    program.start(kind, prefetch=4)
    program.begun()
    assert program.state(others[0]) == "running"

    program.send(signal.SIGTERM)

    assert program.ended() == 0
    jobs = [program.client.jobs[each] for each in (jid, *others)]
    assert [(job.state, job.retries_left) for job in jobs] == [
        ("waiting", 4),
        *[("waiting", 5)] * 3,
    ]
    assert not program.traces("ran")


@pytest.mark.parametrize("kind", KINDS)
def test_usr1_with_jobs_taken_ahead_loses_a_retry_of_the_one_that_ran_alone(program, kind):
    jid = program.put("wait", priority=1)
    others = [program.put("quick") for _ in range(3)]
    program.start(kind, prefetch=4)
    program.begun()

    program.send(signal.SIGUSR1)
    program.begun(2)
    program.gate.touch()

    eventually(lambda: all(program.state(each) == "complete" for each in (jid, *others)))
    assert "stopped" in program.what(jid)
    for each in others:
        assert not {"stopped", "died"} & {*program.what(each)}
    assert len(program.traces("ran")) == 3


def test_a_worker_that_dies_keeps_no_other_queue_waiting(program):
    stuck = [put(program, "hangs_in_c") for _ in range(4)]
    program.start("forking", concurrency=4)
    program.begun(4)
    os.killpg(program.process.pid, signal.SIGKILL)
    program.process.wait()

    program.start("serial", name="v")
    jids = [program.put("quick") for _ in range(20)]

    eventually(lambda: all(program.state(jid) == "complete" for jid in jids))
    assert [program.state(jid) for jid in stuck] == ["running"] * 4


def test_a_child_of_a_worker_is_no_orphan_of_it(program):
    program.start("forking", concurrency=3)
    eventually(lambda: len(children_of(program.process.pid)) == 3)
    children = children_of(program.process.pid)

    program.process.kill()
    program.process.wait()

    eventually(lambda: not any(is_alive(pid) for pid in children))
