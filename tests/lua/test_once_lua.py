"""Requests that are carried out once, however often they are sent."""

from __future__ import annotations

import json

import pytest

from qless_core import errors
from qless_core.runner import Runner
from qless_core.testing import FrozenClock
from tests.support.cutting import cut_off


def test_a_request_that_is_sent_again_runs_once_and_answers_the_same(lua):
    lua.put(1, "a")
    lua.put(1, "b")

    first = lua("once", 2, "request", "pop", "q", "w", 1)

    assert lua("once", 3, "request", "pop", "q", "w", 1) == first
    assert lua("length", 3, "q") == 2
    assert [item["what"] for item in lua.job("b")["history"]] == ["put", "popped"]
    assert [item["what"] for item in lua.job("a")["history"]] == ["put"]


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (("put", "w", "q", "j", "K", "{}", 0), "j"),
        (("pause", "q"), None),
        (("recur.untag", "r", "x"), "[]"),
        (("cancel", "j", "k"), ["j", "k"]),
        (("priority", "k", 7), 7),
    ],
)
def test_an_answer_of_each_kind_is_kept(lua, call, answer):
    lua.put(1, "k")
    lua("recur", 1, "q", "r", "K", "{}", "interval", 60, 0)

    assert lua("once", 2, "request", *call) == answer
    assert lua("once", 3, "request", *call) == answer


def test_a_refusal_is_no_outcome(lua):
    with lua.refused("JOB_NOT_FOUND", "Job j does not exist"):
        lua("once", 1, "request", "heartbeat", "j", "w")
    lua.put(1, "j")
    lua.pop(1)

    assert lua("once", 2, "request", "heartbeat", "j", "w") == 62


def test_what_came_of_a_request_is_forgotten_in_time(lua, redis):
    lua("once", 1, "request", "pause", "q")

    assert 300 < redis.ttl("ql:once:request") <= 600


def test_of_one_who_sends_one_after_the_other_the_last_outcome_is_kept(lua, redis):
    for jid in ("a", "b", "c"):
        lua.put(1, jid)

    first = lua("once.next", 2, "sender", 1, 90, "pop", "q", "w", 1)
    assert lua("once.next", 3, "sender", 1, 90, "pop", "q", "w", 1) == first
    assert 60 < redis.ttl("ql:once:sender") <= 90
    second = lua("once.next", 3, "sender", 2, 30, "pop", "q", "w", 1)

    assert [json.loads(reply)[0]["jid"] for reply in (first, second)] == ["c", "b"]
    assert lua("once.next", 4, "sender", 1, 30, "pop", "q", "w", 1) is None
    assert lua("once.next", 4, "sender", 2, 30, "pop", "q", "w", 1) == second
    assert redis.keys("ql:once:*") == ["ql:once:sender"]
    assert redis.ttl("ql:once:sender") <= 30
    assert lua("length", 5, "q") == 3
    assert sorted(lua("jobs", 5, "running", "q")) == ["b", "c"]


def test_a_refusal_is_no_outcome_of_one_who_sends_on_either(lua):
    with lua.refused("JOB_NOT_FOUND", "Job j does not exist"):
        lua("once.next", 1, "sender", 5, 60, "heartbeat", "j", "w")
    lua.put(1, "j")
    lua("once.next", 1, "sender", 6, 60, "pop", "q", "w", 1)
    with lua.refused("LOCK_LOST"):
        lua("once.next", 1, "sender", 7, 60, "heartbeat", "j", "other")

    assert lua("once.next", 2, "sender", 7, 60, "heartbeat", "j", "w") == 62
    assert lua("once.next", 3, "sender", 8, 60, "pause", "q") is None
    lua("unpause", 4, "q")
    assert lua("once.next", 4, "sender", 8, 60, "pause", "q") is None
    assert lua.json("queues", 4, "q")["paused"] is False


def test_a_patient_client_leaves_one_answer_however_many_it_had(redis, script):
    patient = Runner(redis, script, patience=20)

    for number in range(50):
        patient("put", 1, "w", "q", f"j-{number}", "K", "{}", 0)
        patient("pop", 1, "q", "w", 1)

    (key,) = redis.keys("ql:once:*")
    assert 20 < redis.ttl(key) <= 80


def test_a_forked_process_is_another_sender(redis, script, monkeypatch):
    patient = Runner(redis, script, patience=20)
    patient("pause", 1, "q")
    monkeypatch.setattr("os.getpid", lambda: 0)

    patient("unpause", 1, "q")

    assert len(redis.keys("ql:once:*")) == 2


def test_a_patient_client_is_answered_though_an_answer_is_lost(redis, script):
    run = Runner(redis, script)
    for jid in ("a", "b"):
        run("put", 1, "w", "q", jid, "K", "{}", 0)
    run.redis.script_load(script.source)
    clock = FrozenClock()
    with cut_off(redis, cuts=3) as cut:
        patient = Runner(cut, script, patience=60, clock=clock)

        popped = patient("pop", 2, "q", "w", 1)

    assert b'"jid":"b"' in popped
    assert run("jobs", 3, "running", "q") == ["b"]


def test_patience_ends_and_tells_whether_the_command_may_have_run(redis, script):
    with cut_off(redis) as cut:
        patient = Runner(cut, script, patience=5, clock=FrozenClock())

        with pytest.raises(errors.OutcomeUnknown, match="put"):
            patient("put", 1, "w", "q", "j", "K", "{}", 0)
