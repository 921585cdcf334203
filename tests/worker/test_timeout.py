from __future__ import annotations

import threading

import pytest

from qless_core.errors import BadArgument
from qless_core.worker.middleware import RetryOn, Timeout
from qless_core.worker.middleware.timeout import JobTimeout
from qless_core.worker.serial import SerialWorker
from tests.support.polling import PATIENCE_S
from tests.worker.stopped_jobs import BEGUN, Blocks
from tests.worker.wrapped_jobs import HEARD, Slow


@pytest.fixture(autouse=True)
def _anew():
    HEARD.clear()
    BEGUN.clear()


def in_main(call):
    call()


def in_a_thread(call):
    thread = threading.Thread(target=call)
    thread.start()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()


@pytest.mark.parametrize("run", [in_main, in_a_thread])
def test_a_job_that_takes_too_long_fails_in_a_group_of_its_own(client, run):
    client.queues["q"].put(Slow, {}, jid="j")

    run(SerialWorker(client, ["q"]).step)

    failure = client.jobs["j"].failure
    assert failure.group == "q-JobTimeout"
    assert failure.message.endswith("JobTimeout: it took longer than 0.05 s\n")
    assert "wrapped_jobs.py" in failure.message
    assert HEARD == ["cleanup"]


def test_a_job_that_waits_in_a_call_is_stopped_on_the_main_thread(client):
    client.queues["read"].put(Blocks, {}, jid="j")

    SerialWorker(client, ["read"], middleware=[Timeout(0.05)]).step()

    assert client.jobs["j"].failure.group == "read-JobTimeout"


@pytest.mark.parametrize(
    ("queue", "said"), [("quick", "quick"), ("catches", "it took longer than 0.05 s")]
)
def test_a_job_that_is_quick_or_catches_it_is_complete(client, queue, said):
    client.queues[queue].put(Slow, {}, jid="j")

    SerialWorker(client, [queue]).step()

    assert client.jobs["j"].state == "complete"
    assert [said] == HEARD


def test_a_job_may_run_again_that_took_too_long(client):
    client.queues["q"].put(Slow, {}, jid="j")

    SerialWorker(client, ["q"], middleware=[RetryOn(JobTimeout)]).step()

    job = client.jobs["j"]
    assert (job.state, job.failure.group) == ("scheduled", "q-JobTimeout")


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_what_is_no_time_is_refused(seconds):
    with pytest.raises(BadArgument):
        Timeout(seconds)
