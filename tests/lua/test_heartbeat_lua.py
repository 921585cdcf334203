from __future__ import annotations

import math

import pytest


def test_b42_a_heartbeat_moves_every_end_of_the_lock(lua, redis):
    lua.put(1, "j")
    lua.pop(100)

    assert lua("heartbeat", 150.5, "j", "w") == 210

    assert redis.hget("ql:j:j", "expires") == "210.5"
    assert redis.zscore("ql:q:q-locks", "j") == 210.5
    assert redis.zscore("ql:w:w:jobs", "j") == 210.5
    assert lua.popped(170, worker="other") == []


def test_a_heartbeat_registers_its_worker(lua, redis):
    lua.put(1, "j")
    lua.pop(100)

    lua("heartbeat", 150, "j", "w")

    assert redis.zscore("ql:workers", "w") == 150


def test_a_heartbeat_without_data_leaves_the_data(lua, redis):
    lua.put(1, "j", data='{"a":[]}')
    lua.pop(100)

    lua("heartbeat", 150, "j", "w")
    assert redis.hget("ql:j:j", "data") == '{"a":[]}'

    lua("heartbeat", 150, "j", "w", "[1]")
    assert redis.hget("ql:j:j", "data") == "[1]"


def test_a_heartbeat_needs_the_lock(lua):
    with lua.refused("JOB_NOT_FOUND", "Job j does not exist"):
        lua("heartbeat", 1, "j", "w")
    lua.put(1, "j")
    with lua.refused("JOB_NOT_RUNNING", "not currently running: waiting"):
        lua("heartbeat", 1, "j", "w")
    lua.pop(2, worker="owner")
    with lua.refused("LOCK_LOST", "another worker: owner"):
        lua("heartbeat", 3, "j", "w")


def test_a_timeout_puts_the_job_ahead_of_all(lua, redis):
    lua.put(1, "j", "priority", -5)
    lua.pop(2, worker="owner")
    lua.put(3, "urgent", "priority", 1000)

    with lua.hearing() as heard:
        assert lua("timeout", 4, "j") is None

    lost = '{"jid":"j","event":"lock_lost","worker":"owner"}'
    assert heard == [["ql:w:owner", lost], ["ql:log", lost]]
    job = lua.job("j")
    assert (job["state"], job["worker"], job["expires"]) == ("stalled", "owner", 0)
    assert job["history"][-1] == {"what": "timed-out", "when": 4}
    assert redis.zscore("ql:q:q-work", "j") == math.inf
    assert redis.zcard("ql:q:q-locks") == 0
    assert redis.zcard("ql:w:owner:jobs") == 0
    with lua.refused("JOB_NOT_RUNNING", "not currently running: stalled"):
        lua("complete", 5, "j", "owner", "q", "{}")
    assert lua.popped(6, 2) == ["j", "urgent"]


def test_a_timed_out_job_that_is_put_still_tells_its_worker(lua):
    lua.put(1, "j")
    lua.pop(2, worker="owner")
    lua("timeout", 3, "j")

    with lua.hearing() as heard:
        lua.put(4, "j", me="somebody")

    assert ["ql:w:owner", '{"jid":"j","event":"lock_lost","worker":"owner"}'] in heard


def test_a_timeout_of_several_is_all_or_nothing(lua):
    lua.put(1, "a")
    lua.put(2, "b")
    lua.pop(3)

    with lua.refused("JOB_NOT_RUNNING", "Job b is not currently running: waiting"):
        lua("timeout", 4, "a", "b")
    with lua.refused("JOB_NOT_FOUND", "Job c does not exist"):
        lua("timeout", 4, "a", "c")

    lua.pop(5)
    assert lua("timeout", 6, "a", "b") is None
    assert lua.popped(7, 5) == ["b", "a"]


def test_a_timeout_of_the_same_job_twice_is_one(lua):
    lua.put(1, "a")
    lua.pop(2)

    with lua.hearing() as heard:
        lua("timeout", 3, "a", "a")

    lost = '{"jid":"a","event":"lock_lost","worker":"w"}'
    assert heard == [["ql:w:w", lost], ["ql:log", lost]]
    assert [item["what"] for item in lua.job("a")["history"]] == ["put", "popped", "timed-out"]


# Heartbeat by job


def expires(lua, jid="a"):
    return lua.job(jid)["expires"]


def test_a_job_may_be_locked_for_a_time_of_its_own(lua, redis):
    lua("config.set", 0, "q-heartbeat", 90)
    lua.put(1, "a", "heartbeat", 300)
    lua.put(1, "b")

    popped = {job["jid"]: job["expires"] for job in lua.pop(10, 2)}

    assert popped == {"a": 310, "b": 100}
    assert (expires(lua), expires(lua, "b")) == (310, 100)
    assert redis.zrange("ql:q:q-locks", 0, -1, withscores=True) == [("b", 100), ("a", 310)]
    assert redis.zscore("ql:w:w:jobs", "a") == 310
    assert lua("heartbeat", 20, "a", "w") == 320
    assert lua("heartbeat", 20, "b", "w") == 110


def test_it_stays_with_the_job_wherever_it_goes_until_another_is_given(lua):
    lua.put(1, "a", "heartbeat", 300)
    lua.pop(2)
    lua("complete", 3, "a", "w", "q", "{}", "next", "n")
    assert lua.pop(4, queue="n")[0]["expires"] == 304

    lua.put(5, "a", queue="n")
    assert lua.pop(6, queue="n")[0]["expires"] == 306
    lua.put(7, "a", "heartbeat", 0)

    assert lua.pop(8)[0]["expires"] == 68


@pytest.mark.parametrize("stored", ["abc", "", "-5", "nan", "inf", "0"])
def test_b20_one_that_makes_no_sense_counts_as_none(lua, redis, stored):
    lua.put(1, "a")
    redis.hset("ql:j:a", "heartbeat", stored)

    assert lua.pop(10)[0]["expires"] == 70
    assert lua("heartbeat", 20, "a", "w") == 80


def test_a_lock_of_its_own_runs_out_like_any_other(lua):
    lua.put(1, "a", "heartbeat", 5)
    assert lua.popped(10) == ["a"]

    assert lua.popped(16, worker="v") == []
    assert lua.popped(27, worker="v") == ["a"]
    assert expires(lua) == 32
