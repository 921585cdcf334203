"""`edit`: other data or retries for a job that nobody runs, and only over what was seen."""

from __future__ import annotations

import hashlib

import pytest


def sha1(text):
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def test_data_is_replaced_byte_for_byte_and_the_history_says_so(lua, redis):
    lua("put", 100, "w", "q", "a", "K", '{"n":1.10}', 0, "priority", 7, "tags", '["x"]')
    before = redis.hgetall("ql:j:a")
    new = '{"n": 1.100, "big": 12345678901234567890, "none": []}'

    assert lua.json("edit", 110, "a", "data", sha1('{"n":1.10}'), new) == {
        "done": ["a"],
        "left": {},
    }

    assert redis.hgetall("ql:j:a") == {**before, "data": new}
    assert redis.lindex("ql:j:a-history", -1) == '[110,"edited",{"what":"data"}]'
    assert lua.popped(120) == ["a"]


def test_what_has_changed_since_is_left_as_it_is(lua):
    lua.put(100, "a")
    lua("edit", 101, "a", "data", "", "[2]")
    before = lua.stored()

    answer = lua.json("edit", 110, "a", "data", sha1("{}"), "[3]")

    assert answer == {"done": [], "left": {"a": "changed"}}
    assert lua.stored() == before


def test_retries_are_renewed(lua, redis):
    lua.put(100, "a", "retries", 3)

    assert lua.json("edit", 110, "a", "retries", sha1("3"), 9)["done"] == ["a"]

    assert redis.hmget("ql:j:a", "retries", "remaining") == ["9", "9"]


def begin(lua, state):
    if state == "scheduled":
        lua.put(100, "a", delay=1_000)
    elif state == "depends":
        lua.put(99, "first", queue="else")
        lua.put(100, "a", "depends", '["first"]')
    elif state == "throttled":
        lua("throttle.set", 98, "t", 1)
        lua.put(98, "first", "throttles", '["t"]', queue="else")
        lua.pop(99, queue="else")
        lua.put(100, "a", "throttles", '["t"]')
    else:
        lua.put(100, "a")
    if state in {"running", "lapsed", "timed out", "failed", "complete"}:
        lua.pop(101)
    if state == "timed out":
        lua("timeout", 102, "a")
    elif state == "failed":
        lua("fail", 102, "a", "w", "g", "m")
    elif state == "complete":
        lua("complete", 102, "a", "w", "q", "{}")


@pytest.mark.parametrize("field", ["data", "retries"])
@pytest.mark.parametrize(
    "state", ["waiting", "scheduled", "depends", "throttled", "failed", "timed out"]
)
def test_a_job_that_nobody_runs_can_be_edited(lua, redis, state, field):
    begin(lua, state)
    was = redis.hget("ql:j:a", "state")

    assert lua.json("edit", 110, "a", field, "", 4)["done"] == ["a"]

    assert redis.hget("ql:j:a", field) == "4"
    assert redis.hget("ql:j:a", "state") == was


@pytest.mark.parametrize(
    ("state", "why"), [("running", "running"), ("lapsed", "running"), ("complete", "complete")]
)
def test_a_job_that_somebody_runs_or_has_run_is_left_alone(lua, state, why):
    begin(lua, state)
    before = lua.stored()

    answer = lua.json("edit", 110 if state != "lapsed" else 10_000, "a", "data", "", "[4]")

    assert answer == {"done": [], "left": {"a": why}}
    assert lua.stored() == before


def test_a_job_that_is_gone_is_not_made(lua):
    assert lua.json("edit", 110, "a", "data", "", "[4]") == {"done": [], "left": {"a": "gone"}}
    assert lua.stored() == {}
