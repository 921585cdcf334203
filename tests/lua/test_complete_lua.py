from __future__ import annotations

import pytest


@pytest.fixture
def running(lua):
    lua.put(1, "j", "retries", 3)
    lua.pop(100)
    return lua


def test_a_completed_job(running, redis):
    with running.hearing() as heard:
        assert running("complete", 130.5, "j", "w", "q", '{"done": []}') == "complete"

    assert heard == [["ql:log", '{"jid":"j","event":"completed","queue":"q"}']]
    job = running.job("j")
    assert (job["state"], job["worker"], job["queue"], job["expires"]) == ("complete", "", "", 0)
    assert job["data"] == '{"done": []}'
    assert job["history"][-1] == {"what": "done", "when": 130}
    assert redis.hget("ql:j:j", "time") == "130.50000000000000000000"
    assert redis.zscore("ql:completed", "j") == 130.5
    assert redis.exists("ql:q:q-locks", "ql:w:w:jobs", "ql:q:q-work") == 0
    run = running.json("stats", 130, "q", 130)["run"]
    assert (run["count"], run["mean"], run["histogram"][30]) == (1, 30.5, 1)


def test_only_the_worker_that_has_it_may_complete_it(lua):
    with lua.refused("JOB_NOT_FOUND", "Job j does not exist"):
        lua("complete", 1, "j", "w", "q", "{}")
    lua.put(1, "j")
    with lua.refused("JOB_NOT_RUNNING", "is not currently running: waiting"):
        lua("complete", 2, "j", "w", "q", "{}")
    lua.pop(3, worker="owner")
    with lua.refused("LOCK_LOST", "another worker: owner"):
        lua("complete", 4, "j", "w", "q", "{}")
    with lua.refused("LOCK_LOST", "running in another queue: q"):
        lua("complete", 4, "j", "owner", "p", "{}")


@pytest.mark.parametrize(
    ("options", "state", "place", "score"),
    [
        ((), "waiting", "work", -200 / 1e10),
        (("delay", 0), "waiting", "work", -200 / 1e10),
        (("delay", 30), "scheduled", "scheduled", 230),
        (("depends", '["other"]'), "depends", "depends", 200),
        (("depends", '["other"]', "delay", 30), "depends", "depends", 200),
        (("depends", '["gone"]'), "waiting", "work", -200 / 1e10),
        (("depends", '["gone"]', "delay", 30), "scheduled", "scheduled", 230),
    ],
)
def test_a_job_goes_on_to_its_next_queue(running, redis, options, state, place, score):
    running.put(150, "other", queue="elsewhere")

    with running.hearing() as heard:
        assert running("complete", 200, "j", "w", "q", "{}", "next", "p", *options) == state

    assert heard == [["ql:log", '{"jid":"j","to":"p","event":"advanced","queue":"q"}']]
    job = running.job("j", 200)
    assert (job["state"], job["queue"], job["worker"], job["remaining"]) == (state, "p", "", 3)
    assert [item["what"] for item in job["history"]] == ["put", "popped", "done", "put"]
    assert redis.zscore(f"ql:q:p-{place}", "j") == score
    assert redis.zscore("ql:queues", "p") == 200
    assert redis.hget("ql:j:j", "scheduled") == (
        "230" if options[2:] and "other" in options[1] else None
    )


def test_a_tracked_job_announces_that_it_is_complete(running):
    running("track", 101, "track", "j")

    with running.hearing() as heard:
        running("complete", 102, "j", "w", "q", "{}", "next", "p")

    assert [channel for channel, _ in heard] == ["ql:completed", "ql:log"]


def test_b49_completing_lets_those_run_that_waited_for_it_alone(running):
    running.put(101, "other")
    running.put(102, "one", "depends", '["j"]')
    running.put(102, "two", "depends", '["j","other"]')

    running("complete", 103, "j", "w", "q", "{}")

    assert running.job("one")["state"] == "waiting"
    assert running.job("two")["state"] == "depends"
    assert running.job("two")["dependencies"] == ["other"]
    assert running.job("j")["dependents"] == []


def test_advancing_lets_nobody_run_yet(running):
    running.put(102, "one", "depends", '["j"]')

    running("complete", 103, "j", "w", "q", "{}", "next", "p")

    assert running.job("one")["state"] == "depends"


def test_b50_a_ring_is_refused_while_completing(running):
    running.put(102, "one", "depends", '["j"]')

    with running.refused("BAD_ARGUMENT", "j -> one -> j"):
        running("complete", 103, "j", "w", "q", "{}", "next", "p", "depends", '["one"]')


def test_a_failure_of_the_past_is_forgotten(running):
    running("fail", 101, "j", "w", "g", "m")
    running.put(102, "j")
    assert running.job("j")["failure"]["group"] == "g"
    running.pop(103)

    running("complete", 104, "j", "w", "q", "{}")

    assert running.job("j")["failure"] == {}
