"""A recurring job that is paused, goes on, or is run now; the queue of the original works on."""

from __future__ import annotations

import json

import pytest

RUNS = json.dumps([160, 220, 280, 340])


def recur(lua, now, *options, jid="r", queue="q", interval=60, offset=0):
    return lua("recur", now, queue, jid, "K", "{}", "interval", interval, offset, *options)


def cron(lua, now, *options, runs=RUNS, jid="c"):
    return lua("cron", now, "q", jid, "K", "{}", "* * * * *", "UTC", runs, *options)


def test_a_paused_job_makes_none_and_goes_on_in_its_rhythm(lua, redis):
    recur(lua, 100)
    assert lua.popped(100) == ["r-1"]

    assert lua("recur.pause", 110, "r") == 1
    assert lua.popped(1_000) == []
    assert lua("recur.pause", 1_001, "r") == 0
    assert lua("recur.next", 1_001, "r") is None

    assert lua("recur.unpause", 1_001, "r") == 1
    assert redis.zscore("ql:q:q-recur", "r") == 1_060
    assert lua.popped(1_001) == []
    assert lua.popped(1_060) == ["r-2"]
    assert lua("recur.unpause", 1_061, "r") == 0


def test_what_is_due_after_the_pause_is_kept(lua, redis):
    recur(lua, 100, offset=500)
    lua("recur.pause", 110, "r")
    lua("recur.unpause", 120, "r")

    assert redis.zscore("ql:q:q-recur", "r") == 600


def test_to_every_other_client_it_is_a_recurring_job_as_any(lua, redis):
    recur(lua, 100)
    lua("recur.pause", 100, "r")

    assert redis.zscore("ql:q:q-recur", "r") == float("inf")
    assert float(redis.hget("ql:r:r", "interval")) == 60
    assert lua("jobs", 101, "recurring", "q") == ["r"]
    assert lua.json("queues", 101, "q")["recurring"] == 1
    assert lua.json("recur.get", 101, "r")["interval"] == 60
    assert lua.json("peek", 9_999, "q", 5) == []


def test_a_change_of_interval_or_queue_leaves_it_paused(lua, redis):
    recur(lua, 100)
    lua("recur.pause", 110, "r")

    lua("recur.update", 120, "r", "interval", 300, "queue", "p", "priority", 5)

    assert redis.zscore("ql:q:p-recur", "r") == float("inf")
    assert lua("recur.unpause", 130, "r") == 1
    assert redis.zscore("ql:q:p-recur", "r") == 400


@pytest.mark.parametrize(("options", "due"), [((), 200), (("keep-next-run", 1), 100)])
def test_defining_it_again_leaves_it_paused(lua, redis, options, due):
    recur(lua, 100)
    lua("recur.pause", 110, "r")

    recur(lua, 190, *options, offset=10)

    assert lua.popped(9_999) == []
    assert float(redis.hget("ql:r:r", "held")) == due


def test_where_the_original_defines_it_again_it_goes_on(lua, redis):
    recur(lua, 100)
    lua("recur.pause", 110, "r")
    redis.zadd("ql:q:q-recur", {"r": 200})

    assert lua.popped(200) == ["r-1"]
    assert lua("recur.unpause", 201, "r") == 0
    assert lua("recur.pause", 201, "r") == 1
    assert lua.popped(9_999) == []


def test_ended_and_defined_anew_it_is_not_paused(lua):
    recur(lua, 100)
    lua("recur.pause", 110, "r")
    lua("unrecur", 120, "r")
    recur(lua, 130)

    assert lua.popped(130) == ["r-1"]


def test_a_cron_job_is_paused_and_passes_over_what_it_missed(lua, redis):
    cron(lua, 100)
    assert lua.popped(160) == ["c-1"]

    assert lua("recur.pause", 170, "c") == 1
    assert lua.popped(290) == []
    assert lua("recur.unpause", 300, "c") == 1
    assert redis.zscore("ql:q:q-cron", "c") == 340
    assert lua.popped(339) == []
    assert lua.popped(340) == ["c-2"]


def test_a_cron_job_whose_plan_ran_out_meanwhile_is_planned_from_then_on(lua, redis):
    cron(lua, 100)
    lua("recur.pause", 110, "c")
    lua("recur.unpause", 1_000, "c")

    (due,) = lua.json("cron.due", 1_000)["jobs"]
    assert due["planned"] == 1_000
    assert lua("cron.refill", 1_000, "c", "* * * * *", "UTC", 1_000, "[1020]") == 1
    assert lua.popped(1_020) == ["c-1"]
    assert redis.zcard("ql:cron-runs:c") == 0


def test_a_paused_cron_job_is_planned_on_and_does_not_grow(lua, redis):
    cron(lua, 100)
    lua("recur.pause", 110, "c")

    assert lua("cron.refill", 300, "c", "* * * * *", "UTC", 340, "[400,460]") == 1
    assert redis.zrange("ql:cron-runs:c", 0, -1) == ["340", "400", "460"]
    assert redis.zscore("ql:q:q-cron", "c") == float("inf")
    cron(lua, 310, runs="[370,430]")
    lua("recur.update", 320, "c", "cron", "0 * * * *", "runs", "[3600]")
    assert lua.popped(9_999) == []


def test_a_run_now_counts_and_leaves_the_next_ones(lua, redis):
    recur(lua, 100, "tags", '["t"]', "priority", 3, "retries", 2, offset=50)

    assert lua("recur.run", 110.5, "r") == "r-1"
    job = lua.json("get", 111, "r-1")
    assert (job["state"], job["queue"], job["priority"], job["retries"]) == ("waiting", "q", 3, 2)
    assert (job["tags"], job["spawned_from_jid"]) == (["t"], "r")
    assert redis.zscore("ql:q:q-recur", "r") == 150
    assert lua.json("recur.get", 111, "r")["count"] == 1
    assert lua.popped(150, 5) == ["r-1", "r-2"]


def test_a_paused_one_and_a_cron_job_run_now_too(lua):
    cron(lua, 100)
    lua("recur.pause", 110, "c")

    assert lua("recur.run", 120, "c") == "c-1"
    assert lua.popped(9_999) == ["c-1"]


def test_a_run_now_overwrites_no_job(lua):
    recur(lua, 100, offset=50)
    lua.put(100, "r-1")

    assert lua("recur.run", 110, "r") == "r-2"


@pytest.mark.parametrize("command", ["recur.pause", "recur.unpause", "recur.run"])
def test_what_is_not_there_is_refused(lua, command):
    with lua.refused("RECURRING_NOT_FOUND", "does not exist"):
        lua(command, 1, "gone")


def test_scheduled_jobs_are_rescheduled_and_no_others(lua, redis):
    lua.put(100, "a", delay=50)
    lua.put(100, "b", delay=50)
    lua.put(100, "waiting")

    answer = lua.json("reschedule", 110, "delay", 500, "a", "b", "a", "waiting", "gone")

    assert answer == {"done": ["a", "b"], "left": {"waiting": "waiting", "gone": "gone"}}
    assert redis.zscore("ql:q:q-scheduled", "a") == 610
    assert lua.json("reschedule", 120, "at", 90, "a") == {"done": ["a"], "left": {}}
    assert sorted(lua.popped(120, 5)) == ["a", "waiting"]
