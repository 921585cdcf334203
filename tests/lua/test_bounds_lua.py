"""However much is asked for, a call ends: what one makes, takes and is given has bounds."""

from __future__ import annotations

import json

import pytest

#: The most tags that a call leaves on a job, children that one makes, jobs that one takes.
TAGS, CHILDREN, JOBS = 1_000, 1_000, 10_000

NAMES = [f"n-{number:05}" for number in range(30_000)]


@pytest.mark.parametrize("count", [TAGS + 1, len(NAMES)])
def test_too_many_tags_are_refused(lua, count):
    names = NAMES[:count]
    lua.put(1, "j", "tags", json.dumps(NAMES[:5]))
    lua("recur", 1, "q", "r", "K", "{}", "interval", 60, 1000)

    for call in (
        ("tag", 2, "add", "j", *names),
        ("tag", 2, "add", "j", *NAMES[5 : TAGS + 1]),
        ("put", 2, "w", "q", "j", "K", "{}", 0, "tags", json.dumps(names)),
        ("recur", 2, "q", "r", "K", "{}", "interval", 60, 0, "tags", json.dumps(names)),
        ("recur.tag", 2, "r", *names),
    ):
        with lua.refused("BAD_ARGUMENT", f"tags must be at most {TAGS:d}, got"):
            lua(*call)


def test_as_many_tags_as_may_be(lua):
    lua.put(1, "j", "tags", json.dumps([*NAMES[:TAGS], "n-00000", " "]))

    assert lua.job("j")["tags"] == NAMES[:TAGS]
    assert lua.json("tag", 2, "add", "j", *NAMES[:TAGS]) == NAMES[:TAGS]


def test_tags_that_others_left_can_be_taken_off(lua, redis):
    lua.put(1, "j")
    redis.hset("ql:j:j", "tags", json.dumps(NAMES))
    lua.put(2, "j")

    assert lua.json("tag", 3, "remove", "j", *NAMES[1:]) == ["n-00000"]


@pytest.mark.parametrize("now", ["-1", "-0.5", "1e300", "100000000001", "-1e300"])
@pytest.mark.parametrize("command", ["pop", "peek", "put", "queues"])
def test_a_moment_beyond_all_calendars_is_refused(lua, command, now):
    lua("recur", 1, "q", "r", "K", "{}", "interval", 60, 0)

    with lua.refused("BAD_ARGUMENT", 'argument "now" must be a number from 0 to 1e11, got "'):
        lua(command, now, "q", "w", 10**12)


def test_one_call_makes_so_many_children_and_the_next_goes_on(lua):
    lua("recur", 0, "q", "r", "K", "{}", "interval", 0.001, 0)

    peeked = [job["jid"] for job in lua.json("peek", 1e11, "q", 10**12)]
    popped = lua.popped(1e11, 10**12)
    assert len(popped) == CHILDREN
    assert peeked == popped
    assert lua.popped(1e11, 1) == [f"r-{CHILDREN + 1}"]


def test_one_call_takes_so_many_jobs(lua, redis):
    with redis.pipeline(transaction=False) as pipeline:
        for number in range(JOBS + 1):
            pipeline.hset(f"ql:j:j-{number}", mapping={"jid": f"j-{number}", "state": "waiting"})
            pipeline.zadd("ql:q:q-work", {f"j-{number}": 0})
        pipeline.execute()

    assert len(lua.json("peek", 1, "q", 10**12)) == JOBS
    assert len(lua.pop(1, 10**12)) == JOBS
    assert len(lua.pop(1, 10**12)) == 1


@pytest.mark.parametrize("count", ["1e17", "1e300", "-5", "9007199254740993", "x"])
def test_a_count_of_children_that_cannot_be_starts_again(lua, redis, count):
    lua("recur", 1, "q", "r", "K", "{}", "interval", 60, 0)
    lua.put(1, "r-1", queue="other")
    lua.put(1, "r-1e+17", queue="other")
    redis.hset("ql:r:r", "count", count)

    assert lua.popped(65, 5) == ["r-2", "r-3"]


def test_names_taken_on_purpose_end_the_search(lua, redis):
    lua("recur", 1, "q", "r", "K", "{}", "interval", 60, 0)
    for power in range(60):
        lua.put(1, f"r-{2**power:.14g}", queue="other")

    assert lua.popped(2, 5) == []
    assert redis.zscore("ql:q:q-recur", "r") == 61


@pytest.mark.parametrize("score", [-1e300, float("-inf")])
def test_a_run_before_all_time_is_one_run(lua, redis, score):
    lua("recur", 1, "q", "r", "K", "{}", "interval", 60, 0, "backlog", 3)
    redis.zadd("ql:q:q-recur", {"r": score})

    assert lua.popped(100, 5) == ["r-1"]
    assert redis.zscore("ql:q:q-recur", "r") == 160


def test_no_number_is_below_nothing(lua):
    assert lua.json("failed", 1, "g", "-0", 2) == {"total": 0, "jobs": []}
    assert lua.json("failed", 1, "g", 0, "-0.0") == {"total": 0, "jobs": []}
    for state in ("running", "stalled", "scheduled", "depends", "recurring"):
        assert lua("jobs", 1, state, "q", "-0", "-0") == []
    assert lua("jobs", 1, "complete", "-0", 5) == []
    assert lua.json("tag", 1, "get", "t", "-0", 5) == {"total": 0, "jobs": []}
    assert lua.popped(1, "-0") == []


def test_a_job_named_often_is_asked_once(lua, redis):
    lua.put(1, "j")
    others = [f"d-{number}" for number in range(20_000)]
    with redis.pipeline(transaction=False) as pipeline:
        for jid in others:
            job = {"jid": jid, "state": "depends", "queue": "q"}
            pipeline.hset(f"ql:j:{jid}", mapping=job)
            pipeline.sadd(f"ql:j:{jid}-dependencies", "j")
        pipeline.sadd("ql:j:j-dependents", *others)
        pipeline.execute()

    assert len(lua("cancel", 2, *["j"] * 20_000, *others)) == 40_000
    assert redis.keys("ql:j:*") == []
