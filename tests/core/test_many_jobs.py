"""Many jobs at once: what cannot be done to one of them stops no other."""

from __future__ import annotations

from functools import partial

import pytest

from qless_core import bulk
from qless_core.client import Client
from qless_core.errors import BadArgument, LockLost


@pytest.fixture
def queue(client):
    return client.queues["q"]


def put(queue, count):
    return queue.put_many([("Job", {}, {"jid": f"j{number}"}) for number in range(count)])


def test_many_popped_jobs_are_finished_with_their_data(client, queue):
    jids = put(queue, bulk.CHUNK + 5)
    jobs = queue.pop(bulk.CHUNK + 5)
    jobs[3]["n"] = 3

    report = client.bulk.complete(jobs)

    assert sorted(report.done) == sorted(jids)
    assert report.left == {}
    assert {str(job.state) for job in jobs} == {"complete"}
    assert all(job.is_settled and job.worker_name == "" for job in jobs)
    assert client.jobs[jobs[3].jid].data == {"n": 3}


def test_of_each_job_that_is_left_it_is_said_why(server, client, queue, clock):
    put(queue, 3)
    lost, gone, kept = queue.pop(3)
    clock.advance(55)
    kept.heartbeat()
    gone.heartbeat()
    clock.advance(16)
    with Client(server.url, clock=clock, worker_name="other") as other:
        other.queues["q"].pop()
        clock.advance(11)
        assert other.queues["q"].pop().jid == lost.jid
    client.jobs[gone.jid].cancel()

    report = client.bulk.complete([lost, gone, kept])

    assert report.done == (kept.jid,)
    assert report.left == {lost.jid: "worker", gone.jid: "gone"}
    assert not lost.is_settled
    with pytest.raises(LockLost):
        lost.complete()


def test_many_jobs_go_on_in_the_next_queue(client, queue):
    put(queue, 3)
    jobs = queue.pop(3)

    client.bulk.complete(jobs[:2], "next", delay=10)
    client.bulk.complete(jobs[2:], "next")

    assert [(job.state, job.queue_name) for job in jobs] == [
        ("scheduled", "next"),
        ("scheduled", "next"),
        ("waiting", "next"),
    ]
    assert [job.record for job in jobs] == [client.jobs[job.jid].record for job in jobs]


def test_bad_data_of_one_job_finishes_none(client, queue):
    put(queue, 2)
    jobs = queue.pop(2)
    jobs[1]["bad"] = {1, 2}

    with pytest.raises(BadArgument, match="JSON"):
        client.bulk.complete(jobs)

    assert {str(client.jobs[job.jid].state) for job in jobs} == {"running"}


def test_many_jobs_are_cancelled_though_they_wait_for_each_other(client, queue):
    jids = put(queue, 2 * bulk.CHUNK)
    chain = [
        queue.put("Job", {}, jid=f"d{number}", depends=[jid]) for number, jid in enumerate(jids)
    ]
    queue.put("Job", {}, jid="stays", depends=["d5"])

    report = client.bulk.cancel([*jids, *chain, "nobody"])

    assert report.left == {"j5": "dependents", "d5": "dependents", "nobody": "gone"}
    assert len(report.done) == 4 * bulk.CHUNK - 2
    assert sorted(queue.jobs.all_jids()) == ["d5", "j5", "stays"]
    assert client.bulk.cancel([]).done == ()
    with pytest.raises(BadArgument, match="a list of jids"):
        client.bulk.cancel("j5")


def test_many_jobs_are_moved_from_the_states_that_are_named(client, queue):
    put(queue, 3)
    queue.pop()

    report = client.bulk.move(["j0", "j1", "j2"], "next", states="waiting")

    assert len(report.done) == 2
    assert [*report.left.values()] == ["running"]
    assert len(client.queues["next"]) == 2


def test_all_failures_go_back_to_work_or_those_of_some_groups(client, queue):
    for number in range(6):
        queue.put("Job", {}, jid=f"f{number}")
        queue.pop().fail(f"g{number % 3}", "message")

    assert sorted(client.bulk.unfail("g0").done) == ["f0", "f3"]
    assert client.failures.groups == {"g1": 2, "g2": 2}
    assert len(client.bulk.unfail(queue="other").done) == 4
    assert client.failures.groups == {}
    assert (len(queue), len(client.queues["other"])) == (2, 4)


def test_one_text_is_no_list_of_jobs(client, redis):
    client.queues["q"].put("Job", {}, jid="a")

    for call in (client.bulk_cancel, client.bulk.cancel, client.bulk.move):
        with pytest.raises(BadArgument, match=r"list of j.* was expected, got the text 'abc'"):
            call("abc")
    with pytest.raises(BadArgument, match="jobs as they were popped, got the text 'a'"):
        client.bulk.complete(["a"])
    with pytest.raises(BadArgument, match="'abc'"):
        client.workers.give_back("w", what="died", started="abc")
    with pytest.raises(BadArgument, match="job 0: 'ab' is no job to put, but a text"):
        client.queues["q"].put_many(["ab"])
    assert redis.exists("ql:j:a")


@pytest.mark.parametrize("given", [None, 5, [1], [None], ["a", {}]], ids=repr)
def test_what_is_no_list_of_jobs_is_refused_before_anything_is_done(client, redis, given):
    queue = client.queues["q"]
    queue.put("Job", {}, jid="a")
    before = {key: redis.dump(key) for key in redis.scan_iter()}

    calls = [client.bulk_cancel, client.bulk.cancel, client.bulk.move, client.bulk.complete]
    options = ["depends", "tags", "throttles"] if given else []
    for call in (*calls, queue.put_many, *(partial(give, queue, name) for name in options)):
        with pytest.raises(BadArgument):
            call(given)

    assert {key: redis.dump(key) for key in redis.scan_iter()} == before


def give(queue, name, value):
    queue.put("Job", {}, **{name: value})


def test_jobs_are_cancelled_as_themselves_too(client):
    queue = client.queues["q"]
    queue.put("Job", {}, jid="a")

    assert client.bulk_cancel([queue.peek(), "b"]) == ["a", "b"]
