from __future__ import annotations

import json

import pytest


def cron(lua, now, runs, *options, jid="c", queue="q", **timing):
    expression, timezone = timing.get("expression", "* * * * *"), timing.get("timezone", "UTC")
    definition = (queue, jid, "K", '{"a":[]}', expression, timezone, json.dumps(runs))
    return lua("cron", now, *definition, *options)


def due(lua, now):
    return lua.json("cron.due", now)["jobs"]


def refill(lua, now, planned, runs, **timing):
    expression, timezone = timing.get("expression", "* * * * *"), timing.get("timezone", "UTC")
    return lua("cron.refill", now, "c", expression, timezone, planned, json.dumps(runs))


def planned_runs(redis, jid="c"):
    return [int(run) for run in redis.zrange(f"ql:cron-runs:{jid}", 0, -1)]


def test_a_cron_job(lua, redis):
    options = ("tags", '["t"]', "priority", 3, "retries", 2, "backlog", 4)
    assert cron(lua, 100, [160, 220, 280], *options, timezone="Europe/Berlin") == "c"

    assert lua.json("recur.get", 101, "c") == {
        "jid": "c",
        "klass": "K",
        "state": "recur",
        "queue": "q",
        "priority": 3,
        "interval": 0,
        "retries": 2,
        "count": 0,
        "data": '{"a":[]}',
        "tags": ["t"],
        "backlog": 4,
        "cron": "* * * * *",
        "timezone": "Europe/Berlin",
        "next": 160,
    }
    assert lua("recur.next", 101, "c") == "160"
    assert redis.zscore("ql:q:q-cron", "c") == 160
    assert redis.zscore("ql:queues", "q") == 100
    assert lua.json("queues", 101, "q")["cron"] == 1


def test_it_stands_where_the_original_does_not_look(lua, redis):
    cron(lua, 100, [160])

    assert redis.exists("ql:q:q-recur", "ql:r:c") == 0
    assert lua.json("queues", 101, "q")["recurring"] == 0


def test_a_queue_without_cron_jobs_is_counted_as_other_clients_know_it(lua):
    lua.put(1, "a")

    assert "cron" not in lua.json("queues", 2, "q")


def test_children_come_at_the_planned_runs(lua, redis):
    cron(lua, 100, [160, 220, 280], "tags", '["t"]', "priority", 3, "retries", 2)
    assert lua.popped(159) == []

    (child,) = lua.pop(165)

    assert (child["jid"], child["klass"], child["data"]) == ("c-1", "K", '{"a":[]}')
    assert (child["tags"], child["priority"], child["remaining"]) == (["t"], 3, 2)
    assert child["spawned_from_jid"] == "c"
    assert child["history"][0] == {"q": "q", "what": "put", "when": 160}
    assert lua.json("tag", 166, "get", "t")["jobs"] == ["c-1"]
    assert lua.json("recur.get", 166, "c")["count"] == 1
    assert lua("recur.next", 166, "c") == "220"
    assert planned_runs(redis) == [220, 280]
    assert lua.popped(219) == []
    assert lua.popped(220) == ["c-2"]


def test_peek_shows_what_is_owed_and_writes_nothing(lua):
    cron(lua, 100, [160, 220])
    before = lua.stored()

    shown = lua.json("peek", 230, "q", 5)

    assert [(job["jid"], job["state"]) for job in shown] == [
        ("c-1", "waiting"),
        ("c-2", "waiting"),
    ]
    assert lua.stored() == before
    assert lua.popped(230, 5) == ["c-1", "c-2"]


def test_b57_one_child_for_each_run_missed(lua):
    cron(lua, 100, [110, 120, 130, 140, 150])

    assert lua.popped(135, 9) == ["c-1", "c-2", "c-3"]
    assert lua.popped(135, 9) == []
    assert lua.popped(140, 9) == ["c-4"]


def test_b57_a_pop_makes_no_more_than_it_asks_for(lua, redis):
    cron(lua, 100, [*range(110, 200)])

    assert lua.popped(1000, 2) == ["c-1", "c-2"]
    assert redis.zcard("ql:q:q-work") == 0
    assert planned_runs(redis)[0] == 112
    assert lua.popped(1000, 2) == ["c-3", "c-4"]


def test_b57_a_backlog_caps_what_is_made_up_for(lua, redis):
    cron(lua, 100, [*range(110, 1000, 10)], "backlog", 3)

    jobs = lua.pop(905, 50)

    assert [job["history"][0]["when"] for job in jobs] == [870, 880, 890, 900]
    assert planned_runs(redis)[0] == 910
    assert lua.popped(909, 50) == []


def test_b57_with_a_backlog_a_plan_that_ran_out_waits_for_its_extension(lua, redis):
    cron(lua, 100, [110, 120, 130], "backlog", 1)
    assert lua.json("peek", 500, "q", 9) == []
    assert lua.popped(500, 9) == []
    assert redis.zscore("ql:q:q-cron", "c") == float("inf")

    assert refill(lua, 500, 130, [480, 490, 500, 510]) == 1

    assert [job["history"][0]["when"] for job in lua.pop(500, 9)] == [490, 500]


def test_taking_the_backlog_away_lets_all_of_a_plan_be_made(lua):
    cron(lua, 100, [110, 120, 130], "backlog", 1)
    assert lua.popped(500, 9) == []

    lua("recur.update", 501, "c", "backlog", 0)

    assert lua.popped(502, 9) == ["c-1", "c-2", "c-3"]


def test_b57_a_clock_that_steps_back_makes_none_twice(lua):
    runs = [110, 120, 130]
    cron(lua, 100, runs)
    assert lua.popped(120, 9) == ["c-1", "c-2"]

    cron(lua, 105, runs)
    assert lua.popped(125, 9) == []
    cron(lua, 105, [*runs, 140], expression="other")
    assert lua.popped(125, 9) == []

    assert lua.popped(130, 9) == ["c-3"]


def test_doing_it_again_keeps_the_next_run_what_is_owed_and_the_count(lua, redis):
    cron(lua, 100, [110, 120, 130], "priority", 3, "tags", '["t"]', "backlog", 9)
    assert lua.popped(110) == ["c-1"]

    cron(lua, 125, [130, 140], queue="p")

    again = lua.json("recur.get", 126, "c")
    assert (again["queue"], again["count"], again["next"]) == ("p", 1, 120)
    assert (again["priority"], again["tags"], again["backlog"]) == (0, [], 0)
    assert planned_runs(redis) == [120, 130, 140]
    assert redis.exists("ql:q:q-cron") == 0
    assert lua.popped(130, 9, queue="p") == ["c-2", "c-3"]


def test_doing_it_again_when_the_plan_ran_out_leaves_no_gap(lua, redis):
    cron(lua, 100, [110, 120])

    cron(lua, 500, [510, 520])

    assert planned_runs(redis) == [110, 120]
    assert [job["planned"] for job in due(lua, 500)] == [120]
    assert refill(lua, 500, 120, [130, 500, 510]) == 1
    assert len(lua.popped(505, 9)) == 4


def test_another_expression_replaces_the_runs_to_come(lua, redis):
    cron(lua, 100, [110, 120, 130])

    cron(lua, 115, [117, 127], expression="other")

    assert planned_runs(redis) == [110, 117, 127]
    assert lua.json("recur.get", 116, "c")["cron"] == "other"
    assert refill(lua, 116, 130, [140]) == 0
    assert refill(lua, 116, 127, [140], expression="other") == 1


def test_a_definition_without_a_run_to_come_is_refused(lua):
    cron(lua, 100, [110, 120])

    with lua.refused("BAD_ARGUMENT", "runs"):
        cron(lua, 115, [112], expression="other")
    cron(lua, 115, [112])
    assert lua.popped(120, 9) == ["c-1", "c-2"]


def test_a_job_turns_from_one_kind_into_the_other_and_counts_on(lua, redis):
    lua("recur", 100, "q", "c", "K", "{}", "interval", 10, 0)
    assert lua.popped(100) == ["c-1"]

    cron(lua, 101, [120, 130])
    assert redis.exists("ql:r:c", "ql:q:q-recur") == 0
    assert lua.popped(120) == ["c-2"]

    lua("recur", 121, "q", "c", "K", "{}", "interval", 10, 0)
    assert redis.keys("ql:*cron*") == []
    assert lua.popped(121) == ["c-3"]


def test_plans_are_due_when_half_of_them_is_over(lua):
    cron(lua, 100, [110, 120, 130, 140])
    assert due(lua, 119) == []

    assert lua.json("cron.due", 120) == {
        "now": 120,
        "jobs": [
            {"jid": "c", "cron": "* * * * *", "timezone": "UTC", "planned": 140, "backlog": 0}
        ],
        "seen": 1,
    }
    assert lua.json("cron.due", 120, 1, 1) == {"now": 120, "jobs": [], "seen": 0}


def test_a_plan_whose_runs_are_all_past_is_due_at_once(lua):
    cron(lua, 500, [110, 120])

    assert [job["planned"] for job in due(lua, 500)] == [120]
    refill(lua, 500, 120, [130, 140])
    assert [job["planned"] for job in due(lua, 500)] == [140]
    refill(lua, 500, 140, [490, 510, 520, 530])
    assert due(lua, 519) == []


def test_of_two_clients_that_extend_a_plan_one_is_too_late(lua, redis):
    cron(lua, 100, [110, 120])
    assert [job["planned"] for job in due(lua, 110)] == [120]

    assert refill(lua, 111, 120, [130, 140]) == 1
    assert lua.popped(135, 9) == ["c-1", "c-2", "c-3"]
    assert refill(lua, 136, 120, [130, 140]) == 0

    assert planned_runs(redis) == [140]
    assert lua.popped(140, 9) == ["c-4"]


@pytest.mark.parametrize("change", [{"expression": "5 * * * *"}, {"timezone": "Asia/Tokyo"}])
def test_what_was_changed_meanwhile_is_not_extended(lua, redis, change):
    cron(lua, 100, [110, 120])

    assert refill(lua, 110, 120, [130], **change) == 0
    lua("unrecur", 111, "c")
    assert refill(lua, 112, 120, [130]) == 0
    assert redis.keys("ql:*cron*") == []


def test_an_extension_begins_behind_the_plan(lua):
    cron(lua, 100, [110, 120])

    with lua.refused("BAD_ARGUMENT", "runs"):
        refill(lua, 110, 120, [120, 130])


def test_a_plan_of_thousands_of_runs(lua, redis):
    cron(lua, 100, [*range(101, 5101)])

    assert redis.zcard("ql:cron-runs:c") == 5000
    assert len(lua.popped(10_000, 3000)) == 1000


def test_a_job_without_a_run_left_is_still_listed(lua, redis):
    cron(lua, 100, [110])
    assert lua.popped(110) == ["c-1"]

    assert redis.zscore("ql:q:q-cron", "c") == float("inf")
    assert lua("jobs", 111, "recurring", "q") == ["c"]
    assert lua.json("recur.get", 111, "c")["next"] is None
    assert lua("recur.next", 111, "c") is None
    assert lua.popped(10**9) == []
    refill(lua, 120, 110, [130])
    assert lua.popped(130) == ["c-2"]


def test_both_kinds_are_listed_by_next_run(lua):
    for number in range(4):
        lua("recur", 0, "q", f"r{number}", "K", "{}", "interval", 60, 10 * number)
        cron(lua, 0, [5 + 10 * number], jid=f"c{number}", expression=f"{number} * * * *")

    everything = ["r0", "c0", "r1", "c1", "r2", "c2", "r3", "c3"]
    assert lua("jobs", 0, "recurring", "q") == everything
    assert lua("jobs", 0, "recurring", "q", 3, 2) == everything[3:5]
    assert lua("jobs", 0, "recurring", "q", 7, 25) == everything[7:]
    assert lua("jobs", 0, "recurring", "q", 8) == []
    assert lua("jobs", 0, "recurring", "q", 0, 0) == []


def test_changing_one(lua, redis):
    cron(lua, 100, [110, 120])

    changes = ("priority", 5, "data", "[1]", "klass", "L", "retries", 4, "backlog", 2)
    assert lua("recur.update", 101, "c", *changes, "queue", "p") == 1

    changed = lua.json("recur.get", 102, "c")
    assert (changed["priority"], changed["data"], changed["klass"]) == (5, "[1]", "L")
    assert (changed["retries"], changed["backlog"], changed["queue"]) == (4, 2, "p")
    assert redis.exists("ql:q:q-cron") == 0
    assert lua.popped(110, queue="p") == ["c-1"]


def test_changing_the_expression(lua, redis):
    cron(lua, 100, [110, 120])

    timing = ("cron", "5 * * * *", "timezone", "Asia/Tokyo", "runs", "[117,127]")
    assert lua("recur.update", 115, "c", *timing, "queue", "p", "priority", 9) == 1

    changed = lua.json("recur.get", 116, "c")
    assert (changed["cron"], changed["timezone"]) == ("5 * * * *", "Asia/Tokyo")
    assert planned_runs(redis) == [110, 117, 127]
    assert "runs" not in redis.hgetall("ql:cron:c")
    assert [job["history"][0]["when"] for job in lua.pop(127, 9, queue="p")] == [110, 117, 127]


@pytest.mark.parametrize(
    ("jid", "changes", "phrase"),
    [
        ("c", ("interval", 60), 'option "interval" is not for a job that recurs by cron'),
        ("r", ("cron", "* * * * *", "runs", "[200]"), 'option "cron" is not for'),
        ("c", ("cron", "5 * * * *"), "runs"),
        ("c", ("timezone", "Asia/Tokyo"), "runs"),
        ("c", ("cron", "5 * * * *", "runs", "[90]"), "runs"),
        ("c", ("priority", 1, "retries", "x"), "retries"),
    ],
)
def test_b23_a_change_that_makes_no_sense_is_refused_whole(lua, jid, changes, phrase):
    cron(lua, 100, [110, 120])
    lua("recur", 100, "q", "r", "K", "{}", "interval", 60, 0)

    with lua.refused("BAD_ARGUMENT", phrase):
        lua("recur.update", 101, jid, "priority", 9, *changes)


def test_tags_of_children_to_come(lua):
    cron(lua, 100, [110])

    assert json.loads(lua("recur.tag", 101, "c", "a", "b")) == ["a", "b"]
    assert json.loads(lua("recur.untag", 102, "c", "a")) == ["b"]
    assert lua.pop(110)[0]["tags"] == ["b"]


def test_the_end_of_a_cron_job(lua, redis):
    cron(lua, 100, [110, 120])
    assert lua.popped(110) == ["c-1"]

    assert lua("unrecur", 111, "c") == 1

    assert redis.keys("ql:*cron*") == []
    assert lua.popped(200) == []
    assert lua.job("c-1")["state"] == "running"
    cron(lua, 201, [210])
    assert lua.popped(210) == ["c-2"]


FIELDS = ["klass", "data", "priority", "tags", "retries", "backlog", "count", "planned", "made"]


@pytest.mark.parametrize("field", FIELDS)
def test_b23_no_stored_field_of_a_cron_job_stops_a_queue(lua, redis, field):
    cron(lua, 100, [110])
    lua.put(101, "good")
    for value in ("", "nan", "-1", "x", '{"a":1}', "1e400"):
        redis.hset("ql:cron:c", field, value)
        redis.zadd("ql:q:q-cron", {"c": 110})
        redis.zadd("ql:cron-runs:c", {"110": 110})

        assert "good" in {job["jid"] for job in lua.json("peek", 200, "q", 9)}
        assert lua.json("cron.due", 200)["now"] == 200
        assert lua.json("recur.get", 200, "c")["jid"] == "c"
    assert "good" in lua.popped(200, 9)


@pytest.mark.parametrize("key", ["ql:cron:c", "ql:cron-runs:c"])
def test_a_cron_job_with_a_strange_key_costs_no_other(lua, redis, key):
    cron(lua, 100, [110])
    cron(lua, 100, [110], jid="other")
    redis.delete(key)
    redis.set(key, "x")

    assert [job["jid"] for job in lua.json("peek", 120, "q", 9)] == ["other-1"]
    assert lua.popped(120, 9) == ["other-1"]
    assert [job["jid"] for job in due(lua, 120)][-1:] == ["other"]


def test_a_cron_job_whose_data_is_gone_leaves_nothing(lua, redis):
    cron(lua, 100, [110])
    redis.delete("ql:cron:c")

    assert due(lua, 110) == []
    assert lua.popped(110) == []

    assert redis.keys("ql:*cron*") == []


def test_a_planned_run_that_is_no_moment_is_passed_over(lua, redis):
    cron(lua, 100, [110])
    cron(lua, 100, [110], jid="other")
    redis.zadd("ql:cron-runs:c", {"soon": 105})

    assert lua.popped(120, 9) == ["other-1"]


def test_a_paused_queue_makes_no_children(lua, redis):
    cron(lua, 100, [110, 120])
    lua("pause", 101, "q")

    assert lua.popped(120, 9) == []
    assert planned_runs(redis) == [110, 120]
    lua("unpause", 121, "q")
    assert lua.popped(121, 9) == ["c-1", "c-2"]


def test_a_child_is_never_made_over_a_job_that_exists(lua):
    cron(lua, 100, [110])
    lua.put(101, "c-1", "priority", 9)

    assert lua.popped(110, 9) == ["c-1", "c-2"]
    assert lua.job("c-1")["spawned_from_jid"] is False


def test_owed_runs_of_one_kind_do_not_keep_the_other_waiting(lua):
    lua("recur", 0, "q", "r", "K", "{}", "interval", 1, 0)
    cron(lua, 100, [110], "priority", 5)

    assert lua.popped(1000, 1) == ["c-1"]
