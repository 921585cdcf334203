from __future__ import annotations


def test_tracking(lua, redis):
    lua.put(1, "j")

    with lua.hearing() as heard:
        assert lua("track", 2, "track", "j") == "1"
        assert lua("track", 3, "track", "j") == "0"
        assert lua("track", 4, "untrack", "j") == "1"
        assert lua("track", 5, "untrack", "j") == "0"

    assert heard == [
        ["ql:track", "j"],
        ["ql:track", "j"],
        ["ql:untrack", "j"],
        ["ql:untrack", "j"],
    ]
    assert redis.exists("ql:tracked") == 0


def test_tracked_jobs_are_listed_in_order_with_those_that_are_gone(lua, redis):
    for number, jid in enumerate(["b", "a", "c"]):
        lua.put(number, jid)
        lua("track", number, "track", jid)
    redis.delete("ql:j:a")

    tracked = lua.json("track", 9)

    assert [job["jid"] for job in tracked["jobs"]] == ["b", "c"]
    assert all(job["tracked"] for job in tracked["jobs"])
    assert tracked["expired"] == ["a"]


def test_b14_nothing_is_tracked(lua):
    assert lua("track", 1) == '{"jobs":[],"expired":[]}'


def test_b27_a_job_that_is_gone_can_be_untracked_but_not_tracked(lua, redis):
    lua.put(1, "j")
    lua("track", 2, "track", "j")
    redis.delete("ql:j:j")

    with lua.refused("JOB_NOT_FOUND", "Job j does not exist"):
        lua("track", 3, "track", "j")
    assert lua("track", 4, "untrack", "j") == "1"
    with lua.refused("JOB_NOT_FOUND", "Job j does not exist"):
        lua("track", 5, "untrack", "j")


def test_b27_a_canceled_job_is_tracked_no_more(lua):
    lua.put(1, "j")
    lua("track", 2, "track", "j")

    lua("cancel", 3, "j")

    assert lua.json("track", 4) == {"jobs": [], "expired": []}
