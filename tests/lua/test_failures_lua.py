from __future__ import annotations

import pytest


def fail(lua, now, jid, group="g", queue="q"):
    lua.put(now, jid, queue=queue)
    lua.pop(now, queue=queue)
    lua("fail", now, jid, "w", group, "m")


def test_b14_no_failures(lua):
    assert lua("failed", 1) == "{}"
    assert lua("failed", 1, "g") == '{"total":0,"jobs":[]}'


def test_groups_are_counted_and_paged_the_newest_first(lua):
    for number in range(30):
        fail(lua, number, f"j-{number:02}")
    fail(lua, 40, "other", "h")

    assert lua.json("failed", 50) == {"g": 30, "h": 1}
    first = lua.json("failed", 50, "g")
    assert (first["total"], len(first["jobs"]), first["jobs"][0]) == (30, 25, "j-29")
    assert lua.json("failed", 50, "g", 25, 25)["jobs"] == [f"j-0{n}" for n in (4, 3, 2, 1, 0)]
    assert len(lua.json("failed", 50, "g", 0, 0)["jobs"]) == 30
    assert lua.json("failed", 50, "g", 1, 0)["jobs"] == []


def test_unfail_puts_the_oldest_back_to_work(lua, redis):
    for number, jid in enumerate(["a", "b", "c"]):
        fail(lua, number, jid, queue="old")

    assert lua("unfail", 10, "new", "g", 2) == 2

    assert lua.json("failed", 11, "g")["jobs"] == ["c"]
    job = lua.job("a")
    assert (job["state"], job["queue"], job["worker"]) == ("waiting", "new", "")
    assert (job["remaining"], job["failure"]) == (5, {})
    assert job["history"][-1] == {"q": "new", "what": "put", "when": 10}
    assert redis.zscore("ql:queues", "new") == 10
    assert lua.json("stats", 11, "old", 0)["failed"] == 1
    assert lua.json("stats", 11, "new", 0)["failed"] == 0
    assert lua.popped(12, 5, queue="new") == ["b", "a"]

    assert lua("unfail", 13, "new", "g") == 1
    assert redis.exists("ql:f:g", "ql:failures") == 0
    assert lua("unfail", 14, "new", "g") == 0


def test_unfail_says_what_it_does(lua):
    fail(lua, 1, "j")
    lua("track", 2, "track", "j")

    with lua.hearing() as heard:
        lua("unfail", 3, "q", "g")

    assert heard == [["ql:log", '{"jid":"j","event":"put","queue":"q"}'], ["ql:put", "j"]]


def test_unfail_passes_over_jobs_that_are_gone_or_elsewhere(lua, redis):
    for number in range(6):
        fail(lua, number, f"j-{number}")
    redis.delete("ql:j:j-0", "ql:j:j-2")
    redis.hset("ql:j:j-3", "state", "running")

    assert lua("unfail", 10, "q", "g", 3) == 3

    assert lua.popped(11, 9) == ["j-5", "j-4", "j-1"]
    assert lua.json("failed", 12) == {}
    assert redis.exists("ql:j:j-0", "ql:j:j-2") == 0


def test_unfail_moves_a_bounded_number(lua, redis):
    with redis.pipeline() as pipeline:
        for number in range(600):
            jid = f"j-{number}"
            pipeline.hset(f"ql:j:{jid}", mapping={"jid": jid, "state": "failed", "queue": "q"})
            pipeline.lpush("ql:f:g", jid)
        pipeline.sadd("ql:failures", "g")
        pipeline.execute()

    assert lua("unfail", 1, "q", "g", 100_000) == 500
    assert lua("unfail", 2, "q", "g", 100_000) == 100
    assert lua("unfail", 3, "q", "g", 100_000) == 0


def test_unfail_passes_over_a_bounded_number_of_jobs_that_are_gone(lua, redis):
    fail(lua, 1, "j")
    redis.rpush("ql:f:g", *[f"gone-{number}" for number in range(50_000)])

    assert lua("unfail", 2, "q", "g", 2000) == 0
    assert redis.llen("ql:f:g") == 30_001
    lua("unfail", 3, "q", "g", 2000)
    assert lua("unfail", 4, "q", "g", 2000) == 1
    assert redis.exists("ql:f:g") == 0


def test_unfail_keeps_the_priority(lua):
    lua.put(1, "j", "priority", 4)
    lua.pop(2)
    lua("fail", 3, "j", "w", "g", "m")
    lua.put(4, "k")

    lua("unfail", 5, "q", "g")

    assert lua.popped(6, 2) == ["j", "k"]


def unfail(lua, now, _jid, queue):
    assert lua("unfail", now, queue, "g") == 1


def move(lua, now, jid, queue):
    assert lua.json("bulk.move", now, "g", queue, jid, "failed")["done"] == [jid]


def put(lua, now, jid, queue):
    lua.put(now, jid, queue=queue, me="", data=lua.job(jid)["data"])


WAYS = pytest.mark.parametrize("way", [unfail, move, put])


@WAYS
def test_the_time_that_a_job_lay_failed_is_no_wait(lua, way):
    fail(lua, 1, "j")

    way(lua, 5000, "j", "q")

    assert lua.popped(5010) == ["j"]
    wait = lua.json("stats", 5010, "q", 5010)["wait"]
    assert (wait["count"], wait["mean"]) == (2, 5)


@WAYS
def test_b49_a_failed_job_that_waits_for_another_waits_on(lua, redis, way):
    fail(lua, 1, "j")
    lua.put(2, "first", queue="else")
    redis.sadd("ql:j:j-dependencies", "first")
    redis.sadd("ql:j:first-dependents", "j")

    way(lua, 10, "j", "q")

    assert lua.job("j")["state"] == "depends"
    assert redis.zscore("ql:q:q-depends", "j") == 10
    assert lua.popped(11) == []
    assert lua.json("failed", 12) == {}


def test_every_way_back_to_work_does_the_same(lua, redis):
    stored = []
    for way in (unfail, move, put):
        redis.flushdb()
        lua.put(1, "j", "priority", 4, "retries", 3, "tags", '["x"]', data='{"l":[]}')
        lua.pop(2)
        lua("fail", 3, "j", "w", "g", "m")
        redis.zadd("ql:t:x", {"j": 10})
        way(lua, 10, "j", "other")
        stored.append(lua.stored())

    # Only what is asked for by name, `unfail`, forgets the failure.
    assert [each["ql:j:j"].pop("failure") != "{}" for each in stored] == [False, True, True]
    assert stored[0] == stored[1] == stored[2]


def listed(redis, number):
    """Make a group of failed jobs, the newest first; the last of them is the oldest."""
    jids = [f"j-{each:05}" for each in range(number)]
    with redis.pipeline(transaction=False) as pipeline:
        for jid in jids:
            failure = '{"group":"g","when":1}'
            job = {"jid": jid, "state": "failed", "queue": "q", "failure": failure}
            pipeline.hset(f"ql:j:{jid}", mapping=job)
        pipeline.rpush("ql:f:g", *jids)
        pipeline.sadd("ql:failures", "g")
        pipeline.execute()
    return jids


@pytest.mark.parametrize(
    "chosen",
    [
        slice(1, 101),  # near the newest
        slice(-101, -1),  # near the oldest, where work on a group begins
        slice(2000, 2100),
        slice(7, None, 31),  # all over the group
        slice(5, None, 700),
        slice(None),
    ],
)
def test_what_leaves_a_group_leaves_the_others_in_order(lua, redis, chosen):
    jids = listed(redis, 5000)
    leaving = jids[chosen]

    report = lua.json("bulk.cancel", 2, "g", *[part for jid in leaving for part in (jid, "failed")])

    assert report["done"] == leaving
    left = set(leaving)
    assert redis.lrange("ql:f:g", 0, -1) == [jid for jid in jids if jid not in left]
    assert redis.scard("ql:failures") == (1 if len(left) < len(jids) else 0)


def test_jobs_that_are_not_listed_leave_their_group_as_it_is(lua, redis):
    jids = listed(redis, 50)
    redis.lrem("ql:f:g", 1, jids[20])

    lua("bulk.move", 2, "", "q", jids[20], "", jids[30], "")

    assert redis.lrange("ql:f:g", 0, -1) == [*jids[:20], *jids[21:30], *jids[31:]]


def test_one_that_stays_at_the_end_makes_no_chunk_dearer(lua, redis):
    jids = listed(redis, 20_000)
    redis.config_resetstat()

    lua("bulk.cancel", 2, "g", *[part for jid in jids[-101:-1] for part in (jid, "failed")])

    calls = redis.info("commandstats")
    assert calls["cmdstat_lrange"]["calls"] == 1
    assert calls["cmdstat_lrem"]["calls"] == 1
    assert not {"cmdstat_lpush", "cmdstat_rpush", "cmdstat_ltrim"} & calls.keys()


def test_those_far_apart_are_found_by_a_few_looks_and_one_pass(lua, redis):
    jids = listed(redis, 6000)
    # The ends of the parts in which the list is passed; behind them what is looked for one by one.
    places = [1, 498, 499, 500, 501, 999, 1000, 1001, 1499, 1500, 1501, 2999, 3000]
    leaving = [jids[place] for place in (*places, *range(3900, 5901, 285))]
    redis.config_resetstat()

    lua("bulk.cancel", 2, "g", *[part for jid in leaving for part in (jid, "failed")])

    calls = redis.info("commandstats")
    assert redis.lrange("ql:f:g", 0, -1) == [jid for jid in jids if jid not in leaving]
    assert calls["cmdstat_lpos"]["calls"] == 8
    assert calls["cmdstat_lrange"]["calls"] == 8 + len(range(0, 3001, 500))
    assert calls["cmdstat_lset"]["calls"] == len(leaving)
