"""Hard deaths: of a child, of the parent, of both; what ran goes back and says what happened."""

from __future__ import annotations

import os
import signal
import socket

import pytest

from qless_core.client import Client
from qless_core.worker.deaths import Death, bury
from qless_core.worker.slate import Slate, Traces
from tests.support.polling import eventually
from tests.support.processes import is_alive

BOTH = (1, None)


@pytest.mark.parametrize("per_child", BOTH)
@pytest.mark.parametrize(
    ("what", "data", "how"),
    [
        ("kills_itself", {"signal": "SIGKILL"}, "SIGKILL"),
        ("kills_itself", {"signal": "SIGSEGV"}, "SIGSEGV"),
        ("kills_itself", {"signal": "SIGABRT"}, "SIGABRT"),
        ("segfaults", {}, "SIGSEGV"),
        ("leaves", {"code": 0}, "exit code 0"),
        ("leaves", {"code": 3}, "exit code 3"),
    ],
)
def test_b59_a_child_that_dies_is_noticed_at_once_and_its_job_says_how(
    program, per_child, what, data, how
):
    jid = program.put(what, data=data, retries=1)
    program.start("forking", jobs_per_child=per_child)

    eventually(lambda: program.state(jid) == "failed")

    pids = program.begun(2)
    died = [item for item in program.client.jobs[jid].history if item.what == "died"]
    word = "signal" if how.startswith("SIG") else "exit"
    assert [item.details for item in died] == [
        {word: how, "host": socket.gethostname(), "pid": pid, "ran": True} for pid in pids
    ]
    failure = program.client.jobs[jid].failure
    assert failure.group == "worker-died"
    assert how in failure.message
    assert str(pids[1]) in failure.message
    other = program.put("quick")
    eventually(lambda: program.state(other) == "complete")


def test_b59_a_killed_child_loses_no_job_that_was_only_taken_ahead(program):
    done = program.put("quick", priority=3)
    jid = program.put("wait", priority=2)
    others = [program.put("quick") for _ in range(3)]
    program.start("forking", prefetch=5)
    (pid,) = program.begun()

    os.kill(pid, signal.SIGKILL)
    program.begun(2)
    program.gate.touch()

    eventually(lambda: all(program.state(each) == "complete" for each in (jid, *others)))
    assert program.what(jid) == ["put", "popped", "died", "popped", "done"]
    assert program.what(done) == ["put", "popped", "done"]
    for each in others:
        assert program.what(each) == ["put", "popped", "died", "popped", "done"]
    # Only what ran has lost a retry; done again, all have theirs.
    assert len(program.traces("ran")) == 4


@pytest.mark.parametrize("per_child", BOTH)
def test_b59_a_job_that_may_not_run_twice_fails_when_its_child_dies(program, per_child):
    jid = program.put("kills_itself", data={"signal": "SIGKILL"}, retries=0)
    program.start("forking", jobs_per_child=per_child)

    eventually(lambda: program.state(jid) == "failed")

    assert len(program.traces("began")) == 1
    assert program.what(jid) == ["put", "popped", "died", "failed"]


@pytest.mark.parametrize("per_child", BOTH)
def test_b59_a_child_whose_parent_is_killed_finishes_its_job_and_ends(program, per_child):
    jid = program.put("wait", priority=1)
    other = program.put("quick")
    program.start("forking", jobs_per_child=per_child)
    (pid,) = program.begun()

    program.process.kill()
    program.process.wait()
    eventually(lambda: "the parent is gone" in program.said)
    program.gate.touch()

    eventually(lambda: program.state(jid) == "complete")
    eventually(lambda: not is_alive(pid))
    assert program.state(other) == "waiting"
    assert program.client.queues["q"].counts.running == 0


def test_b59_when_all_is_killed_another_worker_gets_the_job_when_the_lock_is_over(program):
    program.client.config["heartbeat"] = 1
    program.client.config["grace-period"] = 0
    jid = program.put("wait")
    program.start("forking")
    program.begun()

    os.killpg(program.process.pid, signal.SIGKILL)
    program.process.wait()
    program.client.config["heartbeat"] = 60
    program.gate.touch()
    program.start("forking", name="v")

    eventually(lambda: program.state(jid) == "complete")
    assert program.what(jid) == ["put", "popped", "timed-out", "popped", "done"]


def test_a_hung_job_is_killed_when_its_lock_is_lost_and_nothing_false_is_recorded(program):
    program.client.config["heartbeat"] = 1
    program.client.config["grace-period"] = 0
    jid = program.put("stubborn")
    program.start("forking", grace=0.1)
    (pid,) = program.begun()
    program.client.config["heartbeat"] = 60

    # The look of another worker finds that the lock is over.
    with Client(program.url, worker_name="other") as other:
        job = eventually(other.queues["q"].pop)
        eventually(lambda: not is_alive(pid))

        assert job.jid == jid
        assert program.client.jobs[jid].worker_name == "other"
        quick = program.put("quick")
        eventually(lambda: program.state(quick) == "complete")
        assert "died" not in program.what(jid)
        assert program.client.jobs[jid].retries_left == 4
        assert job.complete() == "complete"


@pytest.mark.parametrize("kind", ["serial", "forking", "thread", "greenlet"])
@pytest.mark.parametrize("how", ["timeout", "cancel"])
def test_a_job_that_is_taken_is_stopped_and_the_worker_goes_on(program, kind, how):
    jid = program.put("cleans_up")
    program.start(kind)
    program.begun()
    program.client.queues["q"].pause()

    getattr(program.client.jobs[jid], how)()

    eventually(lambda: program.traces("cleaned"))
    assert not program.traces("ended")
    program.client.jobs[jid] and program.client.jobs[jid].cancel()
    program.client.queues["q"].unpause()
    other = program.put("quick")
    eventually(lambda: program.state(other) == "complete")
    assert program.client.failures.groups == {}


@pytest.mark.parametrize("kind", ["serial", "forking", "thread", "greenlet"])
def test_a_job_that_was_taken_ahead_and_is_cancelled_is_not_begun(program, kind):
    program.put("wait", priority=1)
    jid = program.put("quick")
    last = program.put("quick", priority=-1)
    program.start(kind, prefetch=3)
    program.begun()
    assert program.state(jid) == "running"

    program.client.jobs[jid].cancel()
    eventually(lambda: "is taken from worker" in program.said)
    program.gate.touch()

    eventually(lambda: program.state(last) == "complete")
    assert [found for _, found, _ in program.traces("ran")] == [last]


def test_a_job_that_cannot_be_imported_keeps_no_other_one_waiting(program):
    program.client.queues["q"].put("tests.worker.no_such_module.Job", {})
    program.start("forking", jobs_per_child=1)
    eventually(lambda: program.client.failures.groups)

    jid = program.put("quick")

    eventually(lambda: program.state(jid) == "complete")


def slate(*written):
    found = Slate()
    for what, *args in written:
        getattr(found, what)(*args)
    return found


def test_what_a_dead_child_had_done_and_not_told_is_completed_by_its_parent(client):
    queue = client.queues["q"]
    for number, jid in enumerate(("a", "b", "c", "d")):
        queue.put("Some", {"n": number}, jid=jid, priority=-number)
    assert [job.jid for job in queue.pop(4)] == ["a", "b", "c", "d"]
    traces = slate(
        ("begin", "a"), ("done", None), ("begin", "b"), ("done", '{"n":"new"}'), ("begin", "c")
    ).traces()

    bury(client, client.worker_name, traces, Death.of(4711, -9))

    jobs = {job.jid: job for job in client.jobs.get("a", "b", "c", "d")}
    assert [jobs[jid].state for jid in "abcd"] == ["complete", "complete", "waiting", "waiting"]
    assert [jobs[jid].data["n"] for jid in "abcd"] == [0, "new", 2, 3]
    assert [jobs[jid].retries_left for jid in "cd"] == [4, 5]


def test_a_job_that_was_settled_before_the_death_is_left_alone(client):
    queue = client.queues["q"]
    queue.put("Some", {}, jid="a")
    queue.pop().fail("group", "message")
    traces = slate(("begin", "a"), ("end",)).traces()

    bury(client, client.worker_name, traces, Death.of(4711, -9))

    assert client.jobs["a"].state == "failed"
    assert client.jobs["a"].retries_left == 5


def test_a_slate_without_room_says_so():
    full = slate(("begin", "a"))
    while full.done("x" * 16_000):
        full.begin("a")
    for _ in range(10):
        full.begin("b" * 16_000)

    assert not full.traces().is_complete


def test_data_that_is_too_long_for_a_slate_is_told_at_once():
    long = slate(("begin", "a"))

    assert not long.done("x" * 20_000)
    assert long.traces().begun == "a"


def test_the_parent_names_jobs_that_are_the_childs_no_more():
    told = slate(("take", "a"), ("take", "ü\udcff"))

    assert told.taken() == {"a", "ü\udcff"}
    for _ in range(10_000):
        told.take("b" * 32)
    assert "b" * 32 in told.taken()
    told.wipe()
    assert told.taken() == frozenset()


def test_what_the_parent_said_of_a_job_does_not_count_when_the_child_takes_it_again():
    told = slate(("take", "a"))

    told.begin_turn()

    assert told.taken() == frozenset()
    told.take("b")
    assert told.taken() == {"b"}


def test_a_job_of_which_nothing_could_be_told_is_kept_until_all_is_told():
    kept = slate(("begin", "a"), ("keep",), ("begin", "b"), ("done", None), ("begin", "c"))

    assert kept.traces() == Traces(begun="c", kept={"a"}, done={"b": None})
    kept.end()
    kept.told()
    assert kept.traces() == Traces(kept={"a"})
    kept.clear()
    assert kept.traces() == Traces()


def test_a_job_that_begins_anew_is_done_no_more():
    again = slate(("begin", "a"), ("done", None), ("begin", "b"), ("keep",))

    again.begin("a")

    assert again.traces() == Traces(begun="a", kept={"b"})
    again.heard("b")
    assert again.traces() == Traces(begun="a")


def test_a_parent_reads_whole_words_while_its_child_writes():
    shared, jids = Slate(), ("a" * 7, "b" * 90, "c" * 900)
    pid = os.fork()
    if pid == 0:
        for number in range(20_000):
            shared.begin(jids[number % 3])
            shared.done("x" * (number % 50))
            if number % 5 == 0:
                shared.clear()
        os._exit(0)

    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        traces = shared.traces()
        assert {traces.begun, *traces.done} <= {None, *jids}


def test_a_done_job_whose_data_are_refused_fails_and_the_others_are_complete(client):
    queue = client.queues["q"]
    for number, jid in enumerate(("a", "b", "c")):
        queue.put("Some", {}, jid=jid, priority=-number, retries=0)
    queue.pop(3)
    deep = "[" * 2000 + "]" * 2000
    traces = slate(
        ("begin", "a"), ("done", deep), ("begin", "b"), ("done", None), ("begin", "c")
    ).traces()

    bury(client, client.worker_name, traces, Death.of(4711, -9))

    jobs = client.jobs.get("a", "b", "c")
    assert [job.state for job in jobs] == ["failed", "complete", "failed"]
    assert jobs[0].failure.group == "q-BadArgument"


def test_a_job_of_which_nothing_could_be_told_is_not_given_back_as_not_begun(client):
    queue = client.queues["q"]
    for jid in ("a", "b"):
        queue.put("Some", {}, jid=jid, retries=0)
    queue.pop(2)
    traces = slate(("begin", "a"), ("keep",)).traces()

    bury(client, client.worker_name, traces, Death.of(4711, -9))

    assert [job.state for job in client.jobs.get("a", "b")] == ["failed", "waiting"]
