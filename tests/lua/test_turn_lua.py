from __future__ import annotations

import json

import pytest


def put(lua, jid, queue="q", now=1, **options):
    flat = [part for pair in options.items() for part in pair]
    lua("put", now, "", queue, jid, "K", "{}", 0, *flat)


def turn(lua, *done, now=5, count=1, queues=("q",), worker="w"):
    flat = [part for jid, queue in done for part in (jid, queue, "{}")]
    return lua.json("turn", now, worker, count, len(queues), *queues, *flat)


def jids(reply):
    return [job["jid"] for job in reply["jobs"]]


def test_what_is_done_is_finished_and_the_next_is_taken(lua, redis):
    put(lua, "a")
    put(lua, "b", now=2)
    assert jids(turn(lua)) == ["a"]

    reply = turn(lua, ("a", "q"))

    assert (reply["done"], jids(reply)) == (["a"], ["b"])
    assert redis.hget("ql:j:a", "state") == "complete"
    assert redis.hget("ql:j:b", "worker") == "w"


def test_without_anything_done_it_only_takes(lua):
    put(lua, "a")

    reply = turn(lua)

    assert (reply["done"], jids(reply)) == ([], ["a"])


def test_the_data_that_is_sent_is_stored(lua, redis):
    put(lua, "a")
    turn(lua)

    lua("turn", 6, "w", 1, 1, "q", "a", "q", '{"n": [ ]}')

    assert redis.hget("ql:j:a", "data") == '{"n": [ ]}'


def test_what_cannot_be_finished_is_named_and_keeps_nobody_from_taking(lua):
    put(lua, "a")
    put(lua, "b", now=2)
    turn(lua, worker="other")

    reply = turn(lua, ("a", "q"), ("gone", "q"))

    assert reply["left"] == {"a": "worker", "gone": "gone"}
    assert jids(reply) == ["b"]


def test_it_takes_from_the_first_queue_that_gives_some_as_many_as_asked_for(lua):
    for number in range(3):
        put(lua, f"b{number}", "b", priority=-number)

    assert jids(turn(lua, queues=("a", "b", "c"), count=2)) == ["b0", "b1"]


def test_it_says_when_it_was_so_that_the_length_of_a_lock_is_known(lua):
    put(lua, "a")

    reply = turn(lua, now="5.25")

    assert reply["now"] == 5.25
    assert reply["jobs"][0]["expires"] - reply["now"] == 60


def test_others_are_woken_for_what_is_left(lua, redis):
    lua("wait.pop", 3, "other", 1, "waiter", "h", "all", "q")
    put(lua, "a")
    put(lua, "b", now=2)
    redis.delete("ql:q:q-wake")

    turn(lua)

    assert redis.exists("ql:q:q-wake")


def test_a_done_job_that_lets_another_one_go_gives_it_in_the_same_turn(lua):
    put(lua, "a")
    put(lua, "b", now=2, depends=json.dumps(["a"]))
    turn(lua)

    assert jids(turn(lua, ("a", "q"))) == ["b"]


def test_where_nothing_can_be_taken_what_is_done_stays_done(lua, redis):
    put(lua, "a")
    turn(lua)
    redis.set("ql:q:q-work", "no set")

    reply = turn(lua, ("a", "q"))

    assert (reply["done"], reply["jobs"]) == (["a"], [])
    assert redis.hget("ql:j:a", "state") == "complete"
    with pytest.raises(Exception, match="WRONGTYPE"):
        turn(lua)


def test_the_jobs_come_without_their_history(lua, redis):
    put(lua, "a")

    (job,) = turn(lua)["jobs"]

    assert "history" not in job
    assert len(redis.lrange("ql:j:a-history", 0, -1)) == 2


def test_a_job_with_something_else_for_a_history_is_not_taken(lua, redis):
    put(lua, "a")
    put(lua, "b")
    redis.delete("ql:j:b-history")
    redis.set("ql:j:b-history", "foreign")

    assert jids(turn(lua, count=5)) == ["a"]
    assert redis.hget("ql:j:b", "state") == "waiting"


@pytest.mark.parametrize(("options", "reads"), [({}, 4), ({"heartbeat": 90}, 5)])
def test_options_are_read_once_and_not_at_all_where_none_is_set(lua, redis, options, reads):
    for name, value in options.items():
        lua("config.set", 1, name, value)
    put(lua, "a")
    put(lua, "b", now=2)
    turn(lua)
    redis.config_resetstat()

    reply = turn(lua, ("a", "q"))

    assert redis.info("commandstats")["cmdstat_hmget"]["calls"] == reads
    assert reply["jobs"][0]["expires"] - reply["now"] == options.get("heartbeat", 60)
