"""Telling Redis what became of a job: once, whatever happens on the way."""

from __future__ import annotations

import threading

import pytest

from qless_core.client import Client
from qless_core.embedded import EmbeddedServer
from qless_core.worker.interrupt import JobTaken, WorkerStopping
from qless_core.worker.settling import Settler, TryAgain
from tests.support.cutting import cut_off
from tests.support.polling import PATIENCE_S, eventually
from tests.worker.sample_jobs import NO_TEXT, Mail


def popped(client, jid="j", **options):
    client.queues["q"].put(Mail, {"n": 1}, jid=jid, **options)
    job = client.queues["q"].pop()
    assert job.jid == jid
    return job


def raised(error, cause=None):
    """Give an error as one that was raised has it: with a traceback."""
    try:
        raise error from cause  # noqa: TRY301 - that is the point
    except BaseException as found:  # noqa: BLE001 - also those that stop a job
        return found


def again(**options):
    return raised(TryAgain(**options), raised(OSError("busy")))


def happenings(job):
    return [item.what for item in job.history]


@pytest.fixture
def settler(client):
    return Settler(client)


def test_a_job_that_returned_is_complete(client, settler):
    job = popped(client)
    job["n"] = 2

    assert settler.settle(job, None)

    assert job.is_settled
    assert job.state == "complete"
    assert (client.jobs["j"].state, client.jobs["j"].data) == ("complete", {"n": 2})


def test_a_job_that_raised_has_failed_with_its_data(client, settler, clock):
    job = popped(client)
    job["n"] = 2

    assert settler.settle(job, raised(KeyError("no such key")))

    assert job.is_settled
    stored = client.jobs["j"]
    assert (stored.state, stored.data, job.state) == ("failed", {"n": 2}, "failed")
    assert stored.failure.group == "q-KeyError"
    assert stored.failure.message.endswith("KeyError: 'no such key'\n")
    assert (stored.failure.worker, stored.failure.when) == ("worker-1", int(clock.now()))


def test_b12_a_failure_that_utf8_cannot_hold_is_recorded_with_replacements(client, settler):
    settler.settle(popped(client), raised(ValueError(NO_TEXT)))
    settler.settle(popped(client, "k"), again(group=NO_TEXT, message=NO_TEXT))

    assert "ValueError: a�b" in client.jobs["j"].failure.message
    failure = client.jobs["k"].failure
    assert (failure.group, failure.message) == ("a�b", "a�b")


def test_a_job_that_is_to_run_again_waits_and_keeps_what_happened(client, settler):
    job = popped(client, retries=3)

    assert settler.settle(job, again(delay=5))

    stored = client.jobs["j"]
    assert (stored.state, stored.retries_left) == ("scheduled", 2)
    assert (job.state, job.retries_left) == ("scheduled", 2)
    assert stored.failure.group == "q-OSError"
    assert stored.failure.message.endswith("OSError: busy\n")


def test_a_job_that_is_to_run_again_and_may_not_has_failed(client, settler):
    settler.settle(popped(client, retries=0), again())

    stored = client.jobs["j"]
    assert (stored.state, stored.failure.group) == ("failed", "q-OSError")


def test_a_job_that_says_itself_that_it_is_to_run_again_needs_no_cause(client, settler):
    settler.settle(popped(client), raised(TryAgain(delay=1)))

    assert client.jobs["j"].failure.group == "q-TryAgain"
    assert "again in 1 s" in client.jobs["j"].failure.message


@pytest.mark.parametrize(("has_begun", "left"), [(True, 2), (False, 3)])
def test_a_job_that_was_stopped_waits_at_once(client, settler, has_begun, left):
    job = popped(client, retries=3)
    error = raised(WorkerStopping("SIGTERM"))
    error.has_begun = has_begun

    assert settler.settle(job, error)

    stored = client.jobs["j"]
    assert (stored.state, stored.retries_left, stored.worker_name) == ("waiting", left, "")
    assert happenings(stored)[-1] == "stopped"
    assert stored.history[-1].details["why"] == "SIGTERM"
    assert (job.state, job.is_settled) == ("waiting", True)


@pytest.mark.parametrize("has_begun", [True, False])
def test_a_job_that_may_not_run_twice_waits_again_only_if_it_was_not_begun(
    client, settler, has_begun
):
    error = raised(WorkerStopping())
    error.has_begun = has_begun

    settler.settle(popped(client, retries=0), error)

    assert client.jobs["j"].state == ("failed" if has_begun else "waiting")


def test_of_a_job_that_was_taken_nothing_is_told(client, settler):
    assert settler.settle(popped(client), raised(JobTaken("lock_lost")))

    assert client.jobs["j"].state == "running"


def test_of_a_job_that_settled_itself_nothing_is_told(client, settler):
    job = popped(client)
    job.complete("next")

    assert settler.settle(job, raised(KeyError("late")))

    assert (client.jobs["j"].state, client.jobs["j"].queue_name) == ("waiting", "next")


def test_b41_of_a_job_that_another_worker_has_nothing_is_recorded(client, server, clock, settler):
    job = popped(client)
    client.jobs["j"].timeout()
    with Client(server.url, clock=clock, worker_name="worker-2") as other:
        other.queues["q"].pop()

    assert settler.settle(job, raised(KeyError("late")))

    stored = client.jobs["j"]
    assert (stored.state, stored.worker_name, stored.failure) == ("running", "worker-2", None)


ERRORS = {
    "complete": lambda: None,
    "failed": lambda: raised(KeyError("x")),
    "scheduled": lambda: again(delay=5),
    "waiting": lambda: raised(WorkerStopping()),
}
RETRIES = {"complete": 5, "failed": 5, "scheduled": 4, "waiting": 4}


@pytest.mark.parametrize("state", ERRORS)
@pytest.mark.parametrize("cuts", [1, 2])
def test_an_outcome_of_which_the_answer_is_lost_is_recorded_once(
    client, redis, clock, state, cuts, caplog
):
    job = popped(client)
    caplog.set_level("INFO")
    with cut_off(redis, cuts, greetings=1) as far, client_of(far, clock) as remote:
        settler = Settler(remote)

        assert not settler.settle(job_of(remote, job), ERRORS[state]())
        settler.flush()

    stored = client.jobs["j"]
    assert (stored.state, stored.retries_left) == (state, RETRIES[state])
    assert len(happenings(stored)) == len({*happenings(stored)})
    assert "settled, though the answer was lost" in caplog.text
    assert settler.kept == []


@pytest.mark.parametrize("state", ERRORS)
def test_an_outcome_that_is_told_again_under_its_id_is_recorded_once(client, redis, clock, state):
    job = popped(client)
    with cut_off(redis, 1, greetings=1) as far, client_of(far, clock) as remote:
        settler = Settler(remote)
        settler.keep(job_of(remote, job), ERRORS[state]())

        settler.flush()

    stored = client.jobs["j"]
    assert (stored.state, stored.retries_left) == (state, RETRIES[state])


def test_the_next_run_of_a_job_is_not_taken_for_the_one_that_is_told_of(client, redis, clock):
    job = popped(client)
    with cut_off(redis, 1, greetings=1) as far, client_of(far, clock) as remote:
        settler = Settler(remote)
        settler.keep(job_of(remote, job), raised(TryAgain()))
        assert not settler.settle(job_of(remote, popped(client, "other")), None)
        assert client.queues["q"].pop().jid == "j"

        settler.flush()

    stored = client.jobs["j"]
    assert (stored.state, stored.worker_name, stored.retries_left) == ("running", "worker-1", 4)
    assert client.jobs["other"].state == "complete"


def client_of(redis, clock):
    return Client(redis=redis, clock=clock, worker_name="worker-1")


def job_of(client, job):
    """Give the job as another client would have popped it."""
    return type(job)(client, job.record, worker=job.holder)


def test_what_a_worker_was_told_in_doubt_and_was_taken_since_is_left_alone(
    client, redis, clock, server
):
    job = popped(client)
    with cut_off(redis, 1, greetings=1) as far, client_of(far, clock) as remote:
        settler = Settler(remote)
        assert not settler.settle(job_of(remote, job), again())
        with Client(server.url, clock=clock, worker_name="worker-2") as other:
            assert other.queues["q"].pop().jid == "j"

        settler.flush()

    stored = client.jobs["j"]
    assert (stored.state, stored.worker_name, stored.retries_left) == ("running", "worker-2", 4)


def test_b71_outcomes_wait_in_order_until_redis_has_room(client, redis, caplog):
    jobs = [popped(client, jid) for jid in ("a", "b")]
    settler = Settler(client)
    redis.config_set("maxmemory", 1)
    try:
        assert not settler.settle(jobs[0], None)
        jobs[0]["n"] = "too late"
        assert not settler.settle(jobs[1], raised(KeyError("x")))
        assert settler.kept == jobs

        flush = threading.Thread(target=settler.flush)
        flush.start()
        eventually(lambda: "outcomes wait" in caplog.text)
        assert [job.state for job in client.jobs.get("a", "b")] == ["running", "running"]
    finally:
        redis.config_set("maxmemory", 0)
    flush.join(PATIENCE_S)

    assert not flush.is_alive()
    assert client.jobs["a"].data == {"n": 1}
    assert [client.jobs[jid].state for jid in ("a", "b")] == ["complete", "failed"]


def test_b68_an_outcome_is_told_when_redis_is_back(tmp_path):
    place = tmp_path / "data"
    server = EmbeddedServer(place).start()
    with Client(server.url) as client:
        job = popped(client)
        server.stop()
        settler = Settler(client)

        assert not settler.settle(job, None)
        with EmbeddedServer(place):
            settler.flush()

            assert client.jobs["j"].state == "complete"


def test_when_the_worker_ends_what_cannot_be_told_is_given_up_and_said(tmp_path, caplog):
    with EmbeddedServer(tmp_path / "data") as server:
        client = Client(server.url)
        job = popped(client)
    settler, stop = Settler(client), threading.Event()
    settler.settle(job, None)
    stop.set()

    settler.flush(stop)

    assert (settler.kept, settler.given_up) == ([], {"j"})
    assert "job 'j': its outcome could not be told" in caplog.text


def test_an_outcome_is_kept_for_so_long_and_no_longer(tmp_path, caplog):
    with EmbeddedServer(tmp_path / "data") as server:
        client = Client(server.url)
        client.config["heartbeat"] = 1
        job = popped(client)
    settler = Settler(client, keep=0.01)

    assert not settler.settle(job, None)
    settler.flush()

    assert (settler.kept, settler.given_up) == ([], {"j"})
    assert "job 'j': its outcome could not be told" in caplog.text


def test_what_redis_will_never_allow_is_said_and_not_kept(client, redis, server, clock, caplog):
    redis.execute_command("ACL", "SETUSER", "reads", "on", ">p", "~*", "+@read", "+ping")
    with Client(
        server.url.replace("unix://", "unix://reads:p@"), clock=clock, worker_name="worker-1"
    ) as reader:
        job = job_of(reader, popped(client))

        assert Settler(reader).settle(job, None)

    redis.execute_command("ACL", "DELUSER", "reads")
    assert "could not be told" in caplog.text
    assert "NotPermitted" in caplog.text


def test_data_that_json_cannot_say_fails_the_job_that_returned(client, settler):
    job = popped(client)
    job["n"] = {1, 2}

    assert settler.settle(job, None)

    stored = client.jobs["j"]
    assert (stored.failure.group, stored.data) == ("q-BadArgument", {"n": 1})
