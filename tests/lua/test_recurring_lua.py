from __future__ import annotations

import pytest


def recur(lua, now, *options, jid="r", queue="q", **timing):
    interval, offset = timing.get("interval", 60), timing.get("offset", 0)
    return lua("recur", now, queue, jid, "K", "{}", "interval", interval, offset, *options)


def test_a_recurring_job(lua, redis):
    assert recur(lua, 100.5, "tags", '["t"]', "priority", 3, "retries", 2, offset=10) == "r"

    assert lua.json("recur.get", 101, "r") == {
        "jid": "r",
        "klass": "K",
        "state": "recur",
        "queue": "q",
        "priority": 3,
        "interval": 60,
        "retries": 2,
        "count": 0,
        "data": "{}",
        "tags": ["t"],
        "backlog": 0,
    }
    assert redis.zscore("ql:q:q-recur", "r") == 110.5
    assert redis.hget("ql:r:r", "type") == "interval"
    assert lua.json("queues", 101)[0]["recurring"] == 1
    assert lua("recur.get", 101, "unknown") is None


def test_doing_it_again_resets_all_but_the_count(lua, redis):
    recur(lua, 100, "tags", '["t"]', "priority", 3, "retries", 2, "backlog", 5)
    lua.pop(100)

    recur(lua, 130, queue="p", interval=30, offset=7)

    again = lua.json("recur.get", 131, "r")
    assert (again["queue"], again["interval"], again["count"]) == ("p", 30, 1)
    assert (again["tags"], again["priority"], again["retries"]) == ([], 0, 0)
    assert again["backlog"] == 0
    assert redis.zscore("ql:q:p-recur", "r") == 137
    assert redis.exists("ql:q:q-recur") == 0


def test_the_next_run_can_be_kept(lua, redis):
    recur(lua, 100, offset=50)

    recur(lua, 130, "keep-next-run", 1, queue="p", offset=50)
    assert redis.zscore("ql:q:p-recur", "r") == 150

    recur(lua, 130, "keep-next-run", 1, jid="new", offset=50)
    assert redis.zscore("ql:q:q-recur", "new") == 180


def test_children_come_when_they_are_due(lua, redis):
    recur(lua, 100.75, "tags", '["t"]', "priority", 3, "retries", 2, offset=10)
    lua("recur.update", 101, "r", "data", '{"a":[]}')
    assert lua.popped(110.5) == []

    (child,) = lua.pop(110.75)

    assert (child["jid"], child["klass"], child["data"]) == ("r-1", "K", '{"a":[]}')
    assert (child["tags"], child["priority"]) == (["t"], 3)
    assert (child["retries"], child["remaining"]) == (2, 2)
    assert child["spawned_from_jid"] == "r"
    assert child["history"][0] == {"q": "q", "what": "put", "when": 110}
    assert redis.zscore("ql:q:q-recur", "r") == 170
    assert lua.json("tag", 111, "get", "t")["jobs"] == ["r-1"]
    assert lua.json("recur.get", 111, "r")["count"] == 1
    assert lua.popped(169) == []
    assert lua.popped(170) == ["r-2"]


def test_the_time_of_a_child_is_when_it_was_due(lua):
    recur(lua, 100)
    lua.put(115, "later")

    lua.pop(150, 0)
    assert lua.popped(150, 2) == ["r-1", "later"]
    assert lua.json("stats", 150, "q", 150)["wait"]["mean"] == (50 + 35) / 2


def test_b57_one_child_for_each_interval_missed(lua):
    recur(lua, 100, interval=10)

    assert lua.popped(135, 9) == ["r-1", "r-2", "r-3", "r-4"]
    assert lua.popped(135, 9) == []
    assert lua.popped(139.9, 9) == []
    assert lua.popped(140, 9) == ["r-5"]


def test_b57_a_pop_makes_no_more_than_it_asks_for(lua, redis):
    recur(lua, 100, interval=1)

    assert lua.popped(1_000_100, 5) == [f"r-{number}" for number in range(1, 6)]
    assert redis.zcard("ql:q:q-work") == 0
    assert lua.popped(1_000_100, 2) == ["r-6", "r-7"]


def test_b57_a_backlog_caps_what_is_made_up_for(lua):
    recur(lua, 100, "backlog", 3, interval=10)

    jobs = lua.pop(1000, 50)

    assert [job["history"][0]["when"] for job in jobs] == [970, 980, 990, 1000]
    assert lua.popped(1009, 50) == []


def test_b57_a_clock_that_steps_back_makes_none_twice(lua):
    recur(lua, 100, interval=10)

    assert lua.popped(110, 9) == ["r-1", "r-2"]
    assert lua.popped(95, 9) == []
    assert lua.popped(110, 9) == []


def test_fractions_of_a_second_are_not_made_twice(lua):
    recur(lua, 100, interval=0.25)

    assert len(lua.popped(100.5, 9)) == 3
    assert len(lua.popped(101, 9)) == 2
    assert lua.popped(101.1, 9) == []


def test_an_interval_too_small_to_count_makes_no_endless_loop(lua):
    recur(lua, 1_600_000_000, interval=1e-300)

    assert len(lua.popped(1_600_000_000, 9)) == 1
    assert lua.popped(1_600_000_000.5, 9) == []


def test_several_recurring_jobs_share_what_a_pop_asks_for(lua):
    recur(lua, 100, jid="a")
    recur(lua, 101, jid="b")
    recur(lua, 102, jid="c")

    assert lua.popped(110, 2) == ["a-1", "b-1"]
    assert lua.popped(110, 2) == ["c-1"]


def test_a_child_is_never_made_over_a_job_that_exists(lua):
    lua.put(1, "r-1", data='"mine"', queue="elsewhere")
    recur(lua, 100, interval=10)

    assert lua.popped(110, 9) == ["r-2", "r-3"]
    assert lua.job("r-1")["data"] == '"mine"'


def test_a_count_that_starts_again_passes_over_the_children_of_before(lua):
    recur(lua, 100, interval=10)
    assert len(lua.popped(190, 50)) == 10
    lua("unrecur", 191, "r")
    recur(lua, 200, interval=10)

    assert lua.popped(210, 9) == ["r-11", "r-12"]
    assert lua.json("recur.get", 211, "r")["count"] == 12


def test_many_children_of_before_are_passed_over_quickly(lua, redis):
    with redis.pipeline() as pipeline:
        for number in range(1, 5001):
            pipeline.hset(f"ql:j:r-{number}", "jid", f"r-{number}")
        pipeline.execute()
    recur(lua, 100)
    before = redis.info("commandstats")["cmdstat_exists"]["calls"]

    assert lua.popped(100) == ["r-5001"]
    assert redis.info("commandstats")["cmdstat_exists"]["calls"] - before < 50


@pytest.mark.parametrize("interval", ["0", "-60", "inf", "nan", "abc", ""])
def test_b23_a_bad_stored_interval_is_passed_over_and_can_be_removed(lua, redis, interval):
    recur(lua, 100, jid="bad")
    recur(lua, 101, jid="good")
    redis.hset("ql:r:bad", "interval", interval)
    redis.zadd("ql:q:q-recur", {"gone": 50})

    assert lua.popped(110, 2) == ["good-1"]
    assert lua("jobs", 110, "recurring", "q") == ["bad", "good"]
    assert isinstance(lua.json("recur.get", 110, "bad")["interval"], int | float)
    assert lua("recur.update", 110, "bad", "interval", 60) == 1
    assert lua.popped(110, 2) == ["bad-1"]
    assert lua("unrecur", 111, "bad") == 1
    assert lua("jobs", 111, "recurring", "q") == ["good"]


@pytest.mark.parametrize("field", ["priority", "tags", "retries", "backlog", "count"])
def test_no_stored_field_of_a_recurring_job_stops_a_queue(lua, redis, field):
    recur(lua, 100)
    redis.hset("ql:r:r", field, "[nonsense")

    assert lua.json("recur.get", 101, "r")["jid"] == "r"
    assert lua.popped(101) == ["r-1"]


def test_a_paused_queue_makes_no_children(lua):
    recur(lua, 100)
    lua("pause", 101, "q")
    before = lua.stored()

    assert lua.popped(1000, 5) == []
    assert lua.stored() == before


def test_updating(lua, redis):
    recur(lua, 100, offset=30)

    options = ("priority", 5, "retries", 4, "data", '{"b":[]}', "klass", "L", "backlog", 2)
    assert lua("recur.update", 101, "r", *options) == 1

    updated = lua.json("recur.get", 102, "r")
    assert (updated["priority"], updated["retries"], updated["backlog"]) == (5, 4, 2)
    assert (updated["data"], updated["klass"]) == ('{"b":[]}', "L")
    assert redis.zscore("ql:q:q-recur", "r") == 130


def test_an_update_of_the_queue_makes_it_known_again(lua, redis):
    lua("recur", 1, "q", "r", "K", "{}", "interval", 60, 0)
    lua("queue.forget", 2, "q")

    lua("recur.update", 3, "r", "queue", "q")

    assert redis.zrange("ql:queues", 0, -1, withscores=True) == [("q", 3)]
    assert redis.zscore("ql:q:q-recur", "r") == 1


def test_a_new_interval_moves_the_next_run_by_the_difference(lua, redis):
    recur(lua, 100, offset=30, interval=60)

    lua("recur.update", 101, "r", "interval", 90)
    assert redis.zscore("ql:q:q-recur", "r") == 160

    lua("recur.update", 101, "r", "interval", 10, "queue", "p")
    assert redis.zscore("ql:q:p-recur", "r") == 80
    assert redis.exists("ql:q:q-recur") == 0
    assert lua.json("recur.get", 102, "r")["queue"] == "p"
    assert "p" in [queue["name"] for queue in lua.json("queues", 102)]


def test_throttles_of_other_dialects_are_accepted(lua):
    recur(lua, 100, "throttles", '["t"]')

    assert lua("recur.update", 101, "r", "throttles", '["t"]', "priority", 2) == 1
    assert lua.json("recur.get", 102, "r")["priority"] == 2


def test_tags_of_children_to_come(lua):
    recur(lua, 100, "tags", '["a"]')

    assert lua.json("recur.tag", 101, "r", "b", "b", " ", "a") == ["a", "b"]
    assert lua.json("recur.untag", 102, "r", "a", "unknown") == ["b"]
    assert lua.pop(103)[0]["tags"] == ["b"]
    assert lua("recur.untag", 104, "r", "b") == "[]"


def test_what_is_not_there_is_refused(lua):
    for call in (
        ("recur.update", 1, "r", "priority", 1),
        ("recur.tag", 1, "r", "t"),
        ("recur.untag", 1, "r", "t"),
    ):
        with lua.refused("RECURRING_NOT_FOUND", "Recurring job r does not exist"):
            lua(*call)


def test_the_end_of_a_recurring_job(lua, redis):
    recur(lua, 100)
    lua.pop(100)

    assert lua("unrecur", 101, "r") == 1
    assert lua("unrecur", 101, "r") == 1

    assert redis.exists("ql:r:r", "ql:q:q-recur") == 0
    assert lua.job("r-1")["state"] == "running"
