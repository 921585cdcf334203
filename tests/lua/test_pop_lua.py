from __future__ import annotations

import json

import pytest
from redis import Redis


def test_b14_an_empty_queue_gives_an_empty_list(lua):
    assert lua("pop", 1, "q", "w", 1) == "[]"
    assert lua("peek", 1, "q", 1) == "[]"


def test_a_popped_job_is_running_and_locked(lua, redis):
    lua.put(100, "j", "tags", '["x"]')

    (job,) = lua.pop(130.25, worker="host-1")

    assert job == {
        "jid": "j",
        "klass": "K",
        "state": "running",
        "queue": "q",
        "worker": "host-1",
        "tracked": False,
        "priority": 0,
        "expires": 190.25,
        "retries": 5,
        "remaining": 5,
        "data": "{}",
        "tags": ["x"],
        "history": [
            {"q": "q", "what": "put", "when": 100},
            {"worker": "host-1", "what": "popped", "when": 130},
        ],
        "failure": {},
        "spawned_from_jid": False,
        "dependents": [],
        "dependencies": [],
    }
    assert lua.job("j", 131) == job
    assert redis.zscore("ql:q:q-locks", "j") == 190.25
    assert redis.zscore("ql:w:host-1:jobs", "j") == 190.25
    assert redis.zscore("ql:workers", "host-1") == 130.25
    assert redis.zcard("ql:q:q-work") == 0


def test_equal_scores_pop_by_jid_from_the_end(lua):
    for jid in ("a", "c", "b", "B", "ü"):
        lua.put(1, jid)

    assert [job["jid"] for job in lua.json("peek", 2, "q", 9)] == ["ü", "c", "b", "a", "B"]
    assert lua.popped(2, 9) == ["ü", "c", "b", "a", "B"]


def test_count_is_the_most_there_are(lua):
    for number in range(5):
        lua.put(number, f"j-{number}")

    assert lua.popped(9, 0) == []
    assert lua.popped(9, 2) == ["j-0", "j-1"]
    assert lua.popped(9, 100) == ["j-2", "j-3", "j-4"]


def test_more_jobs_than_lua_can_unpack(lua, redis):
    with redis.pipeline() as pipeline:
        for number in range(9000):
            pipeline.zadd("ql:q:q-work", {f"j-{number}": 0})
            pipeline.hset(f"ql:j:j-{number}", mapping={"jid": f"j-{number}", "state": "waiting"})
        pipeline.execute()

    assert len(lua.pop(1, 9000)) == 9000
    assert redis.zcard("ql:q:q-locks") == 9000


def test_the_heartbeat_of_the_queue_comes_before_the_general_one(lua):
    lua("config.set", 1, "heartbeat", 10)
    lua("config.set", 1, "slow-heartbeat", 500)
    lua.put(1, "j")
    lua.put(1, "k", queue="slow")

    assert lua.pop(100)[0]["expires"] == 110
    assert lua.pop(100, queue="slow")[0]["expires"] == 600


@pytest.mark.parametrize("bad", ["abc", "", "1e400", "nan", "-5x"])
def test_b20_no_stored_option_stops_a_queue(lua, bad):
    for option in (
        "heartbeat",
        "q-heartbeat",
        "grace-period",
        "q-max-concurrency",
        "jobs-history-count",
        "jobs-history",
        "max-job-history",
        "max-worker-age",
        "max-failure-message",
        "stats-history",
    ):
        lua("config.set", 1, option, bad)
    lua.put(1, "j")

    assert lua.pop(100)[0]["expires"] == 160
    lua("heartbeat", 101, "j", "w")
    assert lua.popped(200) == []
    assert lua.popped(300) == ["j"]
    assert lua("complete", 301, "j", "w", "q", "{}") == "complete"
    assert lua.job("j")["state"] == "complete"
    lua.put(302, "j")
    lua.pop(303)
    lua("fail", 304, "j", "w", "g", "m")
    assert lua.json("workers", 305)[0]["name"] == "w"


def test_b20_a_number_of_any_sign_is_taken_as_it_is(lua):
    lua("config.set", 1, "heartbeat", -5)
    lua.put(1, "j")

    assert lua.pop(100)[0]["expires"] == 95


def test_a_paused_queue_gives_nothing_and_registers_nobody(lua, redis):
    lua.put(1, "j")
    lua("pause", 2, "q")

    assert lua.popped(3) == []
    assert redis.exists("ql:workers") == 0
    assert [job["jid"] for job in lua.json("peek", 3, "q", 1)] == ["j"]

    lua("unpause", 4, "q")
    assert lua.popped(5) == ["j"]


def test_a_full_queue_gives_nothing_until_a_lock_is_free(lua):
    lua("config.set", 1, "q-max-concurrency", 2)
    for jid in "abc":
        lua.put(1, jid)

    assert len(lua.popped(2, 5)) == 2
    assert lua.popped(3, 5) == []

    lua("complete", 4, "c", "w", "q", "{}")
    assert lua.popped(5, 5) == ["a"]


def test_scheduled_jobs_compete_with_the_time_of_the_pop(lua):
    lua.put(100, "waiting", "priority", 1)
    lua.put(1, "scheduled", "priority", 1, delay=50)
    lua.put(1, "urgent", "priority", 9, delay=60)

    assert lua.popped(200, 3) == ["urgent", "waiting", "scheduled"]


def test_b36_entries_without_a_job_are_passed_over(lua, redis):
    lua.put(1, "a", "priority", 5)
    lua.put(1, "gone", "priority", 9)
    lua.put(1, "gone-later", delay=5)
    lua.put(1, "gone-locked", "priority", 99)
    lua.put(2, "b")
    lua.pop(2)
    redis.delete("ql:j:gone", "ql:j:gone-later", "ql:j:gone-locked")

    assert [job["jid"] for job in lua.json("peek", 200, "q", 2)] == ["a", "b"]
    assert lua.popped(200, 1) == ["a"]
    assert lua.popped(200, 9) == ["b"]
    assert redis.zcard("ql:q:q-scheduled") == 0
    assert redis.exists("ql:j:gone", "ql:j:gone-later", "ql:j:gone-locked") == 0


def test_bytes_that_are_no_text_do_not_stop_a_queue(server, lua):
    raw = Redis.from_url(server.url)
    odd = b"\xff\xfe"
    raw.evalsha(lua.sha, 0, "put", 1, odd, b"q", odd, odd, b'"' + odd + b'"', 0)

    popped = raw.evalsha(lua.sha, 0, "pop", 2, "q", odd, 5)

    (job,) = json.loads(popped.decode("utf-8", "surrogateescape"))
    assert job["jid"].encode("utf-8", "surrogateescape") == odd
    raw.evalsha(lua.sha, 0, "fail", 3, odd, odd, odd, odd)
    assert raw.evalsha(lua.sha, 0, "cancel", 4, odd) == [odd]
    raw.close()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("priority", "high"),
        ("priority", "nan"),
        ("priority", "1e999"),
        ("retries", ""),
        ("remaining", "1.5"),
        ("expires", "never"),
        ("tags", "]["),
        ("failure", "{"),
        ("failure", "[]"),
        ("time", "yesterday"),
        ("grace", "?"),
        ("history", "garbage"),
        ("scheduled", "soon"),
        ("throttles", "x"),
    ],
)
def test_no_stored_field_of_a_job_stops_a_queue(lua, redis, field, value):
    lua.put(1, "j")
    redis.hset("ql:j:j", field, value)

    assert lua.job("j")["jid"] == "j"
    assert lua.popped(2) == ["j"]
    redis.hset("ql:j:j", field, value)
    assert lua.popped(70) == []
    redis.hset("ql:j:j", field, value)
    lua.popped(99)
    redis.hset("ql:j:j", field, value)
    state = lua.job("j", 99)["state"]
    assert state in ("running", "failed")
    if state == "running":
        lua("retry", 100, "j", "q", "w")
    lua.put(101, "j")
    lua.pop(102)
    assert lua("complete", 103, "j", "w", "q", "{}") == "complete"


def test_a_tracked_job_announces_that_it_is_popped(lua):
    lua.put(1, "j")
    lua("track", 2, "track", "j")

    with lua.hearing() as heard:
        (job,) = lua.pop(3)

    assert heard == [["ql:popped", "j"]]
    assert job["tracked"] is True


def test_b54_a_job_of_a_clock_that_ran_ahead_waited_no_time(lua):
    lua.put(1000, "j")
    lua.pop(900)

    wait = lua.json("stats", 900, "q", 900)["wait"]
    assert (wait["count"], wait["mean"], wait["histogram"][0]) == (1, 0, 1)


def test_peek_writes_nothing_and_shows_what_pop_takes(lua):
    lua.put(1, "a", "priority", 2)
    lua.put(1, "late", "priority", 5, delay=50)
    lua.put(1, "lost", "priority", 9)
    lua.pop(2)
    lua("recur", 3, "q", "r", "K", '{"n":[]}', "interval", 30, 0, "priority", 3, "tags", '["t"]')
    before = lua.stored()

    seen = lua.json("peek", 100, "q", 20)

    assert lua.stored() == before
    assert [job["jid"] for job in seen] == ["lost", "late", "r-1", "r-2", "r-3", "r-4", "a"]
    children = [job for job in seen if job["spawned_from_jid"] == "r"]
    assert [child["history"][0]["when"] for child in children] == [3, 33, 63, 93]

    lua.pop(100, 20)  # warns the worker that lost its lock, and gives all the rest
    for child in children:
        made = lua.job(child["jid"])
        assert {**made, "history": made["history"][:1]} == {
            **child,
            "state": "running",
            "worker": "w",
            "expires": 160,
        }


def test_peek_looks_no_further_than_asked(lua):
    lua("recur", 1, "q", "r", "K", "{}", "interval", 1, 0)
    lua.put(2, "a", "priority", 1)

    assert [job["jid"] for job in lua.json("peek", 1000, "q", 2)] == ["a", "r-1"]
    assert [job["jid"] for job in lua.json("peek", 1000, "q", 1)] == ["a"]


def test_one_call_passes_over_a_bounded_number_of_entries_without_a_job(lua, redis):
    redis.zadd("ql:q:q-work", {f"gone-{number}": 9 for number in range(25_000)})
    lua.put(1, "j")

    assert lua.json("peek", 2, "q", 1) == []
    assert lua.popped(2) == []
    left = redis.zcard("ql:q:q-work")
    assert 5_001 <= left <= 24_001
    popped = []
    while not popped:
        popped = lua.popped(3)
        assert redis.zcard("ql:q:q-work") <= max(left - 1_000, 0)
        left = redis.zcard("ql:q:q-work")
    assert popped == ["j"]


def running(lua):
    lua.put(1, "j")
    assert lua.popped(2, worker="owner") == ["j"]


def failed(lua):
    running(lua)
    lua("fail", 3, "j", "owner", "g", "m")


def complete(lua):
    running(lua)
    lua("complete", 3, "j", "owner", "q", "{}")


def depends(lua):
    lua.put(1, "first", queue="else")
    lua.put(1, "j", "depends", '["first"]')


def scheduled(lua):
    lua.put(1, "j", delay=100)


def waiting_elsewhere(lua):
    lua.put(1, "j", queue="else")


def running_elsewhere(lua):
    lua.put(1, "j", queue="else")
    assert lua.popped(2, queue="else", worker="owner") == ["j"]


@pytest.mark.parametrize(
    "state",
    [running, failed, complete, depends, scheduled, waiting_elsewhere, running_elsewhere],
)
@pytest.mark.parametrize("stale", ["ql:q:q-work", "ql:q:q-scheduled"])
def test_an_entry_that_a_job_left_behind_gives_it_to_nobody(lua, redis, state, stale):
    state(lua)
    if (state, stale) == (scheduled, "ql:q:q-scheduled"):
        stale = "ql:q:q-work"
    redis.zadd(stale, {"j": 5})
    lua.put(2, "k")
    job, lock = redis.hgetall("ql:j:j"), redis.zscore("ql:q:q-locks", "j")

    assert [job["jid"] for job in lua.json("peek", 20, "q", 5)] == ["k"]
    assert lua.popped(20, 5, worker="next") == ["k"]

    assert redis.hgetall("ql:j:j") == job
    assert redis.zscore("ql:q:q-locks", "j") == lock
    assert redis.zscore(stale, "j") is None


def test_a_job_in_no_set_but_this_one_is_not_lost(lua, redis):
    running(lua)
    redis.zrem("ql:q:q-locks", "j")
    redis.zadd("ql:q:q-work", {"j": 0})

    assert [job["jid"] for job in lua.json("peek", 20, "q", 5)] == ["j"]
    assert lua.popped(20) == ["j"]


def test_b47_a_due_job_that_believes_it_waits_is_taken(lua, redis):
    """The original's `complete` with a delay leaves `waiting` in the hash."""
    lua.put(1, "j", delay=5)
    redis.hset("ql:j:j", "state", "waiting")

    assert [job["jid"] for job in lua.json("peek", 20, "q", 5)] == ["j"]
    assert lua.popped(20) == ["j"]


def test_a_lock_that_is_past_fills_no_queue(lua):
    """With room for one, the job of a worker that is gone is the one to take."""
    lua("config.set", 1, "q-max-concurrency", 1)
    lua("config.set", 1, "grace-period", 0)
    for jid in "ab":
        lua.put(1, jid)
    assert lua.popped(2, 2) == ["b"]

    assert lua.popped(61, 2) == []
    assert lua.popped(62, 2, worker="other") == ["b"]
    assert lua.popped(63, 2) == []
