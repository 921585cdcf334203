from __future__ import annotations

import json

import pytest

#: Keys that waiting leaves, until they expire.
OURS = ("ql:q:", "ql:nudge:", "ql:lookout:")


def wait(lua, now, *queues, waiter="a", group="g", where="all", count=1):
    """Do wait.pop; answers the jids and the seconds until the next look."""
    reply = lua.json("wait.pop", now, "w", count, waiter, group, where, *queues)
    return [job["jid"] for job in reply["jobs"]], reply["again"]


def tokens(redis):
    """Name what holds a token."""
    keys = [*redis.scan_iter("ql:q:*-wake"), *redis.scan_iter("ql:nudge:*")]
    return sorted(key.removeprefix("ql:").removesuffix("-wake") for key in keys)


def take_tokens(redis):
    found = tokens(redis)
    for name in found:
        redis.delete(f"ql:{name}", f"ql:{name}-wake")
    return found


def test_who_waits_is_told_what_time_it_is(lua):
    assert lua.json("wait.pop", 5.5, "w", 1, "a", "g", "all", "q")["now"] == 5.5


def test_where_nobody_waits_nothing_is_written(lua, redis):
    lua.put(1, "a")
    lua.put(2, "b", delay=1)
    lua("pause", 3, "q")
    lua("unpause", 3, "q")
    lua.pop(4, 5)

    assert not [key for key in redis.scan_iter() if key.endswith(("-wake", "-waited"))]
    assert not [key for key in redis.scan_iter() if key.startswith(OURS[1:])]


def test_what_waiting_leaves_expires(lua, redis):
    wait(lua, 1, "q", "r")
    lua.put(2, "a")
    lua("wait.wake", 2, "a")
    lua("wait.leave", 2, "a", "g")

    left = [key for key in redis.scan_iter() if key.endswith(("-wake", "-waited"))]
    left += [key for key in redis.scan_iter() if key.startswith(OURS[1:])]
    assert len(left) == 6
    assert all(0 < redis.ttl(key) <= 60 for key in left)


def test_the_first_queue_that_has_jobs_gives_them(lua):
    lua.put(1, "b", queue="second")
    lua.put(2, "c", queue="third")
    lua.put(3, "d", queue="second")

    assert wait(lua, 4, "first", "second", "third", count=5) == (["b", "d"], None)
    assert wait(lua, 5, "first", "second", "third", count=5) == (["c"], None)
    assert wait(lua, 6, "first", "second", "third", count=5) == ([], 1)


def test_it_pops_as_pop_does(lua):
    lua.put(1, "a", "priority", 1)
    lua.put(2, "b", "priority", 2)

    reply = lua.json("wait.pop", 3, "w", 1, "a", "g", "all", "q")

    assert reply["jobs"] == [lua.job("b", 3)]
    assert lua.json("workers", 3) == [{"name": "w", "jobs": 1, "stalled": 0}]


def test_one_who_will_not_wait_leaves_nothing(lua, redis):
    assert wait(lua, 1, "q", waiter="") == ([], None)

    lua.put(2, "a")
    assert tokens(redis) == []
    assert wait(lua, 3, "q", waiter="") == (["a"], None)
    assert [*redis.scan_iter("ql:lookout:*")] == []


PUTS = {
    "put": lambda lua: lua.put(5, "new"),
    "put over another job": lambda lua: lua.put(5, "elsewhere"),
    "requeue": lambda lua: lua("requeue", 5, "w", "q", "elsewhere", "K", "{}", 0),
    "bulk.put": lambda lua: lua("bulk.put", 5, "w", "q", 0, "new", "K", "{}", 0, 0),
    "retry": lambda lua: lua("retry", 5, "running", "q", "w"),
    "timeout": lambda lua: lua("timeout", 5, "running"),
    "unfail": lambda lua: lua("unfail", 5, "q", "group"),
    "bulk.move": lambda lua: lua("bulk.move", 5, "", "q", "elsewhere", ""),
    "depends off": lambda lua: lua("depends", 5, "depending", "off", "all"),
    "complete what it waits for": lambda lua: lua("complete", 5, "other", "w", "r", "{}"),
    "complete into it": lambda lua: lua("complete", 5, "other", "w", "r", "{}", "next", "q"),
    "unpause": lambda lua: lua("unpause", 5, "q"),
    "queue.forget": lambda lua: lua("queue.forget", 5, "q"),
    "recur": lambda lua: lua("recur", 5, "q", "rec", "K", "{}", "interval", 60, 0),
    "cron": lambda lua: lua("cron", 5, "q", "cr", "K", "{}", "* * * * *", "UTC", "[6]"),
    "put, due soon": lambda lua: lua.put(5, "new", delay=1),
    "retry, due soon": lambda lua: lua("retry", 5, "running", "q", "w", 1),
}


@pytest.mark.parametrize("how", PUTS)
def test_one_who_waits_is_woken_by(lua, redis, how):
    lua.put(1, "running")
    assert lua.popped(1) == ["running"]
    lua.put(1, "failed")
    lua.popped(1)
    lua("fail", 1, "failed", "w", "group", "message")
    lua.put(1, "other", queue="r")
    lua.popped(1, queue="r")
    lua.put(1, "depending", "depends", '["other"]')
    lua.put(1, "elsewhere", queue="s")
    if how in ("unpause", "queue.forget"):
        lua("pause", 1, "q")
    assert wait(lua, 2, "q")[0] == []
    assert tokens(redis) == []

    PUTS[how](lua)

    assert "q:q" in tokens(redis)
    assert redis.get("ql:q:q-waited") == "1"


def test_what_is_due_much_later_wakes_nobody(lua, redis):
    wait(lua, 1, "q")

    lua.put(2, "a", delay=11)

    assert tokens(redis) == []


def test_a_dependency_that_completes_late_wakes_for_a_delay_that_is_over(lua, redis):
    lua.put(1, "first", queue="r")
    lua.put(1, "second", "depends", '["first"]', delay=5)
    lua.pop(1, queue="r")
    wait(lua, 2, "q")

    lua("complete", 50, "first", "w", "r", "{}")

    assert tokens(redis) == ["q:q"]
    assert wait(lua, 50, "q", where="marked") == (["second"], None)


def test_nothing_is_published_that_is_not_documented(lua):
    with lua.hearing() as heard:
        wait(lua, 1, "q")
        lua.put(2, "a")
        wait(lua, 3, "q")
        lua("wait.look", 4, "a", "g", "q")
        lua("wait.leave", 5, "a", "g")
        lua("wait.wake", 6, "a")

    assert heard == [["ql:log", '{"jid":"a","event":"put","queue":"q"}']]


def test_of_many_jobs_put_at_once_each_one_who_takes_wakes_the_next(lua, redis):
    wait(lua, 1, "q")
    for now, jid in enumerate("abc", 2):
        lua.put(now, jid)

    assert take_tokens(redis) == ["q:q"]
    assert wait(lua, 5, "q", where="marked")[0] == ["a"]
    assert "q:q" in take_tokens(redis)
    assert wait(lua, 5, "q", where="marked")[0] == ["b"]
    assert "q:q" in take_tokens(redis)
    assert wait(lua, 5, "q", where="marked")[0] == ["c"]
    assert "q:q" not in take_tokens(redis)
    assert redis.get("ql:q:q-waited") == "0"


def test_one_woken_for_a_later_queue_that_takes_of_an_earlier_one_wakes_another(lua, redis):
    wait(lua, 1, "first", "second")
    lua.put(2, "b", queue="second")
    lua.put(2, "a", queue="first")
    take_tokens(redis)

    assert wait(lua, 3, "first", "second", where="marked")[0] == ["a"]
    assert "q:second" in tokens(redis)


def test_a_paused_queue_wakes_nobody(lua, redis):
    wait(lua, 1, "q")
    lua("pause", 1, "q")
    lua.put(2, "a")
    lua.put(2, "b", delay=1)

    assert tokens(redis) == []
    assert lua("wait.look", 5, "a", "g", "q") == "1"
    assert tokens(redis) == []

    lua("unpause", 6, "q")

    assert tokens(redis) == ["q:q"]


def test_a_token_in_store_is_taken_away_by_who_finds_nothing(lua, redis):
    wait(lua, 1, "q")
    lua.put(2, "a")
    lua.pop(2)
    assert tokens(redis) == ["q:q"]

    assert wait(lua, 3, "q")[0] == []

    assert tokens(redis) == []


def test_the_first_one_that_waits_is_the_lookout_and_the_next_is_none(lua):
    assert wait(lua, 1, "q", waiter="a") == ([], 1)
    assert wait(lua, 1, "q", waiter="b") == ([], None)
    assert wait(lua, 1, "q", waiter="a", where="marked") == ([], 1)
    assert wait(lua, 1, "q", waiter="c", group="other") == ([], 1)


def test_the_lookout_looks_when_something_is_due_and_wakes_one(lua, redis):
    lua.put(10, "a", delay=0.25)
    assert wait(lua, 10, "q") == ([], 0.25)

    again = lua("wait.look", 10.25, "a", "g", "q")

    assert float(again) == 1
    assert tokens(redis) == ["q:q"]
    assert wait(lua, 10.25, "q", waiter="b", where="marked") == (["a"], None)


def test_one_who_takes_what_is_due_wakes_nobody_for_it(lua, redis):
    wait(lua, 10, "q", waiter="lookout")
    lua.put(10, "a", delay=0.25)
    take_tokens(redis)

    assert wait(lua, 10.25, "q", waiter="b", where="marked")[0] == ["a"]

    assert tokens(redis) == []


@pytest.mark.parametrize("what", ["scheduled", "recurring", "cron", "lock"])
def test_it_looks_for_all_that_comes_with_time(lua, what):
    if what == "scheduled":
        lua.put(100, "a", delay=0.5)
    elif what == "recurring":
        lua("recur", 100, "q", "a", "K", "{}", "interval", 60, 0.5)
    elif what == "cron":
        lua("cron", 100.5, "q", "a", "K", "{}", "* * * * *", "UTC", "[101]")
    else:
        lua("config.set", 100, "heartbeat", 0.5)
        lua.put(100, "a")
        lua.pop(100)

    now = 100.5 if what == "cron" else 100
    assert wait(lua, now, "q") == ([], 0.5)


def test_a_lock_that_runs_out_goes_through_its_grace_to_one_who_waits(lua, redis):
    lua("config.set", 1, "grace-period", 0.5)
    lua.put(1, "a")
    lua.pop(1)
    wait(lua, 60, "q")

    assert lua("wait.look", 61, "a", "g", "q") == "1"
    assert take_tokens(redis) == ["q:q"]
    assert wait(lua, 61, "q", waiter="b", where="marked") == ([], 0.5)
    assert lua("wait.look", 61.5, "b", "g", "q") == "1"
    assert take_tokens(redis) == ["q:q"]
    assert wait(lua, 61.5, "q", waiter="b", where="marked")[0] == ["a"]


def test_one_who_knows_of_something_sooner_takes_over(lua):
    assert wait(lua, 1, "q", waiter="a") == ([], 1)
    lua.put(1, "soon", delay=0.25)

    assert wait(lua, 1, "q", waiter="b", where="marked") == ([], 0.25)

    assert lua("wait.look", 1, "a", "g", "q") is None


def test_a_lookout_that_takes_a_job_lets_another_take_over(lua, redis):
    wait(lua, 1, "q", waiter="a")
    wait(lua, 1, "q", waiter="b")
    lua.put(2, "job")
    take_tokens(redis)

    assert wait(lua, 2, "q", waiter="a", where="marked")[0] == ["job"]

    assert tokens(redis) == ["nudge:g"]
    assert wait(lua, 2, "q", waiter="b", where="marked") == ([], 1)


def test_a_lookout_that_leaves_lets_another_take_over(lua, redis):
    wait(lua, 1, "q", waiter="a")
    wait(lua, 1, "q", waiter="b")

    lua("wait.leave", 2, "b", "g")
    assert tokens(redis) == []
    lua("wait.leave", 2, "a", "g")

    assert tokens(redis) == ["nudge:g"]
    assert wait(lua, 2, "q", waiter="b", where="marked") == ([], 1)


def test_one_who_takes_over_looks_everywhere(lua, redis):
    wait(lua, 1, "q", waiter="a")
    lua("wait.leave", 2, "a", "g")
    foreign_put(redis, "job")

    assert wait(lua, 3, "q", waiter="b", where="marked")[0] == ["job"]


def test_a_lookout_that_died_is_missed(lua, redis):
    wait(lua, 1, "q", waiter="dead")
    at, til, since, waiter = redis.get("ql:lookout:g").split(" ")
    redis.set("ql:lookout:g", f"{int(at) - 4000} {til} {since} {waiter}")

    assert wait(lua, 1, "q", waiter="b", where="marked") == ([], 1)


def test_the_lookout_finds_what_a_foreign_client_put(lua, redis):
    wait(lua, 1, "q")
    foreign_put(redis, "job")
    assert tokens(redis) == []
    assert wait(lua, 2, "q", waiter="b", where="marked")[0] == []

    lua("wait.look", 2, "a", "g", "q")

    assert tokens(redis) == ["q:q"]
    assert wait(lua, 3, "q", waiter="b", where="marked")[0] == ["job"]


def test_it_looks_less_and_less_often_while_nothing_comes(lua, redis):
    wait(lua, 1, "q")
    at, til, since, waiter = redis.get("ql:lookout:g").split(" ")

    for idle, again in ((1, 1), (8, 4), (100, 10)):
        redis.set("ql:lookout:g", f"{at} {til} {int(since) - idle * 1000} {waiter}")
        assert float(lua("wait.look", 1, "a", "g", "q")) == pytest.approx(again, abs=0.5)


def test_a_recurring_job_that_is_due_again_soon_is_told_of(lua, redis):
    lua("recur", 1, "q", "rec", "K", "{}", "interval", 0.25, 0)
    wait(lua, 0.5, "q", waiter="lookout")
    redis.set("ql:lookout:g", f"{2**52} {2**52} 1 lookout")

    assert wait(lua, 1, "q", waiter="b")[0] == ["rec-1"]

    assert "q:q" in tokens(redis)
    assert wait(lua, 1, "q", waiter="c", where="marked") == ([], 0.25)


def test_what_lies_under_its_keys_by_mistake_stops_nobody(lua, redis):
    wait(lua, 1, "q")
    redis.delete("ql:lookout:g")
    redis.sadd("ql:q:q-wake", "x")
    redis.sadd("ql:lookout:g", "x")

    assert lua.put(2, "a") == "a"
    assert wait(lua, 3, "q")[0] == ["a"]


def test_a_queue_at_its_limit_is_looked_at_every_second(lua, redis):
    lua("config.set", 1, "q-max-concurrency", 1)
    lua.put(0.5, "a")
    lua.put(1, "b")
    assert lua.popped(1) == ["a"]

    assert wait(lua, 2, "q")[0] == []
    assert lua("wait.look", 2, "a", "g", "q") == "1"
    assert take_tokens(redis) == ["q:q"]

    lua("complete", 3, "a", "w", "q", "{}")
    lua("wait.look", 3, "a", "g", "q")

    assert wait(lua, 3, "q", waiter="b", where="marked")[0] == ["b"]


def foreign_put(redis, jid, queue="q"):
    """Put a job as the original script stores it, which tells nobody of ours."""
    fields = {"jid": jid, "klass": "K", "data": "{}", "priority": 0, "tags": "[]", "retries": 5}
    fields |= {"state": "waiting", "queue": queue, "worker": "", "expires": 0, "remaining": 5}
    redis.hset(f"ql:j:{jid}", mapping={**fields, "time": "1.00000000000000000000"})
    redis.rpush(f"ql:j:{jid}-history", json.dumps([1, "put", {"q": queue}]))
    redis.zadd("ql:queues", {queue: 1})
    redis.zadd(f"ql:q:{queue}-work", {jid: -1e-10})


def add_work(redis, *jids, queue="q"):
    with redis.pipeline(transaction=False) as pipeline:
        for start in range(0, len(jids), 1000):
            pipeline.zadd(f"ql:q:{queue}-work", dict.fromkeys(jids[start : start + 1000], 5))
        pipeline.execute()


def test_one_who_waits_asks_again_at_once_where_a_pop_gave_up_before_a_job(lua, redis):
    lua.put(1, "j")
    add_work(redis, *(f"gone-{number}" for number in range(25_000)))

    jids, again = wait(lua, 2, "q")
    assert (jids, again) == ([], 1)
    for _ in range(25):
        assert take_tokens(redis) == ["q:q"]
        jids, _ = wait(lua, 2, "q", where="marked")
        if jids:
            break
    assert jids == ["j"]


def test_jobs_that_cannot_be_taken_rouse_nobody_over_and_over(lua, redis):
    jids = [f"bad-{number}" for number in range(21_000)]
    with redis.pipeline(transaction=False) as pipeline:
        for jid in jids:
            pipeline.set(f"ql:j:{jid}", "no job")
        pipeline.execute()
    add_work(redis, *jids)

    assert wait(lua, 1, "q") == ([], 1)
    rounds = 0
    while take_tokens(redis):
        assert wait(lua, 2, "q", where="marked")[0] == []
        rounds += 1
        assert rounds < 25
