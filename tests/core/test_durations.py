"""Seconds may be given as a timedelta, wherever seconds are meant."""

from __future__ import annotations

import datetime as dt

import pytest

from qless_core import Client
from qless_core.duration import seconds_of
from qless_core.errors import BadArgument
from qless_core.testing import NullClient, make_job

HOUR = dt.timedelta(hours=1)
MOMENT = dt.timedelta(milliseconds=250)

SENSELESS = ["soon", "", [], True, float("nan"), float("inf"), object()]


@pytest.fixture
def queue(client):
    return client.queues["q"]


def test_seconds_are_a_number_a_number_as_text_or_a_timedelta():
    assert [seconds_of("it", each) for each in (3, 2.5, "3", HOUR, MOMENT, None)] == [
        *(3, 2.5, 3, 3600, 0.25, None)
    ]
    assert type(seconds_of("it", 3.0)) is float


@pytest.mark.parametrize("duration", SENSELESS)
def test_what_is_no_duration_is_refused_with_its_name(duration):
    with pytest.raises(BadArgument, match="it must be a number of seconds or a timedelta, got"):
        seconds_of("it", duration)


#: Calls with a duration.
CALLS = {
    "put delay": lambda q, s: q.put("Job", {}, delay=s, jid="j"),
    "put heartbeat": lambda q, s: q.put("Job", {}, heartbeat=s, jid="j"),
    "put_many": lambda q, s: q.put_many([{"klass": "Job", "delay": s, "jid": "j"}]),
    "recur": lambda q, s: q.recur("Job", {}, s, offset=s, jid="j"),
    "complete": lambda q, s: job_of(q).complete("next", delay=s),
    "retry": lambda q, s: job_of(q).retry(s),
    "move": lambda q, s: job_of(q).move("next", delay=s, heartbeat=s),
    "throttle": lambda q, s: q.throttle.set(3, expire=s),
    "heartbeat": lambda q, s: setattr(q, "heartbeat", s),
    "option": lambda q, s: q.client.config.update({"grace-period": s}),
}


def job_of(queue):
    return make_job("Job", jid="j", client=queue.client)


def sent(call, duration):
    client = NullClient()
    call(client.queues["q"], duration)
    return client.calls


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_timedelta_is_sent_as_its_seconds(call):
    assert sent(call, HOUR) == sent(call, 3600)
    assert any(3600 in each for each in sent(call, HOUR))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_is_no_duration_is_refused_before_anything_is_sent(call):
    with pytest.raises(BadArgument, match="seconds"):
        sent(call, "soon")


def test_a_class_may_give_a_timedelta(queue):
    class Later:
        qless_options = {"delay": HOUR}  # noqa: RUF012 - as the docs have it

    Later.__qualname__ = "Later"
    queue.put(Later, {}, jid="j")

    assert queue.jobs.scheduled() == ["j"]


def test_a_job_that_is_retried_later_knows_that_it_is_scheduled(queue):
    queue.put("Job", {})
    job = queue.pop()

    job.retry(HOUR)

    assert job.state == "scheduled"


def test_jobs_go_on_after_a_timedelta_however_they_are_completed(client, queue):
    later = client.queues["later"]
    for jid in "ab":
        queue.put("Job", {}, jid=jid)
    a, b = queue.pop(2)

    a.complete_and_pop(next_queue="later", delay=HOUR)
    client.bulk.complete([b], "later", delay=HOUR)

    assert (a.state, b.state) == ("scheduled", "scheduled")
    assert sorted(later.jobs.scheduled()) == ["a", "b"]


def test_a_recurring_job_takes_an_interval(client, queue):
    queue.recur("Job", {}, HOUR, jid="r")
    job = client.jobs["r"]
    assert job.interval == 3600

    job.interval = 2 * HOUR

    assert job.interval == client.jobs["r"].interval == 7200


def test_waiting_takes_a_timedelta(client, queue):
    assert queue.pop(timeout=MOMENT) is None
    assert client.reserver(["q"]).pop(timeout=MOMENT) is None
    assert queue.pop(timeout=dt.timedelta(0)) is None
    with client.events.subscribe() as subscription:
        assert subscription.get(MOMENT) is None


def test_waiting_takes_a_number_as_text_and_refuses_other_text(client, queue):
    queue.put("Job", {})

    assert queue.pop(timeout="3").klass_name == "Job"
    for pop in (queue.pop, client.reserver(["q"]).pop):
        for timeout in ("soon", -1, dt.timedelta(seconds=-1), [], True):
            with pytest.raises(BadArgument, match="the timeout must be"):
                pop(timeout=timeout)


def test_a_limit_may_end_after_a_timedelta(client):
    throttle = client.throttles["api"]
    throttle.set(3, expire=HOUR)
    assert 3590 < throttle.ttl <= 3600

    throttle.expire(2 * HOUR)

    assert 7190 < throttle.ttl <= 7200


def test_an_archive_settles_for_a_timedelta(client, queue, clock):
    queue.put("Job", {})
    queue.pop().complete()
    clock.advance(dt.timedelta(minutes=2))
    written = []

    client.archive(written.extend, settle=dt.timedelta(minutes=3))
    assert written == []
    client.archive(written.extend, settle=dt.timedelta(minutes=1))
    assert len(written) == 1


def test_patience_is_a_duration(server):
    with Client(server.url, patience=dt.timedelta(seconds=5)) as client:
        assert client.twin().now() > 0
    with pytest.raises(BadArgument, match="patience"):
        Client(patience=dt.timedelta(hours=1))
