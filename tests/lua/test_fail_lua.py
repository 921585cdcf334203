from __future__ import annotations

import json

import pytest


@pytest.fixture
def running(lua):
    lua.put(1, "j")
    lua.pop(100)
    return lua


def test_a_failed_job(running, redis):
    with running.hearing() as heard:
        assert running("fail", 130.5, "j", "w", "g", "it broke") == "j"

    assert heard == [
        [
            "ql:log",
            '{"message":"it broke","jid":"j","group":"g","event":"failed","worker":"w"}',
        ]
    ]
    job = running.job("j")
    assert (job["state"], job["worker"], job["queue"], job["expires"]) == ("failed", "", "q", 0)
    assert redis.hget("ql:j:j", "expires") == ""
    assert job["failure"] == {"group": "g", "message": "it broke", "when": 130, "worker": "w"}
    assert job["history"][-1] == {"worker": "w", "group": "g", "what": "failed", "when": 130}
    assert running.json("failed", 131) == {"g": 1}
    assert running.json("failed", 131, "g") == {"total": 1, "jobs": ["j"]}
    stats = running.json("stats", 131, "q", 131)
    assert (stats["failures"], stats["failed"]) == (1, 1)
    assert redis.exists("ql:q:q-locks", "ql:w:w:jobs") == 0


def test_only_the_worker_that_has_it_may_fail_it(lua):
    with lua.refused("JOB_NOT_FOUND", "Job j does not exist"):
        lua("fail", 1, "j", "w", "g", "m")
    lua.put(1, "j")
    with lua.refused("JOB_NOT_RUNNING", "not currently running: waiting"):
        lua("fail", 2, "j", "w", "g", "m")
    lua.pop(3, worker="owner")
    with lua.refused("LOCK_LOST", "another worker: owner"):
        lua("fail", 4, "j", "w", "g", "m")


def test_a_tracked_job_announces_that_it_failed(running):
    running("track", 101, "track", "j")

    with running.hearing() as heard:
        running("fail", 102, "j", "w", "g", "m")

    assert [channel for channel, _ in heard] == ["ql:log", "ql:failed"]


def test_b10_any_text_is_kept_as_it_is(running):
    text = 'glāžšķūņu 漢字 🙂\n"quoted"\t\\ \x01 </script>'

    running("fail", 101, "j", "w", text, text)

    assert running.job("j")["failure"]["message"] == text
    assert running.json("failed", 102) == {text: 1}
    assert running.json("failed", 102, text)["jobs"] == ["j"]


def test_a_long_message_is_cut_in_the_middle_and_says_so(running):
    with running.hearing() as heard:
        running("fail", 101, "j", "w", "g", "head " + "x" * 1_000_000 + " tail")

    message = running.job("j")["failure"]["message"]
    assert message.startswith("head x")
    assert message.endswith("x tail")
    assert f"[... {1_000_010 - 32768} bytes cut ...]" in message
    assert len(message) < 33_000
    assert json.loads(heard[0][1])["message"] == message


def test_the_length_of_a_message_is_an_option(running):
    running("config.set", 1, "max-failure-message", 10)
    running("fail", 101, "j", "w", "g", "abcdefghijklmno")
    assert running.job("j")["failure"]["message"] == "abcde\n[... 5 bytes cut ...]\nklmno"

    running("config.set", 1, "max-failure-message", 0)
    running.put(102, "j")
    running.pop(103)
    running("fail", 104, "j", "w", "g", "x" * 100_000)
    assert running.job("j")["failure"]["message"] == "x" * 100_000


@pytest.mark.parametrize("limit", range(1, 14))
def test_a_cut_leaves_whole_characters(running, limit):
    running("config.set", 1, "max-failure-message", limit)

    running("fail", 101, "j", "w", "g", "ü漢🙂ü漢🙂")

    message = running.job("j")["failure"]["message"]
    head, _, tail = message.partition("\n[...")
    assert "ü漢🙂ü漢🙂".startswith(head)
    assert "ü漢🙂ü漢🙂".endswith(tail.partition("...]\n")[2])
