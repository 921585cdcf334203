from __future__ import annotations

import math

import pytest


def test_a_job_that_is_not_there_is_nil(lua):
    assert lua("get", 1, "j") is None
    assert lua("multiget", 1, "j") == "[]"


def test_several_jobs_are_read_at_once(lua):
    lua.put(1, "a")
    lua.put(1, "b")

    assert [job["jid"] for job in lua.json("multiget", 2, "b", "gone", "a")] == ["b", "a"]


def test_a_job_has_the_fields_that_clients_know(lua):
    lua.put(1, "a")
    lua.put(2, "j", "tags", '["x"]', "depends", '["a"]', "priority", 1.5)
    lua("track", 3, "track", "j")

    assert lua.job("j") == {
        "jid": "j",
        "klass": "K",
        "state": "depends",
        "queue": "q",
        "worker": "",
        "tracked": True,
        "priority": 1.5,
        "expires": 0,
        "retries": 5,
        "remaining": 5,
        "data": "{}",
        "tags": ["x"],
        "history": [{"q": "q", "what": "put", "when": 2}],
        "failure": {},
        "spawned_from_jid": False,
        "dependents": [],
        "dependencies": ["a"],
    }
    assert lua.job("a")["dependents"] == ["j"]


def test_throttles_are_shown_only_where_there_are_some(lua, redis):
    lua.put(1, "j")
    redis.hset("ql:j:j", "throttles", "[]")
    assert "throttles" not in lua.job("j")

    redis.hset("ql:j:j", "throttles", '["t","ql:q:q"]')
    assert lua.job("j")["throttles"] == ["t", "ql:q:q"]


def test_what_a_stray_write_left_of_a_job_is_no_job(lua, redis):
    redis.hset("ql:j:j", "state", "waiting")

    assert lua("get", 1, "j") is None


def test_a_scheduled_job_whose_time_has_come_shows_as_waiting(lua):
    lua.put(100, "j", delay=50)
    lua("track", 100, "track", "j")
    before = lua.stored()

    for now, state in ((149, "scheduled"), (150, "waiting")):
        assert lua.job("j", now)["state"] == state
        assert lua.json("multiget", now, "j")[0]["state"] == state
        assert lua.json("track", now)["jobs"][0]["state"] == state
    assert lua.stored() == before


def test_numbers_are_printed_as_clients_know_them(lua, redis):
    lua.put(1600000000.123456, "j")
    redis.hset("ql:j:j", mapping={"expires": "1600000060.123456", "priority": "123456789012"})

    reply = lua("get", 1, "j")

    assert '"expires":1600000060.1235,' in reply
    assert '"priority":123456789012,' in reply


def test_a_priority_is_changed_in_any_state(lua, redis):
    lua.put(1, "j")
    assert lua("priority", 2, "j", 7) == 7
    lua.pop(3)
    assert lua("priority", 4, "j", -3) == -3
    lua("complete", 5, "j", "w", "q", "{}")
    assert lua("priority", 6, "j", 2.9) == 2

    assert redis.hget("ql:j:j", "priority") == "2.9" or lua.job("j")["priority"] == 2.9
    assert redis.zcard("ql:q:q-work") == 0


def test_no_reply_tells_a_number_that_redis_cannot(lua, redis):
    lua.put(1, "j", "heartbeat", "1e300")
    lua.pop(2)

    assert lua("priority", 3, "j", "1e300") == 2**53
    assert float(redis.hget("ql:j:j", "priority")) == pytest.approx(1e300)
    assert lua("priority", 3, "j", "-1e300") == -(2**53)
    assert lua("heartbeat", 4, "j", "w") == 10**11 + 4


def test_a_missing_job_has_no_priority(lua):
    with lua.refused("JOB_NOT_FOUND", "Job j does not exist"):
        lua("priority", 1, "j", 5)


@pytest.mark.parametrize("now", [1, 1600000000.123456, 1700000000])
def test_a_job_keeps_its_place_among_equals(lua, redis, now):
    for number, jid in enumerate("abc"):
        lua.put(now + number * 0.01, jid)
    score = redis.zscore("ql:q:q-work", "b")

    lua("priority", now + 50, "b", 10)
    assert redis.zscore("ql:q:q-work", "b") == 10 - (now + 0.01) / 1e10
    lua("priority", now + 60, "b", 0)

    assert redis.zscore("ql:q:q-work", "b") == score
    assert lua.popped(now + 70, 3) == ["a", "b", "c"]


def test_a_job_timed_out_by_hand_stays_ahead_of_all(lua, redis):
    lua.put(1, "j")
    lua.pop(2)
    lua("timeout", 3, "j")

    lua("priority", 4, "j", -5)

    assert redis.zscore("ql:q:q-work", "j") == math.inf
