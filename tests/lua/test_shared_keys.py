"""Jobs whose keys hold something else: `a-history` is a name as good as `a`."""

from __future__ import annotations

import pytest

#: The keys of a job `bad` that may hold something else, and the type of a job's own there.
PARTS = ("", "-history", "-dependents", "-dependencies")


def spoil(redis, part, jid="bad"):
    """Put something under a key of a job that is never there."""
    key = f"ql:j:{jid}{part}"
    redis.delete(key)
    if part:
        redis.hset(key, "jid", f"{jid}{part}")
    else:
        redis.sadd(key, "x")


@pytest.mark.parametrize("part", PARTS)
def test_a_job_with_a_strange_key_costs_no_other(lua, redis, part):
    lua.put(1, "first")
    lua.put(2, "bad", "priority", 9)
    lua.put(3, "last")
    spoil(redis, part)

    assert [job["jid"] for job in lua.json("peek", 4, "q", 9)] == ["first", "last"]
    assert lua.popped(4, 1) == ["first"]
    assert lua.popped(4, 9) == ["last"]
    assert lua.popped(4, 9) == []
    assert redis.zrange("ql:q:q-work", 0, -1, withscores=True) == [("bad", float("-inf"))]
    assert set(redis.zrange("ql:q:q-locks", 0, -1)) == {"first", "last"}


def test_it_runs_when_its_keys_are_mended(lua, redis):
    lua.put(1, "bad")
    spoil(redis, "-history")
    assert lua.popped(2) == []

    redis.delete("ql:j:bad-history")

    assert lua.popped(3) == ["bad"]
    assert redis.zcard("ql:q:q-work") == 0


def test_more_of_them_than_are_asked_for_block_nobody(lua, redis):
    for number in range(30):
        lua.put(1, f"bad-{number}", "priority", 1)
        spoil(redis, "-history", f"bad-{number}")
    lua.put(2, "good")

    assert lua.popped(3) == ["good"]
    assert lua.popped(3, 5) == []
    assert lua("length", 3, "q") == 31


@pytest.mark.parametrize("part", PARTS)
def test_one_whose_lock_ran_out_stops_no_other(lua, redis, part):
    lua("config.set", 0, "grace-period", 0)
    lua.put(1, "bad")
    lua.put(2, "good")
    assert lua.popped(3, 2) == ["bad", "good"]
    spoil(redis, part)

    assert lua.popped(100, 2) == ["good"]
    assert redis.zrange("ql:q:q-work", 0, -1) == ["bad"]


@pytest.mark.parametrize("part", PARTS)
def test_one_that_is_due_stops_no_other(lua, redis, part):
    lua.put(1, "bad", delay=5)
    lua.put(1, "good", delay=6)
    spoil(redis, part)

    assert [job["jid"] for job in lua.json("peek", 10, "q", 2)] == ["good"]
    assert lua.popped(10, 2) == ["good"]
    assert redis.zrange("ql:q:q-work", 0, -1) == ["bad"]
    assert redis.zcard("ql:q:q-scheduled") == 0


def test_what_is_strange_for_every_job_takes_none(lua, redis):
    lua.put(1, "a")
    redis.set("ql:tracked", "x")

    with pytest.raises(Exception, match="WRONGTYPE"):
        lua.pop(2)

    assert redis.zscore("ql:q:q-work", "a") > float("-inf")
    redis.delete("ql:tracked")
    assert lua.popped(3) == ["a"]


def test_a_worker_whose_set_is_none_takes_none(lua, redis):
    lua.put(1, "a")
    redis.set("ql:w:w:jobs", "x")

    with pytest.raises(Exception, match="WRONGTYPE"):
        lua.pop(2)

    assert lua.popped(3, worker="other") == ["a"]


@pytest.mark.parametrize("part", PARTS[1:])
def test_the_others_of_a_strange_job_are_shown(lua, redis, part):
    lua.put(1, "bad")
    spoil(redis, part)

    assert lua.job("bad")["jid"] == "bad"
    assert [job["jid"] for job in lua.json("multiget", 2, "bad", f"bad{part}")] == [
        "bad",
        f"bad{part}",
    ]


@pytest.mark.parametrize("part", PARTS[1:])
def test_no_job_is_put_where_another_has_a_key(lua, part):
    lua.put(1, f"a{part}")
    with lua.refused("BAD_ARGUMENT", "jid"):
        lua.put(2, "a")

    lua("cancel", 3, f"a{part}")
    lua.put(4, "a")
    with lua.refused("BAD_ARGUMENT", "jid"):
        lua.put(5, f"a{part}")


@pytest.mark.parametrize("part", PARTS[1:])
def test_the_key_of_a_part_is_no_job(lua, part):
    lua.put(1, "a")
    lua.put(1, "b", "depends", '["a"]')
    jid = ("b" if part == "-dependencies" else "a") + part

    for call in (
        ("put", 2, "w", "q", jid, "K", "{}", 0),
        ("put", 2, "w", "q", "c", "K", "{}", 0, "tags", '["t"]', "depends", f'["{jid}"]'),
        ("depends", 2, "b", "on", jid),
        ("recur", 2, "q", jid, "K", "{}", "interval", 60, 0),
        ("get", 2, jid),
        ("multiget", 2, "a", jid),
        ("cancel", 2, "b", jid),
        ("timeout", 2, jid),
        ("tag", 2, "add", jid, "t"),
        ("track", 2, "track", jid),
        ("priority", 2, jid, 1),
        ("heartbeat", 2, jid, "w"),
        ("complete", 2, jid, "w", "q", "{}"),
        ("bulk.move", 2, "", "q", "a", "", jid, ""),
        ("bulk.cancel", 2, "", jid, ""),
    ):
        with lua.refused("BAD_ARGUMENT", "part of another job"):
            lua(*call)


@pytest.mark.parametrize("part", PARTS[1:])
def test_a_job_that_ends_takes_no_other_with_it(lua, redis, part):
    lua.put(1, "bad")
    spoil(redis, part)
    assert lua("cancel", 2, "bad") == ["bad"]

    assert redis.keys("ql:j:*") == [f"ql:j:bad{part}"]
    assert redis.zcard("ql:q:q-work") == 0


@pytest.mark.parametrize("part", PARTS[1:])
def test_one_that_is_strange_is_not_moved_with_many(lua, redis, part):
    lua.put(1, "bad")
    lua.put(1, "good")
    spoil(redis, part)

    report = lua.json("bulk.move", 2, "", "other", "bad", "", "good", "")
    assert report == {"done": ["good"], "left": {"bad": "unreadable"}, "emptied": []}

    report = lua.json("bulk.cancel", 3, "", "bad", "", "good", "")
    assert report == {"done": ["bad", "good"], "left": {}, "emptied": []}


def test_a_child_is_not_made_where_another_job_has_a_key(lua, redis):
    lua.put(1, "r-1-history")
    lua("recur", 1, "other", "r", "K", "{}", "interval", 60, 0)

    assert lua.popped(2, queue="other") == ["r-2"]
    assert redis.hget("ql:r:r", "count") == "2"


def spoiled(lua, redis, part):
    """Let `good` and `bad` wait for `first`, which runs; then spoil a key of `bad`."""
    lua.put(1, "first")
    lua.pop(2)
    for jid in ("bad", "good"):
        lua.put(3, jid, "depends", '["first"]')
    spoil(redis, part)


@pytest.mark.parametrize("part", ["", "-dependencies"])
def test_one_that_waits_for_a_job_costs_no_other_when_that_completes(lua, redis, part):
    spoiled(lua, redis, part)

    assert lua("complete", 4, "first", "w", "q", "{}") == "complete"

    assert lua.popped(5, 9) == ["good"]
    assert lua.json("bulk.closure", 6, "good")["missing"] == []


def test_a_job_completes_whatever_lies_where_its_dependents_would_be(lua, redis):
    lua.put(1, "bad")
    lua.pop(2)
    spoil(redis, "-dependents")

    assert lua("complete", 3, "bad", "w", "q", "{}") == "complete"
    assert redis.hget("ql:j:bad-dependents", "jid") == "bad-dependents"


@pytest.mark.parametrize("part", ["", "-dependencies"])
def test_a_job_is_put_and_canceled_whatever_waits_for_it(lua, redis, part):
    spoiled(lua, redis, part)
    redis.srem("ql:j:first-dependents", "good")
    redis.srem("ql:j:good-dependencies", "first")

    lua.put(4, "other", "depends", '["first","bad"]')
    lua.put(5, "first", "depends", '["good"]')
    assert lua("cancel", 6, "first", "other", "good") == ["first", "other", "good"]


@pytest.mark.parametrize("part", ["", "-history"])
def test_a_failed_one_stays_in_its_group_and_costs_no_other(lua, redis, part):
    for jid in ("a", "bad", "b"):
        lua.put(1, jid)
        lua.pop(2)
        lua("fail", 3, jid, "w", "g", "m")
    spoil(redis, part)

    assert lua("unfail", 4, "q", "g", 1) == 1
    assert lua("unfail", 5, "q", "g", 2) == 1
    assert lua.json("failed", 6, "g") == {"total": 1, "jobs": ["bad"]}
    assert sorted(lua.popped(7, 9)) == ["a", "b"]
    assert lua("unfail", 8, "q", "g") == 0
    assert lua.json("bulk.states", 8, "g", 0, 9) == {"failed" if part else "unreadable": 1}


def test_those_that_stay_in_a_group_keep_their_order(lua, redis):
    jids = [f"{'bad' if number % 3 == 0 else 'j'}-{number}" for number in range(20)]
    for jid in jids:
        lua.put(1, jid)
        lua.pop(2)
        lua("fail", 3, jid, "w", "g", "m")
    for jid in jids[::3]:
        spoil(redis, "-history", jid)

    moved = [lua("unfail", 4, "q", "g", count) for count in (1, 4, 2, 25)]

    assert moved == [1, 4, 2, 6]
    assert redis.lrange("ql:f:g", 0, -1) == jids[::3][::-1]


def test_what_is_strange_for_every_job_takes_none_out_of_a_group(lua, redis):
    lua.put(1, "a")
    lua.pop(2)
    lua("fail", 3, "a", "w", "g", "m")
    redis.set("ql:queues", "x")

    with pytest.raises(Exception, match="WRONGTYPE"):
        lua("unfail", 4, "q", "g")

    assert redis.lrange("ql:f:g", 0, -1) == ["a"]


def test_a_running_one_is_not_half_failed(lua, redis):
    lua.put(1, "bad")
    lua.pop(2)
    spoil(redis, "-history")

    with pytest.raises(Exception, match="WRONGTYPE"):
        lua("fail", 3, "bad", "w", "g", "m")
    assert redis.hget("ql:j:bad", "state") == "running"

    redis.delete("ql:j:bad-history")
    assert lua("fail", 4, "bad", "w", "g", "m") == "bad"


@pytest.mark.parametrize("part", PARTS)
def test_an_old_one_that_completed_lets_others_complete(lua, redis, part):
    lua("config.set", 1, "jobs-history", 10)
    lua.put(1, "bad")
    lua.pop(2)
    lua("complete", 3, "bad", "w", "q", "{}")
    spoil(redis, part)
    lua.put(99, "good")
    lua.pop(100)

    assert lua("complete", 101, "good", "w", "q", "{}") == "complete"

    assert lua("jobs", 102, "complete") == ["good"]


@pytest.mark.parametrize("action", ["bulk.move", "bulk.cancel"])
def test_one_with_something_else_in_its_place_is_named_among_many(lua, redis, action):
    for jid in ("bad", "good"):
        lua.put(1, jid)
    spoil(redis, "")
    where = ("", "other") if action == "bulk.move" else ("",)

    report = lua.json(action, 2, *where, "bad", "", "good", "")

    assert (report["done"], report["left"]) == (["good"], {"bad": "unreadable"})


def test_one_with_something_else_in_its_place_can_be_canceled(lua, redis):
    lua.put(1, "bad")
    spoil(redis, "")

    assert lua("cancel", 2, "bad") == ["bad"]

    assert redis.keys("ql:j:*") == []
    assert lua.popped(3) == []
