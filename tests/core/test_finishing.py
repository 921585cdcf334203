"""A job that returns before it has run, as `async def` does, is run, or fails."""

from __future__ import annotations

import asyncio

import pytest

from qless_core import SerialWorker
from qless_core.testing import make_job, perform_all

DONE = []
HERE = __name__


class Fetches:
    @staticmethod
    async def process(job):
        await asyncio.sleep(0)
        if job.get("fails"):
            raise ConnectionResetError(job["fails"])
        DONE.append(job.jid)
        return 7

    async def method(self, job):
        DONE.append((type(self).__name__, job.jid))

    @staticmethod
    def wrapped(job):
        return Fetches.process(job)


async def function(job):
    DONE.append(job.jid)


class Later:
    """Can be awaited, and is no coroutine."""

    def __await__(self):
        DONE.append("awaited")
        return iter(())


class Yields:
    @staticmethod
    def process(job):
        DONE.append(job.jid)
        yield

    @staticmethod
    async def stream(job):
        DONE.append(job.jid)
        yield

    @staticmethod
    def later(job):
        del job
        return Later()


@pytest.fixture(autouse=True)
def done():
    DONE.clear()
    return DONE


def put(client, klass, queue="q", **data):
    return client.queues[queue].put(f"{HERE}.{klass}", data)


def test_a_coroutine_is_run_before_the_job_completes(client, done):
    jid = put(client, "Fetches")

    (job,) = perform_all(client, "q")

    assert (done, job.state) == ([jid], "complete")


def test_so_is_that_of_a_function_a_method_and_of_a_method_that_only_answers_it(client, done):
    jids = [put(client, "function"), put(client, "Fetches", "wrapped"), put(client, "Fetches")]
    put(client, "Fetches", "method")

    jobs = perform_all(client, ["q", "wrapped", "method"])

    assert {job.state for job in jobs} == {"complete"}
    assert sorted(done[:3]) == sorted(jids)
    assert done[3][0] == "Fetches"


def test_what_a_coroutine_raises_fails_the_job(client, done):
    jid = put(client, "Fetches", fails="reset")

    perform_all(client, "q")

    failure = client.jobs[jid].failure
    assert (failure.group, done) == ("q-ConnectionResetError", [])
    assert "in process" in failure.message
    assert failure.message.endswith("ConnectionResetError: reset\n")


def test_what_can_be_awaited_is(done):
    make_job(f"{HERE}.Yields", queue="later").perform()

    assert done == ["awaited"]


@pytest.mark.parametrize("queue", ["q", "stream"])
def test_a_generator_fails_the_job_instead_of_completing_it_unrun(client, done, queue):
    jid = put(client, "Yields", queue)

    perform_all(client, queue)

    failure = client.jobs[jid].failure
    assert (failure.group, done) == (f"{queue}-TypeError", [])
    assert "Yields has a `yield` in what runs its jobs: so nothing of it was run" in failure.message


def test_performing_answers_what_the_coroutine_returned():
    assert make_job(f"{HERE}.Fetches", {}).perform() == 7


def test_within_an_event_loop_it_says_what_to_do(done):
    async def inside():
        make_job(f"{HERE}.Fetches", {}).perform()

    with pytest.raises(RuntimeError, match=r"an event loop runs in this thread.*asyncio.to_thread"):
        asyncio.run(inside())
    assert done == []


def test_and_in_a_thread_beside_it_does_it(client, done):
    jid = put(client, "Fetches")

    asyncio.run(asyncio.to_thread(SerialWorker(client, "q").step))

    assert done == [jid]
