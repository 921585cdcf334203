"""What applications get for their own tests."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import qless_core
from qless_core import events
from qless_core.client import Client
from qless_core.errors import BadArgument
from qless_core.job import Job
from qless_core.testing import (
    FrozenClock,
    NullClient,
    make_job,
    perform,
    perform_all,
    record_events,
)

pytest_plugins = ["pytester"]


class Adds:
    @staticmethod
    def process(job):
        if job["n"] < 0:
            raise ValueError(job["n"])
        job["sum"] = job["n"] + 1
        return job["sum"]


def test_a_built_job_knows_its_attempt_and_goes_on_knowing_itself():
    job = Job.build(Adds, client=NullClient(), attempt=3)

    job.log("half of it")
    job.retry()

    assert (job.attempt, len(job.history), job.retries_left) == (3, 3, 4)
    assert Job.build(Adds).attempt == 1


def test_a_frozen_clock_goes_on_only_when_told():
    clock = FrozenClock(1000.5)

    assert (clock.now(), clock.monotonic(), clock.stamp()) == (1000.5, 1000.5, "1000.5")
    assert clock.advance(60) == clock.now() == 1060.5
    stop = threading.Event()
    assert clock.wait(10, stop) is False
    stop.set()
    assert clock.wait(10, stop) is True
    assert clock.now() == 1080.5
    assert repr(clock) == "FrozenClock(1080.5)"


def test_a_job_is_made_without_redis_its_data_put_through_json():
    """Q19."""
    data = {"n": 1, "pair": (1, 2)}

    job = make_job(Adds, data, queue="mail", tags=("x",), remaining=2)

    assert job.data == {"n": 1, "pair": [1, 2]}
    assert job.data is not data
    assert (job.queue_name, job.tags, job.retries_left) == ("mail", ["x"], 2)
    assert make_job(Adds).data == {}
    with pytest.raises(BadArgument):
        make_job(Adds, {"bad": {1}})


def test_a_job_is_performed_and_what_it_raises_comes_through():
    job = make_job(Adds, {"n": 1})

    assert perform(job) == 2
    assert job["sum"] == 2
    with pytest.raises(ValueError, match="-1"):
        perform(make_job(Adds, {"n": -1}))


def test_all_jobs_are_performed_until_none_is_left(client):
    name = f"{__name__}.Adds"
    for number in (1, -1):
        client.queues["q"].put(name, {"n": number})

    states = {job.raw_data: job.state for job in perform_all(client, "q")}

    assert states == {'{"n":1,"sum":2}': "complete", '{"n":-1}': "failed"}


def test_events_are_recorded_without_waiting(client):
    with record_events(client) as heard:
        client.queues["q"].put("Job", {}, jid="a")
        assert heard.events == [events.Put("a", queue="q")]
        client.jobs["a"].cancel()

        assert heard.events[1:] == [events.Canceled("a", queue="q", worker="")]


def test_what_was_recorded_is_there_after_the_block_and_nothing_later(client):
    with record_events(client) as heard:
        client.queues["q"].put("Job", {}, jid="a")
    client.queues["q"].put("Job", {}, jid="b")

    assert heard.events == heard.events == [events.Put("a", queue="q")]


def test_the_fixtures_give_an_application_a_server_of_its_own(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(qless_core.__file__).parents[1]))
    pytester.makeconftest('pytest_plugins = ["qless_core.testing"]')
    pytester.makepyfile(
        """
        from qless_core.testing import perform_all

        def greet(job):
            job["said"] = "hello"

        def test_a_job(qless_client, qless_clock):
            qless_client.queues["q"].put(greet, {}, delay=5)
            assert perform_all(qless_client, "q") == []
            qless_clock.advance(5)
            (job,) = perform_all(qless_client, "q")
            assert job["said"] == "hello"

        def test_it_is_empty_for_each_test(qless_client):
            assert qless_client.queues.counts == []
        """
    )

    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.runpytest_subprocess("-p", "no:valkey").assert_outcomes(passed=2)


def test_the_server_of_the_fixtures_is_not_the_default_one(server):
    assert Client().safe_url not in server.url


class Forwards:
    @staticmethod
    def process(job):
        job["seen"] = True
        job.heartbeat()
        job.log("step", {"n": 1})
        job.client.queues["mail"].put("app.Mail", {"to": job["to"]}, jid="mail-1")
        job.complete("next", delay=5)


def test_a_null_client_notes_what_a_job_would_have_sent():
    client = NullClient()
    job = Job.build(Forwards, {"to": "ada"}, client=client, queue="q", jid="j")

    job.perform()

    assert [call[0] for call in client.calls] == ["heartbeat", "log", "put", "complete"]
    assert client.calls[0] == ("heartbeat", "j", "null-worker", '{"to":"ada","seen":true}')
    assert client.calls[2][1:6] == ("null-worker", "mail", "mail-1", "app.Mail", '{"to":"ada"}')
    assert (job.state, job.queue_name, job.is_settled) == ("scheduled", "next", True)


@pytest.mark.parametrize(
    ("verb", "answer", "state"),
    [
        (lambda job: job.heartbeat(), 1_700_000_060, "running"),
        (lambda job: job.complete(), "complete", "complete"),
        (lambda job: job.complete("n"), "waiting", "waiting"),
        (lambda job: job.complete("n", depends=["x"]), "depends", "depends"),
        (lambda job: job.fail("g", "m"), None, "failed"),
        (lambda job: job.retry(), 4, "waiting"),
        (lambda job: job.tag("x"), ["x"], "running"),
        (lambda job: job.track(), True, "running"),
        (lambda job: job.client.queues["q"].put_many([("K", {}, {"jid": "a"})]), ["a"], "running"),
        (lambda job: job.client.queues["q"].recur("K", {}, 5, jid="r"), "r", "running"),
        (lambda job: job.client.queues["q"].pop(), None, "running"),
        (lambda job: job.client.bulk_cancel(["a", "b"]), ["a", "b"], "running"),
    ],
)
def test_every_verb_succeeds_with_a_null_client(verb, answer, state):
    job = Job.build(Adds, client=NullClient())

    assert verb(job) == answer
    assert job.state == state


def test_a_job_without_a_client_runs_and_says_that_it_has_none():
    job = Job.build(Adds, {"n": 1}, retries=2, tags=("x",))

    assert job.perform() == 2
    assert job.klass is Adds
    assert (job.retries_left, job.original_retries, job.tags) == (2, 2, ["x"])
    for verb in (job.heartbeat, job.complete, job.cancel):
        with pytest.raises(BadArgument, match="without a client"):
            verb()
    assert not job.is_settled
    assert (job.state, job.ttl) == ("running", 0)


def test_a_job_that_cannot_be_built_says_why():
    with pytest.raises(BadArgument, match="JSON"):
        Job.build(Adds, {"bad": {1}})
    with pytest.raises(BadArgument, match="colour"):
        Job.build(Adds, colour="red")
    with pytest.raises(BadArgument, match="inside a function"):
        Job.build(lambda job: job)
