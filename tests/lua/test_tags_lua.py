from __future__ import annotations

import pytest


def test_tags_are_added_and_removed(lua, redis):
    lua.put(1, "j", "tags", '["a"]')

    assert lua.json("tag", 2, "add", "j", "b", "c") == ["a", "b", "c"]
    assert lua.json("tag", 3, "remove", "j", "a", "c") == ["b"]
    assert lua.job("j")["tags"] == ["b"]
    assert redis.zrange("ql:tags", 0, -1, withscores=True) == [("b", 1)]
    assert redis.zrange("ql:t:b", 0, -1, withscores=True) == [("j", 2)]
    assert redis.exists("ql:t:a", "ql:t:c") == 0


def test_b14_no_tags_are_an_empty_list(lua):
    lua.put(1, "j", "tags", '["a"]')

    assert lua("tag", 2, "remove", "j", "a") == "[]"
    assert lua("tag", 2, "top") == "[]"
    assert lua("tag", 2, "get", "a") == '{"total":0,"jobs":[]}'


def test_b21_a_tag_is_one_whole_string(lua):
    tags = ["a,b", '"q"', "'", "🙂", " x ", "x" * 5000, "[1]", "{}"]
    lua.put(1, "j")

    assert lua.json("tag", 2, "add", "j", *tags, "", "  ", "a,b") == tags
    for tag in tags:
        assert lua.json("tag", 3, "get", tag)["jobs"] == ["j"]
    assert lua.json("tag", 4, "remove", "j", *tags) == []


def test_a_tag_that_nobody_carries_is_forgotten(lua, redis):
    lua.put(1, "j", "tags", '["a"]')
    lua("tag", 2, "add", "j", "a")
    assert redis.zscore("ql:tags", "a") == 2

    lua("cancel", 3, "j")

    assert redis.exists("ql:tags", "ql:t:a") == 0


def test_b39_a_tag_removed_twice_is_still_known_while_a_job_carries_it(lua, redis):
    lua.put(1, "j", "tags", '["a"]')
    lua.put(1, "k", "tags", '["a"]')

    lua("tag", 2, "remove", "j", "a")
    assert lua.json("tag", 2, "remove", "j", "a") == []

    assert redis.zscore("ql:tags", "a") == 1
    assert lua.json("tag", 3, "get", "a") == {"total": 1, "jobs": ["k"]}


@pytest.mark.parametrize("action", ["add", "remove"])
def test_a_missing_job_cannot_be_tagged(lua, action):
    with lua.refused("JOB_NOT_FOUND", "Job j does not exist"):
        lua("tag", 1, action, "j", "a")


def test_a_tag_lists_its_jobs_by_page_the_oldest_first(lua):
    for number in range(30):
        lua.put(number, f"j-{number:02}", "tags", '["a"]')

    pages = [lua.json("tag", 99, "get", "a", offset, 7)["jobs"] for offset in range(0, 35, 7)]

    assert sum(pages, []) == [f"j-{number:02}" for number in range(30)]  # noqa: RUF017 - five pages
    assert lua.json("tag", 99, "get", "a")["total"] == 30
    assert len(lua.json("tag", 99, "get", "a")["jobs"]) == 25
    assert len(lua.json("tag", 99, "get", "a", 0, 0)["jobs"]) == 30
    assert lua.json("tag", 99, "get", "a", 1, 0)["jobs"] == []


@pytest.mark.parametrize("key", ["ql:t:x", "ql:tags"])
def test_something_else_under_the_key_of_a_tag_stops_nobody(lua, redis, key):
    lua("config.set", 1, "jobs-history-count", 1)
    tags = ("tags", '["x","y"]')
    for jid in ("done", "canceled"):
        lua.put(1, jid, *tags)
    redis.delete(key)
    redis.set(key, "something else")
    lua("recur", 1, "q", "r", "K", "{}", "interval", 60, 0, *tags)
    lua("cron", 1, "q", "c", "K", "{}", "* * * * *", "UTC", "[2]", *tags)

    assert sorted(lua.popped(5, 9)) == ["c-1", "canceled", "done", "r-1"]
    assert lua("cancel", 6, "canceled") == ["canceled"]
    assert lua("complete", 7, "done", "w", "q", "{}") == "complete"
    assert lua("complete", 8, "r-1", "w", "q", "{}") == "complete"
    assert lua.put(9, "c-1", "tags", '["x","z"]') == "c-1"
    assert lua.json("tag", 9, "add", "c-1", "x", "v") == ["x", "z", "v"]
    assert lua.json("tag", 9, "remove", "c-1", "x") == ["z", "v"]

    assert redis.exists("ql:j:done", "ql:j:canceled") == 0
    assert redis.zrange("ql:t:y", 0, -1) == ["r-1"]
    assert redis.zrange("ql:t:z", 0, -1) == ["c-1"]
    assert redis.get(key) == "something else"


def test_jobs_that_are_not_complete_can_come_first(lua):
    for number in range(6):
        lua.put(number, f"j-{number}", "tags", '["a"]')
    for jid in lua.popped(10, 3):
        lua("complete", 11, jid, "w", "q", "{}")

    open_first = [
        lua.json("tag", 12, "get", "a", offset, 4, "open-first")["jobs"] for offset in (0, 4)
    ]

    assert open_first == [["j-3", "j-4", "j-5", "j-0"], ["j-1", "j-2"]]


def test_the_tags_used_most_come_first(lua):
    lua.put(1, "j", "tags", '["a","b","c"]')
    lua.put(1, "k", "tags", '["a","b"]')
    lua.put(1, "l", "tags", '["a"]')

    assert lua.json("tag", 2, "top") == ["a", "b"]
    assert lua.json("tag", 2, "top", 1, 5) == ["b"]


def test_putting_again_with_other_tags(lua, redis):
    lua.put(1, "j", "tags", '["a","b"]')

    lua.put(2, "j", "tags", '["b","c"]')

    assert redis.zrange("ql:tags", 0, -1, withscores=True) == [("b", 1), ("c", 1)]
    assert redis.zscore("ql:t:b", "j") == 2
    assert redis.exists("ql:t:a") == 0


def test_only_the_newest_5000_jobs_of_a_tag_are_sorted(lua, redis):
    jids = [f"j-{number:05}" for number in range(6_000)]
    redis.zadd("ql:t:a", {jid: number for number, jid in enumerate(jids)})
    finished = set(jids[::3])
    redis.zadd("ql:completed", dict.fromkeys(finished, 1))
    redis.config_resetstat()

    pages = [
        lua.json("tag", 9, "get", "a", offset, 450, "open-first")["jobs"]
        for offset in range(0, 6_450, 450)
    ]

    newest = jids[1_000:]
    expected = [
        *[jid for jid in newest if jid not in finished],
        *[jid for jid in newest if jid in finished],
        *jids[:1_000],
    ]
    assert sum(pages, []) == expected  # noqa: RUF017 - fifteen pages
    redis.config_resetstat()
    assert lua.json("tag", 9, "get", "a", 5_000, 5, "open-first")["jobs"] == jids[:5]
    assert "cmdstat_zmscore" not in redis.info("commandstats")
    assert lua.json("tag", 9, "get", "a", 0, 0, "open-first") == {"total": 6_000, "jobs": []}
