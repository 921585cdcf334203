from __future__ import annotations

import pytest

from qless_core.errors import BadArgument
from qless_core.job import State
from qless_core.new_job import NewJob


@pytest.fixture
def queue(client):
    return client.queues["q"]


@pytest.fixture
def throttle(client):
    return client.throttles["mail-api"]


class Mail:
    qless_options = {"throttles": ["mail-api"]}  # noqa: RUF012 - as users write it


def put(queue, clock, jid):
    clock.advance(1)
    return queue.put("Job", {}, jid=jid, throttles=["mail-api"])


def test_a_throttle_limits_the_jobs_that_name_it(queue, throttle, clock):
    """Q15."""
    throttle.maximum = 1
    jids = [put(queue, clock, jid) for jid in "abc"]

    job = queue.pop(5)[0]

    assert job.jid == jids[0]
    assert job.throttles == ["mail-api", "ql:q:q"]
    assert throttle.locks == jids[:1]
    assert throttle.pending == queue.jobs.throttled() == jids[1:]
    assert queue.counts.throttled == 2
    assert queue.client.jobs[jids[1]].state is State.THROTTLED
    job.complete()
    assert [job.jid for job in queue.pop(5)] == jids[1:2]


def test_a_throttle_is_read_and_set(throttle, redis):
    assert throttle.maximum == 0
    assert throttle.ttl is None
    assert repr(throttle) == "<Throttle 'mail-api'>"

    throttle.set(5, expire=100)
    assert (throttle.maximum, redis.hget("ql:th:mail-api", "maximum")) == (5, "5")
    assert 90 < throttle.ttl <= 100

    throttle.expire(None)
    assert throttle.ttl is None
    throttle.expire(50)
    assert throttle.maximum == 5
    assert 40 < throttle.ttl <= 50

    throttle.delete()
    assert throttle.maximum == 0


def test_jobs_are_let_go_by_hand(queue, throttle, clock):
    throttle.maximum = 1
    first, second = (put(queue, clock, jid) for jid in "ab")
    queue.pop(2)

    throttle.release()
    assert throttle.locks == [first]
    throttle.release(first)

    assert (throttle.locks, throttle.pending) == ([], [])
    assert queue.pop().jid == second


def test_a_queue_has_one_of_its_own(client, queue):
    queue.throttle.maximum = 2

    assert queue.throttle.name == "ql:q:q"
    assert client.commands.queue_throttle_get("q").maximum == 2
    client.commands.queue_throttle_set("q", 1)
    assert queue.throttle.maximum == 1
    for _ in range(3):
        queue.put("Job", {})
    assert len(queue.pop(3)) == 1


@pytest.mark.parametrize("maximum", [-1, 1.5, True, "many"])
def test_senseless_maxima_are_refused(throttle, maximum):
    with pytest.raises(BadArgument):
        throttle.maximum = maximum


@pytest.mark.parametrize("throttles", ["mail-api", [1], ["x-locks"]])
def test_senseless_throttles_of_a_job_are_refused(queue, throttles):
    with pytest.raises(BadArgument, match="throttles"):
        queue.put("Job", {}, throttles=throttles)


def test_a_class_may_say_what_its_jobs_run_under(client, queue):
    jid = queue.put(Mail, {})
    queue.put_many([NewJob(Mail, {}, jid="many"), NewJob(Mail, {}, jid="none", throttles=[])])

    assert client.jobs[jid].throttles == client.jobs["many"].throttles == ["mail-api", "ql:q:q"]
    assert client.jobs["none"].throttles == []


def test_recurring_jobs_have_throttles(client, queue):
    queue.recur("Job", {}, 60, jid="r", throttles=["mail-api"])
    queue.cron("Job", {}, "* * * * *", jid="c", throttles=["mail-api"])
    recurring = client.jobs["r"]

    assert recurring.throttles == client.jobs["c"].throttles == ["mail-api", "ql:q:q"]

    recurring.update(throttles=["other"])
    assert client.jobs["r"].throttles == ["other", "ql:q:q"]
    assert queue.pop().throttles == ["other", "ql:q:q"]


def test_limits_by_class_are_checked_before_they_are_stored(client, queue):
    for bad in ["x", "[]", '{"a": 1}', '{"a": [0, 1]}', '{"a": [1.5, 1]}', '{"a": [1, true]}', ""]:
        with pytest.raises(BadArgument, match="rate-limits must"):
            client.config["rate-limits"] = bad

    client.config["rate-limits"] = '{"Job": [1, 60]}'
    queue.put("Job", {})
    queue.put("Job", {})

    assert len(queue.pop(5)) == 1
    assert queue.counts.scheduled == 1
