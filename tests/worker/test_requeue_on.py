from __future__ import annotations

import pytest

from qless_core.client import Client
from qless_core.worker.middleware import RequeueOn
from qless_core.worker.serial import SerialWorker
from qless_core.worker.settling import Requeue, Settler
from tests.worker.wrapped_jobs import Plain


@pytest.fixture
def work(client):
    def work(*middleware):
        return client.jobs[SerialWorker(client, ["q"], middleware=middleware).step().jid]

    return work


def test_a_job_goes_back_into_its_queue_with_all_its_retries(client, work, clock):
    client.queues["q"].put(Plain, {"raise": "x"}, jid="j", retries=1, priority=7, tags=["t"])
    client.queues["q"].pop().retry()

    job = work(RequeueOn(KeyError, delay=30))

    assert (job.state, job.retries_left, job.failure) == ("scheduled", 1, None)
    assert (job.priority, job.tags, job.data) == (7, ["t"], {"raise": "x"})
    clock.advance(31)
    assert client.queues["q"].pop().jid == "j"


def test_a_job_may_go_into_another_queue(client, work):
    client.queues["q"].put(Plain, {"raise": "x"}, jid="j")

    job = work(RequeueOn(queue="later"))

    assert (job.state, job.queue_name) == ("waiting", "later")


def test_a_job_goes_back_so_often_and_then_fails(client, work):
    client.queues["q"].put(Plain, {"raise": "x"}, jid="j")

    states = [work(RequeueOn(times=2)).state for _ in range(3)]

    assert states == ["waiting", "waiting", "failed"]
    assert client.failures.groups == {"q-KeyError": 1}


def test_another_exception_fails_the_job(client, work):
    client.queues["q"].put(Plain, {"raise": "x"}, jid="j")

    assert work(RequeueOn(OSError)).state == "failed"


def test_b41_a_job_that_another_worker_has_stays_there(client, server, clock):
    client.queues["q"].put(Plain, {}, jid="j")
    job = client.queues["q"].pop()
    client.jobs["j"].timeout()
    with Client(server.url, clock=clock, worker_name="worker-2") as other:
        other.queues["q"].pop()

    assert Settler(client).settle(job, Requeue())

    assert (client.jobs["j"].state, client.jobs["j"].worker_name) == ("running", "worker-2")
