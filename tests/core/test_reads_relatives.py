"""The jobs around one: two steps each way, in three round trips, whatever lies beyond."""

from __future__ import annotations

import pytest

from qless_core import reads
from qless_core.reads.plan import run
from qless_core.reads.relatives import BEHIND_ONE, FAR, NEAR


@pytest.fixture
def around(client):
    """Read what is around a job; it must take no more than three round trips, of bounded size."""

    def around(jid, **limits):
        sizes = []

        def counted(scope):
            batches = reads.relatives(jid, **limits)(scope)
            replies = None
            while True:
                try:
                    calls = next(batches) if replies is None else batches.send(replies)
                except StopIteration as stop:
                    return stop.value
                sizes.append(len(calls))
                replies = yield calls

        _, (found,) = run(client.redis, client.keys, [counted], now=client.now())
        assert len(sizes) <= 3
        assert sum(sizes) < 600
        return found

    return around


@pytest.fixture
def chain(client):
    """Put a → b → c → d → e → f: each waits for the one before."""
    before = []
    for jid in "abcdef":
        client.queues["q"].put(f"Job{jid}", {}, jid=jid, depends=before)
        before = [jid]


def test_two_steps_are_read_each_way_and_what_lies_beyond_is_counted(around, chain):  # noqa: ARG001 - puts the jobs
    found = around("d")

    steps = {each.jid: each.step for each in found.jobs}
    assert steps == {"d": 0, "c": -1, "e": 1, "b": -2, "f": 2}
    assert set(found.links) == {("b", "c"), ("c", "d"), ("d", "e"), ("e", "f")}
    known = {each.jid: each for each in found.jobs}
    assert (known["b"].waits_for, known["b"].blocks) == (1, 1)
    assert (known["f"].waits_for, known["f"].blocks) == (1, 0)
    assert (known["c"].klass, known["c"].queue, known["c"].state) == ("Jobc", "q", "depends")


def test_states_are_those_that_a_pop_would_find(around, client, clock):
    for jid in ("stalls", "runs", "due"):
        client.queues["q"].put("Job", {}, jid=jid, delay=5 if jid == "due" else 0)
        if jid != "due":
            client.queues["q"].pop()
            clock.advance(30)
    client.queues["q"].put("Job", {}, jid="j", depends=["stalls", "runs", "due"])
    clock.advance(10)

    states = {each.jid: each.state for each in around("j").jobs}

    assert states == {"j": "depends", "stalls": "stalled", "runs": "running", "due": "waiting"}


def test_b36_a_relative_that_is_gone_has_no_state(around, client, redis):
    client.queues["q"].put("Job", {}, jid="parent")
    client.queues["q"].put("Job", {}, jid="child", depends=["parent"])
    redis.delete("ql:j:parent")

    assert [(each.jid, each.state) for each in around("child").jobs] == [
        ("child", "depends"),
        ("parent", ""),
    ]
    assert around("parent") is None
    assert around("no-such-job") is None


def test_b50_a_ring_is_read_once(around, client, redis):
    client.queues["q"].put("Job", {}, jid="a")
    for jid, before in (("b", "a"), ("c", "b")):
        client.queues["q"].put("Job", {}, jid=jid, depends=[before])
    redis.sadd("ql:j:a-dependencies", "c", "a")
    redis.sadd("ql:j:c-dependents", "a")

    found = around("a")

    assert sorted(each.jid for each in found.jobs) == ["a", "b", "c"]
    assert set(found.links) == {("a", "a"), ("a", "b"), ("b", "c"), ("c", "a")}


def test_b29_very_many_relatives_are_counted_and_some_are_read(around, client, redis):
    client.queues["q"].put("Job", {}, jid="root")
    for near in range(100):
        client.queues["q"].put("Job", {}, jid=f"near-{near}", depends=["root"])
        redis.sadd(f"ql:j:near-{near}-dependents", *(f"far-{near}-{each}" for each in range(100)))

    found = around("root")

    assert found.jobs[0].blocks == 100
    steps = [each.step for each in found.jobs]
    assert steps.count(1) == NEAR
    assert BEHIND_ONE <= steps.count(2) <= FAR
    assert {each.blocks for each in found.jobs if each.step == 1} == {100}


def test_a_key_of_a_foreign_type_is_no_relative(around, client, redis):
    client.queues["q"].put("Job", {}, jid="j")
    redis.set("ql:j:j-dependents", "text")

    assert [each.jid for each in around("j").jobs] == ["j"]
