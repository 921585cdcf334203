from __future__ import annotations

import pytest

from qless_core.errors import BadArgument, MalformedData, RecurringJobNotFound
from qless_core.recurring import RecurringJob


@pytest.fixture
def queue(client):
    return client.queues["q"]


@pytest.fixture
def recurring(client, queue):
    queue.recur("app.Report", {"n": 1}, 60, priority=3, tags=["t"], retries=2, jid="r")
    return client.jobs["r"]


def test_it_is_found_by_its_jid(recurring):
    assert isinstance(recurring, RecurringJob)
    assert (recurring.jid, recurring.klass_name, recurring.queue_name) == ("r", "app.Report", "q")
    assert (recurring.interval, recurring.priority, recurring.retries) == (60, 3, 2)
    assert (recurring.tags, recurring.data, recurring.count, recurring.backlog) == (
        ["t"],
        {"n": 1},
        0,
        0,
    )
    assert repr(recurring) == "<RecurringJob r app.Report every 60 s in 'q'>"


def test_it_puts_a_job_every_interval(client, queue, recurring, clock):
    first = queue.pop()
    assert queue.pop() is None
    clock.advance(60)
    second = queue.pop()

    assert (first.jid, second.jid) == ("r-1", "r-2")
    assert first.spawned_from_jid == recurring.jid
    assert (first.priority, first.tags, first.original_retries, first.data) == (
        3,
        ["t"],
        2,
        {"n": 1},
    )
    assert client.jobs["r"].count == 2


def test_the_first_may_be_later(queue, clock):
    queue.recur("Job", {}, 60, offset=30)
    assert queue.pop() is None

    clock.advance(30)

    assert queue.pop() is not None


def test_missed_ones_are_made_up_for_as_far_as_the_backlog_says(queue, clock):
    queue.recur("Job", {}, 60, jid="all")
    queue.recur("Job", {}, 60, jid="few", backlog=2)
    clock.advance(600)

    jids = [job.jid for job in queue.pop(100)]

    assert len([jid for jid in jids if jid.startswith("all-")]) == 11
    assert len([jid for jid in jids if jid.startswith("few-")]) <= 3


def test_an_application_may_say_it_at_every_start(client, queue, clock):
    """Q7."""
    for keep in (True, False):
        queue.recur("Job", {}, 60, offset=60, jid=f"keep-{keep}")
    clock.advance(50)
    for keep in (True, False):
        queue.recur("Job", {"n": 2}, 60, offset=60, jid=f"keep-{keep}", keep_next_run=keep)
    clock.advance(10)

    assert [job.jid for job in queue.pop(5)] == ["keep-True-1"]
    assert client.jobs["keep-True"].data == {"n": 2}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("priority", 9),
        ("interval", 120),
        ("retries", 4),
        ("backlog", 3),
        ("klass_name", "app.Other"),
        ("data", {"n": [2]}),
    ],
)
def test_assigning_changes_it_in_redis_too(client, recurring, name, value):
    setattr(recurring, name, value)

    assert getattr(recurring, name) == value
    assert getattr(client.jobs["r"], name) == value


def test_several_things_change_at_once_and_the_rest_stays(client, recurring):
    recurring.update(priority=1, queue="other")

    again = client.jobs["r"]
    assert (again.priority, again.queue_name, again.interval, again.data) == (
        1,
        "other",
        60,
        {"n": 1},
    )
    assert client.queues["other"].jobs.recurring() == ["r"]
    recurring.move("third")
    assert client.queues["third"].jobs.recurring() == ["r"]


def test_tags_are_added_and_removed(client, recurring):
    assert recurring.tag("x") == ["t", "x"]
    assert recurring.untag("t") == ["x"]
    assert recurring.tags == client.jobs["r"].tags == ["x"]


@pytest.mark.parametrize("interval", [0, -60, float("inf"), float("nan"), "often"])
def test_b23_an_interval_of_nothing_is_refused_on_edit_as_on_creation(queue, recurring, interval):
    with pytest.raises(BadArgument):
        queue.recur("Job", {}, interval)
    with pytest.raises(BadArgument):
        recurring.interval = interval

    assert recurring.interval == 60


def test_cancelling_ends_it_and_leaves_its_jobs(client, queue, recurring):
    queue.pop()

    recurring.cancel()

    assert client.jobs["r"] is None
    assert client.jobs["r-1"] is not None
    with pytest.raises(RecurringJobNotFound) as error:
        recurring.priority = 1
    assert error.value.jid == "r"


def test_b13_b15_the_data_goes_to_the_jobs_byte_for_byte(client, queue):
    text = '{"z":[],"n":12345678901234567,"f":0.1234567890123456789}'
    client.commands.recur("q", "r", "Job", text, 60, 0)

    assert client.jobs["r"].raw_data == text
    assert queue.pop().raw_data == text


def test_data_that_is_no_json_is_told_when_it_is_asked_for(client, recurring, redis):
    redis.hset("ql:r:r", "data", "{nonsense")

    with pytest.raises(MalformedData):
        _ = client.jobs[recurring.jid].data


def test_the_last_child_is_found(client, queue, clock, recurring):
    assert (recurring.last_spawned_jid, recurring.last_spawned_job) == (None, None)

    clock.advance(60)
    queue.pop(5)

    recurring = client.jobs["r"]
    assert recurring.last_spawned_jid == "r-2"
    assert recurring.last_spawned_job == client.jobs["r-2"]
    client.jobs["r-2"].cancel()
    assert recurring.last_spawned_job is None


def test_it_is_paused_and_goes_on(queue, recurring, clock):
    queue.pop().complete()
    assert recurring.pause()
    assert not recurring.pause()
    clock.advance(600)

    assert queue.pop() is None
    assert recurring.next_run is None
    assert recurring.unpause()
    assert not recurring.unpause()
    assert queue.pop() is None
    clock.advance(60)
    assert queue.pop().jid == "r-2"


def test_a_run_now_stands_beside_the_others(client, queue, recurring):
    before = recurring.next_run

    assert recurring.run_now() == "r-1"

    assert client.jobs["r"].count == 1
    assert recurring.next_run == before
    assert queue.pop().spawned_from_jid == "r"
