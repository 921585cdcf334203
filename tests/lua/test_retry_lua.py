from __future__ import annotations

import pytest


@pytest.fixture
def running(lua):
    lua.put(1, "j", "retries", 2, "priority", 7)
    lua.pop(100)
    return lua


def test_a_retried_job_waits_again(running, redis):
    with running.hearing() as heard:
        assert running("retry", 130, "j", "q", "w") == 1

    assert heard == []
    job = running.job("j")
    assert (job["state"], job["remaining"], job["retries"]) == ("waiting", 1, 2)
    assert (job["worker"], job["expires"]) == ("w", 160)
    assert [item["what"] for item in job["history"]] == ["put", "popped"]
    assert redis.hget("ql:j:j", "time") == "100.00000000000000000000"
    assert redis.zscore("ql:q:q-work", "j") == pytest.approx(7 - 130 / 1e10, abs=0)
    assert redis.exists("ql:q:q-locks", "ql:w:w:jobs") == 0


def test_a_retried_job_may_wait_for_a_while(running):
    assert running("retry", 130, "j", "q", "w", 20) == 1

    assert running.job("j", 149)["state"] == "scheduled"
    assert running.popped(150) == ["j"]


def test_group_and_message_are_kept(running):
    running("retry", 130.5, "j", "q", "w", 0, "why", "because")

    assert running.job("j")["failure"] == {
        "group": "why",
        "message": "because",
        "when": 130,
        "worker": "w",
    }


def test_whoever_puts_a_retried_job_tells_the_worker_that_had_it(running):
    running("retry", 130, "j", "q", "w")

    with running.hearing() as heard:
        running.put(131, "j", me="somebody")

    assert ["ql:w:w", '{"jid":"j","event":"lock_lost","worker":"w"}'] in heard


@pytest.mark.parametrize(
    ("given", "group", "message", "worker"),
    [
        ((), "failed-retries-q", 'Job exhausted retries in queue "q"', ""),
        (("why",), "why", 'Job exhausted retries in queue "q"', ""),
        (("why", "because"), "why", "because", "w"),
    ],
)
def test_b48_without_retries_left_it_fails(running, given, group, message, worker):
    running("retry", 101, "j", "q", "w")
    running.pop(102)
    assert running("retry", 103, "j", "q", "w") == 0
    running.pop(104)
    running("track", 104, "track", "j")

    with running.hearing() as heard:
        assert running("retry", 105.5, "j", "q", "w", 0, *given) == -1

    assert heard == [["ql:failed", "j"]]
    job = running.job("j")
    assert (job["state"], job["worker"]) == ("failed", "")
    assert job["failure"] == {"group": group, "message": message, "when": 105, "worker": worker}
    assert job["history"][-1] == {"group": group, "what": "failed", "when": 105}
    assert running.json("failed", 106) == {group: 1}
    stats = running.json("stats", 106, "q", 106)
    assert (stats["failures"], stats["failed"]) == (1, 1)


@pytest.mark.parametrize("retries", [0, -1, -7])
def test_b48_a_job_that_may_never_be_retried_fails_at_once(lua, retries):
    lua.put(1, "j", "retries", retries)
    lua.pop(2)

    assert lua("retry", 3, "j", "q", "w") == -1
    assert lua.job("j")["state"] == "failed"
    lua.put(4, "j")
    assert lua.popped(5) == ["j"]


def test_only_the_worker_that_has_it_may_retry_it(lua):
    with lua.refused("JOB_NOT_FOUND", "Job j does not exist"):
        lua("retry", 1, "j", "q", "w")
    lua.put(1, "j")
    with lua.refused("JOB_NOT_RUNNING", "not currently running: waiting"):
        lua("retry", 2, "j", "q", "w")
    lua.pop(3, worker="owner")
    with lua.refused("LOCK_LOST", "another worker: owner"):
        lua("retry", 4, "j", "q", "w")


@pytest.mark.parametrize(("stored", "left"), [("1e300", 10**9 - 1), ("-1e300", -1), ("x", -1)])
def test_whatever_number_of_retries_others_stored_the_reply_is_one(lua, redis, stored, left):
    lua.put(1, "j")
    lua.pop(2)
    redis.hset("ql:j:j", mapping={"retries": stored, "remaining": stored})

    assert lua("retry", 3, "j", "q", "w") == left


def test_b47_retry_into_another_queue_than_the_jobs_is_refused(running):
    with running.refused("LOCK_LOST", "another queue: q"):
        running("retry", 101, "j", "p", "w")

    assert running("retry", 102, "j", "q", "w") == 1
    assert running.pop(103)[0]["priority"] == 7


def test_b47_a_job_that_the_original_retried_into_another_queue_can_be_finished(lua, redis):
    lua.put(1, "j", queue="told")
    redis.zrem("ql:q:told-work", "j")
    redis.zadd("ql:q:real-work", {"j": 0})

    (job,) = lua.pop(2, queue="real")

    assert job["queue"] == lua.job("j")["queue"] == "real"
    assert lua("complete", 3, "j", "w", "real", "{}") == "complete"


def test_b47_a_job_that_the_original_popped_from_another_queue_is_not_lost(lua, redis):
    lua("config.set", 1, "grace-period", 0)
    lua.put(1, "j", queue="told")
    lua.pop(2, queue="told")
    redis.zrem("ql:q:told-locks", "j")
    redis.zadd("ql:q:real-locks", {"j": 62})

    (job,) = lua.pop(100, queue="real", worker="next")

    assert (job["queue"], job["worker"]) == ("real", "next")
    assert lua("complete", 101, "j", "next", "real", "{}") == "complete"


def test_a_job_that_is_retried_in_its_grace_is_warned_again_another_time(running, redis):
    assert running.popped(161, worker="other") == []
    assert redis.hget("ql:j:j", "grace") == "1"

    assert running("retry", 162, "j", "q", "w") == 1

    assert redis.hexists("ql:j:j", "grace") is False
    assert running.popped(163) == ["j"]
    assert running.popped(224, worker="other") == []
    assert [item["what"] for item in running.job("j")["history"]].count("timed-out") == 2
    assert running("complete", 225, "j", "w", "q", "{}") == "complete"
