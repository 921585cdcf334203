"""Section D of the field cases: input that poisons what is stored."""

from __future__ import annotations

import json

import pytest

NUMBERS = ("heartbeat", "q-heartbeat", "grace-period", "q-max-concurrency", "jobs-history")
OPTIONS = (
    *NUMBERS,
    *("jobs-history-count", "max-job-history", "max-worker-age", "max-failure-message"),
    *("stats-history", "histogram-history", "application"),
)
TAGS = ["a,b", '"q"', "'", "🙂", " x ", "t" * 5000]


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize(
    "value",
    ["abc", "", " ", "1e400", "nan", "5x", "0", "-1", "-1e300", "1e300", "1.5", "9" * 400, "[]"],
)
def test_b20_whatever_one_option_says_a_job_goes_all_the_way(lua, option, value):
    lua("config.set", 1, option, value)
    assert lua("config.get", 1, option) == value
    lua.put(2, "j", "tags", '["t"]')
    lua.put(2, "k", "retries", 0)

    popped = []
    for now in range(100, 1000, 100):  # a full queue, or a lock of no length, takes its time
        popped += lua.popped(now, 2)
    assert set(popped) == {"j", "k"}
    lua("workers", 1000)
    lua("stats", 1000, "q", 1000)
    lua("log", 1000, "j", "x" * 100)
    lua("config.unset", 1000, option)

    for jid in ("j", "k"):
        lua.put(1001, jid)
    assert sorted(lua.popped(1002, 2)) == ["j", "k"]
    assert lua("complete", 1003, "j", "w", "q", "{}") == "complete"
    lua("fail", 1004, "k", "w", "g", "m")
    assert [lua.job(jid)["state"] for jid in "jk"] == ["complete", "failed"]


def test_b21_tags_are_whole_strings_from_end_to_end(lua, redis):
    lua.put(1, "j")
    lua("recur", 1, "q", "r", "K", "{}", "interval", 60, 0)

    assert lua.json("tag", 2, "add", "j", *TAGS, "", "  ", *TAGS) == TAGS
    assert lua.json("recur.tag", 2, "r", *TAGS, "", "  ", *TAGS) == TAGS
    assert lua.json("recur.tag", 2, "r", TAGS[0]) == TAGS
    assert lua.json("recur.get", 2, "r")["tags"] == TAGS
    lua.popped(3, 2)
    for tag in TAGS:
        assert sorted(lua.json("tag", 4, "get", tag)["jobs"]) == ["j", "r-1"]
    assert lua.json("recur.untag", 5, "r", *TAGS[1:]) == TAGS[:1]
    assert lua.json("tag", 6, "remove", "j", *TAGS) == []
    lua("cancel", 7, "j", "r-1")
    assert redis.exists("ql:tags") == 0


def test_b21_tags_that_are_numbers_are_their_text(lua, redis):
    numbers = '[0, 1, "1", 2.5, -7]'
    lua.put(1, "j", "tags", numbers)
    lua("recur", 1, "q", "r", "K", "{}", "interval", 60, 0, "tags", numbers)
    lua("cron", 1, "q", "c", "K", "{}", "* * * * *", "UTC", "[60]", "tags", numbers)

    texts = ["0", "1", "2.5", "-7"]
    assert lua.job("j")["tags"] == texts
    assert lua.json("recur.get", 2, "r")["tags"] == texts
    assert lua.json("recur.get", 2, "c")["tags"] == texts
    assert lua.json("tag", 3, "get", "2.5")["jobs"] == ["j"]
    assert lua.json("tag", 3, "remove", "j", *texts) == []
    assert redis.exists("ql:tags") == 0


@pytest.mark.parametrize(
    "tags", ['["x",null]', '[["x"]]', '{"a":1}', "[1,true]", "[nan]", '["x",{}]', "null"]
)
def test_b21_bad_shapes_of_tags_are_refused_before_anything_is_written(lua, redis, tags):
    for call in (
        ("put", 1, "w", "q", "j", "K", "{}", 0, "tags", tags),
        ("recur", 1, "q", "r", "K", "{}", "interval", 60, 0, "tags", tags),
    ):
        with lua.refused("BAD_ARGUMENT", '"tags" must be a JSON list of strings'):
            lua(*call)
    assert redis.keys() == []


@pytest.mark.parametrize("interval", ["0", "-60", "inf", "-inf", "nan", "1e400", "", "abc"])
def test_b23_an_interval_is_checked_on_edit_as_on_creation(lua, interval):
    lua("recur", 1, "q", "r", "K", "{}", "interval", 60, 0)

    with lua.refused("BAD_ARGUMENT", '"interval" must be a number greater than 0'):
        lua("recur.update", 2, "r", "interval", interval)
    with lua.refused("BAD_ARGUMENT", '"interval" must be a number greater than 0'):
        lua("recur", 2, "q", "s", "K", "{}", "interval", interval, 0)
    assert lua("recur.update", 3, "r", "interval", "0.25") == 1


@pytest.mark.parametrize("stored", ["0", "-60", "inf", "nan", "", "abc", None])
@pytest.mark.parametrize("backlog", ["0", "3"])
def test_b23_a_bad_stored_interval_is_shown_skipped_and_removable(lua, redis, stored, backlog):
    lua("recur", 1, "q", "bad", "K", "{}", "interval", 60, 0, "backlog", backlog)
    lua("recur", 2, "q", "good", "K", "{}", "interval", 60, 0)
    lua.put(3, "j")
    if stored is None:
        redis.hdel("ql:r:bad", "interval")
    else:
        redis.hset("ql:r:bad", "interval", stored)

    assert {job["jid"] for job in lua.json("peek", 4, "q", 50)} == {"good-1", "j"}
    for _ in range(3):
        lua.popped(4, 50)
    assert set(redis.keys("ql:j:*")) == {
        *("ql:j:good-1", "ql:j:good-1-history", "ql:j:j", "ql:j:j-history")
    }
    assert lua("jobs", 5, "recurring", "q") == ["bad", "good"]
    assert lua.json("recur.get", 5, "bad")["jid"] == "bad"

    assert lua("recur.update", 6, "bad", "interval", 30) == 1
    assert "bad-1" in lua.popped(7, 50)
    assert lua("unrecur", 8, "bad") == 1
    assert lua("jobs", 9, "recurring", "q") == ["good"]


def test_b24_odd_pages_are_refused_and_none_reads_from_the_tail(lua):
    for number in range(30):
        lua.put(number, f"j-{number}", "tags", '["t"]')
    lua.pop(50, 30)
    for number in range(30):
        lua("complete", 60 + number, f"j-{number}", "w", "q", "{}")

    for odd in ("-25", "-1", "1.5", "1e400", "nan", "abc", ""):
        for call in (
            ("jobs", 99, "complete", odd),
            ("jobs", 99, "complete", 0, odd),
            ("jobs", 99, "running", "q", odd),
            ("failed", 99, "g", odd),
            ("tag", 99, "get", "t", odd),
            ("tag", 99, "top", odd),
            ("peek", 99, "q", odd),
        ):
            with lua.refused("BAD_ARGUMENT"):
                lua(*call)
    assert lua("jobs", 99, "complete", "1e30") == []
    assert lua("jobs", 99, "complete", 99999999, 25) == []
    assert json.loads(lua("tag", 99, "get", "t", "1e30"))["jobs"] == []
