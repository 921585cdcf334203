from __future__ import annotations

import pytest

from qless_core.errors import BadArgument
from qless_core.testing import make_job
from qless_core.worker.interrupt import JobTaken, WorkerStopping
from qless_core.worker.middleware import RequeueOn, RetryOn
from qless_core.worker.serial import SerialWorker
from qless_core.worker.settling import TryAgain
from tests.worker.wrapped_jobs import Plain


@pytest.fixture
def work(client):
    def work(*middleware):
        job = SerialWorker(client, ["q"], middleware=middleware).step()
        return None if job is None else client.jobs[job.jid]

    return work


def test_a_job_runs_again_as_often_as_it_may_and_then_has_failed(client, work, clock):
    client.queues["q"].put(Plain, {"raise": "x"}, jid="j", retries=2)
    retry = RetryOn(KeyError, first=10, jitter=False)
    seen = []
    for wait in (10, 20, 40):
        job = work(retry)
        seen.append((job.state, job.retries_left, job.failure.group))
        assert work(retry) is None
        clock.advance(wait - 1)
        assert work(retry) is None
        clock.advance(1)

    assert seen == [
        ("scheduled", 1, "q-KeyError"),
        ("scheduled", 0, "q-KeyError"),
        ("failed", -1, "q-KeyError"),
    ]
    last = client.jobs["j"]
    assert last.failure.message.endswith("KeyError: 'x'\n")
    assert [item.what for item in last.history] == [
        "put",
        *["popped", "retried"] * 2,
        "popped",
        "failed",
    ]
    assert last.history[2].details == {"group": "q-KeyError", "delay": 10, "remaining": 1}
    assert client.failures.groups == {"q-KeyError": 1}


def test_a_job_that_may_not_run_twice_does_not(client, work):
    client.queues["q"].put(Plain, {"raise": "x"}, jid="j", retries=0)

    assert work(RetryOn()).state == "failed"


def test_another_exception_fails_the_job(client, work):
    client.queues["q"].put(Plain, {"raise": "x"}, jid="j")

    job = work(RetryOn(OSError, ValueError))

    assert (job.state, job.retries_left) == ("failed", 5)


def test_the_innermost_that_is_meant_decides(client, work):
    client.queues["q"].put(Plain, {"raise": "x"}, jid="j")

    job = work(RetryOn(first=1000, longest=1000), RetryOn(KeyError, first=0), RetryOn(OSError))

    assert job.state == "waiting"


@pytest.mark.parametrize("error", [WorkerStopping(), JobTaken(), TryAgain(5)])
def test_what_says_itself_what_becomes_of_the_job_is_left_alone(error):
    job = make_job(Plain)

    with pytest.raises(type(error)) as found, RetryOn(BaseException)(job):
        raise error

    assert found.value is error


def test_waits_grow_up_to_the_longest_and_differ():
    jobs = [make_job(Plain, retries=20, remaining=20 - failed) for failed in range(20)]
    retry = RetryOn(first=2, longest=60)

    waits = [[retry.delay(job) for job in jobs] for _ in range(2)]

    assert waits[0] != waits[1]
    assert all(1 <= wait <= 2 for wait, *_ in waits)
    assert all(30 <= wait <= 60 for *_, wait in waits)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: RetryOn("KeyError"),
        lambda: RetryOn(KeyError()),
        lambda: RetryOn(first=-1),
        lambda: RetryOn(first=10, longest=5),
        lambda: RequeueOn(delay=-1),
        lambda: RequeueOn(times=0),
        lambda: RequeueOn(5),
    ],
)
def test_what_makes_no_sense_is_refused_when_it_is_said(wrong):
    with pytest.raises(BadArgument):
        wrong()
