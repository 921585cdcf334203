from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from qless_core.backoff import Backoff
from qless_core.client import Client
from qless_core.embedded import EmbeddedServer
from qless_core.errors import BadArgument
from qless_core.testing import perform_all
from qless_core.worker.reserving import RoundRobin
from qless_core.worker.serial import SerialWorker
from tests.support.polling import PATIENCE_S, eventually
from tests.worker import sample_jobs
from tests.worker.sample_jobs import Chain, Changes, Interrupts, Loses, Mail, Raises, Settles

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def done():
    sample_jobs.DONE.clear()
    return sample_jobs.DONE


@pytest.fixture
def work(client):
    """Put a job into a queue, let a worker take one step, answer what became of the job."""

    def work(klass, data=None, queue="q", **options):
        jid = client.queues[queue].put(klass, data or {}, **options)
        assert SerialWorker(client, [queue]).step().jid == jid
        return client.jobs[jid]

    return work


def test_what_returns_is_completed(work, done):
    job = work(Mail)

    assert job.state == "complete"
    assert done == [("Mail.process", job.jid)]


def test_what_raises_is_failed_with_its_traceback(work, clock):
    job = work(Raises, {"message": "it broke"})

    assert job.state == "failed"
    assert job.failure.group == "q-ValueError"
    assert job.failure.message.startswith("Traceback (most recent call last):")
    assert job.failure.message.endswith("ValueError: it broke\n")
    assert job.failure.worker.startswith("worker-1-")
    assert job.failure.when == int(clock.now())


def test_b10_any_text_in_an_error_is_kept(work):
    job = work(Raises, {"message": "glāžšķūņu 漢字 🙂"}, tags=["漢字"])

    assert "glāžšķūņu 漢字 🙂" in job.failure.message


def test_b12_what_utf8_cannot_hold_is_replaced(work, caplog):
    assert "ValueError: a�b" in work(Raises, queue="surrogate").failure.message
    assert "ValueError: a�b" in caplog.text
    caplog.text.encode()


def test_leaving_the_interpreter_fails_the_job_alone(work):
    assert work(Raises, queue="leaves").failure.group == "leaves-SystemExit"


def test_a_recursion_without_end_fails_the_job_alone(work):
    assert work(Raises, queue="deep").failure.group == "deep-RecursionError"


@pytest.mark.parametrize("klass", ["no_such_module.Job", "tests.worker.sample_jobs.Quiet", "Mail"])
def test_what_cannot_be_imported_is_failed_with_a_clear_message(work, klass):
    job = work(klass)

    assert job.failure.group == "q-ImportError"
    assert klass in job.failure.message


@pytest.mark.parametrize(
    ("queue", "state"),
    [
        ("completes", "waiting"),
        ("fails", "failed"),
        ("retries", "scheduled"),
        ("settles_then_raises", "complete"),
    ],
)
def test_a_job_that_settles_itself_is_left_alone(work, queue, state, caplog):
    job = work(Settles, queue=queue)

    assert "no longer ours" not in caplog.text
    assert job.state == state
    assert job.failure is None or job.failure.group == "own"


def test_a_job_may_cancel_itself(client, work):
    assert work(Settles, queue="cancels") is None
    assert client.failures.groups == {}


def test_what_a_job_changes_in_its_data_is_kept(work):
    assert work(Changes, {"n": 1}).data == {"n": 1, "seen": True}


@pytest.mark.parametrize(
    ("queue", "group"),
    [("spoils", "spoils-BadArgument"), ("spoils_and_raises", "spoils_and_raises-KeyError")],
)
def test_data_that_json_cannot_say_fails_the_job_and_stays_as_it_was(work, queue, group):
    job = work(Changes, {"n": 1}, queue=queue)

    assert job.failure.group == group
    assert job.data == {"n": 1}


@pytest.mark.parametrize("data", [None, "s", 5, [], True, False, ""])
def test_b17_data_of_any_kind_is_handed_to_the_job(client, data):
    jid = client.queues["q"].put(Mail, data)

    SerialWorker(client, "q").step()

    assert client.jobs[jid].state == "complete"


@pytest.mark.parametrize("queue", ["lock", "lock_and_notice"])
def test_b41_a_lost_lock_is_no_failure_and_no_crash(client, server, clock, queue, caplog):
    with Client(server.url, clock=clock, worker_name="worker-2") as other:
        Loses.other = other
        jid = client.queues[queue].put(Loses, {})
        client.queues[queue].put(Mail, {}, jid="next", delay=0, priority=-1)
        worker = SerialWorker(client, [queue])
        caplog.set_level(logging.WARNING, "qless.worker")

        worker.step()

        job = client.jobs[jid]
        assert (job.state, job.worker_name, job.failure) == ("running", "worker-2", None)
        assert "no longer ours" in caplog.text
        worker.step()
        assert client.jobs["next"].state == "complete"


def test_b53_a_job_cancelled_while_it_runs_leaves_nothing_behind(client, redis, work):
    assert work(Loses, queue="canceled") is None

    assert client.failures.groups == {}
    assert redis.keys("ql:j:*") == []


def test_queues_are_worked_in_their_order(client, done):
    for queue in ("b", "a"):
        for number in range(2):
            client.queues[queue].put(Mail, {}, jid=f"{queue}{number}", priority=-number)

    perform_all(client, "a", "b")

    assert [jid for _, jid in done] == ["a0", "a1", "b0", "b1"]


def test_queues_are_worked_in_turn_by_round_robin(client, done):
    for queue in ("b", "a"):
        for number in range(2):
            client.queues[queue].put(Mail, {}, jid=f"{queue}{number}", priority=-number)
    client.queues["b"].put(Mail, {}, jid="b2", priority=-2)
    worker = SerialWorker(client, ["a", "empty", "b"], order=RoundRobin)

    while worker.step():
        pass

    assert [jid for _, jid in done] == ["a0", "b0", "a1", "b1", "b2"]


def test_without_a_queue_there_is_no_worker(client):
    with pytest.raises(BadArgument):
        SerialWorker(client, [])


def test_jobs_that_put_jobs_are_worked_to_the_end(client, done):
    client.queues["q"].put(Chain, {"left": 4})

    assert len(perform_all(client, "q")) == len(done) == 5


def running(worker):
    thread = threading.Thread(target=worker.run)
    thread.start()
    return thread


def test_a_worker_runs_until_it_is_told_to_stop(server, redis, done):  # noqa: ARG001 - it empties the server
    with Client(server.url, worker_name="w") as client:
        worker = SerialWorker(client, ["q"], interval=0.01)
        thread = running(worker)
        client.queues["q"].put(Mail, {})
        eventually(lambda: done)
        eventually(lambda: "w" in client.workers)

        worker.stop()
        thread.join(PATIENCE_S)

        assert not thread.is_alive()
        assert worker.is_stopping
        assert client.workers.counts == []


def test_stopping_wakes_a_worker_that_waits(server, redis):  # noqa: ARG001 - it empties the server
    with Client(server.url) as client:
        worker = SerialWorker(client, ["q"], interval=600)
        thread = running(worker)
        eventually(lambda: client.workers.counts)

        worker.stop()
        thread.join(PATIENCE_S)

        assert not thread.is_alive()


def test_b68_a_worker_outlives_the_absence_of_redis(tmp_path, done, caplog):
    place = tmp_path / "data"
    server = EmbeddedServer(place).start()
    with Client(server.url) as client:
        worker = SerialWorker(client, ["q"], interval=0.01)
        client.queues["q"].put(Mail, {}, jid="before")
        thread = running(worker)
        eventually(lambda: done)
        server.stop()
        eventually(lambda: "no job can be taken" in caplog.text)

        with EmbeddedServer(place):
            client.queues["q"].put(Mail, {}, jid="after")
            eventually(lambda: len(done) == 2)
            worker.stop()
            thread.join(PATIENCE_S)

    assert not thread.is_alive()


def test_b68_the_outcome_of_a_job_is_told_when_redis_is_back(tmp_path, done):
    place = tmp_path / "data"
    server = EmbeddedServer(place).start()
    with Client(server.url) as client:
        client.queues["q"].put(Interrupts, {}, jid="a")
        Interrupts.server = server

        SerialWorker(client, ["q"]).step()

        assert client.jobs["a"].state == "complete"
        assert len(done) == 1
        Interrupts.again.stop()


def test_waiting_for_redis_takes_longer_each_time_and_differs_between_workers():
    first, second = Backoff(), Backoff()

    waits = [first.next() for _ in range(12)]

    assert waits[-1] > waits[0]
    assert max(waits) <= 15
    assert waits != [second.next() for _ in range(12)]
    first.reset()
    assert first.next() <= 0.25


def test_b10_a_worker_in_a_world_of_ascii_fails_the_job_and_goes_on(server, redis, tmp_path):  # noqa: ARG001 - it empties the server
    (tmp_path / "foreign_jobs.py").write_text(
        "def fail(job):\n    raise Exception('gl\\u0101 \\u6f22 \\U0001f642')\n", "utf-8"
    )
    environment = {**os.environ, "LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    with Client(server.url) as client:
        jids = [
            client.queues["q"].put("foreign_jobs.fail", {"漢": "字"}, tags=["漢字"])
            for _ in range(2)
        ]
        command = [sys.executable, "-m", "qless_core", "--redis-url", server.url, "work", "-q", "q"]
        with subprocess.Popen(
            [*command, "--path", str(tmp_path), "--interval", "0.05"],
            cwd=ROOT,
            env=environment,
            stderr=subprocess.PIPE,
        ) as process:
            eventually(lambda: client.failures.groups == {"q-Exception": 2})
            process.terminate()
            _, said = process.communicate(timeout=PATIENCE_S)

        assert process.returncode == 0
        assert b"Logging error" not in said
        assert all("glā 漢 🙂" in job.failure.message for job in client.jobs.get(*jids))
