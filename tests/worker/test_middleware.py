"""What goes around jobs, by worker and by class: what it sees, and what becomes of the job."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from qless_core.worker.serial import SerialWorker
from tests.worker import wrapped_jobs
from tests.worker.sample_jobs import NO_TEXT
from tests.worker.wrapped_jobs import HEARD, Named, Plain, Retried, Wrapped, Wrong, says


@pytest.fixture(autouse=True)
def _anew():
    HEARD.clear()


@pytest.fixture
def work(client):
    """Put a job, let a worker take one step, answer what became of it."""

    def work(klass, data=None, *, middleware=(), queue="q", **options):
        jid = client.queues[queue].put(klass, data or {}, jid="j", **options)
        assert SerialWorker(client, [queue], middleware=middleware).step().jid == jid
        return client.jobs[jid]

    return work


def test_the_first_is_the_outermost_and_those_of_the_worker_are_outside(work):
    job = work(Wrapped, middleware=[says("worker"), says("second")])

    assert job.state == "complete"
    assert HEARD == [
        "worker begins",
        "second begins",
        "outer begins",
        "inner begins",
        "runs",
        "inner ends j",
        "outer ends j",
        "second ends j",
        "worker ends j",
    ]


def test_all_see_what_the_job_raises(work):
    job = work(Wrapped, {"raise": "x"}, middleware=[says("worker")])

    assert job.failure.group == "q-KeyError"
    assert HEARD[-3:] == ["inner sees KeyError", "outer sees KeyError", "worker sees KeyError"]


def test_those_of_the_worker_see_a_class_that_cannot_be_imported(work):
    job = work("no_such_module.Job", middleware=[says("worker")])

    assert job.failure.group == "q-ImportError"
    assert HEARD == ["worker begins", "worker sees CannotPerform"]


def test_one_that_swallows_what_the_job_raised_lets_it_be_complete(work):
    @contextmanager
    def swallows(_):
        try:
            yield
        except KeyError:
            HEARD.append("swallowed")

    assert work(Plain, {"raise": "x"}, middleware=[swallows]).state == "complete"
    assert HEARD == ["runs", "swallowed"]


@contextmanager
def breaks_before(_):
    raise LookupError(NO_TEXT)
    yield


@contextmanager
def breaks_after(_):
    yield
    raise LookupError(NO_TEXT)


def breaks_at_once(_):
    raise LookupError(NO_TEXT)


def is_none(_):
    return None


@pytest.mark.parametrize(
    ("broken", "kind", "runs"),
    [
        (breaks_before, "LookupError", 0),
        (breaks_after, "LookupError", 1),
        (breaks_at_once, "LookupError", 0),
        (is_none, "TypeError", 0),
    ],
)
def test_b12_one_that_breaks_fails_the_job_where_everybody_sees_it(work, broken, kind, runs):
    job = work(Plain, middleware=[says("outer"), broken])

    assert (job.state, job.failure.group) == ("failed", f"q-{kind}")
    assert HEARD.count("runs") == runs
    assert HEARD[-1] == f"outer sees {kind}"
    job.failure.message.encode()


def test_one_that_breaks_as_the_job_does_tells_of_both(work):
    @contextmanager
    def breaks(_):
        try:
            yield
        finally:
            raise LookupError(NO_TEXT)

    message = work(Plain, {"raise": "glāžšķūņu"}, middleware=[breaks]).failure.message

    assert "KeyError: 'glāžšķūņu'" in message
    assert message.endswith("LookupError: a�b\n")


def test_one_that_breaks_when_the_job_has_settled_itself_changes_nothing(work, monkeypatch):
    monkeypatch.setattr(
        wrapped_jobs.Plain, "process", staticmethod(lambda job: job.complete("next"))
    )

    job = work(Plain, middleware=[breaks_after])

    assert (job.state, job.queue_name, job.failure) == ("waiting", "next", None)


def test_a_list_on_a_class_will_do(work, clock):
    job = work(Retried, {"raise": "x"}, retries=1)

    assert (job.state, job.retries_left) == ("scheduled", 0)
    assert clock.advance(11)


def test_what_is_no_list_of_middleware_fails_the_job_with_a_clear_message(work):
    job = work(Wrong)

    assert job.failure.group == "q-BadArgument"
    assert "Wrong.middleware must be a list" in job.failure.message


def test_a_method_of_that_name_runs_the_jobs_of_a_queue(work):
    assert work(Named, queue="middleware").state == "complete"
    assert HEARD == ["the queue middleware"]
