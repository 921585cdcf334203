from __future__ import annotations

import pytest


@pytest.fixture
def running(lua):
    lua.put(1, "j")
    lua.pop(100)
    return lua


def test_a_job_tells_how_far_it_is(running):
    assert running("progress.get", 100, "j") is None
    before = running.job("j")

    with running.hearing() as heard:
        assert running("progress", 110.25, "j", "w", 30, "total", 40, "note", 'half "way"') is None

    assert heard == []
    assert running.json("progress.get", 111, "j") == {
        "done": 30,
        "total": 40,
        "note": 'half "way"',
        "when": 110.25,
        "worker": "w",
    }
    assert running.job("j") == before


def test_what_it_said_before_is_forgotten(running):
    running("progress", 110, "j", "w", 30, "total", 40, "note", "x")
    running("progress", 120, "j", "w", 0.5)

    assert running.json("progress.get", 121, "j") == {"done": 0.5, "when": 120, "worker": "w"}


def test_a_long_note_is_cut(running):
    running("progress", 110, "j", "w", 1, "note", "é" * 5000)

    assert len(running.json("progress.get", 111, "j")["note"].encode()) < 1100


def test_it_goes_with_the_job(running, redis):
    running("progress", 110, "j", "w", 1)
    running("cancel", 111, "j")

    assert running("progress.get", 112, "j") is None
    assert redis.keys("ql:j:*") == []


def test_only_the_worker_that_has_it_may_tell(lua):
    with lua.refused("JOB_NOT_FOUND", "Job j does not exist"):
        lua("progress", 1, "j", "w", 1)
    lua.put(1, "j")
    with lua.refused("JOB_NOT_RUNNING", "not currently running: waiting"):
        lua("progress", 2, "j", "w", 1)
    lua.pop(3, worker="owner")
    with lua.refused("LOCK_LOST", "another worker: owner"):
        lua("progress", 4, "j", "w", 1)


@pytest.mark.parametrize("stored", ["", "nonsense", "[1,", "5", '{"done":NaN}'])
def test_what_others_left_there_is_nothing(running, redis, stored):
    redis.hset("ql:j:j", "progress", stored)

    assert running("progress.get", 101, "j") is None
