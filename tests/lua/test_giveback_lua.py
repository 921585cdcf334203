from __future__ import annotations

import json

import pytest

DIED = ("died", '{"signal":"SIGKILL","host":"web-3","pid":4711}')


@pytest.fixture
def running(lua):
    lua.put(1.5, "j", "retries", 2, "priority", 7)
    lua.pop(100)
    return lua


def give_back(lua, now, *how, jid="j", worker="w", ran=1):
    return lua("giveback", now, jid, worker, ran, *DIED, *how)


def test_a_job_that_was_not_begun_waits_again_and_loses_no_retry(running, redis):
    with running.hearing() as heard:
        assert give_back(running, 130, ran=0) == 2

    assert heard == []
    job = running.job("j")
    assert (job["state"], job["remaining"], job["retries"]) == ("waiting", 2, 2)
    assert (job["worker"], job["expires"], job["failure"]) == ("", 0, {})
    assert job["history"][2:] == [
        {
            "what": "died",
            "when": 130,
            "signal": "SIGKILL",
            "host": "web-3",
            "pid": 4711,
            "ran": False,
        }
    ]
    assert redis.exists("ql:q:q-locks", "ql:w:w:jobs") == 0
    assert redis.hexists("ql:j:j", "grace") is False
    assert running.popped(131) == ["j"]


def test_a_job_that_ran_loses_a_retry(running):
    assert give_back(running, 130) == 1

    job = running.job("j")
    assert (job["state"], job["remaining"], job["failure"]) == ("waiting", 1, {})


def test_why_it_did_not_end_is_kept(running):
    assert give_back(running, 130.5, "worker-died", "killed") == 1

    assert running.job("j")["failure"] == {
        "group": "worker-died",
        "message": "killed",
        "when": 130,
        "worker": "w",
    }


def test_of_a_job_that_was_not_begun_nothing_counts_as_a_failure(running, redis):
    running("config.set", 1, "host-max-failures", 1)
    running("config.set", 1, "drop-backoff", 60)

    assert give_back(running, 130, "worker-died", "killed", ran=0) == 2

    assert running.job("j")["failure"] == {}
    assert running.job("j")["state"] == "waiting"
    assert redis.exists("ql:host:w:failures") == 0


def test_it_is_where_it_was_in_line_since_it_was_put(lua):
    lua.put(1, "first")
    lua.put(10, "given")
    lua.put(20, "later")
    lua.put(30, "urgent", "priority", 1)
    assert lua.popped(40, 3) == ["urgent", "first", "given"]
    lua("retry", 41, "first", "q", "w")

    give_back(lua, 42, jid="given")

    assert lua.popped(43, 3) == ["given", "later", "first"]


def test_what_its_history_lost_of_when_it_was_put_the_first_item_tells(lua):
    lua.put(1, "j")
    lua.put(20, "later")
    lua.pop(30)
    for number in range(30):
        lua("log", 31, "j", f"line {number}")

    give_back(lua, 32)

    assert lua.popped(33) == ["j"]


def test_a_job_without_a_history_stands_behind_the_others(lua, redis):
    lua.put(1, "j")
    lua.put(20, "later")
    lua.pop(30)
    redis.delete("ql:j:j-history")

    give_back(lua, 32)

    assert lua.popped(33, 2) == ["later", "j"]


def test_a_history_of_old_clients_tells_when_it_was_put(lua, redis):
    lua.put(20, "later")
    lua.put(25, "j", "priority", 1)
    lua.pop(30)
    redis.delete("ql:j:j-history")
    redis.hset("ql:j:j", "history", '[{"q":"q","put":10,"popped":30,"worker":"w"}]')
    redis.hset("ql:j:j", "priority", 0)

    give_back(lua, 32)

    assert lua.popped(33) == ["j"]
    assert [item["what"] for item in lua.job("j")["history"]] == ["put", "popped", "died", "popped"]


@pytest.mark.parametrize(
    ("given", "group", "message", "worker"),
    [
        ((), "failed-retries-q", 'Job exhausted retries in queue "q"', ""),
        (("why",), "why", 'Job exhausted retries in queue "q"', ""),
        (("why", "because"), "why", "because", "w"),
        (("", "because"), "failed-retries-q", "because", "w"),
    ],
)
def test_without_a_retry_left_it_fails(lua, redis, given, group, message, worker):
    lua.put(1, "j", "retries", 0)
    lua.pop(2)
    lua("track", 3, "track", "j")

    with lua.hearing() as heard:
        assert give_back(lua, 105.5, *given) == -1

    assert heard == [
        ["ql:failed", "j"],
        [
            "ql:log",
            f'{{"message":{json.dumps(message)},"jid":"j","group":"{group}","event":"failed","worker":"w"}}',
        ],
    ]
    job = lua.job("j")
    assert (job["state"], job["worker"], job["remaining"]) == ("failed", "", -1)
    assert job["failure"] == {"group": group, "message": message, "when": 105, "worker": worker}
    assert [item["what"] for item in job["history"][2:]] == ["died", "failed"]
    assert lua.json("failed", 106) == {group: 1}
    stats = lua.json("stats", 106, "q", 106)
    assert (stats["failures"], stats["failed"]) == (1, 1)
    assert redis.exists("ql:q:q-locks", "ql:q:q-work", "ql:w:w:jobs") == 0


def test_a_job_that_may_never_run_twice_and_was_not_begun_runs_once(lua):
    lua.put(1, "j", "retries", 0)
    lua.pop(2)

    assert give_back(lua, 3, ran=0) == 0

    assert lua.popped(4) == ["j"]


def test_a_lock_that_ran_out_is_given_back_while_nobody_else_has_it(running, redis):
    assert running.pop(161, worker="next") == []  # which warns, and takes it off the worker's set

    assert give_back(running, 162) == 1

    assert redis.hexists("ql:j:j", "grace") is False
    assert running.popped(163, worker="next") == ["j"]


def test_only_the_worker_that_has_it_gives_it_back(lua):
    with lua.refused("JOB_NOT_FOUND", "Job j does not exist"):
        give_back(lua, 1)
    lua.put(1, "j")
    with lua.refused("JOB_NOT_RUNNING", "not currently running: waiting"):
        give_back(lua, 2)
    lua.pop(3, worker="owner")
    with lua.refused("LOCK_LOST", "another worker: owner"):
        give_back(lua, 4)
    give_back(lua, 5, worker="owner")
    with lua.refused("JOB_NOT_RUNNING", "not currently running: waiting"):
        give_back(lua, 6, worker="owner")


def test_a_paused_queue_keeps_it(running):
    running("pause", 101, "q")

    give_back(running, 102)

    assert running.popped(103) == []
    running("unpause", 104, "q")
    assert running.popped(105) == ["j"]


def test_its_throttle_lets_the_next_one_in(lua, redis):
    lua("throttle.set", 1, "t", 1)
    lua.put(2, "j", "throttles", '["t"]')
    lua.pop(3)
    lua.put(4, "other", "throttles", '["t"]')
    assert lua.job("other")["state"] == "throttled"

    give_back(lua, 5)

    assert redis.zrange("ql:th:t-locks", 0, -1) == []
    assert lua.popped(6, 2) == ["j"]
    assert lua.job("other")["state"] == "throttled"


def test_one_that_waits_for_jobs_is_woken(lua, redis):
    lua.put(1, "j")
    lua.pop(2)
    lua.json("wait.pop", 3, "w2", 1, "waiter", "group", "all", "q")

    give_back(lua, 4)

    assert redis.zrange("ql:q:q-wake", 0, -1) == ["1"]


def test_what_took_its_worker_with_it_waits_as_dropped_jobs_do(running):
    running("config.set", 1, "drop-backoff", 60)
    running("config.set", 1, "host-max-failures", 3)

    assert give_back(running, 130, "worker-died", "killed") == 1

    assert running.job("j")["state"] == "scheduled"
    assert running.popped(189) == []
    assert running.popped(190) == ["j"]


def test_what_is_nobodys_fault_waits_for_nothing_and_keeps_no_failure(running, redis):
    running("config.set", 1, "drop-backoff", 60)
    running("config.set", 1, "host-max-failures", 3)

    assert give_back(running, 130, "", "told to stop") == 1

    assert running.job("j")["failure"] == {}
    assert redis.zrange("ql:host:w:failures", 0, -1) == []
    assert running.popped(131) == ["j"]


def test_a_job_that_ran_where_too_much_fails_counts_there(running, redis):
    running("config.set", 1, "host-max-failures", 3)

    give_back(running, 130, "worker-died", "killed")

    assert redis.zrange("ql:host:w:failures", 0, -1) == ["130 j"]


def test_all_that_a_worker_holds_goes_back_in_one_call(lua, redis):
    for jid in ("begun", "once", "prefetched"):
        lua.put(1, jid, "retries", 0 if jid == "once" else 3)
    lua.put(2, "elsewhere", queue="p")
    lua.put(3, "others")
    lua.pop(10, 3, worker="w")
    lua.pop(10, queue="p", worker="w")
    lua.pop(10, worker="x")
    started = '["begun","once","others","gone"]'

    reply = lua.json("giveback.all", 20, "w", *DIED, started, "worker-died", "killed")

    assert reply == {"given": ["begun", "elsewhere", "prefetched"], "failed": ["once"]}
    left = {jid: lua.job(jid)["remaining"] for jid in ("begun", "prefetched", "elsewhere")}
    assert left == {"begun": 2, "prefetched": 3, "elsewhere": 5}
    assert lua.job("others")["worker"] == "x"
    assert lua.job("prefetched")["history"][-1]["signal"] == "SIGKILL"
    assert lua.job("prefetched")["failure"] == {}
    assert lua.job("begun")["failure"]["message"] == "killed"
    assert redis.exists("ql:w:w:jobs") == 0
    assert lua.json("giveback.all", 21, "w", *DIED, started) == {"given": [], "failed": []}


def test_a_job_that_cannot_be_given_back_costs_no_other(lua, redis):
    lua.put(1, "a")
    lua.put(2, "b")
    lua.pop(10, 2)
    redis.delete("ql:j:a-history")
    redis.set("ql:j:a-history", "something else")
    redis.zadd("ql:w:w:jobs", {"gone": 5})

    assert lua.json("giveback.all", 20, "w", *DIED, "[]") == {"given": ["b"], "failed": []}

    assert redis.zrange("ql:w:w:jobs", 0, -1) == ["a"]
    assert lua.json("giveback.all", 21, "w", *DIED, "[]") == {"given": [], "failed": []}


def test_more_than_one_call_looks_at_goes_back_in_several(lua):
    lua.put(1, "first")
    for number in range(700):
        lua.put(2, f"j-{number:03}")
    lua.pop(10, 701)

    first = lua.json("giveback.all", 20, "w", *DIED, '["first"]')
    second = lua.json("giveback.all", 20, "w", *DIED, '["first"]')

    assert len(first["given"]) == 500
    assert len({*first["given"], *second["given"]}) == 701
    assert lua.json("giveback.all", 20, "w", *DIED, '["first"]')["given"] == []
    assert lua.job("first")["remaining"] == 4
