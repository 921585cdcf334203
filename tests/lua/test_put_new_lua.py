"""Puts that yield to a job that is there, that name a moment, and that want what they wait for."""

from __future__ import annotations

import json

import pytest


def put_new(lua, now, jid, *options, **fixed):
    me, queue, data = fixed.get("me", "w"), fixed.get("queue", "q"), fixed.get("data", "{}")
    return lua("put.new", now, me, queue, jid, "K", data, fixed.get("delay", 0), *options)


def test_a_new_job_is_put(lua):
    options = ("priority", 3, "tags", '["t"]', "retries", 2)

    assert put_new(lua, 1, "j", *options, data='{"a":[]}') == 1

    job = lua.job("j")
    assert (job["state"], job["priority"], job["tags"], job["data"]) == (
        "waiting",
        3,
        ["t"],
        '{"a":[]}',
    )
    assert lua.popped(2) == ["j"]


def put_into(lua, state):
    """Have a job `j` in a state, and more where that takes some."""
    lua.put(1, "other", queue="elsewhere")
    options = ("depends", '["other"]') if state == "depends" else ()
    lua.put(2, "j", *options, delay=1000 if state == "scheduled" else 0, data='{"first":1}')
    if state in {"running", "stalled", "late", "failed", "complete"}:
        lua.pop(3)
    if state == "stalled":
        lua("timeout", 4, "j")
    if state == "failed":
        lua("fail", 4, "j", "w", "g", "m")
    if state == "complete":
        lua("complete", 4, "j", "w", "q", "{}")


@pytest.mark.parametrize("state", ["waiting", "scheduled", "depends", "running", "stalled", "late"])
def test_it_yields_to_a_job_that_runs_or_will_run(lua, state):
    put_into(lua, state)
    now = 500 if state == "late" else 10
    before = lua.stored()

    with lua.hearing() as heard:
        options = ("priority", 9, "depends", '["other"]')
        assert put_new(lua, now, "j", *options, data='{"second":2}', queue="p") == 0

    assert heard == []
    assert lua.stored() == before


@pytest.mark.parametrize("state", ["failed", "complete"])
def test_a_job_that_nothing_will_run_is_put_anew(lua, redis, state):
    put_into(lua, state)

    assert put_new(lua, 10, "j", data='{"second":2}') == 1

    assert lua.job("j")["data"] == '{"second":2}'
    assert redis.exists("ql:f:g", "ql:completed") == 0
    assert lua.popped(11) == ["j"]


def test_its_arguments_are_checked_also_where_it_yields(lua):
    put_into(lua, "waiting")

    with lua.refused("BAD_ARGUMENT", "data"):
        put_new(lua, 10, "j", data="{")
    with lua.refused("BAD_ARGUMENT", "retries"):
        put_new(lua, 10, "j", "retries", "x")


def test_what_a_stray_write_left_is_no_job_to_yield_to(lua, redis):
    redis.hset("ql:j:j", "priority", 3)

    assert put_new(lua, 1, "j") == 1
    assert lua.popped(2) == ["j"]


@pytest.mark.parametrize("command", ["put", "requeue", "put.new"])
def test_a_job_may_name_the_moment_before_which_it_does_not_run(lua, redis, command):
    if command == "requeue":
        lua.put(1, "j")

    lua(command, 10.25, "w", "q", "j", "K", "{}", 0, "at", 1000)

    assert lua.job("j", 11)["state"] == "scheduled"
    assert redis.zscore("ql:q:q-scheduled", "j") == 1000
    assert lua.popped(999) == []
    assert lua.popped(1000) == ["j"]


def test_a_moment_takes_the_place_of_a_delay(lua, redis):
    lua.put(10, "j", "at", 1000, delay=50)

    assert redis.zscore("ql:q:q-scheduled", "j") == 1000


@pytest.mark.parametrize("moment", [-5, 0, 9, 10])
def test_a_moment_that_is_past_is_now(lua, moment):
    lua.put(10, "j", "at", moment)

    assert lua.job("j", 10)["state"] == "waiting"
    assert lua.popped(10) == ["j"]


def test_a_moment_is_remembered_beside_dependencies(lua):
    lua.put(1, "a", queue="other")
    lua.put(2, "j", "at", 1000, "depends", '["a"]')
    lua.pop(3, queue="other")

    lua("complete", 4, "a", "w", "other", "{}")

    assert lua.job("j", 5)["state"] == "scheduled"
    assert lua.popped(1000) == ["j"]


@pytest.mark.parametrize("command", ["put", "requeue", "put.new"])
def test_b50_strict_refuses_dependencies_that_do_not_exist(lua, command):
    lua.put(1, "a")
    if command == "requeue":
        lua.put(1, "j")
    depends = ("depends", json.dumps(["x", "a", 'y"]'[:2]]))

    with lua.refused("NO_DEPENDENCY", 'Job j cannot depend on jobs that do not exist: ["x","y'):
        lua(command, 2, "w", "q", "j", "K", "{}", 0, *depends, "strict", 1)

    lua(command, 3, "w", "q", "j", "K", "{}", 0, *depends, "strict", 0)
    assert lua.job("j")["dependencies"] == ["a"]


def test_strict_has_nothing_against_a_job_that_is_complete(lua):
    lua.put(1, "a")
    lua.pop(2)
    lua("complete", 3, "a", "w", "q", "{}")

    lua.put(4, "j", "depends", '["a"]', "strict", 1)

    assert lua.job("j")["state"] == "waiting"


def test_b50_completing_into_a_queue_may_be_strict(lua):
    lua.put(1, "j")
    lua.pop(2)
    options = ("next", "q", "depends", '["gone"]', "strict", 1)

    with lua.refused("NO_DEPENDENCY", '["gone"]'):
        lua("complete", 3, "j", "w", "q", "{}", *options)

    assert lua("complete", 4, "j", "w", "q", "{}", *options[:4]) == "waiting"


def test_b50_of_many_jobs_one_may_strictly_wait_for_an_earlier_one(lua):
    def job(jid, *options):
        return (jid, "K", "{}", 0, len(options), *options)

    after_a = ("depends", '["a"]', "strict", 1)
    assert lua("bulk.put", 1, "w", "q", 0, *job("a"), *job("b", *after_a)) == ["a", "b"]
    assert lua.job("b")["dependencies"] == ["a"]

    after_d = ("depends", '["d"]', "strict", 1)
    with lua.refused("NO_DEPENDENCY", "job 0: Job c cannot depend on"):
        lua("bulk.put", 2, "w", "q", 0, *job("c", *after_d), *job("d"))
    with lua.refused("BAD_ARGUMENT", "at"):
        lua("bulk.put", 2, "w", "q", 0, *job("e"), *job("f", "at", "soon"))
