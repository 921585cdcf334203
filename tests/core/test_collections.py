"""Jobs, failures, tags and workers: what belongs to no one queue."""

from __future__ import annotations

import pytest

from qless_core import bulk
from qless_core.client import Client


@pytest.fixture
def queue(client):
    return client.queues["q"]


def fail_some(queue, clock, count, group="g"):
    for number in range(count):
        queue.put("Job", {}, jid=f"{group}-{number}")
        queue.pop().fail(group, "message")
        clock.advance(1)


def test_several_jobs_are_read_in_one_call(client, queue):
    for name in "abc":
        queue.put("Job", {}, jid=name)

    assert [job.jid for job in client.jobs.get("a", "nobody", "c")] == ["a", "c"]
    assert client.jobs.get() == []


def test_completed_jobs_are_listed_newest_first_and_in_pages(client, queue, clock):
    for number in range(30):
        queue.put("Job", {}, jid=f"j{number}")
        queue.pop().complete()
        clock.advance(1)

    assert client.jobs.complete(0, 2) == ["j29", "j28"]
    assert client.jobs.complete(28) == ["j1", "j0"]
    assert len(client.jobs.complete()) == 25


def test_failures_are_counted_by_group_and_paged_newest_first(client, queue, clock):
    fail_some(queue, clock, 30)
    fail_some(queue, clock, 1, "other")

    assert client.failures.groups == {"g": 30, "other": 1}
    page = client.failures.jobs("g", 0, 2)
    assert (page.total, [job.jid for job in page.jobs]) == (30, ["g-29", "g-28"])
    assert [job.jid for job in client.jobs.failed("g", 28).jobs] == ["g-1", "g-0"]
    assert client.failures.jobs("nothing").jobs == []


def test_unfailing_puts_the_oldest_back_to_work(client, queue, clock):
    fail_some(queue, clock, 3)

    assert client.failures.unfail("g", "other", 2) == 2

    assert sorted(job.jid for job in client.queues["other"].pop(5)) == ["g-0", "g-1"]
    assert client.failures.groups == {"g": 1}
    assert client.unfail("g", "q") == 1


def test_a_name_of_another_client_does_what_ours_does(client, queue, clock):
    fail_some(queue, clock, 3)
    queue.put("Job", {}, jid="j", tags=["t"])

    assert client.jobs.failed() == client.failures.groups
    assert client.jobs.failed("g", 1, 1) == client.failures.jobs("g", 1, 1)
    assert client.jobs.tagged("t") == client.tags.jids("t")
    assert client.tags() == client.tags.top()


def test_a_job_that_failed_within_the_second_of_the_look_is_not_touched(client, queue, clock):
    fail_some(queue, clock, 2)
    looked = clock.now() + 0.25
    clock.advance(0.5)  # and failures tell whole seconds
    fail_some(queue, clock, 1, "late")
    client.redis.lpush("ql:f:g", "late-0")
    client.redis.hset("ql:j:late-0", "failure", client.redis.hget("ql:j:late-0", "failure")
                      .replace('"late"', '"g"'))  # fmt: skip

    total = bulk.total(client.failures.retry("g", seen=bulk.Seen(3, "it has left", looked)))

    assert total.done == ("g-0", "g-1")
    assert client.jobs["late-0"].state == "failed"


def test_jobs_are_found_by_their_tags_in_pages(client, queue, clock):
    for number in range(30):
        queue.put("Job", {}, jid=f"j{number:02}", tags=["t", "a,b 🙂"])
        clock.advance(1)

    page = client.jobs.tagged("t", 0, 25)
    rest = client.tags.jids("t", 25, 25)

    assert page.total == rest.total == 30
    assert sorted(page.jids + rest.jids) == [f"j{number:02}" for number in range(30)]
    assert sorted(client.tags()) == ["a,b 🙂", "t"]
    assert client.tags.jids("nothing").jids == ()


def test_jobs_that_are_not_complete_can_be_listed_first(client, queue, clock):
    for name in "abc":
        queue.put("Job", {}, jid=name, tags=["t"])
        clock.advance(1)
    queue.pop().complete()

    assert client.tags.jids("t").jids == ("a", "b", "c")
    assert client.tags.jids("t", open_first=True).jids == ("b", "c", "a")


def test_workers_are_known_from_what_they_hold(client, server, queue, clock):
    for name in "ab":
        queue.put("Job", {}, jid=name)
    queue.pop()
    clock.advance(5)
    with Client(server.url, clock=clock, worker_name="w/2: ü") as other:
        other.queues["q"].pop()

    assert [(worker.name, worker.jobs) for worker in client.workers.counts] == [
        ("w/2: ü", 1),
        ("worker-1", 1),
    ]
    assert client.workers["worker-1"].jobs == ("b",)
    clock.advance(56)
    assert client.workers["worker-1"].stalled == ("b",)
    assert client.workers["nobody"].jobs == ()


def test_a_worker_that_left_is_not_listed_until_it_is_heard_of_again(client, queue):
    queue.pop()

    client.workers.deregister("worker-1")
    client.workers.deregister()
    assert client.workers.counts == []

    queue.pop()
    assert [worker.name for worker in client.workers.counts] == ["worker-1"]


def test_queues_and_workers_are_iterated_by_name(client):
    client.queues["a"].put("Job", {})
    client.queues["b"].put("Job", {})
    client.queues["a"].pop()

    assert sorted(client.queues) == ["a", "b"]
    assert ("a" in client.queues, "c" in client.queues, len(client.queues)) == (True, False, 2)
    assert client.queues["a"] in client.queues
    assert client.queues["c"] not in client.queues
    assert [*client.workers] == ["worker-1"]
    assert ("worker-1" in client.workers, "w" in client.workers) == (True, False)
    assert len(client.workers) == 1


def test_a_job_is_asked_for_by_its_jid_or_itself(client, queue):
    jid = queue.put("Job", {})
    client.queues["q"].recur("Job", {}, 60, jid="r")

    assert jid in client.jobs
    assert client.jobs[jid] in client.jobs
    assert "r" in client.jobs
    assert [each in client.jobs for each in ("nobody", "", 7, None)] == [False] * 4


def test_a_queue_knows_which_jobs_are_in_it(client, queue):
    jid = queue.put("Job", {})
    queue.recur("Job", {}, 60, offset=60, jid="r")
    other = client.queues["other"].jobs

    assert jid in queue.jobs
    assert client.jobs[jid] in queue.jobs
    assert "r" in queue.jobs
    assert [each in other for each in (jid, "r", "nobody", "", None)] == [False] * 5
    queue.pop().complete()
    assert jid not in queue.jobs


def test_a_throttle_is_there_while_it_has_a_limit(client):
    throttle = client.throttles["api"]

    assert "api" not in client.throttles
    throttle.maximum = 3
    assert "api" in client.throttles
    throttle.delete()
    assert [each in client.throttles for each in ("api", "", None)] == [False] * 3


def test_what_nothing_lists_says_so_instead_of_going_on_for_ever(client):
    with pytest.raises(TypeError, match=r"`queue\.jobs\.all\(\)`"):
        list(client.jobs)
    with pytest.raises(TypeError, match=r"`client\.throttles\[name\]`"):
        list(client.throttles)


def test_nothing_of_a_client_goes_on_for_ever_when_it_is_iterated(client):
    """What has `__getitem__` alone is asked for 0, 1, 2, … by `for` and `in`."""
    offered = (getattr(client, name) for name in dir(client) if not name.startswith("_"))
    ours = [each for each in offered if type(each).__module__.startswith("qless_core.")]
    indexed = [each for each in ours if hasattr(type(each), "__getitem__")]

    assert len(indexed) >= 5
    for each in [*indexed, client.queues["q"].jobs]:
        assert hasattr(type(each), "__iter__"), each
        assert hasattr(type(each), "__contains__"), each
