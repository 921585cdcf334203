from __future__ import annotations

import pytest


def fail(lua, now, jid, group="g"):
    lua.put(now, jid)
    lua.pop(now)
    lua("fail", now, jid, "w", group, "m")


def test_a_canceled_job_leaves_nothing_behind(lua):
    lua.put(1, "a")
    before = lua.stored()
    lua.put(2, "j", "tags", '["x"]', "depends", '["a"]')
    lua("track", 3, "track", "j")

    with lua.hearing() as heard:
        assert lua("cancel", 4, "j") == ["j"]

    message = '{"jid":"j","queue":"q","event":"canceled","worker":""}'
    assert heard == [["ql:log", message], ["ql:canceled", "j"]]
    assert lua.stored() == before


def test_b53_the_worker_of_a_running_job_is_told(lua, redis):
    lua.put(1, "j")
    lua.pop(2, worker="owner")

    with lua.hearing() as heard:
        lua("cancel", 3, "j")

    message = '{"jid":"j","queue":"q","event":"canceled","worker":"owner"}'
    assert heard == [["ql:log", message], ["ql:w:owner", message]]
    assert redis.exists("ql:q:q-locks", "ql:w:owner:jobs") == 0
    with lua.refused("JOB_NOT_FOUND", "does not exist"):
        lua("complete", 4, "j", "owner", "q", "{}")


def test_complete_jobs_are_left_as_they_are(lua):
    lua.put(1, "j")
    lua.pop(2)
    lua("complete", 3, "j", "w", "q", "{}")

    assert lua("cancel", 4, "j") == ["j"]
    assert lua.job("j")["state"] == "complete"


def test_a_missing_job_is_said_to_be_canceled(lua):
    with lua.hearing() as heard:
        assert lua("cancel", 1, "j", "j") == ["j", "j"]

    message = '{"jid":"j","queue":false,"event":"canceled","worker":false}'
    assert heard == [["ql:log", message]]


def test_b53_dependents_must_be_canceled_too(lua):
    lua.put(1, "a")
    lua.put(2, "b", "depends", '["a"]')
    lua.put(3, "c", "depends", '["a"]')
    lua.put(4, "d", "depends", '["b","c"]')

    with lua.refused("HAS_DEPENDENTS", "a is a dependency of c"):
        lua("cancel", 5, "d", "a", "b")
    with lua.refused("HAS_DEPENDENTS", "b is a dependency of d"):
        lua("cancel", 5, "b", "a", "c")
    assert sorted(lua("cancel", 6, "d", "a", "c", "b")) == ["a", "b", "c", "d"]
    assert lua("length", 7, "q") == 0


def test_a_dependent_that_is_gone_stops_nobody(lua, redis):
    lua.put(1, "a")
    redis.sadd("ql:j:a-dependents", "gone")

    assert lua("cancel", 2, "a") == ["a"]
    assert redis.exists("ql:j:a-dependents") == 0


def test_a_dependent_canceled_first_frees_its_dependency(lua):
    lua.put(1, "a")
    lua.put(2, "b", "depends", '["a"]')

    lua("cancel", 3, "b")

    assert lua.job("a")["dependents"] == []
    assert lua("cancel", 4, "a") == ["a"]


def test_a_failed_job_leaves_its_group_and_the_statistic(lua, redis):
    fail(lua, 1, "a")
    fail(lua, 2, "b")

    lua("cancel", 3, "a")

    assert lua.json("failed", 4, "g") == {"total": 1, "jobs": ["b"]}
    assert lua.json("stats", 4, "q", 4)["failed"] == 1
    assert lua.json("stats", 4, "q", 4)["failures"] == 2

    lua("cancel", 5, "b")

    assert lua.json("failed", 6) == {}
    assert redis.exists("ql:f:g", "ql:failures") == 0


@pytest.mark.parametrize("order", ["newest first", "oldest first", "scattered", "one"])
def test_many_failures_leave_a_group_whatever_their_order(lua, order):
    for number in range(60):
        fail(lua, number, f"j-{number:02}", "h" if number % 3 == 0 else "g")
    jids = lua.json("failed", 99, "g", 0, 100)["jobs"]
    chosen = {
        "newest first": jids[:25],
        "oldest first": jids[:14:-1],
        "scattered": jids[1::2],
        "one": jids[20:21],
    }[order]

    lua("cancel", 100, *chosen)

    left = [jid for jid in jids if jid not in chosen]
    assert lua.json("failed", 101, "g", 0, 100) == {"total": len(left), "jobs": left}
    assert lua.json("failed", 101)["h"] == 20
    assert lua.json("stats", 101, "q", 0)["failed"] == len(left) + 20


def test_nine_thousand_at_once(lua, redis):
    jids = [f"j-{number}" for number in range(9500)]
    with redis.pipeline() as pipeline:
        for jid in jids:
            failure = '{"group":"g","message":"m","when":1,"worker":""}'
            job = {"jid": jid, "state": "failed", "queue": "q", "failure": failure, "tags": "[]"}
            pipeline.hset(f"ql:j:{jid}", mapping=job)
            pipeline.lpush("ql:f:g", jid)
        pipeline.sadd("ql:failures", "g")
        pipeline.execute()

    assert lua("cancel", 2, *jids[::-2]) == jids[::-2]

    assert lua.json("failed", 3) == {"g": 4750}
    assert redis.lrange("ql:f:g", 0, 1) == jids[-2:-5:-2]


def test_the_failure_of_a_bad_text_stops_nobody(lua, redis):
    fail(lua, 1, "j")
    redis.hset("ql:j:j", "failure", "{not json")

    assert lua("cancel", 2, "j") == ["j"]
    assert redis.exists("ql:j:j") == 0
