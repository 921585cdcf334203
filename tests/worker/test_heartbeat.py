"""Locks that are kept in the background."""

from __future__ import annotations

import os
import threading

import pytest

from qless_core.client import Client
from qless_core.embedded import EmbeddedServer
from qless_core.worker.heartbeat import keep
from qless_core.worker.interrupt import JobTaken
from qless_core.worker.performing import attempt
from tests.support.polling import PATIENCE_S, eventually
from tests.worker.long_jobs import GO, SEEN, Kept, NotKept

#: Seconds that a lock lasts: longer than a machine with much to do keeps a thread waiting.
LOCK_S = 3


@pytest.fixture(autouse=True)
def _anew():
    GO.clear()
    SEEN.clear()
    yield
    GO.set()


@pytest.fixture
def real(server, redis):  # noqa: ARG001 - it empties the server
    """Make a client that goes by the server's clock, with locks that last a few seconds."""
    with Client(server.url, worker_name="w") as client:
        client.config["heartbeat"] = LOCK_S
        client.config["grace-period"] = 0
        yield client


def at_work(job, *middleware):
    """Run a job in a thread."""
    results = []
    thread = threading.Thread(target=lambda: results.append(attempt(job, middleware)), daemon=True)
    thread.start()
    return thread, results


def outlives_three_locks(client, job):
    """See that a job is never handed out, for three times as long as its lock lasts."""
    until = client.now() + 3 * LOCK_S
    others = client.queues["q"]
    eventually(lambda: others.pop() or client.now() > until)
    stored = client.jobs[job.jid]
    return (stored.state, stored.worker_name, stored.retries_left) == ("running", "w", 5)


@pytest.mark.parametrize(
    ("klass", "queue", "middleware"),
    [(Kept, "q", []), (NotKept, "q", [keep]), (NotKept, "for_a_while", [])],
)
def test_b59_a_long_job_keeps_its_lock_where_class_worker_or_job_ask_for_it(
    real, klass, queue, middleware
):
    real.queues[queue].put(klass, {})
    job = real.queues[queue].pop()
    thread, results = at_work(job, *middleware)

    assert outlives_three_locks(real, job)
    GO.set()
    thread.join(PATIENCE_S)

    assert results == [None]
    assert job.complete() == "complete"


def test_a_job_that_does_not_ask_loses_its_lock(real):
    real.queues["q"].put(NotKept, {})
    job = real.queues["q"].pop()
    at_work(job)

    assert eventually(real.queues["q"].pop).jid == job.jid


def test_a_job_sees_the_new_end_of_its_lock(real):
    real.queues["q"].put(Kept, {})
    job = real.queues["q"].pop()
    before = job.expires_at
    thread, _ = at_work(job)

    eventually(lambda: job.expires_at > before)
    GO.set()
    thread.join(PATIENCE_S)
    job.complete()

    assert SEEN[0] == before < SEEN[1]
    assert job.expires_at == 0


def test_a_job_whose_lock_is_lost_is_interrupted(real, server):
    real.queues["q"].put(Kept, {})
    job = real.queues["q"].pop()
    thread, results = at_work(job)
    with Client(server.url, worker_name="other") as other:
        real.jobs[job.jid].timeout()
        assert other.queues["q"].pop().jid == job.jid

        thread.join(PATIENCE_S)

    [error] = results
    assert isinstance(error, JobTaken)
    assert "another worker" in error.why
    assert real.jobs[job.jid].worker_name == "other"


def test_b68_a_lock_is_renewed_when_redis_is_back(tmp_path, caplog):
    caplog.set_level("INFO", "qless.worker")
    place = tmp_path / "data"
    server = EmbeddedServer(place).start()
    with Client(server.url, worker_name="w") as client:
        client.config["heartbeat"] = 6
        client.queues["q"].put(Kept, {})
        job = client.queues["q"].pop()
        before = job.expires_at
        thread, results = at_work(job)
        server.stop()
        eventually(lambda: "its lock cannot be renewed now" in caplog.text)

        with EmbeddedServer(place):
            eventually(lambda: job.expires_at > before)
            GO.set()
            thread.join(PATIENCE_S)

    assert results == [None]


def test_a_job_that_is_over_is_renewed_no_more(real):
    real.queues["q"].put(NotKept, {})
    job = real.queues["q"].pop()
    with keep(job):
        eventually(lambda: job.expires_at > job.record.expires)
    job.timeout()

    until = real.now() + LOCK_S
    eventually(lambda: real.now() > until)

    assert real.jobs[job.jid].state == "stalled"


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # a child that only waits
def test_b59_a_forked_child_keeps_locks_too(real):
    real.queues["q"].put(NotKept, {})
    job = real.queues["q"].pop()
    with keep(job):
        eventually(lambda: job.expires_at > job.record.expires)
    child = os.fork()
    if not child:
        with keep(job):
            GO.wait(60)
        os._exit(0)
    try:
        assert outlives_three_locks(real, job)
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
