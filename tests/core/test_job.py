from __future__ import annotations

import pytest

from qless_core.client import Client
from qless_core.errors import (
    BadArgument,
    HasDependents,
    JobNotFound,
    JobNotRunning,
    LockLost,
    MalformedData,
    NotWaitingOnDependencies,
)
from qless_core.job import State
from qless_core.testing import make_job

EXACT = '{"z":[],"a":{},"n":12345678901234567,"f":0.1234567890123456789,"e":1e2}'


@pytest.fixture
def queue(client):
    return client.queues["q"]


@pytest.fixture
def other(server, redis, clock):  # noqa: ARG001 - `redis` empties the server
    """Make a client that works as another worker."""
    with Client(server.url, clock=clock, worker_name="worker-2") as other:
        yield other


def put_exact(client, jid="a"):
    client.commands.put("w", "q", jid, "Job", EXACT, 0)


def lose(queue, other, clock):
    """Let worker-1 lose a job to worker-2; answers both views of it."""
    queue.put("Job", {}, jid="a")
    mine = queue.pop()
    clock.advance(61)
    assert other.queues["q"].pop() is None
    clock.advance(11)
    return mine, other.queues["q"].pop()


def test_the_states_are_listed_in_their_order():
    assert [*State] == [
        "waiting",
        "running",
        "stalled",
        "scheduled",
        "depends",
        "throttled",
        "failed",
        "complete",
    ]


def test_a_state_that_nobody_knows_is_shown_as_it_is(client, queue, redis):
    queue.put("Job", {}, jid="a")
    redis.hset("ql:j:a", "state", "throttled")

    assert client.jobs["a"].state == "throttled"


def test_b13_b15_data_keeps_its_bytes_through_every_verb(client, queue, redis):
    put_exact(client)
    job = queue.pop()
    assert (job.data["z"], job.data["a"]) == ([], {})

    job.heartbeat()
    job.complete("q2")
    job = client.queues["q2"].pop()
    job.fail("group", "message")
    client.jobs["a"].move("q3")
    client.unfail("group", "q3")

    assert redis.hget("ql:j:a", "data") == EXACT
    assert client.jobs["a"].raw_data == EXACT
    assert client.jobs["a"].data["n"] == 12345678901234567


def test_b13_b15_changed_data_is_written_as_python_says_it(client, queue, redis):
    put_exact(client)
    job = queue.pop()
    job["n"] += 1
    job.data["l"] = []

    job.heartbeat()

    text = redis.hget("ql:j:a", "data")
    assert '"n":12345678901234568' in text
    assert '"z":[]' in text
    assert '"l":[]' in text
    assert '"a":{}' in text


@pytest.mark.parametrize("verb", ["heartbeat", "complete", "fail"])
def test_what_was_changed_in_place_goes_with_the_verb(client, queue, verb):
    queue.put("Job", {"list": [1]}, jid="a")
    job = queue.pop()
    job.data["list"].append(2)

    {
        "heartbeat": job.heartbeat,
        "complete": job.complete,
        "fail": lambda: job.fail("group", "message"),
    }[verb]()

    assert client.jobs["a"].data == {"list": [1, 2]}


def test_true_is_not_taken_for_one(client, queue):
    queue.put("Job", {"flag": 1}, jid="a")
    job = queue.pop()
    job["flag"] = True

    job.heartbeat()

    assert client.jobs["a"].data["flag"] is True


def test_b18_data_with_nan_from_elsewhere_is_read_and_sent_back_untouched(client, queue, redis):
    queue.put("Job", {}, jid="a")
    redis.hset("ql:j:a", "data", '{"x":NaN}')
    job = queue.pop()
    assert job.data["x"] != job.data["x"]

    job.fail("group", "message")

    assert redis.hget("ql:j:a", "data") == '{"x":NaN}'
    client.jobs["a"].cancel()


def test_data_that_is_no_json_is_told_when_it_is_asked_for(client, queue, redis):
    queue.put("Job", {}, jid="a")
    redis.hset("ql:j:a", "data", "{nonsense")

    job = client.jobs["a"]

    assert job.raw_data == "{nonsense"
    with pytest.raises(MalformedData) as error:
        _ = job.data
    assert error.value.jid == "a"


def test_changes_can_be_forgotten(queue):
    queue.put("Job", {"n": 1}, jid="a")
    job = queue.pop()
    job["n"] = {1, 2}
    with pytest.raises(BadArgument):
        job.heartbeat()

    job.forget_changes()
    job.heartbeat()

    assert job.data == {"n": 1}


def test_a_job_shows_the_keys_of_its_data(queue):
    queue.put("Job", {"to": "ada", "n": 0})
    job = queue.pop()

    assert ("to" in job, "cc" in job, 0 in job) == (True, False, False)
    assert (job.get("to"), job.get("n", 7), job.get("cc"), job.get("cc", "-")) == (
        *("ada", 0, None, "-"),
    )
    assert ([*job], dict(job.data)) == (["to", "n"], {"to": "ada", "n": 0})


def test_a_job_shows_the_items_of_a_list_and_has_no_keys_then(queue):
    queue.put("Job", ["a", "b"])
    job = queue.pop()

    assert ([*job], "b" in job, "c" in job) == (["a", "b"], True, False)
    with pytest.raises(TypeError, match=f"data of job {job.jid} has no keys: it is list"):
        job.get("a")


def test_a_job_that_is_not_locked_has_no_seconds_left(client, queue, clock):
    queue.put("Job", {})

    assert (queue.peek().ttl, queue.peek().expires_at) == (0, 0)
    job = queue.pop()
    assert job.ttl == 60
    clock.advance(61)
    assert job.ttl == -1
    job.fail("g", "m")
    assert job.ttl == client.jobs[job.jid].ttl == 0


def test_a_heartbeat_moves_the_end_of_the_lock(client, queue, clock):
    queue.put("Job", {}, jid="a")
    job = queue.pop()
    clock.advance(50)

    assert job.heartbeat() == clock.now() + 60

    assert job.ttl == 60
    clock.advance(20)
    assert client.queues["q"].pop() is None


@pytest.mark.parametrize(
    "verb",
    [
        lambda job: job.heartbeat(),
        lambda job: job.complete(),
        lambda job: job.fail("group", "message"),
        lambda job: job.retry(),
    ],
    ids=["heartbeat", "complete", "fail", "retry"],
)
def test_b41_only_the_owner_may(client, queue, other, clock, verb):
    mine, theirs = lose(queue, other, clock)

    with pytest.raises(LockLost) as error:
        verb(mine)

    assert (error.value.jid, error.value.worker) == ("a", "worker-2")
    assert client.jobs["a"].worker_name == "worker-2"
    assert client.jobs["a"].failure is None
    assert theirs.complete() == "complete"


def test_completing_into_the_next_queue_moves_the_job(client, queue, clock):
    """Q2."""
    queue.put("Job", {}, jid="a")

    assert queue.pop().complete("next") == "waiting"
    assert client.queues["next"].pop().complete("later", delay=10) == "scheduled"
    clock.advance(10)
    queue.put("Job", {}, jid="b")
    assert client.queues["later"].pop().complete("third", depends=["b"]) == "depends"
    assert client.jobs["a"].queue_name == "third"


def test_a_delay_needs_a_next_queue(client, queue):
    queue.put("Job", {}, jid="a")

    with pytest.raises(BadArgument):
        queue.pop().complete(delay=5)

    assert client.jobs["a"].state == "running"


def test_failing_records_group_and_message(client, queue, clock):
    queue.put("Job", {}, jid="a")

    queue.pop().fail("boom", "it broke")

    job = client.jobs["a"]
    assert job.state is State.FAILED
    assert (job.failure.group, job.failure.message) == ("boom", "it broke")
    assert (job.failure.when, job.failure.worker) == (int(clock.now()), "worker-1")
    assert client.jobs.failed() == client.failures.groups == {"boom": 1}
    assert client.jobs.failed("boom").total == 1


def test_b12_a_message_that_utf8_cannot_hold_is_recorded_with_replacements(client, queue):
    queue.put("Job", {}, jid="a")

    queue.pop().fail("gr\udcffoup", "mess\ud800age 漢字 🙂")

    failure = client.jobs["a"].failure
    assert (failure.group, failure.message) == ("gr�oup", "mess�age 漢字 🙂")


def test_retrying_counts_down_and_fails_when_none_is_left(client, queue):
    queue.put("Job", {}, jid="a", retries=1)

    assert queue.pop().retry() == 0
    assert client.jobs["a"].state == "waiting"
    assert queue.pop().retry() == -1

    job = client.jobs["a"]
    assert job.state == "failed"
    assert job.failure.group == "failed-retries-q"
    assert job.failure.message == 'Job exhausted retries in queue "q"'


def test_retrying_may_wait_and_may_say_why(client, queue, clock):
    queue.put("Job", {}, jid="a", retries=1)

    assert queue.pop().retry(30, "flaky", "timed out") == 0
    assert client.jobs["a"].state == "scheduled"
    assert client.jobs["a"].failure.group == "flaky"
    clock.advance(30)
    assert queue.pop().retry(0, "flaky", "again") == -1
    assert client.failures.groups == {"flaky": 1}
    with pytest.raises(BadArgument, match="group"):
        client.jobs["a"].retry(message="alone")


def test_b47_a_retry_stays_in_the_jobs_own_queue_with_its_priority(client, queue):
    queue.put("Job", {}, jid="a", priority=7)

    queue.pop().retry()

    job = client.jobs["a"]
    assert (job.queue_name, job.priority) == ("q", 7)
    assert [found.jid for found in queue.pop(5)] == ["a"]
    with pytest.raises((BadArgument, LockLost, JobNotRunning)):
        client.commands.retry("a", "elsewhere", "worker-1")
    assert client.jobs["a"].queue_name == "q"


def test_b48_a_job_that_lost_every_lock_can_still_be_mended(client, queue, clock):
    client.config["grace-period"] = 0
    queue.put("Job", {}, jid="a", retries=0)
    queue.pop()
    clock.advance(61)
    assert queue.pop() is None

    job = client.jobs["a"]
    assert job.state == "failed"
    assert job.failure.group == "failed-retries-q"
    assert job.failure.message
    assert job.failure.when == int(clock.now())
    job.move("q")
    assert queue.pop().jid == "a"
    client.jobs["a"].cancel()
    assert client.jobs["a"] is None


def test_moving_keeps_all_but_the_queue(client, queue):
    """Q2."""
    queue.put("Job", {"x": 1}, jid="a", priority=5, tags=["t"], retries=2)

    assert client.jobs["a"].move("elsewhere", delay=5) == "a"

    job = client.jobs["a"]
    assert (job.queue_name, job.state) == ("elsewhere", "scheduled")
    assert (job.priority, job.tags, job.original_retries, job.data) == (5, ["t"], 2, {"x": 1})


def test_a_job_that_is_gone_is_not_brought_back_by_moving_it(client, queue):
    queue.put("Job", {}, jid="a")
    job = client.jobs["a"]
    client.bulk_cancel(["a"])

    with pytest.raises(JobNotFound) as error:
        job.move("elsewhere")

    assert error.value.jid == "a"
    assert client.jobs["a"] is None


def test_b53_cancelling_tells_whom_it_would_leave_waiting(client, queue):
    queue.put("Job", {}, jid="a")
    for name in ("b", "c"):
        queue.put("Job", {}, jid=name, depends=["a"])
    queue.put("Job", {}, jid="d", depends=["b", "c"])

    with pytest.raises(HasDependents) as error:
        client.jobs["a"].cancel()
    assert error.value.jid == "a"
    assert set(error.value.dependents) <= {"b", "c"}
    assert error.value.dependents
    assert client.jobs["a"].state == "waiting"

    assert sorted(client.bulk_cancel([*"abcd"])) == [*"abcd"]
    assert client.jobs.get(*"abcd") == []


def test_b53_the_owner_of_a_cancelled_job_hears_of_it(client, queue):
    queue.put("Job", {}, jid="a")
    job = queue.pop()
    with client.events.subscribe("w:worker-1") as events:
        client.jobs["a"].cancel()
        (event,) = events.drain()

    assert (event.name, event.jid, event.worker) == ("canceled", "a", "worker-1")
    with pytest.raises(JobNotFound):
        job.complete()


def test_priority_is_a_property_that_changes_it_in_redis(client, queue):
    queue.put("Job", {}, jid="a")
    queue.put("Job", {}, jid="b")
    job = client.jobs["b"]

    job.priority = 10

    assert (job.priority, client.jobs["b"].priority) == (10, 10)
    assert queue.pop().jid == "b"


def test_tags_are_added_and_removed(client, queue):
    """Q9."""
    queue.put("Job", {}, jid="a")
    job = client.jobs["a"]

    assert job.tag("x", "y") == ["x", "y"]
    assert job.untag("x") == ["y"]
    assert job.tag() == job.tags == client.jobs["a"].tags == ["y"]
    assert client.jobs.tagged("y").jids == ("a",)
    assert client.tags.jids("y").total == 1
    assert client.tags() == []
    queue.put("Job", {}, tags=["y"])
    assert client.tags() == client.tags.top() == ["y"]


def test_tracking_can_be_turned_on_and_off(client, queue, redis):
    """Q9."""
    queue.put("Job", {}, jid="a")
    job = client.jobs["a"]

    assert job.track() is True
    assert job.track() is False
    assert client.jobs["a"].tracked
    assert [found.jid for found in client.jobs.tracked().jobs] == ["a"]
    assert job.untrack() is True
    assert not client.jobs["a"].tracked
    client.track("a")
    redis.delete("ql:j:a")
    assert client.jobs.tracked().expired == ["a"]
    assert client.untrack("a") is True
    assert client.jobs.tracked().expired == []
    with pytest.raises(JobNotFound):
        client.track("nobody")


def test_dependencies_are_added_and_removed_later(client, queue):
    """Q8."""
    for name in "abc":
        queue.put("Job", {}, jid=name)
    job = client.jobs["c"]

    job.depend("a", client.jobs["b"])
    assert sorted(client.jobs["c"].dependencies) == ["a", "b"]
    assert client.jobs["c"].state == "depends"
    job.undepend("a")
    job.undepend(all=True)

    assert client.jobs["c"].state == "waiting"
    with pytest.raises(NotWaitingOnDependencies) as error:
        job.undepend("a")
    assert (error.value.jid, error.value.state) == ("c", "waiting")
    with pytest.raises(BadArgument):
        job.undepend()
    with pytest.raises(BadArgument):
        job.undepend("a", all=True)


def test_timing_out_takes_the_lock_away(client, queue):
    queue.put("Job", {}, jid="a")
    job = queue.pop()

    client.jobs["a"].timeout()

    assert client.jobs["a"].state is State.STALLED
    with pytest.raises((JobNotRunning, LockLost)):
        job.complete()
    with pytest.raises(JobNotRunning) as error:
        client.jobs["a"].timeout()
    assert error.value.jid == "a"


def fields(job):
    """Give what a snapshot says, without what time alone changes."""
    names = ("state", "queue_name", "worker_name", "expires_at", "retries_left", "failure")
    more = ("dependencies", "tracked", "tags", "priority", "history")
    return {name: getattr(job, name) for name in (*names, *more)}


VERBS = {
    "heartbeat": lambda job: job.heartbeat(),
    "complete into the next queue": lambda job: job.complete("next"),
    "complete into the next queue, later": lambda job: job.complete("next", delay=5),
    "complete, and wait": lambda job: job.complete("next", depends=["other", "gone"]),
    "complete, and wait for nothing": lambda job: job.complete("next", depends=["gone"]),
    "fail": lambda job: job.fail("group", "message"),
    "retry": lambda job: job.retry(),
    "retry, and say why": lambda job: job.retry(5, "group", "message"),
    "move": lambda job: job.move("next"),
    "move, later": lambda job: job.move("next", delay=5),
    "move, and wait": lambda job: job.move("next", depends=["other"]),
    "time out": lambda job: job.timeout(),
    "track": lambda job: job.track(),
    "tag": lambda job: job.tag("x"),
    "priority": lambda job: setattr(job, "priority", 7),
    "log": lambda job: job.log("step"),
}


@pytest.mark.parametrize("retries", [0, 2])
@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_snapshot_does_not_lie_after_its_own_verb(client, queue, verb, retries):
    client.queues["others"].put("Job", {}, jid="other")
    queue.put("Job", {}, jid="a", retries=retries + 1)
    queue.pop().retry()
    job = queue.pop()
    assert job.retries_left == retries

    verb(job)

    assert fields(job) == fields(client.jobs["a"])
    assert job.record == client.jobs["a"].record


def test_a_snapshot_does_not_lie_after_verbs_on_dependencies(client, queue):
    queue.put("Job", {}, jid="other")
    queue.put("Job", {}, jid="a")
    job = client.jobs["a"]

    job.depend("other")
    assert (job.state, job.dependencies) == ("depends", ["other"])
    job.move("next")
    assert repr(job) == "<Job a Job changed in 'next'>"
    assert (job.state, job.queue_name) == ("depends", "next")
    job.undepend(all=True)
    assert (job.state, job.dependencies) == ("waiting", [])


def test_what_a_verb_told_is_known_without_asking_again(queue, redis):
    queue.put("Job", {}, jid="a")
    job = queue.pop()
    job.complete()
    redis.delete("ql:j:a")

    assert (job.state, job.failure, job.expires_at) == (State.COMPLETE, None, 0)


def test_a_cancelled_job_has_no_state_any_more(client, queue):
    queue.put("Job", {}, jid="a")
    job = client.jobs["a"]
    job.cancel()

    with pytest.raises(JobNotFound):
        _ = job.state
    assert (job.jid, job.klass_name, job.is_settled) == ("a", "Job", True)
    assert "a Job changed" in repr(job)


def test_data_changed_after_a_verb_is_not_lost_by_a_look_at_the_state(client, queue):
    queue.put("Job", {"n": 1}, jid="a")
    job = client.jobs["a"]
    job.move("next")
    job["n"] = 2

    assert (job.state, job["n"]) == ("waiting", 2)


def test_a_log_is_an_item_of_the_history(client, queue, clock):
    queue.put("Job", {}, jid="a")
    job = client.jobs["a"]
    clock.advance(5)

    job.log("step", {"n": 1})
    job.log("bare")

    history = job.reload().history
    assert [item.what for item in history] == ["put", "step", "bare"]
    assert (history[1].details, history[1].when) == ({"n": 1}, int(clock.now()))
    assert history[0].details == {"q": "q"}


def test_a_missing_job_is_none_and_each_verb_says_so(client, queue):
    assert client.jobs["nobody"] is None
    assert client.jobs.get("nobody") == []
    queue.put("Job", {}, jid="a")
    job = client.jobs["a"]
    job.cancel()

    for verb in (job.reload, job.timeout, job.track, lambda: job.log("x"), lambda: job.tag("x")):
        with pytest.raises(JobNotFound) as error:
            verb()
        assert error.value.jid == "a"


def test_a_job_has_a_tidy_repr_and_is_the_same_as_its_other_snapshots(client, queue):
    """Q21."""
    queue.put("app.Mail", {}, jid="a")
    job = client.jobs["a"]

    assert repr(job) == "<Job a app.Mail waiting in 'q'>"
    assert job == client.jobs["a"]
    assert len({job, client.jobs["a"]}) == 1
    assert job != "a"


def test_a_job_without_a_client_says_so_when_a_verb_is_called():
    job = make_job("app.Mail", {"a": 1})

    assert job.data == {"a": 1}
    with pytest.raises(BadArgument, match="without a client"):
        job.complete()


def test_moving_may_change_what_a_put_may_give(client, queue):
    queue.put("Job", {}, jid="a", priority=5, tags=["t"], retries=2)
    job = client.jobs["a"]

    job.requeue("elsewhere", priority=7, tags=["new", ""], retries=9, delay=5)

    assert (job.priority, job.tags, job.original_retries, job.retries_left) == (7, ["new"], 9, 9)
    assert job.record == client.jobs["a"].record
    with pytest.raises(BadArgument, match="tags"):
        job.move("q", tags="t")


def test_a_job_is_finished_and_the_next_one_taken_in_one_round_trip(client, queue):
    queue.put("Job", {}, jid="a", priority=1)
    queue.put("Job", {"n": 1}, jid="b")
    first = queue.pop()
    first["done"] = True
    client.redis.config_resetstat()

    second = first.complete_and_pop()

    stats = client.redis.info("commandstats")
    calls = [stats.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in ("evalsha", "fcall")]
    assert sum(calls) == 1
    assert first.record == client.jobs["a"].record
    assert (first.state, first.data) == (State.COMPLETE, {"done": True})
    assert (second.jid, second.state, second.worker_name) == ("b", "running", "worker-1")
    assert second.complete_and_pop("elsewhere", next_queue="next", delay=5) is None
    assert (second.state, second.queue_name) == ("scheduled", "next")


def test_nothing_is_taken_after_a_job_that_was_lost(client, queue, other, clock):
    mine, _ = lose(queue, other, clock)
    queue.put("Job", {}, jid="b")

    with pytest.raises(LockLost):
        mine.complete_and_pop()

    assert client.jobs["b"].state == "waiting"


def test_q12_a_job_is_locked_by_its_own_heartbeat_else_its_queues_else_that_of_all(client, queue):
    for jid, heartbeat in (("own", 300), ("queue", None), ("none", 0)):
        queue.put("Job", {}, jid=jid, heartbeat=heartbeat)
    client.queues["other"].put("Job", {}, jid="all")
    queue.heartbeat = 90

    jobs = {job.jid: job for job in [*queue.pop(5), client.queues["other"].pop()]}

    assert {jid: job.ttl for jid, job in jobs.items()} == {
        "own": 300,
        "queue": 90,
        "none": 90,
        "all": 60,
    }
    assert jobs["own"].heartbeat() == client.now() + 300
    jobs["own"].move("other", heartbeat=5)
    assert client.queues["other"].pop().ttl == 5
    with pytest.raises(BadArgument, match="heartbeat"):
        queue.put("Job", {}, heartbeat=-1)


def test_a_job_that_was_not_begun_is_given_back_as_it_was(client, queue):
    """Q1."""
    queue.put("Job", {}, jid="a", retries=0)
    job = queue.pop()

    assert job.give_back(ran=False, details={"host": "web-3"}) == 0

    assert job.is_settled
    assert (job.state, job.worker_name, job.expires_at) == (State.WAITING, "", 0)
    item = job.history[-1]
    assert (item.what, item.details) == ("given-back", {"ran": False, "host": "web-3"})
    assert job.record == client.jobs["a"].record
    assert queue.pop() == job


def test_a_job_that_ran_is_given_back_with_a_retry_less(client, queue):
    queue.put("Job", {}, jid="a", retries=1)
    job = queue.pop()

    assert job.give_back(ran=True, what="died", group="worker-died", message="by \ud800") == 0

    assert (job.state, job.failure.group, job.retries_left) == (State.WAITING, "worker-died", 0)
    assert job.record == client.jobs["a"].record


def test_a_job_that_is_given_back_and_waits_first_knows_it(client, queue):
    client.config["drop-backoff"] = 60
    queue.put("Job", {}, jid="a")
    job = queue.pop()

    job.give_back(ran=True, group="worker-died")

    assert job.state == State.SCHEDULED


def test_a_job_that_is_given_back_without_a_retry_fails(client, queue):
    queue.put("Job", {}, jid="a", retries=0)
    job = queue.pop()

    assert job.give_back(ran=True) == -1

    assert (job.state, job.failure.group) == (State.FAILED, "failed-retries-q")
    assert job.record == client.jobs["a"].record


def test_a_job_that_another_worker_has_is_not_given_back(queue, other, clock):
    mine, theirs = lose(queue, other, clock)

    with pytest.raises(LockLost):
        mine.give_back(ran=True)

    assert theirs.give_back(ran=False) == 4


def test_a_job_knows_which_attempt_it_is(client, queue):
    queue.put("Job", {}, jid="a", retries=3)
    assert client.jobs["a"].attempt == 0
    first = queue.pop()
    assert first.attempt == 1
    first.retry()
    assert client.jobs["a"].attempt == 1

    second = queue.pop()
    assert second.attempt == 2
    second.give_back(ran=False)
    third = queue.pop()
    assert third.attempt == 2
    third.give_back(ran=True)
    assert queue.pop().attempt == 3

    client.jobs["a"].timeout()
    timed_out = queue.pop()
    assert timed_out.attempt == 4
    timed_out.fail("group", "message")
    client.unfail("group", "q")
    assert queue.pop().attempt == 5


def test_attempts_are_counted_anew_where_a_job_completed(client, queue):
    queue.put("Job", {}, jid="a")
    queue.pop().retry()
    queue.pop().complete("q2")

    staged = client.queues["q2"].pop()
    assert staged.attempt == 1
    staged.complete()
    queue.put("Job", {}, jid="a")
    assert queue.pop().attempt == 1


def test_attempts_are_counted_by_used_retries_where_the_history_was_cut(client, queue):
    client.config["max-job-history"] = 3
    queue.put("Job", {}, jid="a")
    for _ in range(3):
        queue.pop().retry()

    job = queue.pop()
    for number in range(5):
        job.log(f"line {number}")

    assert job.attempt == client.jobs["a"].attempt == 4


def test_a_job_that_is_made_for_a_test_is_the_first_attempt():
    assert make_job("Job").attempt == 1
    assert make_job("Job", retries=5, remaining=3).attempt == 3


def test_a_job_knows_what_went_wrong_before(client, queue):
    queue.put("Job", {}, jid="a")
    assert client.jobs["a"].last_failure is None
    queue.pop().retry(group="flaky", message="timed out")
    job = queue.pop()
    assert (job.last_failure.group, job.last_failure.message) == ("flaky", "timed out")

    job.fail("broken", "traceback")
    client.unfail("broken", "q")
    again = queue.pop()

    assert again.failure is None
    failure = again.last_failure
    assert (failure.group, failure.message, failure.worker) == ("broken", "", "worker-1")
    again.complete("q2")
    assert client.queues["q2"].pop().last_failure is None


def test_a_job_tells_how_far_it_is(client, queue):
    queue.put("Job", {}, jid="a")
    job = queue.pop()
    assert job.read_progress() is None

    job.progress(30, 40, "with \ud800 in it")

    progress = client.jobs["a"].read_progress()
    assert (progress.done, progress.total, progress.share) == (30, 40, 0.75)
    assert (progress.note, progress.worker) == ("with \ufffd in it", "worker-1")
    job.progress(31)
    assert job.read_progress().share is None


def test_a_job_that_another_worker_has_tells_nothing(queue, other, clock):
    mine, _ = lose(queue, other, clock)

    with pytest.raises(LockLost):
        mine.progress(1)
