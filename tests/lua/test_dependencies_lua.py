from __future__ import annotations

import pytest
from redis.exceptions import ResponseError


@pytest.fixture
def two(lua):
    lua.put(1, "a", queue="other")
    lua.put(1, "b", queue="other")
    return lua


def test_on_makes_a_waiting_job_wait_for_others(two, redis):
    two.put(2, "j", "priority", 3)

    assert two("depends", 10, "j", "on", "a", "b") == 1

    job = two.job("j")
    assert job["state"] == "depends"
    assert sorted(job["dependencies"]) == ["a", "b"]
    assert two.job("a")["dependents"] == ["j"]
    assert redis.zscore("ql:q:q-depends", "j") == 10
    assert two.popped(11) == []


def test_on_remembers_the_delay_of_a_scheduled_job(two, redis):
    two.put(2, "j", delay=100)
    two("depends", 3, "j", "on", "a")
    assert redis.hget("ql:j:j", "scheduled") == "102"
    assert redis.zcard("ql:q:q-scheduled") == 0

    two.pop(4, queue="other", count=2)
    two("complete", 5, "a", "w", "other", "{}")

    assert two.job("j", 50)["state"] == "scheduled"
    assert two.popped(102) == ["j"]
    assert redis.hexists("ql:j:j", "scheduled") is False


def test_on_adds_to_what_a_job_waits_for(two):
    two.put(2, "j", "depends", '["a"]')

    two("depends", 3, "j", "on", "b")

    assert sorted(two.job("j")["dependencies"]) == ["a", "b"]


@pytest.mark.parametrize("delay", [0, 100])
def test_on_skips_what_is_gone_or_complete(two, delay):
    two.put(2, "j", delay=delay)
    two.put(2, "k", "depends", '["b"]')
    two.pop(3, queue="other", count=2)
    two("complete", 4, "a", "w", "other", "{}")
    state = "scheduled" if delay else "waiting"

    with two.refused("NOT_DEPENDS", f"Job j is not in the depends state: {state}"):
        two("depends", 5, "j", "on", "a", "gone")
    assert two("depends", 5, "k", "on", "a", "gone") == 1
    assert two.job("k")["dependencies"] == ["b"]
    assert two("depends", 5, "j", "on", "a", "gone", "b") == 1

    assert two.job("j")["state"] == "depends"
    assert two.job("j")["dependencies"] == ["b"]


@pytest.mark.parametrize("switch", ["on", "off"])
def test_other_states_are_refused(two, switch):
    with two.refused("NOT_DEPENDS", "not in the depends state: missing"):
        two("depends", 1, "j", switch, "a")
    two.put(2, "j")
    two.pop(3)
    with two.refused("NOT_DEPENDS", "not in the depends state: running"):
        two("depends", 4, "j", switch, "a")
    two("timeout", 5, "j")
    with two.refused("NOT_DEPENDS", "not in the depends state: stalled"):
        two("depends", 6, "j", switch, "a")
    two.pop(7)
    two("fail", 8, "j", "w", "g", "m")
    with two.refused("NOT_DEPENDS", "not in the depends state: failed"):
        two("depends", 9, "j", switch, "a")
    two.put(10, "j")
    two.pop(11)
    two("complete", 12, "j", "w", "q", "{}")
    with two.refused("NOT_DEPENDS", "not in the depends state: complete"):
        two("depends", 13, "j", switch, "a")


def test_off_is_for_the_depends_state_only(two):
    two.put(2, "j")

    with two.refused("NOT_DEPENDS", "not in the depends state: waiting"):
        two("depends", 3, "j", "off", "all")


def test_off_takes_dependencies_away(two, redis):
    two.put(2, "j", "depends", '["a","b"]', "priority", 2)

    assert two("depends", 3, "j", "off", "a", "unknown") == 1
    assert two.job("j")["dependencies"] == ["b"]
    assert two.job("a")["dependents"] == []

    assert two("depends", 4, "j", "off", "b") == 1
    assert two.job("j")["state"] == "waiting"
    assert redis.zscore("ql:q:q-work", "j") == 2 - 4 / 1e10
    assert redis.exists("ql:q:q-depends", "ql:j:j-dependencies", "ql:j:b-dependents") == 0


def test_off_takes_all_away(two):
    two.put(2, "j", "depends", '["a","b"]')

    assert two("depends", 3, "j", "off", "all") == 1

    assert two.job("j")["state"] == "waiting"
    assert two.job("b")["dependents"] == []


def test_b50_a_ring_is_refused(two):
    two.put(2, "j", "depends", '["a"]')
    two.put(3, "k", "depends", '["j"]')

    with two.refused("BAD_ARGUMENT", "a -> k -> j -> a"):
        two("depends", 4, "a", "on", "b", "k")
    with two.refused("BAD_ARGUMENT", "j -> j"):
        two("depends", 4, "j", "on", "j")


def test_a_long_chain_is_walked_without_recursion(lua, redis):
    with redis.pipeline() as pipeline:
        for number in range(20_000):
            pipeline.sadd(f"ql:j:c-{number}-dependencies", f"c-{number + 1}")
            pipeline.sadd(f"ql:j:c-{number + 1}-dependents", f"c-{number}")
        pipeline.execute()
    lua.put(1, "c-20000")

    with pytest.raises(ResponseError) as caught:
        lua("depends", 2, "c-20000", "on", "c-0")

    assert "cannot depend on c-0" in str(caught.value)
    assert "c-20000 -> c-0 -> c-1 -> " in str(caught.value)
    assert str(caught.value).endswith("-> ... 19981 more -> c-20000")


def test_a_ring_that_is_there_already_ends_the_walk(lua, redis):
    for jid, other in (("x", "y"), ("y", "x")):
        redis.sadd(f"ql:j:{jid}-dependencies", other)
        redis.sadd(f"ql:j:{other}-dependents", jid)
    lua.put(1, "a")
    lua.put(2, "j", "depends", '["a"]')
    lua.put(3, "x")

    assert lua("depends", 4, "a", "on", "x") == 1


def test_b49_a_dependent_does_not_run_unless_its_parent_completed(lua):
    lua.put(1, "a")
    lua.put(2, "b", "depends", '["a"]')
    lua.pop(3)
    lua("fail", 4, "a", "w", "g", "m")
    assert lua.job("b")["state"] == "depends"

    with lua.refused("HAS_DEPENDENTS", "a is a dependency of b"):
        lua("cancel", 5, "a")

    lua("unfail", 6, "q", "g")
    assert lua.popped(7) == ["a"]
    lua("complete", 8, "a", "w", "q", "{}")
    assert lua.popped(9) == ["b"]


def test_a_mention_of_a_job_that_no_longer_waits_frees_nobody_twice(lua, redis):
    lua.put(1, "a")
    lua.put(2, "b")
    redis.sadd("ql:j:a-dependents", "b", "gone")
    lua.pop(3)

    lua("complete", 4, "a", "w", "q", "{}")

    assert redis.zrange("ql:q:q-work", 0, -1) == ["b"]
    assert redis.exists("ql:j:gone", "ql:j:a-dependents") == 0


@pytest.fixture
def delayed(lua):
    """Put a job that waits for `a`, and then until 1002."""
    lua.put(1, "a", queue="other")
    lua.put(2, "j", "depends", '["a"]', delay=1000)
    return lua


def let_a_complete(lua, now):
    assert lua.popped(now, queue="other") == ["a"]
    lua("complete", now, "a", "w", "other", "{}")


def test_another_delay_takes_the_place_of_the_first(delayed):
    delayed.put(10, "j", delay=50)

    let_a_complete(delayed, 20)

    assert delayed.popped(59) == []
    assert delayed.popped(60) == ["j"]


@pytest.mark.parametrize("off", ["all", "a"])
def test_taking_the_last_dependency_off_forgets_the_delay(delayed, off):
    delayed("depends", 10, "j", "off", off)
    assert delayed.job("j")["state"] == "waiting"

    delayed("depends", 11, "j", "on", "a")
    let_a_complete(delayed, 20)

    assert delayed.popped(21) == ["j"]


def test_advancing_sets_the_delay_that_it_was_given(lua, redis):
    lua.put(1, "a", queue="other")
    lua.put(2, "j")
    redis.hset("ql:j:j", "scheduled", 5000)
    lua.pop(3)

    lua("complete", 10, "j", "w", "q", "{}", "next", "q", "delay", 100, "depends", '["a"]')

    assert redis.hget("ql:j:j", "scheduled") == "110"


def test_b50_many_ways_into_a_ring_are_walked_once(lua, redis):
    with redis.pipeline() as pipeline:
        for number in range(3_000):
            pipeline.sadd(f"ql:j:c-{number}-dependencies", f"c-{number + 1}")
            pipeline.sadd(f"ql:j:c-{number + 1}-dependents", f"c-{number}")
        pipeline.sadd("ql:j:j-dependents", "somebody")
        pipeline.execute()
    lua.put(1, "j")
    redis.config_resetstat()

    with pytest.raises(ResponseError, match="NOT_DEPENDS"):  # none of them is there
        lua("depends", 2, "j", "on", *(f"c-{number}" for number in range(3_000)))

    assert redis.info("commandstats")["cmdstat_smembers"]["calls"] < 4_000


def test_b50_strict_refuses_jobs_that_do_not_exist_by_name(two):
    two.put(2, "j")
    two.pop(3, queue="other", count=2)
    two("complete", 4, "a", "w", "other", "{}")

    with two.refused("NO_DEPENDENCY", 'Job j cannot depend on jobs that do not exist: ["x","y"]'):
        two("depends", 5, "j", "strict", "x", "b", "a", "y")

    assert two("depends", 6, "j", "strict", "a", "b") == 1
    assert two.job("j")["dependencies"] == ["b"]


@pytest.mark.parametrize("command", ["put", "requeue"])
def test_b50_a_ring_by_way_of_another_put_is_refused(two, command):
    two.put(2, "j", "depends", '["a"]')

    with two.refused("BAD_ARGUMENT", "a -> j -> a"):
        two(command, 3, "w", "p", "a", "K", "{}", 0, "depends", '["j"]')


def test_b49_both_ends_of_a_dependency_can_be_cancelled_together(lua, redis):
    lua.put(1, "a")
    lua.put(2, "b", "depends", '["a"]')
    lua.pop(3)
    lua("fail", 4, "a", "w", "g", "m")

    assert lua("cancel", 5, "a", "b") == ["a", "b"]

    assert lua.popped(6, 9) == []
    assert redis.keys("ql:j:*") == []


def test_b49_a_parent_that_expired_from_the_history_had_let_its_dependent_run(lua, redis):
    lua.put(1, "a")
    lua.put(2, "b", "depends", '["a"]')
    lua.put(2, "later", queue="other")
    lua.pop(3)
    lua("config.set", 3, "jobs-history", 10)
    lua("complete", 4, "a", "w", "q", "{}")
    lua.pop(99, queue="other")
    lua("complete", 100, "later", "w", "other", "{}")

    assert redis.exists("ql:j:a") == 0
    assert lua.popped(101) == ["b"]


def test_b49_a_job_whose_parent_is_gone_stays_blocked_until_somebody_says_so(lua, redis):
    lua.put(1, "a")
    lua.put(2, "b", "depends", '["a"]')
    redis.delete("ql:j:a")

    assert lua.popped(3, 9) == []
    assert lua.job("b")["dependencies"] == ["a"]
    lua("depends", 4, "b", "off", "all")
    assert lua.popped(5) == ["b"]
