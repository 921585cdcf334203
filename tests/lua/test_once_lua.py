"""Requests that are carried out once, however often they are sent."""

from __future__ import annotations

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
