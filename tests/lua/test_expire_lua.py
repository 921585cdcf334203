from __future__ import annotations

import json

import pytest


@pytest.fixture
def lost(lua):
    """Let a lock of `owner` run out at 160."""
    lua.put(1, "j", "retries", 1)
    lua.pop(100, worker="owner")
    return lua


def test_the_first_pop_that_finds_it_warns_and_gives_grace(lost, redis):
    with lost.hearing() as heard:
        assert lost.popped(160) == []

    message = '{"jid":"j","event":"lock_lost","worker":"owner"}'
    assert heard == [["ql:w:owner", message], ["ql:log", message]]
    assert redis.hget("ql:j:j", "grace") == "1"
    assert redis.zscore("ql:q:q-locks", "j") == 170
    assert redis.zcard("ql:w:owner:jobs") == 0
    assert lost.job("j")["history"][-1] == {"what": "timed-out", "when": 160}
    assert lost.json("stats", 160, "q", 160)["retries"] == 1


def test_after_the_grace_the_next_worker_gets_it(lost, redis):
    """Q1."""
    lost.popped(160, worker="next")
    assert lost.popped(169, worker="next") == []

    (job,) = lost.pop(170, worker="next")

    assert (job["worker"], job["remaining"], job["retries"]) == ("next", 0, 1)
    assert redis.hexists("ql:j:j", "grace") is False
    assert redis.zscore("ql:q:q-locks", "j") == 230
    assert redis.zscore("ql:w:next:jobs", "j") == 230


def test_b41_the_old_owner_is_refused(lost):
    lost.popped(160, worker="next")
    lost.popped(170, worker="next")

    with lost.refused("LOCK_LOST", "another worker: next"):
        lost("heartbeat", 171, "j", "owner")
    with lost.refused("LOCK_LOST", "another worker: next"):
        lost("complete", 171, "j", "owner", "q", "{}")
    with lost.refused("LOCK_LOST", "another worker: next"):
        lost("fail", 171, "j", "owner", "g", "m")
    with lost.refused("LOCK_LOST", "another worker: next"):
        lost("retry", 171, "j", "q", "owner")
    assert lost.json("failed", 172) == {}
    assert lost.job("j")["worker"] == "next"


def test_a_worker_in_its_grace_may_still_finish(lost):
    lost.popped(160)

    assert lost("complete", 165, "j", "owner", "q", "{}") == "complete"


def test_a_heartbeat_in_the_grace_keeps_the_job(lost):
    lost.popped(160)
    lost("heartbeat", 165, "j", "owner")

    assert lost.popped(200) == []
    assert lost.job("j", 200)["worker"] == "owner"


def test_without_a_grace_period_it_changes_hands_at_once(lost):
    lost("config.set", 100, "grace-period", 0)

    with lost.hearing() as heard:
        assert lost.popped(160, worker="next") == ["j"]

    assert [channel for channel, _ in heard] == ["ql:w:owner", "ql:log"]
    assert lost.json("stats", 160, "q", 160)["retries"] == 1


def test_b48_retries_that_are_used_up_make_it_fail(lost, redis):
    lost("track", 100, "track", "j")
    lost.popped(160)
    lost.popped(170, worker="next")
    with lost.hearing() as heard:
        assert lost.popped(230, worker="third") == []
    assert [channel for channel, _ in heard] == ["ql:stalled", "ql:w:next", "ql:log"]

    with lost.hearing() as heard:
        assert lost.popped(240, worker="third") == []

    assert heard[0] == ["ql:failed", "j"]
    assert heard[1][0] == "ql:log"
    assert heard[1][1] == (
        '{"message":"Job exhausted retries in queue \\"q\\"","jid":"j",'
        '"group":"failed-retries-q","event":"failed","worker":"next"}'
    )
    assert len(heard) == 2
    job = lost.job("j")
    assert (job["state"], job["worker"], job["expires"]) == ("failed", "", 0)
    assert job["failure"] == {
        "group": "failed-retries-q",
        "message": 'Job exhausted retries in queue "q"',
        "when": 240,
        "worker": "",
    }
    assert job["history"][-1] == {"group": "failed-retries-q", "what": "failed", "when": 240}
    assert lost.json("failed", 241) == {"failed-retries-q": 1}
    stats = lost.json("stats", 241, "q", 241)
    assert (stats["failures"], stats["failed"]) == (1, 1)
    assert redis.zcard("ql:q:q-locks") == 0
    lost("cancel", 242, "j")
    assert lost.json("failed", 243) == {}


def test_only_as_many_locks_are_looked_at_as_jobs_are_asked_for(lua, redis):
    for number in range(5):
        lua.put(number, f"j-{number}")
    lua.pop(10, 5)

    lua.pop(100, 2)

    graces = [redis.hexists(f"ql:j:j-{number}", "grace") for number in range(5)]
    assert sum(graces) == 2


def test_a_lock_of_a_job_that_is_elsewhere_is_dropped(lua, redis):
    lua.put(1, "j", queue="other")
    redis.zadd("ql:q:q-locks", {"j": 5, "ghost": 5})

    assert lua.popped(100, 5) == []
    assert redis.zcard("ql:q:q-locks") == 0
    assert lua.job("j")["state"] == "waiting"


def test_the_failure_is_stored_as_json_of_four_fields(lost, redis):
    lost("config.set", 1, "grace-period", 0)
    lost.popped(160)
    lost.popped(300)

    failure = json.loads(redis.hget("ql:j:j", "failure"))
    assert sorted(failure) == ["group", "message", "when", "worker"]


LOST = '{"jid":"j","event":"lock_lost","worker":"w"}'


def test_a_job_is_warned_once_until_a_retry_is_used(lost, redis):
    """The recordings of the original have it so; a heartbeat in the grace does not renew it."""
    assert lost.popped(161, worker="other") == []
    lost("heartbeat", 162, "j", "owner")

    assert redis.hget("ql:j:j", "grace") == "1"
    assert [job["worker"] for job in lost.pop(300, worker="other")] == ["other"]
    assert redis.hget("ql:j:j", "grace") is None
