"""What a worker makes good: answers that are lost, locks that are over, jobs done and not told."""

from __future__ import annotations

import json
import logging
import math
import threading
from contextlib import contextmanager

import pytest

from qless_core.client import Client
from qless_core.clock import Clock
from qless_core.embedded import EmbeddedServer
from qless_core.errors import BadArgument, NotPermitted, OutcomeUnknown
from qless_core.worker import loop as loop_module
from qless_core.worker.loop import Loop
from qless_core.worker.plan import Plan
from qless_core.worker.serial import SerialWorker
from qless_core.worker.slate import LONGEST, Slate, Traces
from qless_core.worker.switch import Mode, Switch
from tests.support.cutting import cut_off
from tests.support.polling import PATIENCE_S, eventually
from tests.worker import sample_jobs
from tests.worker.sample_jobs import Mail, Raises

HERE = "tests.worker.test_loop"


@pytest.fixture(autouse=True)
def done():
    sample_jobs.DONE.clear()
    return sample_jobs.DONE


@pytest.fixture
def real(server, redis):  # noqa: ARG001 - it empties the server
    """Make a client that goes by the server's clock."""
    with Client(server.url, worker_name="w") as client:
        yield client


class Gate:
    """A job that waits until it is let go."""

    began = threading.Event()
    opened = threading.Event()

    @classmethod
    def process(cls, _):
        cls.began.set()
        assert cls.opened.wait(PATIENCE_S)


@pytest.fixture
def gate():
    Gate.began.clear()
    Gate.opened.clear()
    yield Gate
    Gate.opened.set()


def moves(job):
    job.client.queues["q"].put(Mail, {}, jid="new")


@contextmanager
def running(client, **options):
    worker = SerialWorker(client, "q", **options)
    thread = threading.Thread(target=worker.run)
    thread.start()
    yield worker
    worker.stop()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def calls(redis):
    """Count the calls of the script so far."""
    found = redis.info("commandstats")
    return sum(found.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in ("fcall", "evalsha"))


def test_a_job_costs_one_round_trip(real, redis):
    real.queues["q"].put_many([(Mail, {}) for _ in range(20)])
    before = calls(redis)

    SerialWorker(real, "q", burst=True).run()

    # Besides, it looks whether a burst is over, and leaves.
    assert 21 <= calls(redis) - before <= 26


def test_jobs_that_are_taken_ahead_share_one(real, redis):
    real.queues["q"].put_many([(Mail, {}) for _ in range(200)])
    before = calls(redis)

    SerialWorker(real, "q", burst=True, prefetch=50).run()

    assert calls(redis) - before <= 12
    assert len(real.jobs.complete(0, 500)) == 200


def test_what_is_done_is_told_while_the_next_one_takes_long(real, gate):
    real.queues["q"].put(Mail, {}, jid="a", priority=2)
    real.queues["q"].put(Gate, {}, jid="b", priority=1)
    with running(real, prefetch=2):
        assert gate.began.wait(PATIENCE_S)

        eventually(lambda: real.jobs["a"].state == "complete")

        assert real.jobs["b"].state == "running"
        gate.opened.set()
        eventually(lambda: real.jobs["b"].state == "complete")


def test_what_fails_among_jobs_taken_ahead_fails_alone(real):
    for number in range(6):
        klass = Raises if number % 2 else Mail
        real.queues["q"].put(klass, {"message": "m"}, jid=str(number), priority=-number)

    SerialWorker(real, "q", burst=True, prefetch=6).run()

    states = [real.jobs[str(number)].state for number in range(6)]
    assert states == ["complete", "failed"] * 3


def test_a_job_that_was_taken_ahead_and_whose_lock_may_be_over_is_not_begun(real, gate, done):
    real.config["heartbeat"] = 1
    real.config["grace-period"] = 600
    real.queues["q"].put(Gate, {}, jid="a", priority=1)
    real.queues["q"].put(Mail, {}, jid="b")
    with running(real, prefetch=2):
        assert gate.began.wait(PATIENCE_S)
        lock_over = real.jobs["b"].expires_at
        eventually(lambda: real.now() > lock_over)
        real.config["heartbeat"] = 60
        gate.opened.set()

        eventually(lambda: real.jobs["b"].state == "complete")

    assert [jid for _, jid in done] == ["b"]
    assert [item.what for item in real.jobs["b"].history].count("popped") == 2
    assert real.jobs["b"].retries_left == 5
    assert "not-begun" in [item.what for item in real.jobs["b"].history]


def test_jobs_taken_ahead_go_back_without_a_retry_lost_when_one_is_to_end(real, gate):
    real.queues["q"].put(Gate, {}, jid="a", priority=1)
    real.queues["q"].put(Mail, {}, jid="b")
    with running(real, prefetch=2) as worker:
        assert gate.began.wait(PATIENCE_S)
        worker.stop()
        gate.opened.set()

    assert real.jobs["a"].state == "complete"
    assert (real.jobs["b"].state, real.jobs["b"].retries_left) == ("waiting", 5)


@pytest.mark.parametrize("cuts", [1, 2, 3])
@pytest.mark.parametrize("prefetch", [1, 3])
def test_what_an_answer_that_was_lost_told_of_is_found_and_worked(
    redis, server, clock, done, cuts, prefetch
):
    with (
        Client(server.url, clock=clock) as direct,
        cut_off(redis, cuts) as cut,
        Client(redis=cut, worker_name="w") as client,
    ):
        for number in range(5):
            direct.queues["q"].put(Mail, {}, jid=f"j{number}", retries=0)
        worker = Loop(client, Plan(queues=("q",), prefetch=prefetch, burst=True), Switch(), "w")

        worker.run()

        assert sorted(jid for _, jid in done) == [f"j{number}" for number in range(5)]
        assert {direct.jobs[f"j{number}"].state for number in range(5)} == {"complete"}


def test_an_outcome_is_kept_while_redis_is_away(tmp_path, done):
    place = tmp_path / "data"
    server = EmbeddedServer(place).start()
    with Client(server.url, worker_name="w") as client:
        client.queues["q"].put(sample_jobs.Interrupts, {}, jid="a")
        client.queues["q"].put(Mail, {}, jid="b", priority=-1)
        sample_jobs.Interrupts.server = server
        with running(client, interval=0.1):
            eventually(lambda: len(done) == 2)
            eventually(lambda: client.jobs["b"].state == "complete")

        assert client.jobs["a"].state == "complete"
        assert client.jobs["a"].original_retries == client.jobs["a"].retries_left
        sample_jobs.Interrupts.again.stop()


@pytest.mark.parametrize("prefetch", [1, 3])
def test_a_worker_goes_on_when_the_script_is_flushed(real, redis, done, prefetch):
    with running(real, prefetch=prefetch):
        real.queues["q"].put(Mail, {})
        eventually(lambda: len(done) == 1)
        redis.script_flush()
        redis.execute_command("FUNCTION", "FLUSH")

        real.queues["q"].put(Mail, {})

        eventually(lambda: len(done) == 2)


def test_a_worker_waits_while_redis_is_full_and_goes_on(real, redis, done, caplog):
    caplog.set_level(logging.INFO)
    with running(real, interval=0.1):
        real.queues["q"].put(Mail, {}, jid="a")
        eventually(lambda: len(done) == 1)
        redis.config_set("maxmemory", 1)
        try:
            eventually(lambda: "maxmemory" in caplog.text or "memory" in caplog.text)
        finally:
            redis.config_set("maxmemory", 0)

        real.queues["q"].put(Mail, {}, jid="b")

        eventually(lambda: real.jobs["b"].state == "complete")
    assert "Traceback" not in caplog.text


def test_a_worker_waits_while_the_server_is_a_replica_and_goes_on(real, redis, done, caplog):
    with running(real, interval=0.1):
        real.queues["q"].put(Mail, {}, jid="a")
        eventually(lambda: len(done) == 1)
        redis.replicaof("127.0.0.1", 1)
        try:
            eventually(lambda: "no job can be taken" in caplog.text)
        finally:
            redis.replicaof("NO", "ONE")

        real.queues["q"].put(Mail, {}, jid="b")

        eventually(lambda: real.jobs["b"].state == "complete")


def test_a_burst_ends_when_nothing_is_left_and_what_is_not_due_stays(real, done):
    real.queues["q"].put(f"{HERE}.moves", {})
    real.queues["q"].put(Mail, {}, jid="later", delay=600)
    real.queues["q"].put(Mail, {}, jid="dependent", depends=["later"])

    SerialWorker(real, "q", burst=True).run()

    assert [jid for _, jid in done] == ["new"]
    assert real.jobs["later"].state == "scheduled"


def test_a_burst_waits_for_what_others_run(real, server, done):
    real.queues["q"].put(Mail, {}, jid="a")
    real.queues["q"].put(Mail, {}, jid="b", depends=["a"])
    with Client(server.url, worker_name="other") as other:
        job = other.queues["q"].pop()
        worker = SerialWorker(real, "q", burst=True)
        thread = threading.Thread(target=worker.run)
        thread.start()
        eventually(lambda: real.workers.counts[0].name == "w")
        assert thread.is_alive()

        job.complete()
        thread.join(PATIENCE_S)

    assert not thread.is_alive()
    assert [jid for _, jid in done] == ["b"]


def test_a_burst_ends_though_a_queue_is_paused(real, done):
    real.queues["q"].put(Mail, {})
    real.queues["q"].pause()

    SerialWorker(real, "q", burst=True).run()

    assert done == []


def test_a_job_that_is_refused_when_it_is_told_does_not_stop_the_others(real, redis, done):
    deep = "[" * 2000 + "]" * 2000
    redis.config_set("maxmemory", 0)
    for jid in ("a", "b"):
        real.queues["q"].put(Mail, {}, jid=jid)
    redis.hset("ql:j:a", "data", deep)

    SerialWorker(real, "q", burst=True).run()

    assert len(done) == 2
    assert real.jobs["b"].state == "complete"
    assert json.loads(redis.hget("ql:j:b", "data")) == {}


@pytest.mark.parametrize(
    "options",
    [
        {"prefetch": 0},
        {"prefetch": 1001},
        {"interval": 0},
        {"interval": math.inf},
        {"grace": -1},
        {"grace": math.inf},
        {"grace": math.nan},
        {"jobs_per_child": 0},
        {"child_age_s": 0},
        {"child_memory": -1},
    ],
)
def test_options_that_make_no_sense_are_refused(options):
    (name,) = options

    with pytest.raises(BadArgument, match=name):
        Plan(queues=("q",), **options)


def test_who_is_to_end_is_not_told_to_go_on():
    switch = Switch()

    assert switch.tell(Mode.FINISH)
    assert not switch.tell(Mode.RUN)
    assert not switch.tell(Mode.FINISH)
    assert switch.tell(Mode.STOP)
    assert not switch.tell(Mode.FINISH)
    assert switch.is_ending
    assert switch.stopped.is_set()


def test_a_lock_is_measured_from_when_the_call_was_sent(real, monkeypatch):
    """However long an answer was on its way, the lock is not taken for longer than it is."""
    real.config["heartbeat"] = 30
    real.queues["q"].put(Mail, {}, jid="a")
    worker = Loop(real, Plan(queues=("q",)), Switch(), "w")
    (job,) = worker._take(worker.source.reserver(), 1)  # noqa: SLF001 - what is looked at

    class Later(Clock):
        def monotonic(self):
            return super().monotonic() + 29.9

    assert worker._may_begin(job)  # noqa: SLF001 - as above
    monkeypatch.setattr(loop_module, "REAL", Later())
    assert worker._may_begin(job)  # noqa: SLF001 - as above
    worker._anchor = (worker._anchor[0] - 0.2, worker._anchor[1])  # noqa: SLF001 - as above
    assert not worker._may_begin(job)  # noqa: SLF001 - as above


# What was begun, and of which Redis has not said what became of it


def loop_of(client, **options):
    return Loop(client, Plan(queues=("q",), **options), Switch(), client.worker_name)


def test_an_outcome_that_was_refused_is_not_forgotten(client, monkeypatch):
    def refuse(*_):
        problem = "no"
        raise NotPermitted(problem)

    client.queues["q"].put(Raises, {"message": "m"}, jid="a", retries=0)
    worker = loop_of(client, burst=True)
    with monkeypatch.context() as patch:
        patch.setattr(type(client.commands), "fail", refuse)
        worker._work(worker._next())  # noqa: SLF001 - what is looked at
    assert not worker.is_settled

    worker.run()

    job = client.jobs["a"]
    assert job.state == "failed"
    assert [item.what for item in job.history] == ["put", "popped", "stopped", "failed"]
    assert worker.is_settled


def test_jobs_that_are_refused_when_they_are_told_are_told_before_a_worker_waits(real, redis, done):
    real.queues["q"].put(Mail, {}, jid="a")
    redis.hset("ql:j:a", "data", "[" * 2000 + "]" * 2000)

    # Longer than this test has patience.
    with running(real, interval=600):
        eventually(lambda: real.jobs["a"].state == "failed")

    assert len(done) == 1


def test_jobs_that_came_are_worked_though_it_is_not_known_what_else_is_ours(
    client, monkeypatch, done
):
    def fails(*_):
        problem = "away"
        raise OutcomeUnknown(problem)

    client.queues["q"].put(Mail, {}, jid="a")
    worker = loop_of(client, interval=1, burst=True)
    reserver = worker.source.reserver()
    take = reserver.take

    def take_after_trouble(count, **_):
        reserver.troubles += 1
        return take(count, timeout=0)

    with monkeypatch.context() as patch:
        patch.setattr(reserver, "take", take_after_trouble)
        patch.setattr(type(client.commands), "worker", fails)
        jobs = worker._wait(reserver, 1)  # noqa: SLF001 - what is looked at
    assert [job.jid for job in jobs] == ["a"]
    assert not worker.is_settled
    worker._work(jobs)  # noqa: SLF001 - as above

    worker.run()

    assert client.jobs["a"].state == "complete"
    assert len(done) == 1
    assert worker.is_settled


def test_no_jobs_are_taken_before_it_is_known_what_became_of_those_told_meanwhile(client, done):
    """The thread that tells may fail while the loop already looks for the next jobs."""
    for jid in ("a", "b", "c"):
        client.queues["q"].put(Mail, {}, jid=jid, priority=-ord(jid))
    worker = loop_of(client, burst=True)
    told, kept = client.queues["q"].pop(2)
    worker.begun.update(("a", "b"))
    worker._telling.add(told, "{}")  # noqa: SLF001 - as above
    worker._telling.doubtful.append(kept)  # noqa: SLF001 - as above

    assert worker._take(worker.source.reserver(), 1) == []  # noqa: SLF001 - as above
    assert client.jobs["c"].state == "waiting"

    worker.run()
    assert {job.state for job in client.jobs.get("a", "b", "c")} == {"complete"}
    assert worker.is_settled
    assert len(done) == 1


def test_a_job_that_is_taken_as_it_begins_is_not_begun(client, monkeypatch, done):
    client.queues["q"].put(Mail, {}, jid="a")
    worker = loop_of(client)
    (job,) = worker._next()  # noqa: SLF001 - what is looked at
    begin = worker._begin  # noqa: SLF001 - as above

    def is_taken_meanwhile(job):
        begin(job)
        worker.taken.add("a")

    monkeypatch.setattr(worker, "_begin", is_taken_meanwhile)

    worker._work([job])  # noqa: SLF001 - as above

    assert done == []


# What a parent reads when its child is dead


def test_a_slate_has_nothing_of_a_job_that_a_thread_has_told(real, gate):
    """Else its next run would be recorded as complete, though it died."""
    real.queues["q"].put(Mail, {}, jid="a", priority=2)
    real.queues["q"].put(Gate, {}, jid="b", priority=1)
    slate, switch = Slate(), Switch()
    worker = Loop(real, Plan(queues=("q",), prefetch=2), switch, "w", slate=slate)
    thread = threading.Thread(target=worker.run)
    thread.start()
    assert gate.began.wait(PATIENCE_S)

    eventually(lambda: real.jobs["a"].state == "complete")
    eventually(lambda: slate.traces() == Traces(begun="b"))

    switch.tell(Mode.FINISH)
    gate.opened.set()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_a_slate_without_room_is_told_before_another_job_begins(real, done):
    long = "x" * (LONGEST - 100)
    jids = [f"j{number:02}" for number in range(80)]
    for jid in jids:
        real.queues["q"].put(f"{HERE}.notes", {"text": long}, jid=jid, priority=-int(jid[1:]))
    slate = Slate()
    plan = Plan(queues=("q",), prefetch=80, burst=True)

    Loop(real, plan, Switch(), "w", slate=slate).run()

    assert [jid for _, jid in done] == jids
    assert slate.traces() == Traces()
    assert {job.state for job in real.jobs.get(*jids)} == {"complete"}


def test_jobs_that_were_not_begun_lose_nothing_though_there_was_no_room(real, done, caplog):
    """Redis is full while more is done than a slate can hold."""
    long = "x" * (LONGEST - 100)
    for number in range(80):
        real.queues["q"].put(f"{HERE}.notes", {"text": long}, jid=f"j{number:02}", retries=0)
    slate, switch = Slate(), Switch()
    worker = Loop(real, Plan(queues=("q",), prefetch=80), switch, "w", slate=slate)
    jobs = worker._next()  # noqa: SLF001 - what is looked at
    real.redis.config_set("maxmemory", 1)
    thread = threading.Thread(target=worker._work, args=(jobs,))  # noqa: SLF001 - as above
    thread.start()
    try:
        eventually(lambda: "outcomes wait" in caplog.text)
        traces = slate.traces()
    finally:
        real.redis.config_set("maxmemory", 0)
    thread.join(PATIENCE_S)

    assert traces.is_complete
    assert {*traces.done} == {jid for _, jid in done[: len(traces.done)]}
    assert len(traces.done) < len(done) == 80


def notes(job):
    sample_jobs.DONE.append(("notes", job.jid))
    job["is noted"] = True
