from __future__ import annotations

import json
import random

import pytest


@pytest.fixture
def line(lua):
    """Put jobs `a`, `b`, `c`, `d` under a throttle `t` of one, and pop: `a` runs."""
    lua("throttle.set", 0, "t", 1)
    for moment, jid in enumerate("abcd"):
        put(lua, moment, jid)
    assert lua.popped(10, 4) == ["a"]
    return lua


def put(lua, now, jid, *options, throttles=("t",), **more):
    return lua.put(now, jid, "throttles", json.dumps(throttles), *options, **more)


def locks(lua, throttle="t"):
    return lua("throttle.locks", 0, throttle)


def pending(lua, throttle="t"):
    return lua("throttle.pending", 0, throttle)


def throttled(lua, queue="q"):
    return lua("jobs", 0, "throttled", queue)


def complete(lua, now, jid, *options, queue="q", worker="w"):
    return lua("complete", now, jid, worker, queue, "{}", *options)


def places(redis, jid, queue="q"):
    """Name the sets of a queue that hold a job."""
    names = ("work", "locks", "scheduled", "depends", "throttled")
    return [name for name in names if redis.zscore(f"ql:q:{queue}-{name}", jid) is not None]


# The throttle itself


def test_a_throttle_is_stored_as_other_clients_know_it(lua, redis):
    assert lua("throttle.set", 1, "t", 5) is None

    assert redis.hgetall("ql:th:t") == {"id": "t", "maximum": "5"}
    assert redis.ttl("ql:th:t") == -1
    assert lua.json("throttle.get", 2, "t") == {"id": "t", "maximum": 5}
    assert lua("throttle.ttl", 2, "t") == -1


def test_one_that_nobody_set_limits_nothing(lua):
    assert lua.json("throttle.get", 1, "t") == {"id": "t", "maximum": 0}
    assert (locks(lua), pending(lua)) == ([], [])
    assert lua("throttle.ttl", 1, "t") == -2
    assert lua("throttle.release", 1, "t", "gone") is None
    assert lua("throttle.delete", 1, "t") is None


def test_a_limit_may_end_by_itself_and_that_may_be_taken_back(lua, redis):
    lua("throttle.set", 1, "t", 5, 1000)
    assert 990 < lua("throttle.ttl", 1, "t") <= 1000

    lua("throttle.set", 2, "t", 6)
    assert 990 < redis.ttl("ql:th:t") <= 1000

    lua("throttle.set", 3, "t", 6, -1)
    assert lua("throttle.ttl", 3, "t") == -1


def test_a_queue_has_a_throttle_of_its_own(lua, redis):
    assert lua.json("queue.throttle.get", 1, "q") == {"id": "ql:q:q", "maximum": 0}

    assert lua("queue.throttle.set", 2, "q", 3) is None

    assert lua.json("queue.throttle.get", 3, "q") == {"id": "ql:q:q", "maximum": 3}
    assert lua.json("throttle.get", 3, "ql:q:q") == {"id": "ql:q:q", "maximum": 3}
    assert redis.hgetall("ql:th:ql:q:q") == {"id": "ql:q:q", "maximum": "3"}


# Jobs that name one


def test_a_job_tells_of_its_throttles_and_its_queues_own(lua):
    put(lua, 1, "a", throttles=["t", "u", "t"])

    assert lua.job("a")["throttles"] == ["t", "u", "ql:q:q"]


def test_a_job_without_throttles_has_nothing_of_them(lua, redis):
    put(lua, 1, "a", throttles=[])
    lua.put(1, "b")

    assert "throttles" not in lua.job("a")
    assert not redis.hexists("ql:j:a", "throttles")
    assert not redis.hexists("ql:j:b", "throttles")
    assert "throttled" not in lua.json("queues", 2, "q")
    lua.pop(2, 2)
    assert redis.keys("ql:th:*") == redis.keys("*awaited") == []


@pytest.mark.parametrize("bad", ["", "t-locks", "t-pending"])
def test_names_that_no_throttle_can_have_are_refused(lua, bad):
    with lua.refused("BAD_ARGUMENT", "throttles"):
        put(lua, 1, "a", throttles=["t", bad])
    with lua.refused("BAD_ARGUMENT", "throttles"):
        lua("recur", 1, "q", "r", "K", "{}", "interval", 5, 0, "throttles", json.dumps([bad]))


@pytest.mark.parametrize("end", ["-locks", "-pending"])
def test_a_queue_whose_throttle_would_be_another_ones_key_has_none(lua, redis, end):
    for bad in (("queue.throttle.set", 1, f"x{end}", 3), ("queue.throttle.get", 1, f"x{end}")):
        with lua.refused("BAD_ARGUMENT", 'argument "queue" must be a name that does not end in'):
            lua(*bad)
    lua("throttle.set", 1, "t", 5)
    lua("queue.throttle.set", 1, "x", 1)
    for queue in ("x", f"x{end}"):
        for number in range(2):
            lua.put(2, f"{queue}-{number}", "throttles", '["t"]', queue=queue)

    assert sorted(lua.popped(3, 5, queue=f"x{end}")) == [f"x{end}-0", f"x{end}-1"]
    (first,) = lua.popped(3, 5, queue="x")

    assert lua.job(f"x{end}-0")["throttles"] == ["t"]
    assert redis.hget("ql:th:ql:q:x", "maximum") == "1"
    assert redis.zrange("ql:th:ql:q:x-locks", 0, -1) == [first]
    assert redis.exists(f"ql:th:ql:q:x{end}{end}") == 0
    lua("complete", 4, first, "w", "x", "{}")
    assert len(lua.popped(5, 5, queue="x")) == 1


def test_no_more_run_than_the_maximum(line, redis):
    assert (locks(line), pending(line)) == (["a"], ["b", "c", "d"])
    assert throttled(line) == ["b", "c", "d"]
    assert [line.job(jid)["state"] for jid in "abcd"] == ["running", *["throttled"] * 3]
    assert [places(redis, jid) for jid in "ab"] == [["locks"], ["throttled"]]
    counts = line.json("queues", 11, "q")
    assert (counts["waiting"], counts["running"], counts["throttled"]) == (0, 1, 3)
    assert line.popped(11, 4) == []
    assert redis.zrange("ql:th:t-locks", 0, -1, withscores=True) == [("a", 1)]


def test_those_behind_in_work_run_past_the_ones_that_are_kept_back(lua):
    lua("throttle.set", 0, "t", 1)
    for number in range(5):
        put(lua, number, f"t{number}", "priority", 9)
    lua.put(2, "free-1")
    lua.put(3, "free-2")

    assert lua.popped(4, 2) == ["t0", "free-1"]
    assert lua.popped(4, 2) == ["free-2"]


def test_one_who_waits_gets_past_thousands_that_are_kept_back(lua, redis):
    lua("throttle.set", 1, "t", 1)
    lua.put(1, "runs", "throttles", '["t"]')
    lua.pop(1)
    jids = [f"j-{number}" for number in range(3_000)]
    with redis.pipeline(transaction=False) as pipeline:
        for jid in jids:
            job = {"jid": jid, "state": "waiting", "queue": "q", "throttles": '["t"]'}
            pipeline.hset(f"ql:j:{jid}", mapping=job)
            pipeline.zadd("ql:q:q-work", {jid: 5})
        pipeline.execute()
    lua.put(2, "free")

    where = "all"
    for _ in range(5):
        reply = lua.json("wait.pop", 3, "w", 1, "a", "g", where, "q")
        if reply["jobs"]:
            break
        assert redis.delete("ql:q:q-wake") == 1
        where = "marked"

    assert [job["jid"] for job in reply["jobs"]] == ["free"]


def test_the_next_goes_to_work_when_one_completes(line, redis):
    complete(line, 11, "a")

    assert (locks(line), pending(line), throttled(line)) == ([], ["c", "d"], ["c", "d"])
    assert line.job("b")["state"] == "waiting"
    assert places(redis, "b") == ["work"]
    assert line.popped(12, 4) == ["b"]
    assert (locks(line), pending(line)) == (["b"], ["c", "d"])


def end_by_completing(lua):
    complete(lua, 11, "a")


def end_by_advancing(lua):
    complete(lua, 11, "a", "next", "p")


def end_by_failing(lua):
    lua("fail", 11, "a", "w", "g", "m")


def end_by_retrying(lua):
    lua("retry", 11, "a", "q", "w", 100)


def end_by_cancelling(lua):
    lua("cancel", 11, "a")


def end_by_timing_out(lua):
    lua("timeout", 11, "a")


def end_by_moving(lua):
    lua.put(11, "a", "depends", '["d"]', queue="p")


def end_by_moving_in_bulk(lua):
    lua("bulk.move", 11, "", "p", "a", "")


def end_by_hand(lua):
    lua("throttle.release", 11, "t", "a")


ENDS = [
    end_by_completing,
    end_by_advancing,
    end_by_failing,
    end_by_retrying,
    end_by_cancelling,
    end_by_timing_out,
    end_by_moving,
    end_by_moving_in_bulk,
    end_by_hand,
]


@pytest.mark.parametrize("end", ENDS)
def test_whatever_ends_a_job_lets_the_next_one_in(line, end):
    end(line)

    assert (locks(line), pending(line)) == ([], ["c", "d"])
    assert line.job("b")["state"] == "waiting"


def test_retries_that_are_used_up_let_the_next_one_in(lua):
    lua("throttle.set", 0, "t", 1)
    put(lua, 1, "a", "retries", 0)
    put(lua, 2, "b")
    assert lua.popped(3, 2) == ["a"]

    assert lua("retry", 4, "a", "q", "w") == -1

    assert (locks(lua), pending(lua)) == ([], [])
    assert lua.popped(5, 2) == ["b"]


def test_a_lock_that_ran_out_for_good_lets_the_next_one_in(lua):
    lua("config.set", 0, "grace-period", 0)
    lua("throttle.set", 0, "t", 1)
    put(lua, 1, "a", "retries", 0)
    put(lua, 2, "b")
    assert lua.popped(3, 2) == ["a"]

    assert lua.popped(100, 2) == ["b"]

    assert lua.job("a")["state"] == "failed"
    assert (locks(lua), pending(lua)) == (["b"], [])


def test_a_job_that_is_handed_out_again_keeps_its_place(line):
    assert line.popped(80, 4) == []
    assert line.popped(200, 4, worker="x") == ["a"]

    assert (locks(line), pending(line)) == (["a"], ["b", "c", "d"])


def test_unfailed_jobs_are_kept_back_as_others(line):
    line("fail", 11, "a", "w", "g", "m")
    assert line.popped(12, 1) == ["b"]

    assert line("unfail", 13, "q", "g") == 1

    assert line.job("a")["state"] == "throttled"
    assert pending(line) == ["c", "d", "a"]


def test_a_job_that_runs_and_is_put_again_waits_in_line(line):
    put(line, 11, "a")

    assert line.popped(12, 4) == ["b"]
    assert pending(line) == ["c", "d", "a"]


def test_one_put_while_there_is_no_room_is_kept_back_at_once(line, redis):
    with line.hearing() as heard:
        put(line, 11, "e")

    assert heard == [["ql:log", '{"jid":"e","event":"put","queue":"q"}']]
    assert line.job("e")["state"] == "throttled"
    assert places(redis, "e") == ["throttled"]
    assert [item["what"] for item in line.job("e")["history"]] == ["put", "throttled"]
    assert line.job("e")["history"][1] == {"what": "throttled", "when": 11, "queue": "q"}


def test_the_history_says_once_that_a_job_is_kept_back(line):
    for now in range(11, 20):
        line("throttle.release", now, "t", "b")
        assert line.popped(now, 4) == []

    assert [item["what"] for item in line.job("b")["history"]] == ["put", "throttled"]


def test_one_that_is_kept_back_may_be_cancelled(line, redis):
    line("cancel", 11, "b")

    assert (locks(line), pending(line), throttled(line)) == (["a"], ["c", "d"], ["c", "d"])
    assert not redis.keys("ql:j:b*")


def test_nothing_is_left_of_those_that_were_kept_back(line, redis):
    line("cancel", 11, *"bcd")
    complete(line, 12, "a")

    assert redis.keys("*-throttled") == redis.keys("*-awaited") == redis.keys("*-pending") == []
    assert redis.keys("ql:th:*") == ["ql:th:t"]


def test_one_that_is_kept_back_may_go_to_another_queue(line, redis):
    line.put(11, "b", "throttles", "[]", queue="p")

    assert line.popped(12, 1, queue="p") == ["b"]
    assert "throttles" not in line.job("b")
    assert places(redis, "b") == []
    assert pending(line) == ["c", "d"]


def test_a_job_that_moves_takes_its_throttles_along(line):
    line("bulk.move", 11, "", "p", "b", "")

    assert line.job("b")["throttles"] == ["t", "ql:q:p"]
    assert line.job("b")["state"] == "throttled"
    assert (throttled(line), throttled(line, "p")) == (["c", "d"], ["b"])


def test_a_job_that_advances_takes_its_throttles_along(line):
    assert complete(line, 11, "a", "next", "p") == "waiting"
    assert line.popped(12, 1) == ["b"]

    assert line.job("a")["throttles"] == ["t", "ql:q:p"]
    assert line.popped(13, 1, queue="p") == []
    assert pending(line) == ["c", "d", "a"]


def test_one_that_is_kept_back_may_begin_to_wait_for_another(line, redis):
    line.put(11, "first")
    assert line("depends", 12, "b", "on", "first") == 1

    assert (line.job("b")["state"], places(redis, "b")) == ("depends", ["depends"])
    assert pending(line) == ["c", "d"]

    complete(line, 13, "a")
    assert line.popped(14, 4) == ["c", "first"]
    complete(line, 15, "first")
    assert line.popped(16, 4) == []
    assert pending(line) == ["b", "d"] or pending(line) == ["d", "b"]


def test_several_throttles_must_all_have_room(lua):
    lua("throttle.set", 0, "t", 1)
    lua("throttle.set", 0, "u", 1)
    put(lua, 1, "a", throttles=["t"])
    put(lua, 2, "b", throttles=["u"])
    put(lua, 3, "c", throttles=["t", "u"])
    assert lua.popped(4, 3) == ["a", "b"]
    assert (pending(lua, "t"), pending(lua, "u")) == (["c"], [])

    complete(lua, 5, "a")
    assert lua.popped(6, 3) == []
    assert (locks(lua, "t"), pending(lua, "t"), pending(lua, "u")) == ([], [], ["c"])

    complete(lua, 7, "b")
    assert lua.popped(8, 3) == ["c"]
    assert (locks(lua, "t"), locks(lua, "u")) == (["c"], ["c"])


def test_a_throttle_counts_over_queues(lua):
    lua("throttle.set", 0, "t", 1)
    put(lua, 1, "a", queue="p")
    put(lua, 2, "b", queue="q")
    assert lua.popped(3, 1, queue="p") == ["a"]
    assert lua.popped(3, 1, queue="q") == []

    complete(lua, 4, "a", queue="p")

    assert lua.popped(5, 1, queue="q") == ["b"]


# The line


def test_the_next_in_line_is_the_one_of_the_highest_priority_then_the_first(lua):
    lua("throttle.set", 0, "t", 1)
    put(lua, 1, "runs")
    assert lua.popped(2) == ["runs"]
    for now, jid, priority in [(3, "z", 0), (4, "b", 5), (5, "y", 0), (6, "a", 5), (7, "low", -1)]:
        put(lua, now, jid, "priority", priority)

    assert pending(lua) == throttled(lua) == ["b", "a", "z", "y", "low"]
    order, running = [], "runs"
    for now in range(10, 15):
        complete(lua, now, running)
        (running,) = lua.popped(now, 5)
        order.append(running)
    assert order == ["b", "a", "z", "y", "low"]


def test_a_priority_may_change_while_a_job_is_kept_back(line):
    assert line("priority", 11, "d", 3) == 3
    assert pending(line) == throttled(line) == ["d", "b", "c"]
    line("priority", 12, "d", 0)
    assert pending(line) == ["b", "c", "d"]
    line("priority", 12, "b", -1)
    assert pending(line) == ["c", "d", "b"]


def test_who_was_kept_back_is_in_work_where_it_was(lua):
    lua("throttle.set", 0, "t", 1)
    put(lua, 1, "a")
    put(lua, 2, "b")
    assert lua.popped(3, 2) == ["a"]
    lua.put(4, "later")

    complete(lua, 5, "a")

    assert lua.popped(6, 2) == ["b", "later"]


def test_who_was_timed_out_by_hand_stays_ahead_of_all(lua, redis):
    lua("throttle.set", 0, "t", 1)
    put(lua, 1, "a")
    put(lua, 2, "b")
    assert lua.popped(3) == ["a"]
    lua("timeout", 4, "a")
    lua("priority", 5, "b", 9)
    lua("throttle.release", 5, "t", "a")
    put(lua, 6, "x", "priority", 99, throttles=["t"], queue="p")
    assert lua.popped(7, queue="p") == ["x"]

    assert lua.popped(8, 5) == []
    assert pending(lua) == ["a", "b"]
    complete(lua, 9, "x", queue="p")

    assert redis.zscore("ql:q:q-work", "a") == float("inf")
    assert lua.popped(10, 5) == ["a"]


# The maximum changes


def test_a_higher_maximum_lets_more_in_at_once(line):
    line("throttle.set", 11, "t", 3)

    assert pending(line) == ["d"]
    assert line.popped(12, 4) == ["b", "c"]


@pytest.mark.parametrize("command", [("throttle.set", 11, "t", 0), ("throttle.delete", 11, "t")])
def test_without_a_limit_all_go_to_work(line, command, redis):
    line(*command)

    assert (pending(line), throttled(line)) == ([], [])
    assert line.popped(12, 4) == ["b", "c", "d"]
    assert locks(line) == ["a", "b", "c", "d"]
    assert line.popped(13, 4) == []
    assert not redis.exists("ql:q:q-awaited", "ql:q:q-throttled")


def test_a_lower_maximum_stops_nobody_who_runs(lua):
    lua("throttle.set", 0, "t", 3)
    for number in range(5):
        put(lua, number, f"j{number}")
    assert lua.popped(6, 3) == ["j0", "j1", "j2"]

    lua("throttle.set", 7, "t", 1)

    assert lua.popped(8, 2) == []
    assert locks(lua) == ["j0", "j1", "j2"]
    for number in range(2):
        complete(lua, 9, f"j{number}")
        assert pending(lua) == ["j3", "j4"]
    complete(lua, 10, "j2")
    assert pending(lua) == ["j4"]
    assert lua.popped(11, 5) == ["j3"]


def test_a_limit_that_expired_strands_nobody(line, redis):
    redis.delete("ql:th:t")

    assert line.popped(12, 4) == ["b", "c", "d"]
    assert (pending(line), throttled(line)) == ([], [])


def test_a_limit_that_another_client_raised_strands_nobody(line, redis):
    redis.hset("ql:th:t", "maximum", 2)

    assert line.popped(12, 4) == ["b"]
    assert pending(line) == ["c", "d"]


def test_of_many_limits_that_expired_each_is_found(lua, redis):
    for number in range(30):
        lua("throttle.set", 0, f"t{number}", 1)
        put(lua, 1, f"a{number}", throttles=[f"t{number}"])
        put(lua, 2, f"b{number}", throttles=[f"t{number}"])
    assert len(lua.popped(3, 60)) == 30
    redis.delete(*(f"ql:th:t{number}" for number in range(20, 30)))

    found = {jid for now in range(10, 20) for jid in lua.popped(now, 60)}

    assert found == {f"b{number}" for number in range(20, 30)}


def test_a_thousand_and_more_are_let_in_in_steps(lua, redis):
    lua("throttle.set", 0, "t", 1)
    for number in range(2500):
        put(lua, number, f"j{number:04}")
    assert lua.popped(3000) == ["j0000"]
    for _ in range(3):
        lua.pop(3000)
    assert redis.zcard("ql:th:t-pending") == 2499

    lua("throttle.delete", 3001, "t")

    assert redis.zcard("ql:th:t-pending") == 1499
    assert lua.popped(3002, 2400) == [f"j{number:04}" for number in range(1, 2401)]
    assert len(lua.popped(3002, 2400)) == 99


def test_kept_back_jobs_of_other_dialects_are_let_in(lua, redis):
    """Their scripts tell no list of ours that a job waits, and count the moment of keeping back."""
    lua("throttle.set", 0, "t", 1)
    put(lua, 1, "a")
    put(lua, 2, "b", "priority", 3)
    assert lua.popped(3, 2) == ["b"]
    redis.delete("ql:q:q-awaited")
    redis.zadd("ql:th:t-pending", {"a": 3})
    redis.zadd("ql:q:q-throttled", {"a": 3})
    redis.hset("ql:th:t", "maximum", 2)

    assert lua.popped(4, 2) == ["a"]
    assert lua.popped(5, 2) == []


# A queue's own


def test_a_queue_runs_no_more_than_its_own_throttle_allows(lua):
    lua("queue.throttle.set", 0, "q", 2)
    for number in range(5):
        lua.put(number, f"j{number}")

    assert lua.popped(6, 10) == ["j0", "j1"]
    assert lua.popped(6, 10) == []
    assert lua.job("j0")["throttles"] == ["ql:q:q"]
    assert locks(lua, "ql:q:q") == ["j0", "j1"]
    assert lua.json("queues", 6, "q")["throttled"] == 3

    complete(lua, 7, "j0")
    assert lua.popped(8, 10) == ["j2"]


def test_while_it_is_full_jobs_stay_where_they_are(lua):
    lua("queue.throttle.set", 0, "q", 1)
    lua.put(1, "a")
    assert lua.popped(2) == ["a"]
    lua.put(3, "b")

    assert lua.popped(4, 5) == []

    assert lua.job("b")["state"] == "waiting"


def test_those_that_run_already_count_from_the_beginning(lua):
    for number in range(4):
        lua.put(number, f"j{number}")
    assert lua.popped(5, 2) == ["j0", "j1"]

    lua("queue.throttle.set", 6, "q", 2)

    assert locks(lua, "ql:q:q") == ["j0", "j1"]
    assert lua.popped(7, 2) == []
    complete(lua, 8, "j0")
    assert lua.popped(9, 2) == ["j2"]


def test_a_queues_own_ends_as_others_do(lua):
    lua("queue.throttle.set", 0, "q", 1)
    for number in range(4):
        lua.put(number, f"j{number}")
    assert lua.popped(5, 3) == ["j0"]

    lua("queue.throttle.set", 6, "q", 0)

    assert lua.popped(7, 5) == ["j1", "j2", "j3"]
    assert lua.job("j3").get("throttles", []) == []


def test_the_own_throttle_does_not_follow_a_job_elsewhere(lua):
    lua("queue.throttle.set", 0, "q", 1)
    lua.put(1, "a")
    assert lua.popped(2) == ["a"]

    complete(lua, 3, "a", "next", "p")

    assert "throttles" not in lua.job("a")
    assert locks(lua, "ql:q:q") == []


# Recurring jobs


def test_the_children_of_a_recurring_job_have_its_throttles(lua):
    lua("throttle.set", 0, "t", 1)
    lua("recur", 0, "q", "r", "K", "{}", "interval", 10, 0, "throttles", '["t"]')
    assert lua.json("recur.get", 1, "r")["throttles"] == ["t", "ql:q:q"]
    assert lua.json("peek", 15, "q", 1)[0]["throttles"] == ["t", "ql:q:q"]

    assert lua.popped(15, 5) == ["r-1"]

    assert lua.job("r-1")["throttles"] == ["t", "ql:q:q"]
    assert pending(lua) == ["r-2"]


def test_the_throttles_of_a_recurring_job_change(lua):
    lua("recur", 0, "q", "r", "K", "{}", "interval", 10, 100)
    assert "throttles" not in lua.json("recur.get", 1, "r")

    lua("recur.update", 2, "r", "throttles", '["t"]')
    assert lua.json("recur.get", 3, "r")["throttles"] == ["t", "ql:q:q"]
    lua("recur.update", 4, "r", "queue", "p")
    assert lua.json("recur.get", 5, "r")["throttles"] == ["t", "ql:q:p"]
    lua("recur.update", 6, "r", "queue", "q", "throttles", '["u"]')
    assert lua.json("recur.get", 7, "r")["throttles"] == ["u", "ql:q:q"]
    lua("recur.update", 8, "r", "throttles", "[]")
    assert "throttles" not in lua.json("recur.get", 9, "r")

    lua("recur", 10, "q", "r", "K", "{}", "interval", 10, 100, "throttles", '["t"]')
    lua("recur", 11, "q", "r", "K", "{}", "interval", 10, 100)
    assert "throttles" not in lua.json("recur.get", 12, "r")


def test_cron_jobs_have_throttles_too(lua):
    cron = ("q", "c", "K", "{}", "* * * * *", "UTC", "[60, 120]")
    lua("cron", 0, *cron, "throttles", '["t"]')

    assert lua.json("recur.get", 1, "c")["throttles"] == ["t", "ql:q:q"]
    assert lua.popped(60) == ["c-1"]
    assert locks(lua) == ["c-1"]


# What is stored may be wrong


@pytest.mark.parametrize("stored", ["", "x", "-1", "0", "nan", "inf", "0.5", "1e400"])
def test_a_maximum_that_is_none_is_no_limit(lua, redis, stored):
    redis.hset("ql:th:t", "maximum", stored)
    put(lua, 1, "a")
    put(lua, 2, "b")

    assert lua.popped(3, 2) == ["a", "b"]
    assert lua.json("throttle.get", 3, "t") == {"id": "t", "maximum": 0}


@pytest.mark.parametrize(
    "stored", ["", "x", "{}", "[1]", '"t"', '["t-locks","t-pending",""]', '[["t"]]', "null"]
)
def test_odd_throttles_of_a_job_stop_nobody(lua, redis, stored):
    put(lua, 1, "a")
    put(lua, 2, "b")
    redis.hset("ql:j:a", "throttles", stored)

    assert lua.popped(3, 2) == ["a", "b"]
    assert complete(lua, 4, "a") == "complete"
    assert complete(lua, 4, "b") == "complete"


@pytest.mark.parametrize("key", ["ql:th:t", "ql:th:t-locks", "ql:th:t-pending"])
def test_something_else_under_a_key_of_a_throttle_stops_nobody(lua, redis, key):
    lua("throttle.set", 0, "t", 1)
    redis.delete(key)
    redis.set(key, "x")
    put(lua, 1, "a")
    put(lua, 2, "b")

    popped = lua.popped(3, 2)

    assert popped[0] == "a"
    assert complete(lua, 4, "a") == "complete"
    assert popped[1:] + lua.popped(5, 2) == ["b"]


def test_jobs_that_others_finished_hold_nothing_for_long(lua, redis):
    """Clients that know no throttles complete a job and leave it in the locks."""
    lua("throttle.set", 0, "t", 1)
    put(lua, 1, "a")
    put(lua, 2, "b")
    assert lua.popped(3, 1) == ["a"]
    redis.hset("ql:j:a", "state", "complete")
    redis.zrem("ql:q:q-locks", "a")

    assert lua.popped(4, 1) == ["b"]
    assert locks(lua) == ["b"]


def test_entries_of_jobs_that_are_gone_let_the_next_one_in(line, redis):
    redis.delete("ql:j:b", "ql:j:c")
    redis.sadd("ql:j:c", "no job")

    complete(line, 11, "a")

    assert line.popped(12, 5) == ["d"]
    assert pending(line) == []


def test_a_job_let_go_of_while_it_was_kept_back_waits_for_the_next_pop(line):
    line("throttle.release", 11, "t", "b", "a")
    assert (locks(line), pending(line)) == ([], ["d"])

    assert line.popped(12, 5) == ["c"]
    assert sorted(pending(line)) == ["b", "d"]


# All together


def check_all(redis, maxima):
    """Check that all who run are counted, that no limit is passed, and that each has one place."""
    for name in redis.scan_iter("ql:j:*"):
        if name.count("-"):
            continue
        job = redis.hgetall(name)
        jid, state, queue = job["jid"], job["state"], job["queue"]
        ids = json.loads(job.get("throttles", "[]"))
        holds = [each for each in maxima if redis.zscore(f"ql:th:{each}-locks", jid) is not None]
        waits = [each for each in maxima if redis.zscore(f"ql:th:{each}-pending", jid) is not None]
        if state == "running":
            assert set(holds) >= {each for each in ids if each in maxima}, jid
            assert places(redis, jid, queue) == ["locks"], jid
        else:
            assert holds == [], jid
        if state == "throttled":
            assert len(waits) == 1, jid
            assert places(redis, jid, queue) == ["throttled"], jid
        else:
            assert waits == [], jid
    for each, most in maxima.items():
        assert redis.zcard(f"ql:th:{each}-locks") <= most


def check_nobody_is_stranded(redis, maxima):
    """Check that after a pop of all, who is kept back is so by a throttle that is full."""
    for each, most in maxima.items():
        if redis.zcard(f"ql:th:{each}-pending"):
            assert redis.zcard(f"ql:th:{each}-locks") == most


class Chance:
    """Does one thing after another by chance, the same for the same seed."""

    def __init__(self, lua, seed):
        self.lua = lua
        self.random = random.Random(seed)  # noqa: S311 - nothing to keep secret
        self.running = []

    def put(self, now):
        names = self.random.sample("tuv", self.random.randint(0, 2))
        priority = ("priority", self.random.randint(0, 2))
        put(self.lua, now, f"j{now}", *priority, throttles=names, queue=self.random.choice("qp"))

    def pop(self, now):
        queue = self.random.choice("qp")
        for jid in self.lua.popped(now, self.random.randint(1, 4), queue=queue):
            self.running.append((jid, queue))

    def touch(self, now):
        jid = f"j{self.random.randint(1, now)}"
        state = (self.lua("get", now, jid) and self.lua.job(jid, now)["state"]) or ""
        if state in {"waiting", "throttled"}:
            self.lua(*self.random.choice([("cancel", now, jid), ("priority", now, jid, 9)]))

    def end(self, now):
        if not self.running:
            return
        jid, queue = self.running.pop(self.random.randrange(len(self.running)))
        ends = [
            ("complete", now, jid, "w", queue, "{}"),
            ("complete", now, jid, "w", queue, "{}", "next", "p"),
            ("fail", now, jid, "w", "g", "m"),
            ("retry", now, jid, queue, "w", 0),
            ("retry", now, jid, queue, "w", 5),
            ("timeout", now, jid),
            ("cancel", now, jid),
            ("put", now, "me", "q", jid, "K", "{}", 0),
        ]
        self.lua(*self.random.choice(ends))

    def unfail(self, now):
        self.lua("unfail", now, "p", "g")

    def step(self, now):
        steps = [self.put, self.pop, self.end, self.touch, self.unfail]
        self.random.choices(steps, [8, 5, 5, 1, 1])[0](now)


@pytest.mark.parametrize("own", [0, 4])
@pytest.mark.parametrize("seed", range(6))
def test_whatever_happens_limits_hold_and_nobody_is_stranded(lua, redis, seed, own):
    chance = Chance(lua, seed)
    maxima = {"t": 1, "u": 2, "v": 3} | ({"ql:q:q": own} if own else {})
    lua("config.set", 0, "heartbeat", 500)
    for name, most in maxima.items():
        lua("throttle.set", 0, name, most)

    for now in range(1, 150):
        chance.step(now)
        if now % 10 == 0:
            check_all(redis, maxima)

    for queue in "qpqp":
        lua.pop(1000, 200, queue=queue)
    check_all(redis, maxima)
    check_nobody_is_stranded(redis, maxima)
