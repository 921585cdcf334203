from __future__ import annotations

import json

import pytest


def test_a_new_job_is_stored_as_other_clients_expect_it(lua, redis):
    assert lua("put", 100.25, "w", "q", "j", "K", '{"a": []}', 0) == "j"

    assert redis.hgetall("ql:j:j") == {
        "jid": "j",
        "klass": "K",
        "data": '{"a": []}',
        "priority": "0",
        "tags": "[]",
        "state": "waiting",
        "worker": "",
        "expires": "0",
        "queue": "q",
        "retries": "5",
        "remaining": "5",
        "time": "100.25000000000000000000",
    }
    assert redis.lrange("ql:j:j-history", 0, -1) == ['[100,"put",{"q":"q"}]']
    assert redis.zscore("ql:q:q-work", "j") == -100.25 / 1e10
    assert redis.zrange("ql:queues", 0, -1, withscores=True) == [("q", 100.25)]


@pytest.mark.parametrize(
    "data",
    [
        '{"l":[],"o":{}}',
        '{"n":12345678901234567,"f":0.1234567890123456789}',
        '{"z":1,"a":2, "m" : [ ] }',
        "null",
        '"s"',
        "5",
        "[]",
        "true",
        "false",
        '""',
        "[" * 999 + "]" * 999,
        '{"s":"ünï 漢字 🙂"}',
    ],
)
def test_b13_b15_b17_data_is_stored_and_answered_byte_for_byte(lua, redis, data):
    lua.put(1, "j", data=data)

    assert redis.hget("ql:j:j", "data") == data
    assert lua.job("j")["data"] == data
    assert lua.pop(2)[0]["data"] == data
    lua("heartbeat", 3, "j", "w", data)
    assert redis.hget("ql:j:j", "data") == data
    lua("fail", 4, "j", "w", "g", "m", data)
    assert redis.hget("ql:j:j", "data") == data
    lua("put", 5, "w", "q", "j", "K", data, 0)
    lua.pop(6)
    lua("complete", 7, "j", "w", "q", data, "next", "q")
    assert redis.hget("ql:j:j", "data") == data


def test_priority_comes_first_then_the_order_of_arrival(lua):
    lua.put(1, "early")
    lua.put(2, "late")
    lua.put(3, "urgent", "priority", 10)
    lua.put(4, "idle", "priority", -10)

    assert lua.popped(5, 4) == ["urgent", "early", "late", "idle"]


def test_a_delay_schedules(lua, redis):
    lua.put(100, "j", delay=50)

    assert lua.job("j", 149)["state"] == "scheduled"
    assert redis.zscore("ql:q:q-scheduled", "j") == 150
    assert lua.popped(149) == []
    assert lua.popped(150) == ["j"]


def test_a_negative_delay_is_none(lua):
    lua.put(100, "j", delay=-5)

    assert lua.job("j", 100)["state"] == "waiting"


def test_what_is_not_given_again_is_kept(lua):
    lua.put(1, "j", "priority", 7, "tags", '["x"]', "retries", 3)

    lua.put(2, "j", queue="p")

    job = lua.job("j")
    assert (job["priority"], job["tags"], job["retries"], job["queue"]) == (7, ["x"], 3, "p")


def test_putting_again_renews_the_retries(lua):
    lua.put(1, "j", "retries", 2)
    lua.pop(2)
    lua("retry", 3, "j", "q", "w")
    assert lua.job("j")["remaining"] == 1

    lua.put(4, "j")

    assert lua.job("j")["remaining"] == 2


def test_a_job_is_in_one_place_only(lua, redis):
    lua.put(1, "j")
    lua.put(2, "j", queue="p", delay=100)
    assert (redis.zcard("ql:q:q-work"), redis.zcard("ql:q:p-scheduled")) == (0, 1)

    lua.put(3, "j", queue="q")
    assert (redis.zcard("ql:q:q-work"), redis.zcard("ql:q:p-scheduled")) == (1, 0)

    lua.pop(4)
    lua.put(5, "j", queue="p")
    assert redis.zcard("ql:q:q-locks") == 0
    assert redis.zcard("ql:w:w:jobs") == 0

    lua.pop(6, queue="p")
    lua("complete", 7, "j", "w", "p", "{}")
    lua.put(8, "j")
    assert redis.zcard("ql:completed") == 0


def test_an_owner_is_told_when_somebody_else_puts_its_job(lua):
    lua.put(1, "j")
    lua.pop(2, worker="owner")

    with lua.hearing() as heard:
        lua.put(3, "j", me="somebody")

    lost = '{"jid":"j","event":"lock_lost","worker":"owner"}'
    assert heard == [
        ["ql:log", '{"jid":"j","event":"put","queue":"q"}'],
        ["ql:w:owner", lost],
        ["ql:log", lost],
    ]


def test_an_owner_that_puts_its_own_job_is_not_told(lua):
    lua.put(1, "j")
    lua.pop(2, worker="owner")

    with lua.hearing() as heard:
        lua.put(3, "j", me="owner")

    assert [channel for channel, _ in heard] == ["ql:log"]


def test_b52_a_failed_job_leaves_the_statistic_of_the_queue_it_failed_in(lua, redis):
    lua.put(1, "j")
    lua.pop(2)
    lua("fail", 3, "j", "w", "g", "m")

    lua.put(4, "j", queue="other")

    assert lua.json("stats", 5, "q", 5)["failed"] == 0
    assert lua.json("stats", 5, "other", 5)["failed"] == 0
    assert lua.json("failed", 5) == {}
    assert redis.exists("ql:f:g") == 0
    assert lua.job("j")["failure"]["group"] == "g"


def test_a_count_that_was_never_made_does_not_go_below_zero(lua, redis):
    lua.put(1, "j")
    lua.pop(2)
    lua("fail", 3, "j", "w", "g", "m")
    redis.delete("ql:s:stats:0:q")

    lua.put(4, "j")

    assert lua.json("stats", 5, "q", 5)["failed"] == 0


def test_dependencies_that_are_missing_or_complete_are_skipped(lua):
    lua.put(1, "done")
    lua.pop(2)
    lua("complete", 3, "done", "w", "q", "{}")

    lua.put(4, "j", "depends", '["done","missing"]')

    assert lua.job("j")["state"] == "waiting"
    assert lua.job("j")["dependencies"] == []


def test_dependencies_are_kept_unless_a_list_replaces_them(lua):
    lua.put(1, "a")
    lua.put(1, "b")
    lua.put(2, "j", "depends", '["a"]')

    lua.put(3, "j")
    assert lua.job("j")["dependencies"] == ["a"]
    assert lua.job("j")["state"] == "depends"

    lua.put(4, "j", "depends", "[]")
    assert lua.job("j")["dependencies"] == ["a"]

    lua.put(5, "j", "depends", '["b"]')
    assert lua.job("j")["dependencies"] == ["b"]
    assert lua.job("a")["dependents"] == []
    assert lua.job("b")["dependents"] == ["j"]


def test_a_delay_beside_dependencies_is_remembered(lua, redis):
    lua.put(1, "a")
    lua.put(2, "j", "depends", '["a"]', delay=100)
    assert redis.hget("ql:j:j", "scheduled") == "102"

    lua.pop(3)
    lua("complete", 4, "a", "w", "q", "{}")

    assert lua.job("j", 5)["state"] == "scheduled"
    assert lua.popped(101) == []
    assert lua.popped(102) == ["j"]


def test_b50_a_ring_is_refused_and_named(lua):
    lua.put(1, "a")
    lua.put(2, "b", "depends", '["a"]')
    lua.put(3, "c", "depends", '["b"]')

    with lua.refused("BAD_ARGUMENT", "a -> c -> b -> a"):
        lua.put(4, "a", "depends", '["c"]')
    with lua.refused("BAD_ARGUMENT", "new -> new"):
        lua.put(4, "new", "depends", '["new"]')


def test_b21_tags_are_whole_strings_once_each_and_blanks_are_none(lua, redis):
    tags = ["a,b", '"q"', "'", "🙂", " x ", "", "  ", "a,b", "t" * 5000]
    lua.put(1, "j", "tags", json.dumps(tags))

    assert lua.job("j")["tags"] == ["a,b", '"q"', "'", "🙂", " x ", "t" * 5000]
    assert redis.zscore("ql:tags", "a,b") == 1


def test_b21_a_job_that_holds_odd_tags_is_still_read_and_put(lua, redis):
    for odd in ('{"a":1}', "[1,2]", '["x",null]', "nonsense", ""):
        lua.put(1, "j")
        redis.hset("ql:j:j", "tags", odd)

        assert isinstance(lua.job("j")["tags"], list)
        assert lua.popped(2) == ["j"]
        lua.put(3, "j")
        lua("cancel", 4, "j")


def test_requeue_needs_a_job(lua):
    with lua.refused("JOB_NOT_FOUND", "Job j does not exist"):
        lua("requeue", 1, "w", "q", "j", "K", "{}", 0)

    lua.put(2, "j")

    assert lua("requeue", 3, "w", "p", "j", "K", "{}", 0) == "j"
    assert lua.job("j")["queue"] == "p"


def test_unknown_options_are_ignored(lua):
    assert lua.put(1, "j", "throttles", '["t"]', "colour", "red") == "j"


def test_b12_a_lone_surrogate_is_refused(lua):
    with lua.refused("BAD_ARGUMENT", '"data"'):
        lua.put(1, "j", data='{"s":"\\ud800"}')


def test_a_tracked_job_announces_its_put(lua):
    lua.put(1, "j")
    lua("track", 2, "track", "j")

    with lua.hearing() as heard:
        lua.put(3, "j")

    assert heard == [["ql:log", '{"jid":"j","event":"put","queue":"q"}'], ["ql:put", "j"]]
