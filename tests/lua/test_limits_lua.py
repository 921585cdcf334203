from __future__ import annotations

import json

import pytest


def rate(lua, **limits):
    lua("config.set", 0, "heartbeat", 100_000)
    lua("config.set", 0, "rate-limits", json.dumps(limits))


def put(lua, now, jid, klass="K", *options, queue="q"):
    return lua("put", now, "w", queue, jid, klass, "{}", 0, *options)


def scheduled(redis, queue="q"):
    return redis.zrange(f"ql:q:{queue}-scheduled", 0, -1, withscores=True)


def fail(lua, now, jid, worker="w"):
    return lua("fail", now, jid, worker, "g", "m")


# So many starts in a time


def test_a_class_starts_no_more_often_than_its_limit(lua, redis):
    """Q15."""
    rate(lua, K=[2, 60])
    for number in range(5):
        put(lua, number, f"j{number}")
    put(lua, 6, "other", "Other")

    assert lua.popped(10, 9) == ["j0", "j1", "other"]

    assert scheduled(redis) == [("j2", 70), ("j3", 70), ("j4", 130)]
    assert lua.job("j2", 10)["state"] == "scheduled"
    assert redis.zcard("ql:q:q-work") == 0
    assert lua.popped(69, 9, worker="v") == []
    assert lua.popped(70, 9, worker="v") == ["j3", "j2"]
    assert lua.popped(129, 9, worker="v") == []
    assert lua.popped(130, 9, worker="v") == ["j4"]


def test_who_has_a_start_to_come_does_not_lose_it_to_those_who_come_later(lua):
    rate(lua, K=[1, 60])
    put(lua, 1, "a")
    put(lua, 2, "b")
    assert lua.popped(3, 2) == ["a"]
    put(lua, 4, "c", "K", "priority", 9)

    assert lua.popped(62, 2) == []
    assert lua.popped(63, 2, worker="v") == ["b"]
    assert lua.popped(122, 2) == []
    assert lua.popped(123, 2, worker="x") == ["c"]


def test_starts_that_nobody_made_use_of_are_not_caught_up_on(lua, redis):
    rate(lua, K=[2, 10])
    for number in range(6):
        put(lua, number, f"j{number}")
    assert lua.popped(10, 9) == ["j0", "j1"]

    assert len(lua.popped(1000, 9, worker="v")) == 2
    assert [when for _, when in scheduled(redis)] == [1010, 1010]


def test_a_limit_counts_over_queues(lua, redis):
    rate(lua, K=[1, 60])
    put(lua, 1, "a", queue="p")
    put(lua, 1, "b", queue="q")

    assert lua.popped(5, 9, queue="p") == ["a"]
    assert lua.popped(6, 9, queue="q") == []
    assert scheduled(redis) == [("b", 65)]


def test_a_job_behind_the_limit_holds_none_of_its_throttles(lua):
    rate(lua, K=[1, 60])
    lua("throttle.set", 0, "t", 2)
    for now, jid in enumerate("ab"):
        put(lua, now, jid, "K", "throttles", '["t"]')

    assert lua.popped(3, 9) == ["a"]
    assert lua("throttle.locks", 3, "t") == ["a"]

    put(lua, 4, "c", "Other", "throttles", '["t"]')
    assert lua.popped(5, 9) == ["c"]


def test_what_the_limit_keeps_goes_after_its_time(lua, redis):
    rate(lua, K=[1, 60])
    put(lua, 1, "a")
    assert lua.popped(3, 9) == ["a"]

    assert redis.lrange("ql:starts:K", 0, -1) == ["3"]
    assert 0 < redis.ttl("ql:starts:K") <= 61


def test_a_job_that_is_put_again_before_its_start_keeps_it(lua, redis):
    rate(lua, K=[1, 60])
    put(lua, 1, "a")
    put(lua, 2, "b")
    assert lua.popped(3, 9) == ["a"]
    put(lua, 4, "b")

    assert lua.popped(5, 9) == []

    assert scheduled(redis) == [("b", 63)]
    assert lua.popped(64, 9, worker="v") == ["b"]
    assert not redis.hexists("ql:j:b", "slot")


@pytest.mark.parametrize(
    "stored",
    [
        "",
        "x",
        "5",
        "null",
        "[]",
        '{"K":5}',
        '{"K":[]}',
        '{"K":[1]}',
        '{"K":["x",60]}',
        '{"K":[0,60]}',
        '{"K":[1,0]}',
        '{"K":[-1,60]}',
        '{"K":[1,-60]}',
        '{"K":{"a":1}}',
        '{"Other":[1,60]}',
    ],
)
def test_a_limit_that_makes_no_sense_is_none(lua, redis, stored):
    lua("config.set", 0, "rate-limits", stored)
    put(lua, 1, "a")
    put(lua, 2, "b")

    assert lua.popped(3, 9) == ["a", "b"]
    assert redis.keys("ql:starts:*") == []


def test_another_text_of_the_option_counts_at_once(lua):
    rate(lua, K=[1, 60])
    for moment, jid in enumerate("abcd"):
        put(lua, moment, jid)
    assert lua.popped(5, 1) == ["a"]

    rate(lua, K=[3, 60])
    assert lua.popped(6, 9) == ["b", "c"]
    lua("config.unset", 7, "rate-limits")
    put(lua, 8, "e")
    assert lua.popped(9, 9) == ["e"]


# So many on a host


def test_a_host_runs_no_more_than_its_limit(lua):
    """Q15."""
    lua("config.set", 0, "host-max-running", 3)
    for number in range(9):
        put(lua, number, f"j{number}")

    assert len(lua.popped(10, 2, worker="web-1-100")) == 2
    assert len(lua.popped(10, 2, worker="web-1-200")) == 1
    assert lua.popped(10, 2, worker="web-1-300") == []
    assert len(lua.popped(10, 9, worker="web-2-100")) == 3
    assert len(lua.popped(10, 1, worker="alone")) == 1

    lua("complete", 11, "j0", "web-1-100", "q", "{}")
    assert len(lua.popped(12, 9, worker="web-1-300")) == 1


def test_locks_that_ran_out_do_not_count_for_the_host(lua):
    lua("config.set", 0, "host-max-running", 1)
    put(lua, 1, "a")
    put(lua, 2, "b")
    assert lua.popped(3, 1, worker="h-1") == ["a"]
    assert lua.popped(4, 1, worker="h-2") == []

    assert lua.popped(100, 1, worker="h-2") == ["b"]


def test_what_runs_in_processes_of_one_worker_counts_for_its_host(lua):
    lua("config.set", 0, "host-max-running", 2)
    put(lua, 1, "a")
    put(lua, 2, "b")
    put(lua, 3, "c")

    assert len(lua.popped(4, 1, worker="h-1-12345670")) == 1
    assert len(lua.popped(5, 1, worker="h-1-12345671")) == 1
    assert lua.popped(6, 1, worker="h-2-765432100") == []


def test_workers_of_a_host_that_are_gone_are_forgotten(lua, redis):
    lua("config.set", 0, "host-max-running", 1)
    for number in range(20):
        lua.pop(1, worker=f"h-{number}")

    lua.pop(100_000, worker="h-100")

    assert redis.zrange("ql:host:h:workers", 0, -1) == ["h-100"]
    assert redis.ttl("ql:host:h:workers") > 0


@pytest.mark.parametrize("stored", ["", "x", "0", "-5", "nan", "0.5"])
@pytest.mark.parametrize("option", ["host-max-running", "host-max-failures", "drop-backoff"])
def test_host_limits_that_make_no_sense_are_none(lua, redis, option, stored):
    if (option, stored) == ("drop-backoff", "0.5"):
        return
    lua("config.set", 0, option, stored)
    lua("config.set", 0, "grace-period", 0)
    put(lua, 1, "a")
    put(lua, 2, "b")
    assert lua.popped(3, 2, worker="h-1") == ["a", "b"]
    fail(lua, 4, "b", "h-1")

    assert lua.popped(100, 9, worker="h-2") == ["a"]
    assert redis.keys("ql:host:*") == []


# A host that fails


@pytest.fixture
def failing(lua):
    """Let jobs `f0` to `f4` fail on host `h`, of which 3 are allowed."""
    lua("config.set", 0, "host-max-failures", 3)
    for number in range(5):
        put(lua, number, f"f{number}")
    assert len(lua.popped(10, 9, worker="h-1")) == 5
    for number in range(5):
        fail(lua, 11 + number, f"f{number}", "h-1")
    for number in range(9):
        put(lua, 16, f"j{number}")
    return lua


def test_a_host_on_which_too_much_fails_gets_a_pause_and_then_one_job_at_a_time(failing):
    assert failing.popped(16, 9, worker="h-2") == []
    assert failing.popped(18.9, 9, worker="h-1") == []
    assert len(failing.popped(16, 2, worker="other-1")) == 2

    (jid,) = failing.popped(19, 9, worker="h-2")
    fail(failing, 20, jid, "h-2")

    assert failing.popped(27.9, 9, worker="h-2") == []
    assert len(failing.popped(28, 9, worker="h-2")) == 1


def test_failures_are_forgotten_after_a_while(failing, redis):
    assert len(failing.popped(620, 9, worker="h-2")) == 9
    assert 0 < redis.ttl("ql:host:h:failures") <= 600


def test_for_how_long_failures_count_can_be_set(failing):
    failing("config.set", 16, "host-failure-span", 3)

    assert len(failing.popped(17, 9, worker="h-2")) == 9


def test_the_pause_ends_however_much_fails(lua, redis):
    lua("config.set", 0, "host-max-failures", 1)
    for number in range(50):
        put(lua, 1, f"f{number}")
    jids = lua.popped(2, 50, worker="h-1")
    for jid in jids:
        fail(lua, 3, jid, "h-1")
    put(lua, 4, "j")

    assert redis.zcard("ql:host:h:failures") < 20
    assert lua.popped(302, 9, worker="h-1") == []
    assert lua.popped(303, 9, worker="h-1") == ["j"]


def test_drops_count_as_failures(lua):
    lua("config.set", 0, "host-max-failures", 1)
    for number in range(4):
        put(lua, number, f"j{number}")
    assert len(lua.popped(5, 2, worker="h-1")) == 2
    assert len(lua.popped(70, 9, worker="other-1")) == 2

    put(lua, 71, "j9")

    assert lua.popped(71, 9, worker="h-2") == []
    assert lua.popped(72, 9, worker="h-2") == ["j9"]


def test_jobs_given_back_with_a_failure_count_others_do_not(lua):
    lua("config.set", 0, "host-max-failures", 1)
    for number in range(6):
        put(lua, number, f"j{number}")
    jids = lua.popped(10, 4, worker="h-1")

    lua("retry", 11, jids[0], "q", "h-1")
    lua("retry", 11, jids[1], "q", "h-1")
    assert len(lua.popped(11, 1, worker="h-1")) == 1
    lua("retry", 12, jids[2], "q", "h-1", 0, "g", "m")
    lua("retry", 12, jids[3], "q", "h-1", 0, "g", "m")

    assert lua.popped(12, 1, worker="h-1") == []


# A job that is dropped


def test_a_dropped_job_waits_longer_each_time(lua, redis):
    """Q23."""
    lua("config.set", 0, "drop-backoff", 30)
    lua("config.set", 0, "grace-period", 0)
    put(lua, 0, "j")
    assert lua.popped(0) == ["j"]

    for dropped, due in [(60, 90), (150, 210), (270, 390), (450, 690)]:
        assert lua.popped(dropped, worker="v") == []
        assert scheduled(redis) == [("j", due)]
        job = lua.job("j", dropped)
        assert (job["state"], job["worker"], job["expires"]) == ("scheduled", "", 0)
        assert redis.exists("ql:q:q-locks", "ql:w:v:jobs", "ql:w:w:jobs") == 0
        assert lua.popped(due - 1, worker="v") == []
        assert lua.popped(due, worker="v") == ["j"]
    assert lua.job("j")["remaining"] == 1


def test_the_grace_period_comes_first(lua, redis):
    lua("config.set", 0, "drop-backoff", 30)
    put(lua, 0, "j")
    assert lua.popped(0) == ["j"]

    assert lua.popped(60, worker="v") == []
    assert scheduled(redis) == []
    assert lua("complete", 65, "j", "w", "q", "{}") == "complete"


def test_a_job_without_retries_fails_as_ever(lua):
    lua("config.set", 0, "drop-backoff", 30)
    lua("config.set", 0, "grace-period", 0)
    put(lua, 0, "j", "K", "retries", 0)
    assert lua.popped(0) == ["j"]

    assert lua.popped(60, worker="v") == []

    assert lua.job("j")["state"] == "failed"


def test_it_waits_a_day_at_most(lua, redis):
    lua("config.set", 0, "drop-backoff", 50_000)
    lua("config.set", 0, "grace-period", 0)
    put(lua, 0, "j", "K", "retries", 100)
    redis.hset("ql:j:j", "remaining", 50)
    assert lua.popped(0) == ["j"]

    lua.pop(60)

    assert scheduled(redis) == [("j", 86460)]


def test_while_it_waits_others_have_its_throttles(lua):
    lua("config.set", 0, "drop-backoff", 30)
    lua("config.set", 0, "grace-period", 0)
    lua("throttle.set", 0, "t", 1)
    for jid in "ab":
        put(lua, 0, jid, "K", "throttles", '["t"]')
    assert lua.popped(0, 2) == ["b"]

    assert lua.popped(60, 2, worker="v") == ["a"]
    assert lua("throttle.locks", 61, "t") == ["a"]
