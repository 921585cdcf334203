"""`at`, `strict` and `replace` of a put, and of the verbs that put a job somewhere."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

import pytest

from qless_core.errors import BadArgument, MissingDependencies, NotWaitingOnDependencies
from qless_core.job import State
from qless_core.new_job import NewJob
from qless_core.testing import BEGINNING

#: 22:20:00 UTC: 400 seconds after the clock's beginning.
LATER = BEGINNING + 400


@pytest.fixture
def queue(client):
    return client.queues["q"]


@pytest.mark.parametrize(
    "at",
    [
        LATER,
        int(LATER),
        dt.datetime(2023, 11, 14, 22, 20, tzinfo=dt.UTC),
        dt.datetime(2023, 11, 14, 23, 20, tzinfo=ZoneInfo("Europe/Berlin")),
    ],
)
def test_a_job_is_put_for_a_moment(client, queue, clock, redis, at):
    jid = queue.put("Job", {}, at=at)

    assert client.jobs[jid].state == State.SCHEDULED
    assert redis.zscore("ql:q:q-scheduled", jid) == LATER
    clock.advance(399)
    assert queue.pop() is None
    clock.advance(1)
    assert queue.pop().jid == jid


def test_a_moment_that_is_past_is_now(client, queue):
    jid = queue.put("Job", {}, at=dt.datetime(1999, 1, 1, tzinfo=dt.UTC))

    assert client.jobs[jid].state == State.WAITING


@pytest.mark.parametrize(
    "options",
    [
        {"at": dt.datetime(2023, 11, 14, 22, 20)},  # noqa: DTZ001 - a moment of which nobody knows when it is
        {"at": "tomorrow"},
        {"at": True},
        {"at": float("nan")},
        {"at": LATER, "delay": 5},
        {"at": LATER, "delay": 0},
    ],
)
def test_what_is_no_moment_is_refused(queue, redis, options):
    with pytest.raises(BadArgument):
        queue.put("Job", {}, **options)
    with pytest.raises(BadArgument):
        queue.put_many([NewJob("Job", {}, **options)])

    assert redis.keys() == []


class Soon:
    qless_options = {"delay": 5}  # noqa: RUF012 - as an application writes it


def test_a_moment_goes_before_the_delay_of_the_class(queue, redis):
    jid = queue.put(Soon, {}, at=LATER)

    assert redis.zscore("ql:q:q-scheduled", jid) == LATER


def test_many_jobs_may_have_moments(queue, redis):
    jids = queue.put_many([("Job", {}, {"at": LATER + number}) for number in range(3)])

    assert redis.zrange("ql:q:q-scheduled", 0, -1, withscores=True) == [
        (jid, LATER + number) for number, jid in enumerate(jids)
    ]


def test_a_job_moves_for_a_moment(client, queue, redis):
    job = client.jobs[queue.put("Job", {})]

    job.move("p", at=LATER)

    assert job.state == State.SCHEDULED
    assert redis.zscore("ql:q:p-scheduled", job.jid) == LATER
    with pytest.raises(BadArgument, match="not both"):
        job.move("p", at=LATER, delay=5)


@pytest.fixture
def running(queue):
    queue.put("Job", {"n": 1}, jid="j")
    return queue.pop()


def test_a_put_yields_to_a_job_that_is_there_on_request(client, queue, running):
    """Q4."""
    assert queue.put("Other", {"n": 2}, jid="j", priority=9, replace=False) == "j"

    job = client.jobs["j"]
    assert (job.klass_name, job.data, job.priority, job.state) == ("Job", {"n": 1}, 0, "running")
    running.complete()


@pytest.mark.parametrize("ending", ["complete", "fail"])
def test_a_put_does_not_yield_to_a_job_that_nothing_will_run(client, queue, running, ending):
    running.complete() if ending == "complete" else running.fail("g", "m")

    queue.put("Other", {"n": 2}, jid="j", replace=False)

    assert (client.jobs["j"].klass_name, client.jobs["j"].state) == ("Other", State.WAITING)
    assert client.failures.groups == {}


def test_the_command_says_whether_a_job_was_put(client):
    put = client.commands.put_new

    assert put("w", "q", "j", "Job", "{}", 0, priority=3) is True
    assert put("w", "q", "j", "Job", "{}", 0) is False


def test_a_job_that_is_put_over_and_over_is_put_once(client, queue, redis):
    for _ in range(5):
        queue.put("Job", {}, jid="j", replace=False)

    assert [item.what for item in client.jobs["j"].history] == ["put"]
    assert redis.zcard("ql:q:q-work") == 1


def test_b50_a_put_may_want_what_it_waits_for(client, queue):
    first = queue.put("Job", {})

    with pytest.raises(MissingDependencies) as caught:
        queue.put("Job", {}, jid="j", depends=[first, "no-such", 'odd "one", too'], strict=True)
    assert (caught.value.jid, caught.value.missing) == ("j", ("no-such", 'odd "one", too'))
    assert client.jobs["j"] is None

    queue.put("Job", {}, jid="j", depends=[first], strict=True)
    assert client.jobs["j"].dependencies == [first]


def test_b50_many_jobs_may_want_what_they_wait_for(client, queue):
    queue.put_many([NewJob("Job", jid="a"), NewJob("Job", jid="b", depends=["a"], strict=True)])
    assert client.jobs["b"].dependencies == ["a"]

    with pytest.raises(MissingDependencies):
        queue.put_many([NewJob("Job", jid="c"), NewJob("Job", jid="d", depends=["e"], strict=True)])
    assert client.jobs["c"] is None


def test_b50_the_verbs_of_a_job_may_want_what_it_waits_for(client, queue, running):
    other = client.jobs[queue.put("Job", {})]

    with pytest.raises(MissingDependencies):
        other.move("p", depends=["no-such"], strict=True)
    with pytest.raises(MissingDependencies):
        other.depend("no-such", strict=True)
    with pytest.raises(MissingDependencies):
        running.complete("p", depends=["no-such"], strict=True)
    with pytest.raises(MissingDependencies):
        running.complete_and_pop(next_queue="p", depends=["no-such"], strict=True)
    assert (other.reload().queue_name, other.dependencies) == ("q", [])
    assert running.reload().state == State.RUNNING

    with pytest.raises(NotWaitingOnDependencies):
        other.depend("no-such")  # there is nothing to wait for
    assert other.state == State.WAITING
    other.depend("j", strict=True)
    assert other.dependencies == ["j"]
    assert running.complete("p", depends=["gone"]) == State.WAITING


def test_b50_a_move_that_closes_a_ring_is_refused(client, queue):
    queue.put("Job", {}, jid="a")
    queue.put("Job", {}, jid="b", depends=["a"])

    with pytest.raises(BadArgument, match="a -> b -> a"):
        client.jobs["a"].move("p", depends=["b"])
    assert client.jobs["a"].queue_name == "q"
