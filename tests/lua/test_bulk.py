"""Work on many jobs in one call: each is looked at in the moment of acting."""

from __future__ import annotations

import json

import pytest
from redis.exceptions import ResponseError


def fail(lua, now, *jids, group="g", queue="q", message="boom"):
    """Put jobs, run them and let them fail, the first named the oldest failure."""
    for jid in jids:
        lua.put(now, jid, queue=queue)
        assert lua.popped(now, queue=queue) == [jid]
        lua("fail", now, jid, "w", group, message)


def failed_statistic(lua, queue="q", date=0):
    return lua.json("stats", date, queue, date)["failed"]


def move(lua, now, group, queue, *pairs):
    return act(lua, "bulk.move", now, group, queue, *pairs)


def cancel(lua, now, group, *pairs):
    return act(lua, "bulk.cancel", now, group, *pairs)


def act(lua, command, now, *arguments):
    """Call with pairs at the end; what became of groups has tests of its own."""
    flat = [part for each in arguments for part in ([each] if isinstance(each, str) else each)]
    report = lua.json(command, now, *flat)
    assert isinstance(report.pop("emptied"), list)
    return report


def test_failed_jobs_go_back_to_their_own_queues_with_their_retries(lua):
    fail(lua, 10, "a", queue="qa")
    fail(lua, 11, "b", queue="qb")

    report = move(lua, 20, "g", "", ("a", "failed"), ("b", "failed"))

    assert report == {"done": ["a", "b"], "left": {}}
    assert (lua.job("a")["state"], lua.job("a")["queue"]) == ("waiting", "qa")
    assert (lua.job("b")["state"], lua.job("b")["queue"]) == ("waiting", "qb")
    assert lua.job("a")["remaining"] == lua.job("a")["retries"]
    assert lua.json("failed", 20) == {}
    assert lua.popped(21, queue="qa") == ["a"]


def test_data_priority_and_tags_stay_as_they_are(lua):
    data = '{"list":[],"big":12345678901234567890}'
    lua.put(10, "a", "priority", 7, "tags", '["x"]', data=data)
    lua.pop(10)
    lua("fail", 10, "a", "w", "g", "boom")

    move(lua, 20, "g", "", ("a", "failed"))

    job = lua.job("a")
    assert (job["data"], job["priority"], job["tags"]) == (data, 7, ["x"])
    assert job["failure"]["message"] == "boom"
    assert job["history"][-1] == {"what": "put", "when": 20, "q": "q"}


def test_b52_the_failed_statistic_leaves_the_queue_that_counted_it(lua):
    fail(lua, 10, "a", "b")

    move(lua, 20, "g", "other", ("a", "failed"))

    assert failed_statistic(lua) == 1
    assert failed_statistic(lua, "other") == 0
    assert lua.job("a")["queue"] == "other"
    assert [queue["name"] for queue in lua.json("queues", 20)] == ["q", "other"]


def test_the_log_and_those_who_track_a_job_hear_of_it(lua):
    fail(lua, 10, "a")
    lua("track", 10, "track", "a")

    with lua.hearing() as heard:
        move(lua, 20, "g", "", ("a", "failed"))

    assert heard == [["ql:log", '{"jid":"a","event":"put","queue":"q"}'], ["ql:put", "a"]]


def test_what_is_not_as_it_was_shown_is_left_alone_and_named(lua):
    fail(lua, 10, "failed")
    fail(lua, 10, "elsewhere", group="other")
    lua.put(10, "running")
    lua.pop(10)
    lua.put(10, "waiting")
    before = {jid: lua.job(jid) for jid in ("elsewhere", "running", "waiting")}
    everything = ("failed", "elsewhere", "running", "waiting", "missing")

    report = move(lua, 20, "g", "", *((jid, "failed") for jid in everything))

    assert report == {
        "done": ["failed"],
        "left": {
            "elsewhere": "group",
            "running": "running",
            "waiting": "waiting",
            "missing": "gone",
        },
    }
    assert {jid: lua.job(jid) for jid in before} == before


@pytest.mark.parametrize(
    "act",
    [
        lambda lua: move(lua, 20, "g", "", ("a", "failed"), ("b", "failed")),
        lambda lua: cancel(lua, 20, "g", ("a", "failed"), ("b", "failed")),
    ],
)
def test_b36_a_job_that_is_gone_leaves_the_list_of_its_group(lua, act):
    fail(lua, 10, "a", "b")
    lua.redis.delete("ql:j:a")

    assert act(lua) == {"done": ["b"], "left": {"a": "gone"}}
    assert lua.json("failed", 20) == {}


@pytest.mark.parametrize("call", [("bulk.move", 20, "", ""), ("bulk.cancel", 20, "")])
def test_the_groups_that_are_empty_now_are_named(lua, call):
    fail(lua, 10, "a", "b")
    fail(lua, 10, "c", group="other")
    lua.put(10, "waiting")

    assert lua.json(*call, "a", "", "waiting", "")["emptied"] == []
    assert sorted(lua.json(*call, "b", "", "c", "failed")["emptied"]) == ["g", "other"]


@pytest.mark.parametrize("call", [("bulk.move", 20, "g", ""), ("bulk.cancel", 20, "g")])
def test_a_group_that_listed_only_what_is_gone_is_empty_now(lua, call):
    fail(lua, 10, "a")
    lua.redis.delete("ql:j:a")

    assert lua.json(*call, "a", "failed")["emptied"] == ["g"]


@pytest.mark.parametrize("call", [("bulk.move", 20, "", ""), ("bulk.cancel", 20, "")])
def test_a_group_may_have_an_empty_name(lua, call):
    fail(lua, 10, "a", group="")
    lua.put(10, "waiting")

    assert lua.json(*call, "waiting", "")["emptied"] == []
    assert lua.json(*call, "a", "failed")["emptied"] == [""]
    assert lua.json("failed", 30) == {}


def test_a_second_call_does_nothing(lua):
    fail(lua, 10, "a")
    move(lua, 20, "g", "", ("a", "failed"))
    stored = lua.stored()

    assert move(lua, 30, "g", "", ("a", "failed")) == {"done": [], "left": {"a": "waiting"}}
    assert lua.stored() == stored


def test_a_job_named_twice_is_moved_once(lua):
    fail(lua, 10, "a")

    assert move(lua, 20, "g", "", ("a", "failed"), ("a", "failed"))["done"] == ["a"]
    assert lua("length", 20, "q") == 1


@pytest.mark.parametrize("state", ["waiting", "scheduled", "depends", "running", "complete"])
def test_a_job_in_any_state_moves_to_another_queue(lua, state):
    lua.put(1, "first", queue="else")
    delay = 60 if state == "scheduled" else 0
    lua.put(10, "a", *(("depends", '["first"]') if state == "depends" else ()), delay=delay)
    if state in {"running", "complete"}:
        lua.pop(10)
    if state == "complete":
        lua("complete", 10, "a", "w", "q", "{}")

    report = move(lua, 20, "", "other", ("a", state))

    assert report == {"done": ["a"], "left": {}}
    job = lua.job("a", 20)
    assert (job["queue"], job["worker"]) == ("other", "")
    assert job["state"] == ("depends" if state == "depends" else "waiting")
    assert lua("length", 20, "q") == 0


def test_the_worker_of_a_running_job_is_told_that_it_lost_it(lua):
    lua.put(10, "a")
    lua.pop(10)

    with lua.hearing() as heard:
        move(lua, 20, "", "other", ("a", "running,stalled"))

    assert ["ql:w:w", '{"jid":"a","event":"lock_lost","worker":"w"}'] in heard


def test_states_are_those_that_people_see(lua):
    lua.put(10, "due", delay=5)
    lua.put(10, "late")
    lua.pop(10)

    assert move(lua, 100, "", "other", ("due", "scheduled,failed"))["done"] == ["due"]
    assert move(lua, 100, "", "other", ("late", "waiting")) == {
        "done": [],
        "left": {"late": "stalled"},
    }
    assert move(lua, 100, "", "other", ("late", "stalled"))["done"] == ["late"]


def test_the_score_of_the_lock_tells_whether_a_job_has_stalled(lua, redis):
    lua.put(10, "j")
    lua.pop(10)
    assert lua.popped(75) == []  # warned: it has until 85

    assert move(lua, 80, "", "other", ("j", "stalled"))["left"] == {"j": "running"}
    assert lua.json("bulk.closure", 80, "j")["jobs"][0]["state"] == "running"
    assert move(lua, 85, "", "other", ("j", "waiting"))["left"] == {"j": "stalled"}
    assert lua.json("bulk.closure", 85, "j")["jobs"][0]["state"] == "stalled"

    redis.zrem("ql:q:q-locks", "j")  # then its own word counts
    assert lua.json("bulk.closure", 60, "j")["jobs"][0]["state"] == "running"
    assert move(lua, 80, "", "other", ("j", "stalled"))["done"] == ["j"]


def test_a_job_in_no_queue_has_nowhere_to_go_back_to(lua):
    lua.put(10, "a")
    lua.pop(10)
    lua("complete", 10, "a", "w", "q", "{}")
    lua.redis.hset("ql:j:a", "queue", "")

    assert move(lua, 20, "", "", ("a", "")) == {"done": [], "left": {"a": "nowhere"}}


def test_a_failed_job_that_waits_for_another_waits_on(lua):
    fail(lua, 10, "a")
    lua.put(10, "first", queue="else")
    lua.redis.sadd("ql:j:a-dependencies", "first")
    lua.redis.sadd("ql:j:first-dependents", "a")

    assert move(lua, 20, "g", "", ("a", "failed"))["done"] == ["a"]
    assert lua.job("a")["state"] == "depends"
    assert lua.json("failed", 20) == {}


@pytest.mark.parametrize("data", ["not json", "", "{", '"\\ud800"', None])
def test_b36_data_that_is_no_json_stops_neither_its_job_nor_the_others(lua, redis, data):
    fail(lua, 1, "x", "y", "z")
    redis.sadd("ql:j:y-dependencies", "first")
    for jid in ("a", "b", "c"):
        lua.put(2, jid)
    for jid in ("y", "b"):
        redis.hdel(f"ql:j:{jid}", "data")
        if data is not None:
            redis.hset(f"ql:j:{jid}", "data", data)
    jids = ["x", "a", "y", "b", "z", "c"]

    report = move(lua, 20, "", "other", *((jid, "") for jid in jids))

    assert report == {"done": jids, "left": {}}
    assert {redis.hget(f"ql:j:{jid}", "queue") for jid in jids} == {"other"}
    assert [redis.hget(f"ql:j:{jid}", "data") for jid in ("y", "b")] == [data, data]
    assert redis.hget("ql:j:y", "state") == "depends"
    assert redis.exists("ql:f:g", "ql:failures") == 0


@pytest.mark.parametrize("call", [("bulk.move", 20, "", "other"), ("bulk.cancel", 20, "")])
def test_a_key_that_holds_something_else_costs_no_other(lua, redis, call):
    lua.put(1, "x")
    lua.put(1, "z")
    redis.rpush("ql:j:y", "no hash")

    report = lua.json(*call, "x", "", "y", "", "z", "")

    assert (report["done"], report["left"]) == (["x", "z"], {"y": "unreadable"})
    assert redis.lrange("ql:j:y", 0, -1) == ["no hash"]


def test_moving_changes_nothing_that_belongs_to_the_user(lua, redis):
    data = '{"list":[],"big":12345678901234567890}'
    lua.put(10, "a", "priority", 7, "tags", '["x"]', "retries", 3, data=data)
    before = redis.hgetall("ql:j:a")
    tagged = redis.zscore("ql:t:x", "a")

    move(lua, 20, "", "other", ("a", "waiting"))

    changed = {"queue": "other", "time": "20.00000000000000000000"}
    assert redis.hgetall("ql:j:a") == before | changed
    assert redis.zscore("ql:t:x", "a") == tagged


def test_cancelling_leaves_the_group_and_its_statistic(lua):
    fail(lua, 10, "a", "b", "c")

    assert cancel(lua, 20, "g", ("a", "failed"), ("c", "failed"))["done"] == ["a", "c"]
    assert lua.json("failed", 20) == {"g": 1}
    assert failed_statistic(lua) == 1
    assert lua("get", 20, "a") is None


def test_b53_what_others_wait_for_stays_with_all_that_it_waits_for_itself(lua):
    for jid, depends in (("a", []), ("b", ["a"]), ("c", ["b"])):
        lua.put(10, jid, "depends", json.dumps(depends))
    before = lua.stored()

    report = cancel(lua, 20, "", ("a", ""), ("b", ""))

    assert report == {"done": [], "left": {"a": "dependents", "b": "dependents"}}
    assert lua.stored() == before
    assert cancel(lua, 20, "", ("a", ""), ("b", ""), ("c", ""))["done"] == ["a", "b", "c"]
    assert not [key for key in lua.stored() if key.startswith("ql:j:")]


def test_one_job_that_stays_does_not_keep_the_others(lua):
    lua.put(10, "a")
    lua.put(10, "needs", "depends", '["a"]')
    lua.put(10, "b")
    lua.put(10, "done", "priority", 9)
    lua.pop(10)
    lua("complete", 10, "done", "w", "q", "{}")

    report = cancel(lua, 20, "", ("a", ""), ("b", "waiting"), ("done", ""), ("missing", ""))

    assert report == {
        "done": ["b"],
        "left": {"a": "dependents", "done": "complete", "missing": "gone"},
    }


def test_nine_thousand_jobs_are_cancelled_in_one_call(lua):
    jids = [f"job-{number}" for number in range(9_000)]
    for jid in jids:
        lua.put(10, jid)

    assert cancel(lua, 20, "", *((jid, "") for jid in jids))["done"] == jids
    assert lua("length", 20, "q") == 0


def test_a_closure_has_each_job_after_those_that_wait_for_it(lua):
    for jid, depends in (("a", []), ("b", ["a"]), ("c", ["a"]), ("d", ["b", "c"])):
        lua.put(10, jid, "depends", json.dumps(depends))
    lua.put(11, "e")
    assert lua.popped(12) == ["a"]

    found = lua.json("bulk.closure", 20, "a", "missing")

    order = [job["jid"] for job in found["jobs"]]
    assert sorted(order) == ["a", "b", "c", "d"]
    assert order.index("d") < order.index("b") < order.index("a")
    assert order.index("d") < order.index("c") < order.index("a")
    assert found["missing"] == ["missing"]
    assert found["more"] is False
    assert found["jobs"][-1] == {
        "jid": "a",
        "klass": "K",
        "state": "running",
        "queue": "q",
        "worker": "w",
    }


def test_b50_a_ring_that_others_left_ends_the_walk(lua):
    lua.put(10, "a")
    lua.put(10, "b", "depends", '["a"]')
    lua.redis.sadd("ql:j:a-dependencies", "b")
    lua.redis.sadd("ql:j:b-dependents", "a")

    found = lua.json("bulk.closure", 20, "a")

    assert sorted(job["jid"] for job in found["jobs"]) == ["a", "b"]


def test_mentions_of_jobs_that_wait_no_longer_are_passed_over(lua):
    lua.put(10, "a")
    lua.put(10, "b")
    lua.redis.sadd("ql:j:a-dependents", "gone", "b")

    assert [job["jid"] for job in lua.json("bulk.closure", 20, "a")["jobs"]] == ["a"]
    assert cancel(lua, 20, "", ("a", ""))["done"] == ["a"]


def test_the_states_of_a_group_name_what_has_gone(lua):
    fail(lua, 10, "a", "b", "c")
    lua.redis.delete("ql:j:b")
    lua.redis.hset("ql:j:c", "state", "running")
    before = lua.stored()

    assert lua.json("bulk.states", 20, "g", 0, 100) == {"failed": 1, "gone": 1, "running": 1}
    assert lua.json("bulk.states", 20, "g", 0, 1) == {"running": 1}
    assert lua.json("bulk.states", 20, "none", 0, 100) == {}
    assert lua.stored() == before


# Putting many


def put_many(lua, now, *rows, first=0, queue="q"):
    """Put jobs, each a jid and options."""
    flat = [part for jid, *options in rows for part in (jid, "K", "{}", 0, len(options), *options)]
    return lua("bulk.put", now, "w", queue, first, *flat)


def test_many_jobs_are_put_in_their_order(lua):
    assert put_many(lua, 1, ["a"], ["b", "priority", 5], ["c", "tags", '["t"]']) == [*"abc"]

    assert lua.job("c")["tags"] == ["t"]
    assert lua.popped(2, 5) == ["b", "c", "a"]


def test_many_jobs_are_put_as_one_after_another_would_be(lua, redis):
    rows = (
        ["a"],
        ["b", "priority", 5, "retries", 2],
        ["c", "depends", '["a"]'],
        ["a", "tags", '["t"]'],
    )
    with lua.hearing() as heard:
        put_many(lua, 1, *rows)
    stored = lua.stored()
    redis.flushdb()

    with lua.hearing() as heard_singly:
        for jid, *options in rows:
            lua.put(1, jid, *options)

    assert lua.stored() == stored
    assert heard == heard_singly


def test_one_bad_job_refuses_all_and_is_named_by_its_number(lua):
    with lua.refused("BAD_ARGUMENT", 'job 101: argument "retries" must be a whole number'):
        put_many(lua, 1, ["a"], ["b", "retries", "1.5"], ["c"], first=100)


@pytest.mark.parametrize("part", ["", "-dependencies"])
def test_jobs_may_wait_for_one_with_something_else_under_its_keys(lua, redis, part):
    lua.put(1, "odd", queue="other")
    redis.delete(f"ql:j:odd{part}")
    redis.set(f"ql:j:odd{part}", "x")
    needs = ["a", "depends", '["odd"]'], ["b", "depends", '["a"]']

    assert put_many(lua, 2, *needs) == ["a", "b"]

    assert lua.job("b")["dependencies"] == ["a"]
    assert json.loads(lua("bulk.closure", 3, "odd", "a"))["jobs"]


def test_a_job_that_nobody_can_be_noted_to_wait_for_is_said_before_a_write(lua, redis):
    lua.put(1, "odd", queue="other")
    redis.set("ql:j:odd-dependents", "x")
    before = lua.stored()

    for call in (
        lambda: lua.put(2, "a", "depends", '["odd"]', "tags", '["t"]'),
        lambda: put_many(lua, 2, ["b"], ["a", "depends", '["odd"]']),
    ):
        with pytest.raises(ResponseError, match="WRONGTYPE"):
            call()
        assert lua.stored() == before


def test_a_ring_that_the_jobs_of_a_call_would_close_is_refused(lua):
    lua.put(1, "x")
    lua.put(1, "y", "depends", '["x"]')

    through = "job 1: Job x cannot depend on z, which waits for it: x -> z -> y -> x"
    with lua.refused("BAD_ARGUMENT", through):
        put_many(lua, 2, ["z", "depends", '["y"]'], ["x", "depends", '["z"]'])
    with lua.refused(
        "BAD_ARGUMENT", "job 1: Job c cannot depend on d, which waits for it: c -> d -> c"
    ):
        put_many(lua, 2, ["d", "depends", '["c"]'], ["c", "depends", '["d"]'])
    with lua.refused(
        "BAD_ARGUMENT", "job 0: Job x cannot depend on y, which waits for it: x -> y -> x"
    ):
        put_many(lua, 2, ["x", "depends", '["y"]'])
    with lua.refused("BAD_ARGUMENT", "job 0: Job c cannot depend on itself: c -> c"):
        put_many(lua, 2, ["c", "depends", '["c"]'])


@pytest.mark.parametrize("order", [("a", "a-history"), ("a-history", "a")])
def test_jobs_of_a_call_whose_keys_are_each_others_are_refused(lua, order):
    with lua.refused("BAD_ARGUMENT", "keys are no other job's"):
        put_many(lua, 1, *([jid] for jid in order))


# Finishing many


def complete_many(lua, now, *rows, worker="w", to="", delay=0):
    flat = [part for jid, queue in rows for part in (jid, queue, '{"n":1}')]
    return lua.json("bulk.complete", now, worker, to, delay, *flat)


def test_many_jobs_are_finished_as_one_after_another_would_be(lua, redis):
    def prepare():
        redis.flushdb()
        for jid in "abc":
            lua.put(1, jid)
        lua.put(1, "d", "depends", '["a","b"]')
        lua("track", 1, "track", "a")
        lua.pop(2, 3)

    prepare()
    with lua.hearing() as heard:
        report = complete_many(lua, 5, *[(jid, "q") for jid in "abc"])
    stored = lua.stored()
    prepare()
    with lua.hearing() as heard_singly:
        for jid in "abc":
            lua("complete", 5, jid, "w", "q", '{"n":1}')

    assert report == {"done": [*"abc"], "left": {}, "emptied": []}
    assert lua.stored() == stored
    assert heard == heard_singly


def test_what_cannot_be_finished_is_left_and_stops_no_other(lua, redis):
    for jid in ("ok", "bad", "elsewhere"):
        lua.put(1, jid)
    assert len(lua.popped(2, 3)) == 3
    lua.put(3, "lost")
    assert lua.popped(3, worker="other") == ["lost"]
    lua.put(3, "waits")
    redis.delete("ql:j:bad-history")
    redis.set("ql:j:bad-history", "x")

    report = complete_many(
        lua,
        5,
        *[(jid, "q") for jid in ("gone", "waits", "lost", "bad", "ok")],
        ("elsewhere", "q2"),
    )

    assert report["done"] == ["ok"]
    assert report["left"] == {
        "gone": "gone",
        "waits": "waiting",
        "lost": "worker",
        "bad": "unreadable",
        "elsewhere": "queue",
    }
    assert lua.job("elsewhere")["state"] == "running"


def test_many_jobs_go_on_in_the_next_queue(lua):
    lua.put(1, "a")
    lua.put(1, "b")
    lua.pop(2, 2)

    complete_many(lua, 5, ("a", "q"), to="next")
    complete_many(lua, 5, ("b", "q"), to="next", delay=10)

    assert (lua.job("a")["state"], lua.job("b")["state"]) == ("waiting", "scheduled")
    assert lua.job("a")["queue"] == "next"


# Finishing one and taking the next


def test_a_job_is_finished_and_the_next_one_taken_in_one_call(lua, redis):
    def prepare():
        redis.flushdb()
        lua.put(1, "a")
        lua.put(1, "b", "depends", '["a"]')
        lua.pop(2)

    prepare()
    with lua.hearing() as heard:
        reply = lua.json("complete.pop", 5, "q", 1, "a", "w", "q", "{}")
    stored = lua.stored()
    prepare()
    with lua.hearing() as heard_singly:
        lua("complete", 5, "a", "w", "q", "{}")
        lua.pop(5)

    assert (reply["state"], [job["jid"] for job in reply["jobs"]]) == ("complete", ["b"])
    assert lua.stored() == stored
    assert heard == heard_singly


def test_nothing_is_taken_where_the_job_cannot_be_finished(lua):
    lua.put(1, "a", "priority", 1)
    lua.put(1, "b")
    lua.pop(2)

    with lua.refused("LOCK_LOST", "another worker"):
        lua("complete.pop", 5, "q", 1, "a", "other", "q", "{}")
    with lua.refused("BAD_ARGUMENT", "next"):
        lua("complete.pop", 5, "q", 1, "a", "w", "q", "{}", "delay", 5)


def test_a_job_may_be_finished_where_nothing_can_be_taken(lua, redis):
    lua.put(1, "a")
    lua.pop(2)
    redis.delete("ql:q:other-work")
    redis.set("ql:q:other-work", "x")

    assert lua.json("complete.pop", 5, "other", 1, "a", "w", "q", "{}") == {
        "state": "complete",
        "jobs": [],
    }
