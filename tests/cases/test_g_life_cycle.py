"""Section G of the field cases: the life of a job."""

from __future__ import annotations

import itertools

import pytest


def test_b41_each_verb_of_one_who_lost_the_lock_is_refused_and_leaves_the_job_alone(lua):
    lua("config.set", 0, "grace-period", 0)
    lua.put(1, "j")
    lua.pop(2, worker="a")
    assert lua.popped(100, worker="b") == ["j"]

    for call in (
        ("heartbeat", 101, "j", "a", "[]"),
        ("complete", 101, "j", "a", "q", "[]"),
        ("complete", 101, "j", "a", "q", "[]", "next", "n"),
        ("fail", 101, "j", "a", "g", "m", "[]"),
        ("retry", 101, "j", "q", "a", 0, "g", "m"),
    ):
        with lua.hearing() as heard, lua.refused("LOCK_LOST", "another worker: b"):
            lua(*call)
        assert heard == []
    assert lua.job("j")["worker"] == "b"
    assert lua("complete", 102, "j", "b", "q", "{}") == "complete"

    # A heartbeat that was under way when its own worker completed the job.
    with lua.refused("JOB_NOT_RUNNING", "not currently running: complete"):
        lua("heartbeat", 103, "j", "b")


def test_b42_a_job_whose_lock_was_renewed_is_not_handed_out(lua, redis):
    lua.put(1, "j")
    lua.pop(100)
    for beat in range(150, 400, 50):
        expires = lua("heartbeat", beat, "j", "w")

        assert expires == beat + 60
        assert lua.popped(beat + 59, worker="other") == []
        assert float(redis.hget("ql:j:j", "expires")) == expires
        assert redis.zscore("ql:q:q-locks", "j") == redis.zscore("ql:w:w:jobs", "j") == expires
    assert lua("complete", 401, "j", "w", "q", "{}") == "complete"


#: What the log says nothing of, as other clients know it: what goes by must look itself.
SILENT = {
    "pop": ("pop", 10, "q", "w", 1),
    "retry": ("retry", 10, "running", "q", "w"),
    "heartbeat": ("heartbeat", 10, "running", "w"),
    "due": ("pop", 1000, "later", "w", 1),
    "recurring": ("pop", 10, "often", "w", 1),
    "pause": ("pause", 10, "q"),
    "unpause": ("unpause", 10, "q"),
    "forget": ("queue.forget", 10, "q"),
    "priority": ("priority", 10, "waiting", 5),
    "tag": ("tag", 10, "add", "waiting", "t"),
    "depends": ("depends", 10, "waiting", "on", "running"),
    "recur": ("recur", 10, "q", "r2", "K", "{}", "interval", 60, 0),
    "log": ("log", 10, "waiting", "note"),
    "deregister": ("worker.deregister", 10, "w"),
}


@pytest.mark.parametrize("change", SILENT)
def test_b44_what_the_log_does_not_tell(lua, change):
    lua.put(1, "running")
    lua.pop(2)
    lua.put(3, "waiting")
    lua.put(3, "scheduled", queue="later", delay=5)
    lua("recur", 3, "often", "r", "K", "{}", "interval", 60, 0)
    before = lua.stored()

    with lua.hearing() as heard:
        lua(*SILENT[change])

    assert heard == []
    assert lua.stored() != before or change == "unpause"


def test_b44_tracked_jobs_tell_of_being_popped_and_stalled(lua):
    lua.put(1, "j")
    lua("track", 1, "track", "j")

    with lua.hearing() as heard:
        lua.pop(2)
        lua.pop(100)

    lost = '{"jid":"j","event":"lock_lost","worker":"w"}'
    assert heard == [["ql:popped", "j"], ["ql:stalled", "j"], ["ql:w:w", lost], ["ql:log", lost]]


def test_b47_a_job_restored_by_any_way_keeps_its_priority_and_is_where_it_says(lua, redis):
    ways = {
        "retry": lambda: lua("retry", 3, "j", "q", "w"),
        "retry later": lambda: lua("retry", 3, "j", "q", "w", 5),
        "timeout": lambda: lua("timeout", 3, "j"),
        "unfail": lambda: (lua("fail", 3, "j", "w", "g", "m"), lua("unfail", 4, "p", "g")),
        "move": lambda: lua("put", 3, "", "p", "j", "K", "{}", 0),
        "advance": lambda: lua("complete", 3, "j", "w", "q", "{}", "next", "p"),
        "bulk": lambda: lua("bulk.move", 3, "", "p", "j", "running"),
    }
    for way, restore in ways.items():
        redis.flushdb()
        lua.put(1, "j", "priority", 7)
        lua.pop(2)
        restore()

        queue = lua.job("j")["queue"]
        assert lua.job("j")["priority"] == 7, way
        for name in "pq":
            lua.put(5, f"other-{name}", "priority", 6, queue=name)
        assert lua.popped(50, 1, queue) == ["j"], way
        assert lua("complete", 51, "j", "w", queue, "{}") == "complete", way


@pytest.mark.parametrize("retries", ["1.5", "", "abc", "nan", "1e400"])
def test_b48_retries_that_are_no_whole_number_are_refused(lua, retries):
    with lua.refused("BAD_ARGUMENT", '"retries" must be a whole number'):
        lua.put(1, "j", "retries", retries)


@pytest.mark.parametrize("remaining", ["1.5", "0.5", "", "abc", "-1.5"])
def test_b48_retries_that_others_stored_end_in_a_failure_all_the_same(lua, redis, remaining):
    lua.put(1, "j")
    lua.pop(2)
    redis.hset("ql:j:j", "remaining", remaining)
    now = itertools.count(3)

    while lua("retry", next(now), "j", "q", "w") >= 0:
        assert lua.popped(next(now)) == ["j"]

    assert lua.job("j")["state"] == "failed"


def by_retry(lua):
    lua("config.set", 0, "grace-period", 0)
    lua("retry", 50, "j", "q", "w")


def by_lock(lua):
    lua("config.set", 0, "grace-period", 0)
    assert lua.popped(500, worker="v") == []


@pytest.mark.parametrize("exhaust", [by_retry, by_lock])
@pytest.mark.parametrize("retries", [0, -1])
def test_b48_a_job_that_ran_out_of_retries_can_be_acted_on(lua, redis, exhaust, retries):
    def exhausted():
        redis.flushdb()
        lua.put(1, "j", "retries", retries)
        lua.pop(2)
        exhaust(lua)

    exhausted()
    job = lua.job("j", 600)
    assert (job["state"], job["worker"], job["expires"]) == ("failed", "", 0)
    assert job["failure"] == {
        "group": "failed-retries-q",
        "message": 'Job exhausted retries in queue "q"',
        "when": 50 if exhaust is by_retry else 500,
        "worker": "",
    }
    stats = lua.json("stats", 600, "q", 600)
    assert (stats["failed"], stats["failures"]) == (1, 1)
    assert lua.json("failed", 600) == {"failed-retries-q": 1}
    with lua.refused("JOB_NOT_RUNNING", "not currently running: failed"):
        lua("retry", 601, "j", "q", "w")

    assert lua("cancel", 601, "j") == ["j"]
    for again in (
        lambda: lua("unfail", 601, "q", "failed-retries-q"),
        lambda: lua("put", 601, "", "q", "j", "K", "{}", 0),
        lambda: lua("bulk.move", 601, "failed-retries-q", "", "j", "failed"),
    ):
        exhausted()
        again()
        assert lua.popped(700, 5) == ["j"]
        assert lua.json("failed", 701) == {}
        assert lua.json("stats", 701, "q", 701)["failed"] == 0


@pytest.mark.parametrize("fate", ["failed", "canceled with it", "unfailed", "completed", "expired"])
def test_b49_a_dependent_runs_when_its_parent_completed_and_never_else(lua, redis, fate):
    lua("config.set", 0, "jobs-history-count", 0 if fate == "expired" else 50)
    lua.put(1, "a")
    lua.put(2, "b", "depends", '["a"]')
    lua.pop(3)
    if fate in ("completed", "expired"):
        lua("complete", 4, "a", "w", "q", "{}")
        assert (lua("get", 5, "a") is None) == (fate == "expired")
        assert lua.popped(5, 5) == ["b"]
        return
    lua("fail", 4, "a", "w", "g", "m")
    assert lua.popped(5, 5) == []
    assert lua.job("b")["state"] == "depends"
    assert lua.job("b")["dependencies"] == ["a"]
    with lua.refused("HAS_DEPENDENTS", "a is a dependency of b"):
        lua("cancel", 6, "a")
    if fate == "canceled with it":
        lua("cancel", 6, "a", "b")
        assert redis.keys("ql:j:*") == []
    elif fate == "unfailed":
        lua("unfail", 6, "q", "g")
        assert lua.popped(7, 5) == ["a"]
        assert lua.popped(8, 5) == []
        lua("complete", 9, "a", "w", "q", "{}")
        assert lua.popped(10, 5) == ["b"]


def test_b50_a_ring_that_others_left_is_shown_ended_and_canceled(lua, redis):
    for jid, other in (("a", "b"), ("b", "a")):
        lua.put(1, jid)
        redis.sadd(f"ql:j:{jid}-dependencies", other)
        redis.sadd(f"ql:j:{jid}-dependents", other)
        redis.hset(f"ql:j:{jid}", "state", "depends")
        redis.zrem("ql:q:q-work", jid)
        redis.zadd("ql:q:q-depends", {jid: 1})

    assert lua.job("a")["dependencies"] == lua.job("a")["dependents"] == ["b"]
    closure = lua.json("bulk.closure", 2, "a")
    assert {job["jid"] for job in closure["jobs"]} == {"a", "b"}
    with lua.refused("HAS_DEPENDENTS", "a is a dependency of b"):
        lua("cancel", 3, "a")
    assert lua("depends", 4, "a", "off", "all") == 1
    assert lua.popped(5, 5) == ["a"]
    lua("complete", 6, "a", "w", "q", "{}")
    assert lua.popped(7, 5) == ["b"]

    for jid, other in (("c", "d"), ("d", "c")):
        lua.put(8, jid)
        redis.sadd(f"ql:j:{jid}-dependencies", other)
        redis.sadd(f"ql:j:{jid}-dependents", other)
    assert lua("cancel", 9, "c", "d") == ["c", "d"]
    assert not redis.keys("ql:j:[cd]*")


def test_b50_dependencies_that_are_missing_are_skipped_and_those_of_before_replaced(lua):
    lua.put(1, "a")
    lua.put(1, "b")

    lua.put(2, "j", "depends", '["no-such"]')
    assert lua.job("j")["state"] == "waiting"
    lua.put(3, "j", "depends", '["no-such","a"]')
    assert lua.job("j")["dependencies"] == ["a"]
    lua.put(4, "j", "depends", '["b"]')
    assert lua.job("j")["dependencies"] == ["b"]
    assert lua.job("a")["dependents"] == []


@pytest.mark.parametrize("way", ["put", "unfail", "bulk.move", "cancel", "bulk.cancel"])
def test_b52_a_failed_job_leaves_the_count_of_the_queue_it_failed_in(lua, way):
    for jid in ("a", "b"):
        lua.put(1, jid, queue="q1")
        lua.pop(2, queue="q1")
        lua("fail", 3, jid, "w", "g", "m")
    calls = {
        "put": ("put", 4, "", "q2", "a", "K", "{}", 0),
        "unfail": ("unfail", 4, "q2", "g", 1),
        "bulk.move": ("bulk.move", 4, "g", "q2", "a", "failed"),
        "cancel": ("cancel", 4, "a"),
        "bulk.cancel": ("bulk.cancel", 4, "g", "a", "failed"),
    }

    lua(*calls[way])

    assert lua.json("stats", 5, "q1", 5)["failed"] == 1
    assert lua.json("stats", 5, "q2", 5)["failed"] == 0
    assert lua.json("stats", 5, "q1", 5)["failures"] == 2


def test_b53_a_diamond_of_dependents_is_named_and_canceled_in_one_call(lua, redis):
    lua.put(1, "a")
    lua.put(2, "b", "depends", '["a"]')
    lua.put(2, "c", "depends", '["a"]')
    lua.put(3, "d", "depends", '["b","c"]')
    lua.pop(4)

    closure = lua.json("bulk.closure", 5, "a")
    jids = [job["jid"] for job in closure["jobs"]]
    assert set(jids) == set("abcd")
    assert jids[0] == "d"
    assert jids[-1] == "a"
    for few in (["a"], ["a", "b", "c"], ["b"], ["a", "d"]):
        with lua.refused("HAS_DEPENDENTS", "is a dependency of"):
            lua("cancel", 6, *few)

    with lua.hearing() as heard:
        assert lua("cancel", 7, "a", "b", "c", "d") == ["a", "b", "c", "d"]

    told = '{"jid":"a","queue":"q","event":"canceled","worker":"w"}'
    assert heard[:2] == [["ql:log", told], ["ql:w:w", told]]
    assert not redis.keys("ql:j:*")
    assert not redis.exists("ql:w:w:jobs", "ql:q:q-locks", "ql:q:q-depends")
    for call in (
        ("heartbeat", 8, "a", "w"),
        ("complete", 8, "a", "w", "q", "{}"),
        ("fail", 8, "a", "w", "g", "m"),
    ):
        with lua.refused("JOB_NOT_FOUND", "Job a does not exist"):
            lua(*call)
    assert lua.json("failed", 9) == {}
