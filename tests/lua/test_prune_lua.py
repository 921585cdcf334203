from __future__ import annotations


def complete(lua, now, jid):
    lua.put(now, jid, "tags", '["x"]')
    lua.pop(now)
    lua("complete", now, jid, "w", "q", "{}")


def test_completed_jobs_go_when_they_are_old(lua, redis):
    lua("config.set", 1, "jobs-history", 100)
    complete(lua, 1000, "old")
    lua("track", 1000, "track", "old")
    complete(lua, 1050, "middle")

    complete(lua, 1100, "new")

    assert lua("jobs", 1100, "complete") == ["new", "middle"]
    assert [key for key in redis.scan_iter("*") if "old" in key] == []
    assert redis.zcard("ql:tracked") == 0
    assert lua.json("tag", 1100, "get", "x")["jobs"] == ["middle", "new"]
    assert redis.zscore("ql:tags", "x") == 2


def test_completed_jobs_go_when_there_are_too_many(lua):
    lua("config.set", 1, "jobs-history-count", 2)

    for number in range(5):
        complete(lua, number, f"j-{number}")

    assert lua("jobs", 9, "complete") == ["j-4", "j-3"]
    assert lua("get", 9, "j-2") is None


def test_a_history_of_nothing_keeps_nothing_but_frees_the_dependents(lua, redis):
    lua("config.set", 1, "jobs-history", 0)
    lua.put(1, "a")
    lua.put(1, "b", "depends", '["a"]')
    lua.pop(2)

    assert lua("complete", 3, "a", "w", "q", "{}") == "complete"

    assert lua("get", 4, "a") is None
    assert lua.popped(4) == ["b"]
    assert redis.exists("ql:j:a", "ql:j:a-history", "ql:j:a-dependents", "ql:completed") == 0


def test_one_completion_forgets_a_bounded_number(lua, redis):
    jids = [f"old-{number}" for number in range(1200)]
    redis.zadd("ql:completed", dict.fromkeys(jids, 1))
    for jid in jids:
        redis.hset(f"ql:j:{jid}", mapping={"jid": jid, "state": "complete"})

    complete(lua, 10_000_000, "a")
    assert redis.zcard("ql:completed") == 701
    complete(lua, 10_000_000, "b")
    complete(lua, 10_000_000, "c")

    assert redis.zcard("ql:completed") == 3


def test_a_job_listed_as_complete_that_is_not_stays(lua, redis):
    lua("config.set", 1, "jobs-history", 10)
    lua.put(1, "j", queue="elsewhere")
    redis.zadd("ql:completed", {"j": 1, "ghost": 1})

    complete(lua, 100, "k")

    assert lua.job("j")["state"] == "waiting"
    assert redis.zrange("ql:completed", 0, -1) == ["k"]
